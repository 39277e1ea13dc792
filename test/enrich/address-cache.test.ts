import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { AddressCache, UNKNOWN } from '../../src/enrich/address-cache.ts'
import { utf8 } from './world.ts'

const texts = fc.oneof(
  fc.ipV4(),
  fc.ipV6(),
  fc.constantFrom(
    '',
    '0.0.0.0',
    '0.0.0.00',
    '1.2.3.4',
    '1.2.3.04',
    '1.2.3.4 ',
    '1.2.3.256',
    '255.255.255.255',
    '128.0.0.0',
    'x'.repeat(48),
    'x'.repeat(49),
  ),
)

describe('the memo of addresses', () => {
  it('says only what was said about the same text', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(texts, fc.nat(1_000_000)), { maxLength: 60 }), (entries) => {
        const memo = new AddressCache()
        const known = new Map<string, number>()
        for (const [text, value] of entries) {
          const bytes = utf8(`"${text}"`)
          const remembered = memo.get(bytes, 1, bytes.length - 1)
          if (remembered === UNKNOWN) {
            memo.set(bytes, 1, bytes.length - 1, value)
            known.set(text, value)
          } else expect(remembered).toBe(known.get(text))
        }
      }),
      { numRuns: 50 },
    )
  })

  it('remembers, until it is told to forget', () => {
    const memo = new AddressCache()
    for (const [index, text] of ['81.2.69.142', '0.0.0.0', '2001:db8::1', 'nonsense'].entries()) {
      const bytes = utf8(text)
      expect(memo.get(bytes, 0, bytes.length)).toBe(UNKNOWN)
      memo.set(bytes, 0, bytes.length, index)
      expect(memo.get(bytes, 0, bytes.length)).toBe(index)
    }
    memo.clear()
    for (const text of ['81.2.69.142', '0.0.0.0', '2001:db8::1', 'nonsense']) {
      expect(memo.get(utf8(text), 0, text.length)).toBe(UNKNOWN)
    }
  })

  it('forgets a text for another in its slot, and texts that are too long at once', () => {
    const memo = new AddressCache()
    const count = 400_000
    for (let n = 0; n < count; n++) {
      const bytes = utf8(`${n & 255}.${(n >> 8) & 255}.${n >> 16}.7`)
      if (memo.get(bytes, 0, bytes.length) === UNKNOWN) memo.set(bytes, 0, bytes.length, n)
    }
    const last = utf8(`${(count - 1) & 255}.${((count - 1) >> 8) & 255}.${(count - 1) >> 16}.7`)
    expect(memo.get(last, 0, last.length)).toBe(count - 1)
    const long = utf8('y'.repeat(49))
    memo.get(long, 0, 49)
    memo.set(long, 0, 49, 1)
    expect(memo.get(long, 0, 49)).toBe(UNKNOWN)
  })
})
