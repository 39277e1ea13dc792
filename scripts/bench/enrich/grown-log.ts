import { createHash } from 'node:crypto'
import { createWriteStream, existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { isDeepStrictEqual } from 'node:util'
import { randomPublicIPv4, seeded } from '../addresses.ts'
import { MONTHS } from './access-lines.ts'

/** Formats of `geofix enrich --format`. */
export type LogFormat = 'access-log' | 'ndjson' | 'csv'

const SEED = 20261122

/** The repetitions of the log begin on days in this range. */
const DAYS = 57
const FIRST_DAY_MS = Date.UTC(2026, 2, 1)
const DAY_MS = 86_400_000

const SHARE_OF_IPV6 = 0.05

/** Networks of IPv6 that registries allocate from. */
const IPV6_STARTS = ['2001', '2400', '2600', '2a00', '2a01', '2a02', '2804']

/**
 * Repeats the lines of an access log until there are `count`. Each repetition has other addresses, one for each address of
 * the original, and other days; bursts, user agents, sizes and odd lines stay.
 */
export function* grow(lines: readonly string[], count: number): Generator<string> {
  const random = seeded(SEED)
  const first = dayOf(lines[0] ?? '')
  for (let repetition = 0, left = count; left > 0; repetition++) {
    const addresses = new Map<string, string>()
    const moved = FIRST_DAY_MS + (repetition % DAYS) * DAY_MS
    for (const line of lines) {
      if (left-- === 0) return
      const space = line.indexOf(' ')
      const ip = line.slice(0, space)
      const other = addresses.get(ip) ?? randomAddress(random)
      addresses.set(ip, other)
      const day = clfDay(moved + dayOf(line) - first)
      yield other + line.slice(space).replace(/\[\d\d\/\w{3}\/\d{4}:/, `[${day}:`)
    }
  }
}

/** Midnight of the day in a line, in milliseconds. */
function dayOf(line: string): number {
  const [, day = '1', month = 'Jan', year = '1970'] = /\[(\d\d)\/(\w{3})\/(\d{4}):/.exec(line) ?? []
  return Date.UTC(Number(year), MONTHS.indexOf(month), Number(day))
}

function clfDay(midnight: number): string {
  const date = new Date(midnight)
  return `${String(date.getUTCDate()).padStart(2, '0')}/${MONTHS[date.getUTCMonth()]}/${date.getUTCFullYear()}`
}

function randomAddress(random: () => number): string {
  if (random() >= SHARE_OF_IPV6) return randomPublicIPv4(random)
  const group = (): string => Math.floor(random() * 0x10000).toString(16)
  return `${IPV6_STARTS[Math.floor(random() * IPV6_STARTS.length)]}:${group()}:${group()}::${group()}`
}

const COMBINED =
  /^(\S+) \S+ \S+ \[(\d\d)\/(\w{3})\/(\d{4}):(\d\d:\d\d:\d\d) \+0000\] "(\S+) (\S+) HTTP\/(\S+)" (\d+) (\d+|-) "([^"]*)" "([^"]*)"$/

/** The first line of the format; `''` if it has none. */
export const HEADERS: Readonly<Record<LogFormat, string>> = {
  'access-log': '',
  ndjson: '',
  csv: 'time,client_ip,method,path,status,bytes,referrer,user_agent\n',
}

/** A line of an access log in another format, with its line feed. */
export function inFormat(format: LogFormat, line: string): string {
  if (format === 'access-log') return `${line}\n`
  const parts = COMBINED.exec(line)
  if (parts === null)
    return format === 'ndjson' ? unreadEvent(line) : `,${csvRow(line.split(' ', 1))},,,,,,\n`
  const [, ip = '', day = '', month = '', year = '', clock = '', ...request] = parts
  const time = `${year}-${String(MONTHS.indexOf(month) + 1).padStart(2, '0')}-${day}T${clock}`
  if (format === 'ndjson') return ecsEvent(ip, `${time}.000Z`, request)
  const [method = '', path = '', , status = '', bytes = '', referrer = '', agent = ''] = request
  return `${csvRow([`${time}Z`, ip, method, path, status, bytes === '-' ? '0' : bytes, referrer, agent])}\n`
}

function csvRow(cells: readonly string[]): string {
  return cells.map((cell) => (/[",\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell)).join(',')
}

/** What each event of a collector says of itself. */
const COLLECTOR = {
  ecs: { version: '8.11.0' },
  agent: {
    type: 'filebeat',
    version: '8.19.2',
    id: '6f2d2b0e-6a9f-4c55-9a57-0d1a4b7f0c11',
    name: 'web-1',
  },
  host: { name: 'web-1', os: { family: 'debian', version: '12' }, ip: ['10.0.3.17'] },
  service: { type: 'nginx' },
  input: { type: 'log' },
  log: { file: { path: '/var/log/nginx/access.log' } },
}

/** An event in the Elastic Common Schema, as a collector makes it from a line of an access log. */
function ecsEvent(ip: string, time: string, request: readonly string[]): string {
  const [method, path, version, status, bytes, referrer, agent] = request
  const event = {
    '@timestamp': time,
    ...COLLECTOR,
    event: {
      kind: 'event',
      category: ['web'],
      type: ['access'],
      dataset: 'nginx.access',
      outcome: Number(status) < 400 ? 'success' : 'failure',
    },
    client: { ip },
    http: {
      version,
      request: { method, referrer },
      response: { status_code: Number(status), body: { bytes: Number(bytes) || 0 } },
    },
    url: { original: path, domain: 'www.example.org', scheme: 'https' },
    user_agent: { original: agent },
  }
  return `${JSON.stringify(event)}\n`
}

function unreadEvent(message: string): string {
  const error = { message: 'Provided Grok expressions do not match field value' }
  return `${JSON.stringify({ '@timestamp': '2026-03-01T00:00:00.000Z', ...COLLECTOR, message, error })}\n`
}

/** A grown log on disk. */
export interface GrownLog {
  readonly path: string
  readonly lines: number
  /** Two files with half of the lines each. */
  readonly halves: readonly [string, string]
}

/** Writes the log in `folder`, unless it is there with the same content. */
export async function grownLog(
  folder: string,
  format: LogFormat,
  lines: readonly string[],
  count: number,
): Promise<GrownLog> {
  const path = join(folder, `grown-${count}.${format === 'access-log' ? 'log' : format}`)
  const halves: [string, string] = [`${path}.1`, `${path}.2`]
  const written = [path, ...halves]
  const sample = createHash('sha256')
    .update(firstLines(format, lines, 1000))
    .update(lines.join('\n'))
    .digest('hex')
  const content = () => ({ sample, bytes: written.map((each) => statSync(each).size) })
  // Written last, so an interrupted run leaves no note.
  const note = `${path}.json`
  const isThere = [note, ...written].every((each) => existsSync(each))
  if (!isThere || !isDeepStrictEqual(JSON.parse(readFileSync(note, 'utf8')), content())) {
    await pipeline(Readable.from(blocks(format, lines, 0, count, count)), createWriteStream(path))
    const middle = count >> 1
    await pipeline(Readable.from(blocks(format, lines, 0, middle, count)), createWriteStream(halves[0]))
    await pipeline(Readable.from(blocks(format, lines, middle, count, count)), createWriteStream(halves[1]))
    writeFileSync(note, JSON.stringify(content()))
  }
  return { path, lines: count, halves }
}

/** The first lines of a grown log, with its header. */
export function firstLines(format: LogFormat, lines: readonly string[], count: number): string {
  return [...blocks(format, lines, 0, count, count)].join('')
}

/** Lines in a write. */
const BLOCK_LINES = 1000

/** The header, and the lines from one number up to another, of a grown log of `count` lines. */
function* blocks(
  format: LogFormat,
  lines: readonly string[],
  from: number,
  to: number,
  count: number,
): Generator<string> {
  let block = [HEADERS[format]]
  let number = 0
  for (const line of grow(lines, count)) {
    if (number >= to) break
    if (number++ < from) continue
    if (block.push(inFormat(format, line)) < BLOCK_LINES) continue
    yield block.join('')
    block = []
  }
  yield block.join('')
}
