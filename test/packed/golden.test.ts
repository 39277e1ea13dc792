// The example in the guide of the format: its bytes are what pack() makes, and what its streams hold.
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { inflate } from '../../src/bytes/deflate.ts'
import { MmdbWriter, pack, unpack } from '../../src/writer.ts'

const GUIDE = readFileSync(new URL('../../src/packed/README.md', import.meta.url), 'utf8')
const [, example = ''] = GUIDE.split('## An example')
/** The bytes in the first columns of the example's three tables. */
const [file, directory, columns] = example.split('inflated:\n').map((table) => {
  const cells = Array.from(table.matchAll(/^\| `([0-9a-f ]+)( …)?` \|/gm), ([, hex = '']) => hex.split(' '))
  return Uint8Array.from(cells.flat(), (byte) => Number.parseInt(byte, 16))
})

describe('the example of the packed format', () => {
  const plain = new MmdbWriter({ databaseType: 'T', ipVersion: 4 })
    .insert('64.0.0.0/2', { city: 'Rome' })
    .insert('128.0.0.0/1', { city: 'Oslo' })
    .toBytes()

  it('is what pack makes', () => {
    expect(pack(plain)).toEqual(file)
    expect(file && unpack(file)).toEqual(plain)
  })

  it('has the streams that the guide explains', () => {
    expect(file?.length).toBe(272)
    expect(file && inflate(file.subarray(32, 228), 269).subarray(0, directory?.length)).toEqual(directory)
    expect(file && inflate(file.subarray(228, 233), 3)).toEqual(Uint8Array.of(0x80, 0, 0))
    expect(file && inflate(file.subarray(236, 240), 2)).toEqual(Uint8Array.of(16, 11))
    expect(file && inflate(file.subarray(240, 272), 30)).toEqual(columns)
  })
})
