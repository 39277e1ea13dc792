import { createHash } from 'node:crypto'
import {
  createReadStream,
  createWriteStream,
  existsSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { isDeepStrictEqual } from 'node:util'
import { createGzip } from 'node:zlib'
import { randomIPv4, seeded, skewed } from '../addresses.ts'

/** Formats of `geofix enrich --format`. */
export type TrafficFormat = 'ndjson' | 'access-log'

const SEED = 20260606

/** Distinct addresses. */
const POOL_ADDRESSES = 50_000

/** Time of the first line, and time between two lines. */
const START_MS = Date.UTC(2024, 5, 1)
const INTERVAL_MS = 350

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']

const AGENTS = [
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/125.0.0.0 Safari/537.36',
  'Mozilla/5.0 (X11; Linux x86_64; rv:126.0) Gecko/20100101 Firefox/126.0',
  'Mozilla/5.0 (Macintosh; Intel Mac OS X 14.5; rv:126.0) Gecko/20100101 Firefox/126.0',
  'curl/8.5.0',
]

/** A random integer from 0 to below a bound. */
type Draw = (bound: number) => number

/** Lines of skewed traffic with their line feeds, always the same for the same count. */
export function* traffic(format: TrafficFormat, count: number): Generator<string> {
  const random = seeded(SEED)
  const draw: Draw = (bound) => Math.floor(random() * bound)
  const line = format === 'ndjson' ? ndjsonLine : combinedLine
  const addresses = skewed(randomIPv4(POOL_ADDRESSES, random), count, random)
  for (const [index, ip] of addresses.entries()) {
    yield `${line(index, ip, new Date(START_MS + index * INTERVAL_MS).toISOString(), draw)}\n`
  }
}

/** An event of an application: 130 bytes. */
function ndjsonLine(index: number, ip: string, time: string, draw: Draw): string {
  return JSON.stringify({
    id: index,
    client_ip: ip,
    ts: `${time.slice(0, 19)}Z`,
    path: `/shop/page/${draw(1000)}`,
    ms: draw(300),
    ok: draw(50) > 0,
    user: `user-${draw(10_000)}`,
  })
}

/** A line of a log in the combined format: 200 bytes. */
function combinedLine(index: number, ip: string, time: string, draw: Draw): string {
  const month = MONTHS[Number(time.slice(5, 7)) - 1] ?? ''
  const stamp = `${time.slice(8, 10)}/${month}/${time.slice(0, 4)}:${time.slice(11, 19)} +0000`
  const user = draw(20) === 0 ? `user-${draw(100)}` : '-'
  const method = draw(10) === 0 ? 'POST' : 'GET'
  const [status, bytes] = draw(12) === 0 ? ['304', '-'] : ['200', String(1000 + draw(60_000))]
  const referrer = draw(4) === 0 ? '-' : `https://www.example.org/shop/list/${draw(100)}`
  const agent = AGENTS[draw(AGENTS.length)] ?? ''
  const request = `${method} /shop/page/${index % 1000}/index.html HTTP/1.1`
  return `${ip} - ${user} [${stamp}] "${request}" ${status} ${bytes} "${referrer}" "${agent}"`
}

/** Lines at the start that identify the content of a file. */
const SAMPLE_LINES = 1000

/** Lines per write. */
const BATCH_LINES = 1000

/** A file of traffic, uncompressed and compressed. */
export interface TrafficFile {
  readonly path: string
  readonly packed: string
}

/** Generates the file in `folder` unless it exists with the same content. */
export async function trafficFile(
  folder: string,
  format: TrafficFormat,
  lines: number,
): Promise<TrafficFile> {
  const path = join(folder, `enrich-${lines}.${format === 'ndjson' ? 'ndjson' : 'log'}`)
  const file = { path, packed: `${path}.gz` }
  const sample = createHash('sha256')
    .update(firstLines(format, SAMPLE_LINES, lines))
    .digest('hex')
  // Written last, so an interrupted run leaves no note.
  const note = `${path}.json`
  const isThere = [note, file.path, file.packed].every((each) => existsSync(each))
  if (isThere && isDeepStrictEqual(JSON.parse(readFileSync(note, 'utf8')), contents(file, sample)))
    return file
  await pipeline(Readable.from(blocks(traffic(format, lines))), createWriteStream(file.path))
  await pipeline(createReadStream(file.path), createGzip(), createWriteStream(file.packed))
  writeFileSync(note, JSON.stringify(contents(file, sample)))
  return file
}

/** The first `count` lines of a file with `lines` lines. */
export function firstLines(format: TrafficFormat, count: number, lines: number): string {
  let text = ''
  let left = count
  for (const line of traffic(format, lines)) {
    if (left-- === 0) break
    text += line
  }
  return text
}

function contents({ path, packed }: TrafficFile, sample: string) {
  return { sample, bytes: statSync(path).size, packedBytes: statSync(packed).size }
}

function* blocks(lines: Iterable<string>): Generator<string> {
  let block: string[] = []
  for (const line of lines) {
    if (block.push(line) < BATCH_LINES) continue
    yield block.join('')
    block = []
  }
  yield block.join('')
}
