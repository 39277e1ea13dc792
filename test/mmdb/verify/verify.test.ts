import { readdirSync, readFileSync } from 'node:fs'
import { gunzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { Resolver } from '../../../src/core.ts'
import { verify as verifyAll } from '../../../src/details.ts'
import { embedded } from '../../../src/embedded.ts'
import { Database } from '../../../src/mmdb/database.ts'
import { type Verification, verify } from '../../../src/mmdb/verify.ts'
import { MmdbWriter, type RecordSize } from '../../../src/writer.ts'
import { itInLongRun } from '../../effort.ts'
import { OWN_DATABASES } from '../../own-databases.ts'
import { hasShared, SHARED, sharedBytes } from '../../shared.ts'
import { bytesOf, encode, type HandMade, handMade } from '../hand-made.ts'
import { manyRecords } from '../hostile/bombs.ts'
import { array, pointer, text } from '../hostile/encoding.ts'

const RECORD = encode(new Map([['a', 1]]))
/** Its text starts at byte 3, and the bytes from 4 are a valid text too. */
const HOLLOW = encode(new Map([['a', 'Bab']]))
const INTO_TEXT = encode(
  new Map<string, HandMade>([
    ['a', 'Bab'],
    ['b', { hex: '2004' }],
  ]),
)

const verified = (bytes: Uint8Array): Verification => verify(new Database(bytes))
const messages = (bytes: Uint8Array): string[] => verified(bytes).faults.map(({ message }) => message)

function sample(recordSize: RecordSize = 24): Uint8Array {
  const writer = new MmdbWriter({ databaseType: 'Test', recordSize })
  for (let i = 1; i < 40; i++) {
    writer.insert(`${i}.0.0.0/${8 + (i % 9)}`, {
      city: { names: { en: `Città ${i % 7}`, de: 'Stadt' } },
      n: [i, -i, i / 3],
    })
  }
  return writer.insert('2a00::/16', { country: { iso_code: 'FR' } }).toBytes()
}

const inHours = (hours: number): bigint => BigInt(Math.floor(Date.now() / 1000) + hours * 3600)

describe('a sound database', () => {
  it.each<RecordSize>([24, 28, 32])('from the writer with records of %i bits has no faults', (recordSize) => {
    const { faults, faultCount, nodeCount, recordCount, valueCount } = verified(sample(recordSize))
    expect({ faults, faultCount, recordCount }).toEqual({ faults: [], faultCount: 0, recordCount: 40 })
    expect(nodeCount).toBeGreaterThan(100)
    expect(valueCount).toBeGreaterThan(300)
  })

  it('is embedded in the package', () => {
    const { faults, recordCount } = verified(new Uint8Array(gunzipSync(readFileSync(embedded.country))))
    expect(faults).toEqual([])
    expect(recordCount).toBeGreaterThan(200)
  })

  it('is verified by its resolver, one of several', async () => {
    const resolver = await Resolver.open([sample(), sample(32)])
    expect(verifyAll(resolver).map(({ faultCount }) => faultCount)).toEqual([0, 0])
    resolver.close()
    expect(() => verifyAll(resolver)).toThrow(TypeError)
  })
})

describe('our own databases', () => {
  it.each(Object.entries(OWN_DATABASES))('have no fault: %s', (_, make) => {
    expect(verified(make()).faults).toEqual([])
  })
})

describe.skipIf(!hasShared)('the fixtures', () => {
  const names = hasShared
    ? readdirSync(`${SHARED}fixtures/mmdb`).filter((name) => name.endsWith('.mmdb'))
    : []

  it.each(names)('%s has the expected faults', (name) => {
    const { faultCount } = verified(sharedBytes(`fixtures/mmdb/${name}`))
    expect(faultCount > 0).toBe(name.includes('broken'))
  })
})

describe('a fault', () => {
  const raw = (bytes: string): HandMade => ({ hex: bytes })

  it.each<[string, Uint8Array, string]>([
    ['a loop in the tree', handMade(RECORD, {}, bytesOf('000000 000011')), 'more than 32 bits'],
    [
      'a node that is left over',
      handMade(RECORD, { node_count: 2 }, bytesOf('000012 000002 000012 000002')),
      'no path leads to 1 of 2 nodes',
    ],
    ['a record after the end of the file', handMade(RECORD, {}, bytesOf('00ffff 000011')), 'is not a record'],
    ['a record in the separator', handMade(RECORD, {}, bytesOf('000002 000011')), 'is not a record'],
    ['a record within a value', handMade(HOLLOW, {}, bytesOf('000011 000015')), 'the middle of a value'],
    [
      'a value that nothing leads to',
      handMade(Buffer.concat([RECORD, encode('left over')])),
      'neither the search tree nor a pointer',
    ],
    ['a pointer into the middle of a value', handMade(INTO_TEXT), 'the middle of a value'],
    [
      'a pointer past the end of the section',
      handMade(encode(new Map<string, HandMade>([['abc', raw('27ff')]]))),
      'outside its section',
    ],
    ['a text not UTF-8', handMade(encode(new Map<string, HandMade>([['a', raw('42c328')]]))), 'not UTF-8'],
    ['a key that is not text', handMade(bytesOf('e1 a101 a101')), 'not text'],
    ['the key __proto__', handMade(encode(new Map([['__proto__', 1]]))), '__proto__'],
    ['a value that is cut short', handMade(bytesOf('e1 4161')), 'outside its section'],
    ['a type that there is not', handMade(bytesOf('0006')), 'unknown type'],
    ['no type', handMade(RECORD, { database_type: '' }), 'has an empty database_type'],
    ['no nodes', handMade(RECORD, { node_count: 0 }, new Uint8Array()), 'node_count of 0'],
    ['not a possible date', handMade(RECORD, { build_epoch: 2n ** 64n - 1n }), 'not a possible date'],
    ['a time to come', handMade(RECORD, { build_epoch: inHours(72) }), 'in the future'],
  ])('is %s', (_, bytes, expected) => {
    expect(messages(bytes)).toEqual(expect.arrayContaining([expect.stringContaining(expected)]))
  })

  it.each<[string, Uint8Array, string[]]>([
    ['a clock that is half a day behind', handMade(RECORD, { build_epoch: inHours(12) }), []],
    ['a fault that hides the next value', handMade(bytesOf('e1 4161')), ['a field is outside its section']],
    [
      'a fault between a pointer and its value',
      handMade(bytesOf('e1 4161 2007 0006 4178')),
      ['a field has the unknown type 13'],
    ],
    [
      'a tree without nodes',
      handMade(RECORD, { node_count: 0 }, new Uint8Array()),
      ['the metadata has a node_count of 0', 'neither the search tree nor a pointer leads to a value'],
    ],
  ])('is the only one of %s', (_, bytes, expected) => {
    expect(messages(bytes)).toEqual(expected)
  })

  it('is not reported if records share values, as in large files', () => {
    const list = encode(Array.from({ length: 200 }, () => 'x'))
    // Each of 256 records is a pointer to the list, so each counts its 200 values again.
    const pointers = Array.from({ length: 256 }, () => bytesOf('3800000000'))
    expect(messages(manyRecords(Buffer.concat([list, ...pointers]), 8, (i) => list.length + 5 * i))).toEqual(
      [],
    )
  })

  it('has its offset in the file', () => {
    const [fault] = verified(handMade(Buffer.concat([RECORD, encode('left over')]))).faults
    expect(fault?.offset).toBe(22 + RECORD.length)
  })

  itInLongRun('is reported if large records share values too often, more than 32 times', () => {
    // Pointers lead to more than ten million values, of 325,165 in the file.
    const list = array(...Array.from({ length: 65_000 }, () => text('')))
    const lists = Array.from({ length: 5 }, () => list)
    const shared = (times: number): string[] => {
      const pointers = Array.from({ length: 5 * times }, (_, i) => pointer((i % 5) * list.length))
      const offsetOf = (index: number): number => 5 * list.length + 5 * (index % pointers.length)
      return messages(manyRecords(Buffer.concat([...lists, ...pointers]), 10, offsetOf))
    }
    expect(shared(32)).toEqual([])
    expect(shared(40)).toEqual([expect.stringContaining('through pointers to more than')])
  })
})
