import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isMapped } from '../../../src/enrich/counting/values.ts'
import { AddressCache, AddressCounts, UNKNOWN } from '../../../src/enrich/locating/address-cache.ts'
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

  it('gives the words of the same text only, until it is cleared', () => {
    const cache = new AddressCache()
    const words = new Int32Array(4)
    const known = new Map<string, number>()
    const isKnown = (text: string): boolean => {
      const bytes = utf8(text)
      if (cache.get(bytes, 0, bytes.length) === UNKNOWN) cache.set(bytes, 0, bytes.length, 1)
      return cache.wordsInto(words)
    }
    // Several texts share a slot: there are 32,768.
    for (let index = 1; index < 60_000; index++) {
      const text = `2001:db8::${(index % 45_000).toString(16)}`
      if (isKnown(text)) expect(words[3]).toBe(known.get(text))
      else {
        known.set(text, index)
        cache.keepWords(Int32Array.of(0x2001_0db8, 0, 0, index))
        expect([isKnown(text), words[3]]).toEqual([true, index])
      }
    }
    expect(known.size).toBe(45_000)
    const long = 'x'.repeat(73)
    expect(isKnown(long)).toBe(false)
    cache.keepWords(words)
    expect(isKnown(long)).toBe(false)
    cache.clear()
    expect(isKnown('2001:db8::5')).toBe(false)
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

/** IPv4 addresses as signed numbers; few, so that they repeat, and all that are special to the table. */
const ipv4 = fc.oneof(fc.constantFrom(0, 1, -2, 2 ** 31 - 1, -(2 ** 31)), fc.integer({ min: 0, max: 5000 }))
/** The last two are those of IPv4 addresses in other spellings. */
const words = fc.constantFrom(
  [0, 0, 0, 0],
  [0x20010db8, 0, 0, 1],
  [0x20010db8, 0, 0, 2],
  [0, 0, 0xffff, -1],
  [0, 0, 0xffff, 7],
)
const lines = fc.array(
  fc.oneof(
    ipv4.map((address) => ({ ipv4: address, words: null, number: Math.abs(address) % 100 })),
    fc.tuple(fc.option(words), fc.nat(3)).map(([six, number]) => ({
      ipv4: null,
      words: six,
      number: six?.[3] === 7 ? 7 : number,
    })),
  ),
  { maxLength: 3000 },
)

interface Counted {
  readonly number: number
  readonly words: readonly number[] | null
  lines: number
}

function drained(counts: AddressCounts): Counted[] {
  const all: Counted[] = []
  counts.drain((number, each, times) => all.push({ number, words: each && [...each], lines: times }))
  return all
}

describe('the counts of addresses', () => {
  it('are those of the lines, in the order of their first lines', () => {
    fc.assert(
      fc.property(lines, (all) => {
        const counts = new AddressCounts()
        const expected = new Map<string, Counted>()
        for (const line of all) {
          const own = line.ipv4 === null ? line.words : [0, 0, 0xffff, line.ipv4]
          if (line.ipv4 === null)
            counts.addOther(line.number, line.words === null ? null : Int32Array.from(line.words))
          else {
            const known = expected.has(JSON.stringify([own, line.number]))
            expect(counts.numberOfIPv4(line.ipv4)).toBe(known ? line.number : UNKNOWN)
            counts.addIPv4(line.ipv4, line.number)
          }
          const key = JSON.stringify([own, line.number])
          const row = expected.get(key) ?? { number: line.number, words: own, lines: 0 }
          row.lines++
          expected.set(key, row)
        }
        expect(counts.size).toBe(expected.size)
        expect(drained(counts)).toEqual([...expected.values()])
        expect(counts.size).toBe(0)
        expect(drained(counts)).toEqual([])
      }),
      { numRuns: 50 },
    )
  })

  it('are full with half a million addresses, and can be used again', () => {
    const counts = new AddressCounts()
    let added = 0
    for (; !counts.isFull; added++) counts.addIPv4(Math.imul(added, 0x61c88647), added)
    expect(added).toBe(2 ** 19)
    let [drainedLines, next] = [0, 0]
    counts.drain((number, own, times) => {
      if (number !== next++ || own === null || !isMapped(own, 0)) throw new Error(`not in order: ${number}`)
      drainedLines += times
    })
    expect(drainedLines).toBe(added)
    expect(counts.isFull).toBe(false)
    expect(counts.numberOfIPv4(0)).toBe(UNKNOWN)
  })

  it('may repeat if they were given before', () => {
    const counts = new AddressCounts()
    const isMarked: boolean[] = []
    const drain = (): void => counts.drain(() => isMarked.push(counts.areDistinct))
    counts.addIPv4(7, 0)
    counts.clear()
    drain()
    counts.addIPv4(7, 0)
    counts.addOther(0, Int32Array.of(0x20010db8, 0, 0, 1))
    drain()
    counts.addIPv4(7, 0)
    drain()
    expect(isMarked).toEqual([true, true, false])
  })
})
