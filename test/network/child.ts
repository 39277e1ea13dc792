import { spawnSync } from 'node:child_process'
import { closeSync, openSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from '../package/project.ts'
import { makeFile } from '../temporary.ts'

export interface Ended {
  readonly status: number | null
  readonly out: string
  readonly err: string
}

const here = (name: string) => join(ROOT, 'test/network', name)

/** Programs of this folder, and the built command line. */
export const EVERYTHING = here('everything.mjs')
export const CLI = join(ROOT, 'dist/cli.cjs')

/**
 * Runs Node to its end. Its input and outputs are files: of pipes Node makes sockets of its own.
 *
 * @param folder for those files
 */
export function runNode(folder: string, args: readonly string[], { input = '', env = {} } = {}): Ended {
  const files = ['in', 'out', 'err'].map((name) => join(folder, `standard-${name}`))
  const [inFile = '', outFile = '', errFile = ''] = files
  writeFileSync(inFile, input)
  const stdio = [openSync(inFile, 'r'), openSync(outFile, 'w'), openSync(errFile, 'w')]
  try {
    const { status } = spawnSync(process.execPath, args, {
      stdio,
      env: { ...process.env, ...env },
      cwd: folder,
    })
    return { status, out: readFileSync(outFile, 'utf8'), err: readFileSync(errFile, 'utf8') }
  } finally {
    for (const file of stdio) closeSync(file)
  }
}

export interface Trapped extends Ended {
  /** Threads that the trap was armed in, the main one among them. */
  readonly armed: number
  /** What was tried. */
  readonly attempts: readonly string[]
}

/** The same with `trap.cjs` preloaded. */
export function runTrapped(folder: string, args: readonly string[], input = ''): Trapped {
  const trap = makeFile(join(folder, 'trap.txt'), '')
  const env = { NODE_OPTIONS: `--require ${JSON.stringify(here('trap.cjs'))}`, GEOFIX_TRAP: trap }
  const ended = runNode(folder, args, { input, env })
  const notes = readFileSync(trap, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => line.slice(line.indexOf(' ') + 1))
  const attempts = notes.filter((note) => note !== 'armed')
  return { ...ended, armed: notes.length - attempts.length, attempts }
}
