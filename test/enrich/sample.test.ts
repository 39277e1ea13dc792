import { describe, expect, it } from 'vitest'
import { SAMPLE_BYTES, SampleSize } from '../../src/enrich/sample.ts'
import { chunked, utf8 } from './world.ts'

/** @returns bytes that were wanted in the end, and those that were read until there were enough */
function wanted(text: string, maxLineBytes: number, chunkBytes = 0): { wanted: number; read: number } {
  const size = new SampleSize(maxLineBytes)
  for (const chunk of chunked(utf8(text), [chunkBytes])) {
    if (size.length >= size.wanted) break
    size.add(chunk)
  }
  return { wanted: size.wanted, read: size.length }
}

const LONG = SAMPLE_BYTES * 2
const long = (end: string, length = LONG) => `${'a,'.repeat((length - end.length) / 2)}${end}`

describe('SampleSize', () => {
  it.each<[string, string, number]>([
    ['256 KiB of short lines', 'a,b\n'.repeat(SAMPLE_BYTES), SAMPLE_BYTES],
    ['a long header and a record', `${long('b\n')}c\n${long('b\n')}`, LONG + 2],
    ['a long record', `a\n${long('b\n')}${long('b\n')}`, LONG + 2],
    ['a long header after empty lines', `\n\r\n${long('b\n')}c\n${long('b\n')}`, LONG + 5],
    ['a long header after that of the separator', `sep=,\n${long('b\n')}${long('b\n')}`, LONG + 6],
    ['a header with line feeds in quotes', `"a\nb\nc",${long('b\n')}c\n${long('b\n')}`, LONG + 10],
    ['as far as lines may reach', long('b', 10 * LONG), 2 ** 20 + SAMPLE_BYTES],
  ])('is enough for the first lines: %s', (_, text, size) => {
    expect(wanted(text, 2 ** 20).wanted).toBe(size)
  })

  it('reads no further than it wants and one chunk', () => {
    expect(wanted(`${long('b\n')}c\n${long('b\n')}`, 2 ** 20, 1000).read).toBe(
      Math.ceil((LONG + 2) / 1000) * 1000,
    )
    expect(wanted(long('b', 10 * LONG), 10, 1000).read).toBe(Math.ceil((10 + SAMPLE_BYTES) / 1000) * 1000)
  })
})
