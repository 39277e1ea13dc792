// `geofix engine spark DIR`: the files that a user hands to spark-submit; `geofix engine python DIR`: the module alone. The only
// importer of nanotar.
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { mkdir, readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { createTar } from 'nanotar'
import { embedded } from '../embedded.ts'
import { readDatabase } from './convert-commands.ts'
import { openDatabases } from './databases.ts'
import { writeWholeFile } from './enrich/session.ts'
import { countText } from './figures.ts'
import type { ENGINE_OPTIONS, FlagsOf } from './options.ts'
import {
  CommandFailure,
  ExitStatus,
  type Terminal,
  UsageError,
  unreadableInput,
  unwritable,
  writeMessage,
} from './terminal.ts'

/** The module for Python, in the package and in the folder that is written. */
const LOCATOR = 'geofix_locator.py'

/** The module for PySpark, which needs {@link LOCATOR}. */
const MODULE = 'geofix_spark.py'

const ARCHIVE = 'geofix-worker.tgz'

/**
 * The database in the archive is where the package has its own, so that the worker needs no option. If it is not packed, its bytes
 * tell Geofix so.
 */
const DATABASE = 'node_modules/geofix/data/city.mmdb.packed'

/** Starts geofix without an environment: `sh` finds itself, and all other paths begin at this file. */
const LAUNCHER = `#!/bin/sh
exec "\${0%/*}/node" "\${0%/*}/../node_modules/geofix/dist/cli.cjs" "$@"
`

/** The folder of this package. */
const ROOT = dirname(dirname(fileURLToPath(embedded.city)))

/** Writes the module for Python. @throws CommandFailure when it cannot be written */
export async function writePythonModule(folder: string, terminal: Terminal): Promise<ExitStatus> {
  return writeFiles(folder, [[LOCATOR, await moduleOf(LOCATOR)]], terminal)
}

/**
 * Writes the worker's archive and the modules for PySpark.
 *
 * @throws UsageError when the Node runtime cannot run on the hosts of a cluster
 * @throws CommandFailure when a file cannot be read or written, or a database has no locations
 * @throws InvalidDatabaseError when the database cannot be read
 */
export async function writeSparkFiles(
  folder: string,
  { node = process.execPath, db }: FlagsOf<typeof ENGINE_OPTIONS>,
  terminal: Terminal,
): Promise<ExitStatus> {
  const modules = await Promise.all(
    [LOCATOR, MODULE].map(async (name) => [name, await moduleOf(name)] as const),
  )
  const archive = createTar(
    [
      { name: 'bin/geofix', data: LAUNCHER, attrs: { mode: '755' } },
      { name: 'bin/node', data: await nodeOf(node), attrs: { mode: '755' } },
      ...packageFiles(),
      { name: DATABASE, data: await databaseOf(db) },
    ],
    // A fixed owner and time, so that the same files make the same archive.
    { attrs: { mode: '644', uid: 0, gid: 0, mtime: 0 } },
  )
  return writeFiles(folder, [...modules, [ARCHIVE, await promisify(gzip)(archive)]], terminal)
}

async function writeFiles(
  folder: string,
  files: readonly (readonly [name: string, bytes: Uint8Array])[],
  terminal: Terminal,
): Promise<ExitStatus> {
  await mkdir(folder, { recursive: true }).catch((cause) => {
    throw unwritable(folder, cause)
  })
  for (const [name, bytes] of files) {
    const status = await writeWholeFile(join(folder, name), bytes, terminal)
    if (status !== ExitStatus.ok) return status
  }
  const written = files.map(([name, bytes]) => `${join(folder, name)}: ${countText(bytes.length)} bytes`)
  await writeMessage(terminal.stderr, written.join('; '))
  return ExitStatus.ok
}

function moduleOf(name: string): Promise<Uint8Array> {
  return inputOf(join(ROOT, 'src/engines', name))
}

/** @throws CommandFailure when the file cannot be read */
async function inputOf(path: string): Promise<Uint8Array> {
  return await readFile(path).catch((cause) => {
    throw unreadableInput(path, cause)
  })
}

const ELF = [0x7f, 0x45, 0x4c, 0x46]

/** The program of a Node runtime, which Linux hosts without Node must be able to start. */
async function nodeOf(path: string): Promise<Uint8Array> {
  const bytes = await inputOf(path)
  const advice = 'give the bin/node of a download from nodejs.org for Linux with --node'
  if (!ELF.every((byte, at) => bytes[at] === byte)) {
    throw new UsageError(`${path} is not a program for Linux: ${advice}.`)
  }
  // Debian's own Node is such a program. Its library is not in the archive.
  if (Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).includes('libnode.so')) {
    throw new UsageError(`${path} needs the library libnode.so: ${advice}.`)
  }
  return bytes
}

/** What the command needs of this package, and its documents about the data. The library is left out. */
function packageFiles() {
  const names = ['dist', 'data'].flatMap((folder) =>
    namesIn(join(ROOT, folder)).map((name) => `${folder}/${name}`),
  )
  if (!names.includes('dist/cli.cjs')) {
    throw new CommandFailure(`${ROOT}/dist/cli.cjs does not exist: run npm run build`, ExitStatus.input)
  }
  return ['package.json', 'LICENSE', ...names]
    .map((name) => ({ name: `node_modules/geofix/${name}`, path: join(ROOT, name) }))
    .filter(({ name }) => name !== DATABASE && !/\/dist\/(?!cli[.-])/.test(name))
    .map(({ name, path }) => ({ name, data: readFileSync(path) }))
}

/** The files of a folder and those below, in the same order everywhere. */
function namesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => statSync(join(folder, name)).isFile())
    .map((name) => name.replaceAll('\\', '/'))
    .sort()
}

async function databaseOf(path = fileURLToPath(embedded.city)): Promise<Uint8Array> {
  await openDatabases([path])
  return await readDatabase(path)
}
