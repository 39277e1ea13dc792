import { randomIPv4, seeded, skewed } from '../addresses.ts'

/** Formats of lines, named as `geofix enrich --format` names them. */
export type TrafficFormat = 'ndjson' | 'access-log'

const SEED = 20260606

/** Of services with skewed traffic. */
const POOL = 50_000

/** When the first line is written, and what is between two lines. ms */
const BEGIN = Date.UTC(2024, 5, 1)
const PACE = 350

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']

const AGENTS = [
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/125.0.0.0 Safari/537.36',
  'Mozilla/5.0 (X11; Linux x86_64; rv:126.0) Gecko/20100101 Firefox/126.0',
  'Mozilla/5.0 (Macintosh; Intel Mac OS X 14.5; rv:126.0) Gecko/20100101 Firefox/126.0',
  'curl/8.5.0',
]

/** A number from 0 to below a bound. */
type Draw = (bound: number) => number

/** Lines of a service with skewed traffic, each with its line feed; the same for the same count. */
export function* traffic(format: TrafficFormat, count: number): Generator<string> {
  const random = seeded(SEED)
  const draw: Draw = (bound) => Math.floor(random() * bound)
  const line = format === 'ndjson' ? ndjsonLine : combinedLine
  const addresses = skewed(randomIPv4(POOL, random), count, random)
  for (const [index, ip] of addresses.entries()) {
    yield `${line(index, ip, new Date(BEGIN + index * PACE).toISOString(), draw)}\n`
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
