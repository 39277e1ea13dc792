// Stray quotes in a stream that does not end.
import { afterEach, describe, expect, it } from 'vitest'
import { temporaryFolder } from '../../temporary.ts'
import { start } from './child.ts'
import { writeDatabase } from './command-line.ts'

const folder = temporaryFolder()
const DB = writeDatabase(folder)

let stop = (): void => {}
afterEach(() => stop())

describe('stray quotes', () => {
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
