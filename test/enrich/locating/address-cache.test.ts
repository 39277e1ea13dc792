import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { AddressCache, UNKNOWN } from '../../../src/enrich/locating/address-cache.ts'
import { utf8 } from '../world.ts'

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
    'x'.repeat(72),
    'x'.repeat(73),
  ),
)

describe('the cache of addresses', () => {
  it('returns only the number of the same text', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(texts, fc.nat(1_000_000)), { maxLength: 60 }), (entries) => {
        const cache = new AddressCache()
        const known = new Map<string, number>()
        for (const [text, value] of entries) {
          const bytes = utf8(`"${text}"`)
          const cached = cache.get(bytes, 1, bytes.length - 1)
          if (cached === UNKNOWN) {
            cache.set(bytes, 1, bytes.length - 1, value)
            known.set(text, value)
          } else expect(cached).toBe(known.get(text))
        }
      }),
      { numRuns: 50 },
    )
  })

  it('keeps numbers until it is cleared', () => {
    const cache = new AddressCache()
    for (const [index, text] of ['81.2.69.142', '0.0.0.0', '2001:db8::1', 'nonsense'].entries()) {
      const bytes = utf8(text)
      expect(cache.get(bytes, 0, bytes.length)).toBe(UNKNOWN)
      cache.set(bytes, 0, bytes.length, index)
      expect(cache.get(bytes, 0, bytes.length)).toBe(index)
    }
    cache.clear()
    for (const text of ['81.2.69.142', '0.0.0.0', '2001:db8::1', 'nonsense']) {
      expect(cache.get(utf8(text), 0, text.length)).toBe(UNKNOWN)
    }
  })

  it('replaces a text by another in its slot, and does not keep texts that are too long', () => {
    const cache = new AddressCache()
    const count = 400_000
    for (let n = 0; n < count; n++) {
      const bytes = utf8(`${n & 255}.${(n >> 8) & 255}.${n >> 16}.7`)
      if (cache.get(bytes, 0, bytes.length) === UNKNOWN) cache.set(bytes, 0, bytes.length, n)
    }
    const last = utf8(`${(count - 1) & 255}.${((count - 1) >> 8) & 255}.${(count - 1) >> 16}.7`)
    expect(cache.get(last, 0, last.length)).toBe(count - 1)
    const long = utf8('y'.repeat(73))
    cache.get(long, 0, 73)
    cache.set(long, 0, 73, 1)
    expect(cache.get(long, 0, 73)).toBe(UNKNOWN)
  })
})
