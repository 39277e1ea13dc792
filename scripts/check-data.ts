// Checks data/city.mmdb.gz and data/country.mmdb.gz against data/manifest.json: npm run check-data.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { differences, type Manifest } from './build-data/manifest.ts'

/** Problems of each file that the manifest in a folder lists; empty if the file matches the manifest. */
export function checkData(folder: string): { file: string; problems: string[] }[] {
  const manifest: Manifest = JSON.parse(readFileSync(join(folder, 'manifest.json'), 'utf8'))
  return manifest.files.map((expected) => {
    try {
      const bytes = readFileSync(join(folder, expected.file))
      return { file: expected.file, problems: differences(expected, manifest.buildDate, bytes) }
    } catch (error) {
      return { file: expected.file, problems: [error instanceof Error ? error.message : String(error)] }
    }
  })
}

if (process.argv[1] === import.meta.filename) {
  for (const { file, problems } of checkData(join(import.meta.dirname, '../data'))) {
    if (problems.length === 0) console.log(`data/${file}: matches the manifest`)
    for (const problem of problems) console.error(`data/${file}: ${problem}`)
    if (problems.length > 0) process.exitCode = 1
  }
}
