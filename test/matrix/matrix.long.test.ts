// Builds programs with every bundler, moves them to an empty folder, and runs them there.
import { cpSync, mkdirSync, readdirSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { embedded } from '../../src/index.ts'
import { writeProject } from '../package/project.ts'
import { temporaryFolder } from '../temporary.ts'
import { ROWS, type Row, TOOLS } from './rows.ts'
import { describeMatrix, installTools, MATRIX, run, toolAt } from './tools.ts'

const hasTools = installTools()
const elsewhere = temporaryFolder()

const DATABASES = Object.entries(embedded).map(([name, url]) => ({ name, size: statSync(url).size }))

/** A command with the paths of its programs. */
function commandOf([program = '', ...args]: readonly string[]): [string, ...string[]] {
  const path = (name: string): string => {
    const tool = TOOLS[name]
    return name === 'node' ? process.execPath : tool === undefined ? name : (toolAt(tool) ?? name)
  }
  return [path(program), ...args.map((arg) => (arg in TOOLS ? path(arg) : arg))]
}

function missingTool({ build, run: command }: Row): string | undefined {
  const names = [...build, command].flat().filter((word) => word in TOOLS)
  return names.find((name) => toolAt(TOOLS[name] ?? name) === undefined)
}

const folderOf = (name: string): string => name.replaceAll(/\W+/g, '-')

describeMatrix('a program', hasTools ? undefined : 'the matrix', () => {
  for (const row of ROWS) {
    const missing = missingTool(row)
    it.skipIf(missing !== undefined)(
      `${row.name}${missing === undefined ? '' : `: ${missing} is not installed`}`,
      () => {
        const project = join(MATRIX, 'projects', folderOf(row.name))
        rmSync(project, { recursive: true, force: true })
        mkdirSync(join(project, 'out'), { recursive: true })
        writeProject(project, row.files)
        for (const command of row.build) run(project, ...commandOf(command))
        const folder = join(elsewhere, folderOf(row.name))
        cpSync(join(project, 'out'), folder, { recursive: true })
        rmSync(project, { recursive: true })
        if (row.databases !== undefined) expect(databasesIn(folder)).toEqual(row.databases)
        const printed = run(folder, ...commandOf(row.run))
        if (typeof row.prints === 'string') expect(printed).toBe(row.prints)
        else expect(printed).toMatch(row.prints)
        rmSync(folder, { recursive: true })
      },
    )
  }
})

/** The databases in a folder, by their sizes: bundlers change their names. */
function databasesIn(folder: string): string[] {
  const sizes = new Map(DATABASES.map(({ name, size }) => [size, name]))
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .flatMap(({ parentPath, name }) => sizes.get(statSync(join(parentPath, name)).size) ?? [])
    .sort()
}
