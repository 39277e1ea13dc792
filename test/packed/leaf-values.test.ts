import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { decodeLeaves, encodeLeaves, type Leaves } from '../../src/packed/leaf-block.ts'

const fault = (why: string): Error => new Error(why)

/** A block of IPv4 networks of the same size, with values. */
function blockOf(values: readonly number[]): Leaves {
  const shape = { base: 96, valueCount: 70_000 }
  const start = new Uint32Array(4)
  const end = start.slice()
  const streams = encodeLeaves(new Uint8Array(values.length).fill(20), Uint32Array.from(values), end, shape)
  return decodeLeaves(streams, { count: values.length, start, end, shape }, fault)
}

describe('LeafValues', () => {
  /** Few values, near and far ones, and enough of them to push some out of the list. */
  const value = fc.oneof(
    { weight: 4, arbitrary: fc.integer({ min: 0, max: 5 }) },
    { weight: 2, arbitrary: fc.integer({ min: 0, max: 350 }) },
    { weight: 1, arbitrary: fc.integer({ min: 0, max: 69_999 }) },
  )

  it('traces the value of any leaf, and decodes all', () => {
    fc.assert(
      fc.property(fc.array(value, { minLength: 1, maxLength: 4096, size: 'max' }), fc.nat(), (values, at) => {
        const leaf = at % values.length
        expect(blockOf(values).values.at(leaf)).toBe(values[leaf])
        expect([...blockOf(values).values.all()]).toEqual(values)
      }),
      { numRuns: 60 },
    )
  })

  it('gives the same values after many searches', () => {
    const values = Array.from({ length: 4096 }, (_, i) => (i * i) % 601)
    const block = blockOf(values)
    expect(values.map((_, leaf) => block.values.at(leaf))).toEqual(values)
  })
})
