import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { JsonText, jsonRoom } from '../../../src/enrich/writing/json-text.ts'
import { bytesOf, utf8 } from '../world.ts'

/** The oracle: the platform's decoder and JSON. */
function expected(bytes: Uint8Array): string {
  return JSON.stringify(new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes)).slice(1, -1)
}

/** Written between other bytes, from between other bytes. */
function written(bytes: Uint8Array, shift: number): string {
  const given = new Uint8Array(shift + bytes.length + 4).fill(0x80)
  given.set(bytes, shift)
  const into = new Uint8Array(jsonRoom(bytes.length) + shift)
  const end = new JsonText().put(given, shift, shift + bytes.length, into, shift)
  expect(into.subarray(0, shift).every((byte) => byte === 0)).toBe(true)
  return new TextDecoder('utf-8', { ignoreBOM: true, fatal: true }).decode(into.subarray(shift, end))
}

describe('JsonText', () => {
  it.each([
    ['', 'nothing'],
    ['plain text, longer than a word', 'nothing to escape'],
    ['"\\/\b\f\n\r\t', 'short escapes'],
    ['\x00\x01\x1f\x7f', 'control characters; DEL is none for JSON'],
    ['é€𝄞\u2028\ufeff', 'characters of two, three and four bytes'],
  ])('%j: %s', (text) => {
    for (let shift = 0; shift < 4; shift++) expect(JSON.parse(`"${written(utf8(text), shift)}"`)).toBe(text)
  })

  it.each([
    ['\x80', 1, 'a continuation byte alone'],
    ['\xc0\x80', 2, 'an overlong NUL'],
    ['\xe0\x80\x80', 3, 'overlong'],
    ['\xed\xa0\x80', 3, 'a surrogate'],
    ['\xf0\x9f\x92', 1, 'an emoji that is cut off'],
    ['\xf4\x90\x80\x80', 4, 'over U+10FFFF'],
    ['\xff\xfe', 2, 'bytes that UTF-8 never has'],
    ['\xe2\x82a', 1, 'cut off by a letter'],
  ])('%j becomes %i U+FFFD: %s', (text, count) => {
    expect(written(bytesOf(text), 1).match(/\ufffd/g)).toHaveLength(count)
    expect(written(bytesOf(text), 1)).toBe(expected(bytesOf(text)))
  })

  it('does what the platform does with any bytes', () => {
    const odd = fc.constantFrom(
      0x22,
      0x5c,
      0x00,
      0x1f,
      0x41,
      0x7f,
      0x80,
      0xbf,
      0xc2,
      0xe0,
      0xe2,
      0xed,
      0xf0,
      0xf4,
      0xff,
    )
    const bytes = fc.array(fc.oneof(fc.integer({ min: 0, max: 255 }), odd), { maxLength: 40 })
    fc.assert(
      fc.property(bytes, fc.nat(3), (given, shift) => {
        const array = Uint8Array.from(given)
        expect(written(array, shift)).toBe(expected(array))
      }),
      { numRuns: 2000 },
    )
  })
})
