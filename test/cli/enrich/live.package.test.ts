// A log that is being written: lines arrive one by one, without long pauses.
import { afterEach, describe, expect, it } from 'vitest'
import { temporaryFolder } from '../../temporary.ts'
import { start } from './child.ts'
import { ndjson, writeDatabase } from './command-line.ts'

const DB = writeDatabase(temporaryFolder())

/** Between two lines: less than the pause after which lines are written. Milliseconds. */
const INTERVAL_MS = 20

let stop = (): void => {}
afterEach(() => stop())

/** Sends a line every few milliseconds, and records which lines arrive. */
function follow(threads: string) {
  const child = start(['enrich', '--db', DB, '--quiet', '--stats', 'none', '--threads', threads])
  let sent = 0
  const arrived = new Set<number>()
  let rest = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    const lines = (rest + text).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) {
      const { id, location } = JSON.parse(line)
      if (location === undefined) throw new Error(`not enriched: ${line}`)
      arrived.add(id)
    }
  })
  const timer = setInterval(() => {
    child.stdin.write(ndjson(1, sent++))
  }, INTERVAL_MS)
  stop = () => {
    clearInterval(timer)
    child.kill('SIGKILL')
  }
  return { arrived, sent: () => sent }
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
    const { arrived, sent } = follow(threads)
    await until('the first line', () => arrived.size > 0)
    const from = sent()
    await until('a hundred more', () => arrived.size > from + 100)
    // No line is missing. A hundred lines are much less than a block, and the input has not ended.
    expect([...arrived]).toEqual(Array.from(arrived, (_, index) => index))
  })
})
