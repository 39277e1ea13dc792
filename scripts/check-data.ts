// Checks the databases in data/ against data/manifest.json: npm run check-data.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { isPacked } from '../src/bytes/file-kind.ts'
import { Database } from '../src/mmdb/database.ts'
import { differences, type Manifest } from './build-data/manifest.ts'
import { openPacked, plainForm, proveEqual } from './build-data/packed-form.ts'
import { hasMmdblookup, verifySamples } from './build-data/verify.ts'

const DATA = join(import.meta.dirname, '../data')

function manifestOf(folder: string): Manifest {
  return JSON.parse(readFileSync(join(folder, 'manifest.json'), 'utf8'))
}

/** Problems of each file that the manifest in a folder lists; empty if the file matches the manifest. */
export function checkData(folder: string): { file: string; problems: string[] }[] {
  const manifest = manifestOf(folder)
  return manifest.files.map((expected) => {
    try {
      const bytes = readFileSync(join(folder, expected.file))
      return { file: expected.file, problems: differences(expected, manifest.buildDate, bytes) }
    } catch (error) {
      return { file: expected.file, problems: [error instanceof Error ? error.message : String(error)] }
    }
  })
}

/** Compares each packed file with its plain form, network by network, and the plain form with other readers. */
function checkPackedFiles(folder: string): void {
  for (const { file, comparedWithPlainForm } of manifestOf(folder).files) {
    const bytes = readFileSync(join(folder, file))
    if (!isPacked(bytes)) continue
    const plain = plainForm(bytes)
    const compared = proveEqual(new Database(plain), openPacked(bytes))
    if (!isDeepStrictEqual(compared, comparedWithPlainForm)) {
      throw new Error(`data/${file}: compared ${JSON.stringify(compared)}, unlike the manifest`)
    }
    const { networks, records } = compared
    console.log(`data/${file}: ${networks} networks and ${records} records are those of its plain form`)
    if (hasMmdblookup()) {
      const temporary = mkdtempSync(join(tmpdir(), 'geofix-'))
      try {
        const path = join(temporary, 'plain.mmdb')
        writeFileSync(path, plain)
        const { mmdblookup } = verifySamples(plain, path)
        console.log(`data/${file}: mmdblookup agrees for ${mmdblookup} addresses in its plain form`)
      } finally {
        rmSync(temporary, { recursive: true })
      }
    } else console.warn('skipped: mmdblookup is not installed (Debian: apt-get install mmdb-bin)')
  }
}

if (process.argv[1] === import.meta.filename) {
  for (const { file, problems } of checkData(DATA)) {
    if (problems.length === 0) console.log(`data/${file}: matches the manifest`)
    for (const problem of problems) console.error(`data/${file}: ${problem}`)
    if (problems.length > 0) process.exitCode = 1
  }
  if (process.exitCode === undefined) checkPackedFiles(DATA)
}
