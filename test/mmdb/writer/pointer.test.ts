import Decoder from 'mmdb-lib/lib/decoder.js'
import { describe, expect, it } from 'vitest'
import { ByteSink } from '../../../src/mmdb/writer/byte-sink.ts'
import { pointerLength, writePointer } from '../../../src/mmdb/writer/pointer.ts'

describe('a pointer', () => {
  // Both sides of each class's border: 2^11, 2^11 + 2^19, 2^11 + 2^19 + 2^27. Bytes by hand from the specification.
  it.each([
    [0, '2000'],
    [2047, '27ff'],
    [2048, '280000'],
    [526_335, '2fffff'],
    [526_336, '30000000'],
    [134_744_063, '37ffffff'],
    [134_744_064, '3808080800'],
    [4_294_967_295, '38ffffffff'],
  ])('to offset %i', (offset, expected) => {
    const sink = new ByteSink()
    writePointer(sink, offset)
    expect(Buffer.from(sink.view()).toString('hex')).toBe(expected)
    expect(pointerLength(offset)).toBe(expected.length / 2)
  })

  it.each([0, 2047, 2048, 526_335, 526_336, 1_000_000])('to offset %i is read by mmdb-lib', (offset) => {
    const sink = new ByteSink()
    sink.append(new Uint8Array(offset))
    sink.append(Uint8Array.of(0x42, 0x68, 0x69))
    const at = sink.length
    writePointer(sink, offset)
    expect(new Decoder(Buffer.from(sink.view())).decode(at).value).toBe('hi')
  })
})
