import { Writable } from 'node:stream'
import { describe, expect, it } from 'vitest'
import { writeLine, writeMessage } from '../../src/cli/terminal.ts'

/** A stream that is full after each chunk until it has written it. */
function slowStream(): { stream: Writable; written: string[] } {
  const written: string[] = []
  const stream = new Writable({
    highWaterMark: 1,
    write: (chunk, _, done) => {
      setTimeout(() => {
        written.push(String(chunk))
        done()
      }, 5)
    },
  })
  return { stream, written }
}

describe('a slow reader', () => {
  it.each([
    ['writeLine', writeLine],
    ['writeMessage', writeMessage],
  ])('is waited for by %s', async (_, write) => {
    const { stream, written } = slowStream()
    await write(stream, 'one')
    expect(written).toHaveLength(1)
    await write(stream, 'two')
    expect(written.join('')).toMatch(/one\n.*two\n/s)
  })
})
