// The bundlers and runtimes of the matrix, and Geofix as npm would install it, in .cache/matrix.
import { execFileSync } from 'node:child_process'
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe } from 'vitest'
import { ROOT } from '../package/project.ts'

const PINNED = join(ROOT, 'test/matrix/packages')

/** Projects in this folder find the tools and Geofix. */
export const MATRIX = join(ROOT, '.cache/matrix')

const MODULES = join(MATRIX, 'node_modules')

/** Of a program, in milliseconds. */
const TIMEOUT = 600_000

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
  mkdirSync(MATRIX, { recursive: true })
  try {
    once('.geofix-matrix.json', readFileSync(join(PINNED, 'package-lock.json'), 'utf8'), () => {
      for (const file of ['package.json', 'package-lock.json'])
        copyFileSync(join(PINNED, file), join(MATRIX, file))
      // Not `npm ci`, which wants the tools for other platforms in the lock file, even if the registry has none.
      run(MATRIX, 'npm', 'install', '--ignore-scripts', '--force', '--no-audit', '--no-fund')
    })
    return true
  } catch (error) {
    console.warn(`the tools of the matrix cannot be installed: ${error}`)
    return false
  }
}

/** Tests with Geofix among the tools. They are skipped, with a reason in their name, where one is missing. */
export function describeMatrix(name: string, missing: string | undefined, tests: () => void): void {
  const reason = `${missing} is not installed`
  if (missing !== undefined) console.warn(`skipped: ${reason}`)
  describe.skipIf(missing !== undefined)(missing === undefined ? name : `${name}: ${reason}`, () => {
    beforeAll(installGeofix)
    tests()
  })
}

/** Unpacks the tarball of this package among the tools. */
function installGeofix(): void {
  const tarballs = mkdtempSync(join(MATRIX, 'tarball-'))
  const [{ filename, shasum }]: [{ filename: string; shasum: string }] = JSON.parse(
    run(ROOT, 'npm', 'pack', '--ignore-scripts', '--json', '--pack-destination', tarballs),
  )
  once('.geofix-tarball', shasum, () => {
    const folder = join(MODULES, 'geofix')
    rmSync(folder, { recursive: true, force: true })
    mkdirSync(folder)
    run(tarballs, 'tar', '-xzf', filename, '--strip-components=1', '-C', folder)
  })
  rmSync(tarballs, { recursive: true })
}

/** Installs unless the file says that `version` is installed. Test files run at the same time: the others wait. */
function once(file: string, version: string, install: () => void): void {
  const [lock, installed] = [join(MATRIX, 'lock'), join(MODULES, file)]
  while (!made(lock)) {
    const age = Date.now() - (statSync(lock, { throwIfNoEntry: false })?.mtimeMs ?? Number.NaN)
    if (age > TIMEOUT) rmSync(lock, { recursive: true, force: true })
    else Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 200)
  }
  try {
    if (existsSync(installed) && readFileSync(installed, 'utf8') === version) return
    install()
    writeFileSync(installed, version)
  } finally {
    rmSync(lock, { recursive: true, force: true })
  }
}

/** Makes a folder. @returns `false` if it existed before */
function made(folder: string): boolean {
  try {
    mkdirSync(folder)
    return true
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false
    throw error
  }
}

/** Runs a program to its end. Throws, with its output, when it fails. @returns its standard output */
export function run(folder: string, program: string, ...args: string[]): string {
  try {
    return execFileSync(program, args, {
      cwd: folder,
      encoding: 'utf8',
      stdio: 'pipe',
      timeout: TIMEOUT,
      maxBuffer: 2 ** 26,
      // Vitest's own variables would change what bundlers do.
      env: {
        PATH: process.env.PATH,
        HOME: process.env.HOME,
        TMPDIR: process.env.TMPDIR,
        NO_COLOR: '1',
        NEXT_TELEMETRY_DISABLED: '1',
      },
    })
  } catch (error) {
    const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string } // as Node documents it
    throw new Error(`${program} ${args.join(' ')} failed\n${stdout}${stderr}`, { cause: error })
  }
}
