import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ByteSink } from '../../src/bytes/byte-sink.ts'
import { latin1, utf8 } from '../enrich/world.ts'

describe('a sink of bytes', () => {
  it('holds what was written', () => {
    const part = fc.oneof(
      fc.uint8Array({ maxLength: 300 }),
      fc.string({ unit: 'grapheme-ascii', maxLength: 40 }),
      fc.nat(255),
      fc.tuple(fc.uint8Array({ maxLength: 200 }), fc.nat(200), fc.nat(200)),
    )
    fc.assert(
      fc.property(fc.array(part, { maxLength: 30 }), (parts) => {
        const sink = new ByteSink(1)
        let expected = ''
        for (const each of parts) {
          if (typeof each === 'number') {
            sink.writeByte(each)
            expected += String.fromCharCode(each)
          } else if (typeof each === 'string') {
            sink.writeAscii(each)
            expected += each
          } else if (each instanceof Uint8Array) {
            sink.write(each)
            expected += latin1(each)
          } else {
            const [bytes, a, b] = each
            const [start, end] = [Math.min(a, b, bytes.length), Math.min(Math.max(a, b), bytes.length)]
            sink.write(bytes, start, end)
            expected += latin1(bytes.subarray(start, end))
          }
        }
        expect(sink.length).toBe(expected.length)
        expect(latin1(sink.take())).toBe(expected)
      }),
    )
  })

  it('takes back, and gives its memory away', () => {
    const sink = new ByteSink()
    sink.writeAscii('abc')
    const { length } = sink
    sink.writeAscii('def')
    sink.length = length
    const taken = sink.take()
    sink.writeAscii('xyz')
    expect(latin1(taken)).toBe('abc')
    expect(latin1(sink.take())).toBe('xyz')
  })

  it.each([
    ['large enough', 64, 64],
    ['too small', 64, 65],
  ])('writes what it would, into memory that is %s', (_, size, capacity) => {
    const memory = new Uint8Array(size).fill(0xee)
    const sink = new ByteSink(capacity, memory.buffer)
    const line = utf8('0123456789'.repeat(20))
    for (let at = 0; at < 20; at++) sink.write(line, at, at + 10)
    const taken = sink.take()
    expect(latin1(taken)).toBe(
      Array.from({ length: 20 }, (_, at) => latin1(line.subarray(at, at + 10))).join(''),
    )
    // More came than fits: it lies in other memory.
    expect(taken.buffer).not.toBe(memory.buffer)
    const small = new ByteSink(capacity, new ArrayBuffer(size))
    small.writeAscii('x')
    expect(small.take().buffer.byteLength).toBe(Math.max(size, capacity))
  })
})
