import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { quoted } from '../../src/address/quoted.ts'
import { anyCharacter } from '../any-character.ts'

describe('quoted', () => {
  it.each([
    ['', '""'],
    ['1.2.3', '"1.2.3"'],
    ['a "b" \\', '"a \\"b\\" \\\\"'],
    ['line\nfeed', '"line\\nfeed"'],
    ['\u001b[31m', '"\\u001b[31m"'],
    ['caf\u00e9 \u202e', '"caf\\u00e9 \\u202e"'],
    ['\ud83d\ude00', '"\\ud83d\\ude00"'],
    ['x'.repeat(60), `"${'x'.repeat(60)}"`],
    ['x'.repeat(61), `"${'x'.repeat(60)}"...`],
    ['\n'.repeat(60), `"${'\\n'.repeat(60)}"`],
  ])('%j is %s', (text, expected) => {
    expect(quoted(text)).toBe(expected)
  })

  it('is printable ASCII of limited length that parses to the start of the text', () => {
    fc.assert(
      fc.property(fc.string({ unit: anyCharacter, maxLength: 200 }), (text) => {
        const quote = quoted(text)
        expect(quote).toMatch(/^"[\x20-\x7e]{0,360}"(\.\.\.)?$/)
        expect(JSON.parse(quote.replace(/\.\.\.$/, ''))).toBe(text.slice(0, 60))
        expect(quote.endsWith('...')).toBe(text.length > 60)
      }),
    )
  })
})
