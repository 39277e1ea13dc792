// Streams that do not end: a log that is being written, whose lines arrive one by one without long pauses, and stray quotes.
import { describe, expect, it, onTestFinished } from 'vitest'
import { start } from './child.ts'
import { ndjson, workspace } from './command-line.ts'

const { DB } = workspace()

/** Between two lines: less than the pause after which lines are written. Milliseconds. */
const INTERVAL_MS = 20

/** Starts a run whose input stays open, and keeps the lines that it has written. */
function follow(...args: string[]) {
  const child = start(['enrich', '--db', DB, '--quiet', '--stats', 'none', ...args])
  onTestFinished(() => void child.kill('SIGKILL'))
  let out = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    out += text
  })
  return { child, lines: () => out.split('\n').slice(0, -1) }
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
    const { child, lines } = follow('--threads', threads)
    let sent = 0
    const timer = setInterval(() => child.stdin.write(ndjson(1, sent++)), INTERVAL_MS)
    await until('the first line', () => lines().length > 0)
    const from = sent
    await until('a hundred more', () => lines().length > from + 100)
    clearInterval(timer)
    // No line is missing. A hundred lines are much less than a block, and the input has not ended.
    const objects = lines().map((line) => JSON.parse(line))
    expect(objects.map(({ id }) => id)).toEqual(Array.from(objects, (_, index) => index))
    expect(objects.filter(({ location }) => location === undefined)).toEqual([])
  })
})

describe('stray quotes', () => {
  it.each([
    // The text after the closing quote of the last row says that the quote of the first was stray.
    ['2', [], '1,81.2.69.142,"oops\n2,81.2.69.142,ok\n3,1.2.3.4,"x" y\n'],
    // No later row is waited for.
    ['1', ['--max-record-lines', '1'], '1,81.2.69.142,"oops\n2,81.2.69.142,ok\n'],
    // The limit of lines ends the wait.
    ['2', ['--max-record-lines', '3'], '1,81.2.69.142,"oops\n2,81.2.69.142,ok\n3,1.2.3.4,ok\n4,1.2.3.4,ok\n'],
  ])('hold back no row of a stream that goes on, on %s threads with %j', async (threads, more, rows) => {
    const { child, lines: written } = follow('--fields', 'country_code', '--threads', threads, ...more)
    const rowsCome = (count: number) => until(`${count} rows`, () => written().length >= count)
    // The plan is made from these rows.
    child.stdin.write('id,ip,note\n0,81.2.69.142,ok\n')
    await rowsCome(2)
    const lines = rows.trimEnd().split('\n')
    for (const line of lines) child.stdin.write(`${line}\n`)
    // The stream stays open.
    await rowsCome(2 + lines.length)
    const codes = lines.map((line) =>
      line.includes('"oops') ? line : `${line},${line.includes('81.2.69.142') ? 'GB' : 'AU'}`,
    )
    expect(written()).toEqual(['id,ip,note,country_code', '0,81.2.69.142,ok,GB', ...codes])
  })
})
