import { execFileSync } from 'node:child_process'
import { mkdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from './project.ts'

/** Makes the built package resolvable from a folder, as if it were installed there. */
export function linkPackage(folder: string): void {
  mkdirSync(join(folder, 'node_modules'), { recursive: true })
  symlinkSync(ROOT, join(folder, 'node_modules', 'geofix'), 'dir')
}

/** Runs a program to its end and gives what it printed. Throws, with its output, when it fails. */
export function output(folder: string, program: string, ...args: string[]): string {
  try {
    return execFileSync(program, args, { cwd: folder, encoding: 'utf8', stdio: 'pipe' })
  } catch (error) {
    const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string } // as Node documents it
    throw new Error(`${program} ${args.join(' ')} failed\n${stdout}${stderr}`, { cause: error })
  }
}

/** Runs this project's TypeScript on a folder with a tsconfig.json. */
export function typecheck(folder: string): string {
  return output(folder, process.execPath, join(ROOT, 'node_modules/typescript/bin/tsc'), '--noEmit')
}
