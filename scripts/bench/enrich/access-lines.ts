import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { randomPublicIPv4, seeded } from '../addresses.ts'

/** A real access log of 10,000 lines in the combined format, as it came. */
const REAL_LOG = join(import.meta.dirname, '../../../../shared/logs/apache-combined-10000.log.gz')

const LINES = 10_000
const SEED = 20261122

/** Lines of an access log, and whether they are real or generated in the shape of the real ones. */
export interface AccessLines {
  readonly lines: readonly string[]
  readonly areReal: boolean
}

export function accessLines(): AccessLines {
  if (!existsSync(REAL_LOG)) return { lines: generatedLines(), areReal: false }
  const text = gunzipSync(readFileSync(REAL_LOG)).toString('latin1')
  return { lines: text.split('\n').filter((line) => line !== ''), areReal: true }
}

/** A visitor asks for the same kind of things from one address with one user agent. */
interface Visitor {
  readonly ip: string
  readonly agent: string
  readonly isBot: boolean
}

/** Share of the lines that come from the visitor of the line before, and of new visitors among the others. */
const SHARE_OF_BURSTS = 0.57
const SHARE_OF_NEW_VISITORS = 0.4
const SHARE_OF_BOTS = 0.2

/** Time between two lines. */
const INTERVAL_MS = 30_000
const START_MS = Date.UTC(2015, 4, 17)

export const MONTHS = 'Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec'.split(' ')

/** Lines with the bursts, the lengths, the bots and the oddities of the real log. */
export function generatedLines(): string[] {
  const random = seeded(SEED)
  const draw = (bound: number): number => Math.floor(random() * bound)
  const visitors: Visitor[] = []
  let visitor = newVisitor(random)
  return Array.from({ length: LINES }, (_, index) => {
    if (random() > SHARE_OF_BURSTS) {
      // Few visitors come back most of the time.
      const known = visitors[Math.floor(random() ** 2 * visitors.length)]
      visitor = known === undefined || random() < SHARE_OF_NEW_VISITORS ? newVisitor(random) : known
      visitors.push(visitor)
    }
    const { ip, agent, isBot } = visitor
    const time = new Date(START_MS + index * INTERVAL_MS).toISOString()
    const stamp = `${time.slice(8, 10)}/${MONTHS[Number(time.slice(5, 7)) - 1]}/${time.slice(0, 4)}:${time.slice(11, 19)} +0000`
    const page = `/articles/${draw(400)}-notes/`
    const target = isBot ? page : `${page}images/figure-${draw(40)}.png`
    const referrer = isBot ? '-' : `http://www.example.org${page}`
    const [status, bytes] =
      draw(20) === 0 ? ['304', '-'] : draw(50) === 0 ? ['404', '294'] : ['200', draw(300_000)]
    const line = `${ip} - - [${stamp}] "GET ${target} HTTP/1.1" ${status} ${bytes} "${referrer}" "${agent}"`
    return odd(line, index)
  })
}

function newVisitor(random: () => number): Visitor {
  const draw = (bound: number): number => Math.floor(random() * bound)
  const isBot = random() < SHARE_OF_BOTS
  const versions = `${30 + draw(4)}.0.1${700 + draw(10)}.${draw(4)}7`
  const systems = [
    'Windows NT 6.1; WOW64',
    'Macintosh; Intel Mac OS X 10_9_1',
    'X11; Linux x86_64',
    'Windows NT 6.3; WOW64',
  ]
  const bots = [
    'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)',
    'Mozilla/5.0 (compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm)',
    'UniversalFeedParser/4.2-pre-314-svn +http://feedparser.org/',
    '-',
  ]
  const browser = `Mozilla/5.0 (${systems[draw(4)]}) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/${versions} Safari/537.36`
  return { ip: randomPublicIPv4(random), agent: isBot ? (bots[draw(4)] ?? '-') : browser, isBot }
}

/** Some lines of a log are not as they should be: a quote is missing, a request is not HTTP, or a field is very long. */
function odd(line: string, index: number): string {
  switch (index % 2500) {
    case 1200:
      return line.slice(0, -1)
    case 1700:
      return line.replace(/"GET [^"]*" \d+/, '"-" 408')
    case 2300:
      return line.replace('HTTP/1.1', `?${'q=night&'.repeat(140)} HTTP/1.1`)
    default:
      return line
  }
}
