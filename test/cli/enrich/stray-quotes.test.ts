// Stray quotes in tables, on several threads and in a stream that does not end.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { temporaryFolder } from '../../temporary.ts'
import { geofix, start, writeDatabase } from './command-line.ts'

const folder = temporaryFolder()
const DB = writeDatabase(folder)
const ROWS = 30_000
/** Rows with a stray quote. Blocks have 256 KiB: some are in each, and some are far from the next. */
const isStray = (row: number): boolean => row % 1709 === 1000 || row % 20_000 === 7
/** Rows with text after a closing quote, which ends the doubt about a stray quote before them. */
const isDoubtful = (row: number): boolean => row % 5003 === 4000

function table(): string {
  const rows = Array.from({ length: ROWS }, (_, row) => {
    const note = isStray(row) ? '"oops' : isDoubtful(row) ? '"x" y' : `ok ${'.'.repeat(row % 60)}`
    return `${row},81.2.69.142,${note}\n`
  })
  return `id,ip,note\n${rows.join('')}`
}

let stop = (): void => {}
afterEach(() => stop())

describe('stray quotes', () => {
  it('lose no row on any number of threads, from files and pipes', async () => {
    const input = table()
    expect(input.length).toBeGreaterThan(4 * 256 * 1024)
    const path = join(folder, 'stray.csv')
    writeFileSync(path, input)
    const args = ['enrich', '--db', DB, '--fields', 'country_code', '--stats', 'json']
    const lines = input.split('\n').slice(1, -1)
    const stray = lines.filter((_, row) => isStray(row)).length
    for (const threads of ['1', '2', '4']) {
      for (const [more, surroundings] of [
        [[path], {}],
        [[], { input }],
      ] as const) {
        const { status, out, err } = await geofix([...args, '--threads', threads, ...more], surroundings)
        expect(status).toBe(0)
        const rows = out.split('\n').slice(1, -1)
        const expected = lines.map((line, row) => (isStray(row) ? line : `${line},GB`))
        expect(rows.findIndex((row, index) => row !== expected[index])).toBe(-1)
        expect(rows).toHaveLength(ROWS)
        expect(err).toContain(`"bad":${stray},`)
      }
    }
  })

  it.each([
    // The text after the closing quote of the last row says that the quote of the first was stray.
    ['1', [], '1,81.2.69.142,"oops\n2,81.2.69.142,ok\n3,1.2.3.4,"x" y\n'],
    ['2', [], '1,81.2.69.142,"oops\n2,81.2.69.142,ok\n3,1.2.3.4,"x" y\n'],
    // No later row is waited for.
    ['1', ['--max-record-lines', '1'], '1,81.2.69.142,"oops\n2,81.2.69.142,ok\n'],
    ['2', ['--max-record-lines', '1'], '1,81.2.69.142,"oops\n2,81.2.69.142,ok\n'],
    // The limit of lines ends the wait.
    ['1', ['--max-record-lines', '3'], '1,81.2.69.142,"oops\n2,81.2.69.142,ok\n3,1.2.3.4,ok\n4,1.2.3.4,ok\n'],
    ['2', ['--max-record-lines', '3'], '1,81.2.69.142,"oops\n2,81.2.69.142,ok\n3,1.2.3.4,ok\n4,1.2.3.4,ok\n'],
  ])('hold back no row of a stream that goes on, on %s threads with %j', async (threads, more, rows) => {
    const args = ['enrich', '--db', DB, '--fields', 'country_code', '--quiet', '--stats', 'none']
    const child = start([...args, '--threads', threads, ...more])
    stop = () => child.kill('SIGKILL')
    let out = ''
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      out += text
    })
    const until = async (count: number): Promise<void> => {
      const end = performance.now() + 20_000
      while (out.split('\n').length - 1 < count) {
        if (performance.now() > end)
          throw new Error(`waited in vain for ${count} rows; there is ${JSON.stringify(out)}`)
        await new Promise((resolve) => setTimeout(resolve, 5))
      }
    }
    // The plan is made from these rows.
    child.stdin.write('id,ip,note\n0,81.2.69.142,ok\n')
    await until(2)
    const lines = rows.trimEnd().split('\n')
    for (const line of lines) child.stdin.write(`${line}\n`)
    // The stream stays open.
    await until(2 + lines.length)
    const codes = lines.map((line) =>
      line.includes('"oops') ? line : `${line},${line.includes('81.2.69.142') ? 'GB' : 'AU'}`,
    )
    expect(out).toBe(`id,ip,note,country_code\n0,81.2.69.142,ok,GB\n${codes.join('\n')}\n`)
  })
})
