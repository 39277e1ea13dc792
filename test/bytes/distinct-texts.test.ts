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
})
