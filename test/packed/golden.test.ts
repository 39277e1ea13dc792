// The example in the guide of the format: its bytes are what pack() makes, and what its streams hold. And a file of version
// 1, which no later version may change.
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { inflate } from '../../src/bytes/deflate.ts'
import { openPacked } from '../../src/packed/open-packed.ts'
import { MmdbWriter, pack, unpack } from '../../src/writer.ts'
import { partsOf } from './parts.ts'
import { expectSameAnswers } from './same-answers.ts'

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
    expect(file?.length).toBe(274)
    expect(file && inflate(file.subarray(32, 230), 277).subarray(0, directory?.length)).toEqual(directory)
    expect(file && inflate(file.subarray(230, 235), 3)).toEqual(Uint8Array.of(0x80, 0, 0))
    expect(file && inflate(file.subarray(238, 242), 2)).toEqual(Uint8Array.of(16, 11))
    expect(file && inflate(file.subarray(242, 274), 30)).toEqual(columns)
  })
})

describe('a file that was packed in version 1', () => {
  const packed = new Uint8Array(readFileSync(new URL('version-1.mmdb.packed', import.meta.url)))
  const writer = new MmdbWriter({ databaseType: 'Test-City' })
  for (let i = 0; i < 6000; i++) {
    const record = (name: number, code: string) => ({
      city: { names: { en: `City ${name}` } },
      country: { iso_code: code },
    })
    writer.insert(`${1 + (i >>> 8)}.${i & 255}.0.0/16`, record(i, 'GB'))
    writer.insert(`2001:${i.toString(16)}::/32`, record(i % 500, 'IT'))
  }
  const plain = writer.toBytes()

  it('gives the same answers as the plain file, and as one of this version', () => {
    const networks = expectSameAnswers(plain, openPacked(packed))
    expect(networks).toBeGreaterThan(12_000)
    expect(expectSameAnswers(plain, openPacked(pack(plain)))).toBe(networks)
    expect(openPacked(packed).verify().faultCount).toBe(0)
  })

  it('becomes the plain file again', () => {
    expect(Buffer.from(unpack(packed)).equals(plain)).toBe(true)
    expect(openPacked(packed).expand((length) => new Uint8Array(length))?.length).toBeGreaterThan(0)
  })

  it('has one block of records, where this version has several', () => {
    expect(partsOf(packed).recordBlocks.length).toBe(1)
    expect(partsOf(pack(plain)).recordBlocks.length).toBe(2)
  })
})
