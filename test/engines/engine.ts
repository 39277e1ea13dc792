// What the tests of engines share. An engine is a program of others that runs geofix; it is installed on demand.
import { spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { accessLines } from '../../scripts/bench/enrich/access-lines.ts'
import { firstLines } from '../../scripts/bench/enrich/grown-log.ts'
import { installVersions } from '../../scripts/pinned-packages.ts'
import { ROOT } from '../package/project.ts'
import { makeFile } from '../temporary.ts'

/** Whether a command is there. */
export function hasCommand(name: string): boolean {
  return spawnSync('sh', ['-c', `command -v ${name}`]).status === 0
}

/**
 * Installs packages of an engine.
 *
 * @returns their folder, or `null` if they cannot be installed
 */
export function engineFolder(name: string, versions: Readonly<Record<string, string>>): string | null {
  const folder = join(ROOT, '.cache/engines', name)
  try {
    const modules = installVersions(versions, folder)
    rmSync(join(modules, 'geofix'), { force: true })
    symlinkSync(ROOT, join(modules, 'geofix'), 'junction')
    return folder
  } catch {
    return null
  }
}

/** The folder that an installation gives, or `null` if a program or a package that it needs is missing. */
export function installedOrNull(install: () => string): string | null {
  try {
    return install()
  } catch {
    return null
  }
}

/** Tests that are skipped, with a reason in their name, where an engine is missing. */
export function describeEngine(name: string, isThere: boolean, tests: () => void): void {
  if (!isThere) console.warn(`${name} is not installed: the tests that need it are skipped`)
  describe.skipIf(!isThere)(isThere ? name : `${name} is not installed`, tests)
}

/** Writes a command `geofix` that runs the built command line. @returns its path */
export function writeGeofix(folder: string): string {
  mkdirSync(folder, { recursive: true })
  const path = makeFile(
    join(folder, 'geofix'),
    `#!/bin/sh\nexec '${process.execPath}' '${join(ROOT, 'dist/cli.cjs')}' "$@"\n`,
  )
  chmodSync(path, 0o755)
  return path
}

/** Writes an access log, and commands `geofix` before it: `built/geofix`, and `bin/geofix`, a script that can lead to it. */
export function writeLogAndCommands(folder: string, script: (geofix: string) => string): void {
  writeFileSync(join(folder, 'access.log'), firstLines('access-log', accessLines().lines, 160_000))
  const geofix = writeGeofix(join(folder, 'built'))
  writeFileSync(writeGeofix(join(folder, 'bin')), `#!/bin/sh\n${script(geofix)}exec '${geofix}' "$@"\n`)
}

/** Checks that the output of all parts has the bytes of a single run. */
export function expectSameBytes(folder: string): void {
  const [parts, whole] = ['places.log', 'single.log'].map((name) => readFileSync(join(folder, name)))
  expect(parts?.length).toBeGreaterThan(0)
  expect(whole !== undefined && parts?.equals(whole)).toBe(true)
}

/** The first program in Python, of the guide or of scripts/examples/engines, that has all of these texts. */
export function recipeWith(...texts: readonly string[]): string {
  const guide = readFileSync(join(ROOT, 'src/engines/README.md'), 'utf8')
  const inGuide = Array.from(guide.matchAll(/^```python\n([\s\S]*?)^```$/gm), ([, program = '']) => program)
  const examples = join(ROOT, 'scripts/examples/engines')
  const files = readdirSync(examples).map((name) => readFileSync(join(examples, name), 'utf8'))
  return [...inGuide, ...files].find((program) => texts.every((text) => program.includes(text))) ?? ''
}
