import { describe, expect, it } from 'vitest'
import { type WideEncoding, wideEncodingOf } from '../../src/enrich/encoding.ts'
import { utf8 } from './in-memory-run.ts'

const TABLE = 'ip,a\r\n81.2.69.142,1\r\n10.0.0.1,2\r\n'

/** A text in an encoding, by its definition. */
function encoded(text: string, encoding: WideEncoding): Uint8Array {
  const isWide = encoding.startsWith('UTF-32')
  const units = isWide
    ? Array.from(text, (character) => character.codePointAt(0) ?? 0)
    : Array.from({ length: text.length }, (_, index) => text.charCodeAt(index))
  const size = isWide ? 4 : 2
  const bytes = new Uint8Array(units.length * size)
  const view = new DataView(bytes.buffer)
  const isLittle = encoding.endsWith('LE')
  for (const [index, unit] of units.entries()) {
    if (isWide) view.setUint32(index * size, unit, isLittle)
    else view.setUint16(index * size, unit, isLittle)
  }
  return bytes
}

const ENCODINGS: readonly WideEncoding[] = ['UTF-16LE', 'UTF-16BE', 'UTF-32LE', 'UTF-32BE']

describe('wideEncodingOf', () => {
  const cases = ENCODINGS.flatMap((encoding) => [
    { encoding, kind: 'with a mark', text: `\ufeff${TABLE}` },
    { encoding, kind: 'of other letters with a mark', text: '\ufeffАдрес\r\n' },
    { encoding, kind: 'with a mark and nothing more', text: '\ufeff' },
    { encoding, kind: 'without a mark', text: TABLE },
    { encoding, kind: 'of one short line without a mark', text: '::1\n' },
    { encoding, kind: 'with other letters in it without a mark', text: 'ip;Straße\n81.2.69.142;Ижевск\n' },
    { encoding, kind: 'longer than what is looked at', text: TABLE.repeat(100) },
  ])
  it.each(cases)('knows $encoding $kind (trial fault 6)', ({ encoding, text }) => {
    expect(wideEncodingOf(encoded(text, encoding))).toBe(encoding)
  })

  it.each([
    ['nothing', ''],
    ['one character', '1'],
    ['text', TABLE],
    ['text with a mark', `\ufeff${TABLE}`],
    ['NUL bytes at the start of a log that a crash left', `${'\0'.repeat(2000)}\n${TABLE}`],
    ['NUL bytes at the end', `${TABLE}${'\0'.repeat(100)}`],
    ['nothing but NUL bytes', '\0'.repeat(100)],
    ['NUL bytes between addresses', '8.8.8.8\0'.repeat(50)],
    ['a NUL byte', `a\0b,ip\n${TABLE}`],
  ])('takes no UTF-8 for another encoding: %s', (_, text) => {
    expect(wideEncodingOf(utf8(text))).toBeNull()
  })
})
