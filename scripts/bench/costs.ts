// npm run bench:costs: what a whole process takes for 1, 1,000 and 100,000 random lookups, as the table in
// README.md of this folder says. Needs `npm run build`. Prints a Markdown table with the names of the files.
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gunzipSync } from 'node:zlib'
import { embedded } from '../../src/index.ts'
import { pack, unpack } from '../../src/writer.ts'
import { answerOf } from './child.ts'
import { measurement } from './row.ts'
import type { Whole } from './scenarios/packed.ts'

const LOOKUPS = [1, 1000, 100_000]
/** Processes for each figure. The table has their medians. */
const ROUNDS = 3

const whole = fileURLToPath(new URL('whole.mjs', import.meta.url))
const module = fileURLToPath(new URL('../../dist/index.js', import.meta.url))

interface Contender {
  readonly title: string
  readonly library: 'geofix' | 'none'
  readonly path: string
  readonly cacheBytes?: number
}

/** The medians of processes. */
async function medianCost(
  { library, path, cacheBytes }: Contender,
  lookups: number,
): Promise<Pick<Whole, 'processor' | 'peak'>> {
  const more = cacheBytes === undefined ? [] : [String(cacheBytes)]
  const args = [whole, library, module, path, String(lookups), ...more]
  const costs: Whole[] = []
  while (costs.length < ROUNDS)
    costs.push(await answerOf<Whole>({ name: library, file: process.execPath, args }))
  const [processor, peak] = [costs.map((cost) => cost.processor), costs.map((cost) => cost.peak)]
  return { processor: measurement(processor).median, peak: measurement(peak).median }
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
    const cells: string[] = []
    for (const lookups of LOOKUPS) {
      const { processor, peak } = await medianCost(contender, lookups)
      cells.push(`${timeText(processor)}, ${peak.toFixed(0)} MB`)
    }
    console.log(`| ${contender.title} | ${cells.join(' | ')} |`)
  }
} finally {
  rmSync(folder, { recursive: true })
}
