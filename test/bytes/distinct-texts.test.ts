import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { DistinctTexts, NONE } from '../../src/bytes/distinct-texts.ts'
import { viewOf } from '../../src/enrich/swar.ts'
import { effort } from '../effort.ts'

describe('distinct texts', () => {
  it('have the numbers in the order in which they came, wherever they are in the bytes', () => {
    const texts = new DistinctTexts()
    const text = fc.oneof(fc.string({ maxLength: 9, unit: fc.constantFrom('a', 'b', '\0') }), fc.string())
    fc.assert(
      fc.property(fc.array(text, { maxLength: 200 }), fc.string({ maxLength: 5 }), (all, before) => {
        texts.clear()
        const known: string[] = []
        for (const each of all) {
          const bytes = Buffer.from(`${before}${each}${before}`)
          const start = Buffer.byteLength(before)
          const place = [bytes, viewOf(bytes), start, start + Buffer.byteLength(each)] as const
          expect(texts.find(...place)).toBe(known.includes(each) ? known.indexOf(each) : NONE)
          if (!known.includes(each)) known.push(each)
          expect(texts.numberOf(...place)).toBe(known.indexOf(each))
        }
        expect(
          Array.from({ length: texts.count }, (_, number) => Buffer.from(texts.textOf(number)).toString()),
        ).toEqual(known)
      }),
      { numRuns: effort({ short: 50, long: 500 }) },
    )
  })

  it.each([
    ['the pattern of a shift of 15 bits', 0x8001_0000],
    ['the same bit', 0x8000_0000],
    ['another bit', 0x0000_0100],
  ])('do not collide by differences that cancel out: %s', (_, difference) => {
    let reads = 0
    const texts = new DistinctTexts()
    const pairs = 10
    for (let number = 0; number < 2 ** pairs; number++) {
      const bytes = new Uint8Array(16 * pairs + 16)
      const view = new DataView(bytes.buffer)
      view.getInt32 = (...place) => {
        reads++
        return DataView.prototype.getInt32.apply(view, place)
      }
      for (let pair = 0; pair < pairs; pair++) {
        if (((number >>> pair) & 1) === 0) continue
        view.setUint32(16 * pair, 0x8000_0000, true)
        view.setUint32(16 * pair + 8, difference, true)
      }
      expect(texts.numberOf(bytes, view, 0, bytes.length)).toBe(number)
    }
    // A text is read once for its hash, and compared with those that have the same one.
    expect(reads / texts.count).toBeLessThan(4 * (4 * pairs + 4))
  })
})
