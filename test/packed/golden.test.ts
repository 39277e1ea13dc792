// The example in the guide of the format: its bytes are what pack() makes, and what its streams hold.
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { inflate } from '../../src/bytes/gunzip.ts'
import { MmdbWriter, pack, unpack } from '../../src/writer.ts'
import { partsOf } from './parts.ts'

const GUIDE = readFileSync(new URL('../../src/packed/README.md', import.meta.url), 'utf8')
const [, example = ''] = GUIDE.split('## An example')
/** The bytes in the first columns of the example's three tables. A cell that ends with … has zeros and more after them. */
const [file, directory, runs] = example.split('inflated:\n').map((table) => {
  const cells = Array.from(table.matchAll(/^\| `([0-9a-f ]+)( …)?` \|/gm), ([, hex = '']) => hex.split(' '))
  return cells.map((cell) => Uint8Array.from(cell, (byte) => Number.parseInt(byte, 16)))
})

describe('the example of the packed format', () => {
  const plain = new MmdbWriter({ databaseType: 'T', ipVersion: 4 })
    .insert('64.0.0.0/2', { city: 'Rome' })
    .insert('128.0.0.0/1', { city: 'Oslo' })
    .toBytes()

  it('is what pack makes', () => {
    expect(pack(plain)).toEqual(new Uint8Array(Buffer.concat(file ?? [])))
    expect(unpack(pack(plain))).toEqual(plain)
  })

  it('has the streams that the guide explains', () => {
    const packed = pack(plain)
    const expected = Buffer.concat(directory ?? [])
    // After the two lengths that runs have come rows of zeros.
    const zeros = 40 + 4 * 255 - 48
    const bytes = inflate(packed.subarray(32, 32 + 206), 1285)
    expect(bytes.subarray(0, 48)).toEqual(new Uint8Array(expected.subarray(0, 48)))
    expect(bytes.subarray(48, 48 + zeros)).toEqual(new Uint8Array(zeros))
    const end = bytes.subarray(48 + zeros, expected.length + zeros)
    expect(end).toEqual(new Uint8Array(expected.subarray(48)))
    const [block] = partsOf(packed).blocks
    expect(block?.stream).toEqual(new Uint8Array(Buffer.concat(runs ?? [])))
  })
})
