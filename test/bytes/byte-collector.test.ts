import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ByteCollector } from '../../src/bytes/byte-collector.ts'
import { InvalidDatabaseError } from '../../src/errors.ts'

describe('ByteCollector', () => {
  it('puts pieces of any size together, also over the ends of its blocks', () => {
    const sizes = fc.array(fc.oneof(fc.nat(9), fc.constantFrom(2 ** 20 - 1, 2 ** 20, 2 ** 21 + 1)), {
      maxLength: 6,
    })
    fc.assert(
      fc.property(sizes, (lengths) => {
        const pieces = lengths.map((length, at) => new Uint8Array(length).fill(at + 1))
        const collector = new ByteCollector(2 ** 31)
        for (const piece of pieces) collector.add(piece)
        expect(Buffer.compare(collector.bytes(), Buffer.concat(pieces))).toBe(0)
        expect(collector.bytes()).toHaveLength(0)
      }),
      { numRuns: 30 },
    )
  })

  it('keeps no piece: whoever gives it may write it again', () => {
    const collector = new ByteCollector(10)
    const piece = Uint8Array.of(1)
    collector.add(piece)
    piece[0] = 2
    expect([...collector.bytes()]).toEqual([1])
  })

  it('takes as much as it may, and no more', () => {
    const collector = new ByteCollector(3, '/x')
    collector.add(Uint8Array.of(1, 2, 3))
    collector.add(new Uint8Array())
    expect(() => collector.add(Uint8Array.of(4))).toThrow(InvalidDatabaseError)
    expect(() => collector.add(Uint8Array.of(4))).toThrow('/x: it has more than 3 bytes')
  })
})
