// npm run bench:costs: what a whole process takes for 1, 1,000 and 100,000 random lookups, as the table in
// README.md of this folder says. Needs `npm run build`. Prints a Markdown table with the names of the files.
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gunzipSync } from 'node:zlib'
import { embedded } from '../../src/index.ts'
import { pack, unpack } from '../../src/writer.ts'
import { measurement } from './row.ts'

const LOOKUPS = [1, 1000, 100_000]
/** Processes for each figure. The table has their medians. */
const ROUNDS = 3

const whole = fileURLToPath(new URL('whole.mjs', import.meta.url))
const module = fileURLToPath(new URL('../../dist/index.js', import.meta.url))

/** What one process took: milliseconds of processor time, and megabytes of resident memory at its peak. */
interface Cost {
  readonly processor: number
  readonly peak: number
}

interface Contender {
  readonly title: string
  readonly library: 'geofix' | 'none'
  readonly path: string
  readonly cacheBytes?: number
}

function costOf({ library, path, cacheBytes }: Contender, lookups: number): Cost {
  const more = cacheBytes === undefined ? [] : [String(cacheBytes)]
  const args = [whole, library, module, path, String(lookups), ...more]
  const cost: unknown = JSON.parse(execFileSync(process.execPath, args, { encoding: 'utf8' }))
  if (typeof cost === 'object' && cost !== null && 'processor' in cost && 'peak' in cost) {
    const { processor, peak } = cost
    if (typeof processor === 'number' && typeof peak === 'number') return { processor, peak }
  }
  throw new TypeError('whole.mjs printed something else')
}

function medianCost(contender: Contender, lookups: number): Cost {
  const costs = Array.from({ length: ROUNDS }, () => costOf(contender, lookups))
  return {
    processor: measurement(costs.map(({ processor }) => processor)).median,
    peak: measurement(costs.map(({ peak }) => peak)).median,
  }
}

function timeText(milliseconds: number): string {
  return `${(milliseconds / 1000).toFixed(milliseconds < 10_000 ? 2 : 0)} s`
}

function megabytes(bytes: number): string {
  return `${(bytes / 1e6).toPrecision(3)} MB`
}

function contendersIn(folder: string): Contender[] {
  const written = (name: string, bytes: Uint8Array): string => {
    const path = join(folder, name)
    writeFileSync(path, bytes)
    return path
  }
  const [city, country] = [fileURLToPath(embedded.city), fileURLToPath(embedded.country)]
  const plainCountry = gunzipSync(readFileSync(country))
  const files = [
    ['`city.mmdb.packed`, embedded', city],
    ['`city.mmdb`, unpacked', written('city.mmdb', unpack(readFileSync(city)))],
    ['`country.mmdb.gz`, embedded', country],
    ['`country.mmdb`, unpacked', written('country.mmdb', plainCountry)],
    ['`country.mmdb.packed`', written('country.mmdb.packed', pack(plainCountry))],
  ] as const
  const contenders = files.map(([name, path]): Contender => {
    return { title: `${name}, ${megabytes(statSync(path).size)}`, library: 'geofix', path }
  })
  for (const power of [25, 24]) {
    const title = `${contenders[0]?.title}, \`cacheBytes: 2 ** ${power}\``
    contenders.push({ title, library: 'geofix', path: city, cacheBytes: 2 ** power })
  }
  return [...contenders, { title: 'an empty process', library: 'none', path: '' }]
}

const folder = mkdtempSync(join(tmpdir(), 'geofix-costs-'))
try {
  console.log(
    `| database | ${LOOKUPS.map((count) => (count === 1 ? '1 lookup' : `${count.toLocaleString('en')} lookups`)).join(' | ')} |`,
  )
  console.log(`| --- |${' --- |'.repeat(LOOKUPS.length)}`)
  for (const contender of contendersIn(folder)) {
    const cells = LOOKUPS.map((lookups) => {
      const { processor, peak } = medianCost(contender, lookups)
      return `${timeText(processor)}, ${peak.toFixed(0)} MB`
    })
    console.log(`| ${contender.title} | ${cells.join(' | ')} |`)
  }
} finally {
  rmSync(folder, { recursive: true })
}
