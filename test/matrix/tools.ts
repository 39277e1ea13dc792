// The bundlers and runtimes of the matrix, and Geofix as npm would install it, in .cache/matrix.
import { execFileSync } from 'node:child_process'
import { copyFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from '../package/project.ts'

const PINNED = join(ROOT, 'test/matrix/packages')

/** Projects in this folder find the tools and Geofix. */
export const MATRIX = join(ROOT, '.cache/matrix')

const MODULES = join(MATRIX, 'node_modules')

/** The program of a tool; `undefined` if it could not be installed. */
export function toolAt(path: string): string | undefined {
  const file = join(MODULES, path)
  return existsSync(file) ? file : undefined
}

/**
 * Installs the tools unless they are there. Most are for one platform: npm leaves out what does not run here.
 *
 * @returns whether they are there now
 */
export function installTools(): boolean {
  const lock = readFileSync(join(PINNED, 'package-lock.json'))
  const installed = join(MODULES, '.geofix-matrix.json')
  if (existsSync(installed) && lock.equals(readFileSync(installed))) return true
  mkdirSync(MATRIX, { recursive: true })
  for (const file of ['package.json', 'package-lock.json'])
    copyFileSync(join(PINNED, file), join(MATRIX, file))
  try {
    // Not `npm ci`, which wants the tools for other platforms in the lock file, even if the registry has none.
    run(MATRIX, 'npm', 'install', '--ignore-scripts', '--force', '--no-audit', '--no-fund')
    writeFileSync(installed, lock)
    return true
  } catch (error) {
    console.warn(`the tools of the matrix cannot be installed: ${error}`)
    return false
  }
}

/** Unpacks the tarball of this package among the tools. */
export function installGeofix(): void {
  const [{ filename }]: [{ filename: string }] = JSON.parse(
    run(ROOT, 'npm', 'pack', '--ignore-scripts', '--json', '--pack-destination', MATRIX),
  )
  const folder = join(MODULES, 'geofix')
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder)
  run(MATRIX, 'tar', '-xzf', filename, '--strip-components=1', '-C', folder)
  rmSync(join(MATRIX, filename))
}

/** Runs a program to its end. Throws, with its output, when it fails. @returns its standard output */
export function run(folder: string, program: string, ...args: string[]): string {
  try {
    return execFileSync(program, args, {
      cwd: folder,
      encoding: 'utf8',
      stdio: 'pipe',
      timeout: 250_000,
      maxBuffer: 2 ** 26,
      // Vitest's own variables would change what bundlers do.
      env: { PATH: process.env.PATH, HOME: process.env.HOME, TMPDIR: process.env.TMPDIR, NO_COLOR: '1' },
    })
  } catch (error) {
    const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string } // as Node documents it
    throw new Error(`${program} ${args.join(' ')} failed\n${stdout}${stderr}`, { cause: error })
  }
}
