// A log that is being written: lines arrive one by one, without long pauses.
import { afterEach, describe, expect, it } from 'vitest'
import { temporaryFolder } from '../../temporary.ts'
import { ndjson, start, writeDatabase } from './command-line.ts'

const DB = writeDatabase(temporaryFolder())

/** Between two lines: less than the pause after which lines are written. Milliseconds. */
const INTERVAL_MS = 20
/** What a line may take here. Its bound is 200 ms; a busy machine has its own. Milliseconds. */
const GENEROUS_MS = 3000

let stop = (): void => {}
afterEach(() => stop())

/** Sends a line every few milliseconds, and records when its output arrives. */
function follow(threads: string) {
  const child = start(['enrich', '--db', DB, '--quiet', '--stats', 'none', '--threads', threads])
  const sent: number[] = []
  const ages: number[] = []
  let rest = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    const lines = (rest + text).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) {
      const { id, location } = JSON.parse(line)
      if (location === undefined) throw new Error(`not enriched: ${line}`)
      ages[id] = performance.now() - (sent[id] ?? 0)
    }
  })
  const timer = setInterval(() => {
    child.stdin.write(ndjson(1, sent.length))
    sent.push(performance.now())
  }, INTERVAL_MS)
  stop = () => {
    clearInterval(timer)
    child.kill('SIGKILL')
  }
  return { ages, sent }
}

const until = async (what: string, isSo: () => boolean): Promise<void> => {
  const end = performance.now() + 20_000
  while (!isSo()) {
    if (performance.now() > end) throw new Error(`waited in vain for ${what}`)
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}

describe('geofix enrich on a steady stream', () => {
  it.each(['1', '2'])('writes each line while more arrive, on %s threads', async (threads) => {
    const { ages, sent } = follow(threads)
    await until('the first line', () => ages.length > 0)
    // Those that came while the command started waited for that.
    const from = sent.length
    await until('a hundred more', () => ages.length > from + 100)
    const later = ages.slice(from)
    expect(later).toHaveLength(Object.keys(later).length)
    expect(Math.max(...later)).toBeLessThan(GENEROUS_MS)
    later.sort((a, b) => a - b)
    expect(later[Math.floor(later.length / 2)]).toBeLessThan(GENEROUS_MS / 3)
  })
})
