import { describe, expect, it } from 'vitest'
import { fieldsOf } from '../../src/cli/info-command.ts'
import type { MmdbValue } from '../../src/mmdb/record-decoder.ts'

describe('the fields of records', () => {
  const long = (length: number) => 'k'.repeat(length)
  it.each<[records: MmdbValue[], ...fields: string[]]>([
    [[]],
    [['text', 42, true, 7n, Uint8Array.of(1)]],
    [[{}, []]],
    [[{ country: { iso_code: 'GB' } }], 'country.iso_code'],
    [[{ subdivisions: [{ code: 'A' }, { type: 'B' }] }], 'subdivisions[].code', 'subdivisions[].type'],
    [[[['x']]], '[][]'],
    // Names are without their languages.
    [[{ names: { en: 'x' }, city: { names: { de: 'y' } } }], 'city.names', 'names'],
    [[{ usernames: { en: 'x' } }], 'usernames.en'],
    // Sorted and without duplicates.
    [[{ b: 1 }, { a: 1, b: 2 }], 'a', 'b'],
    [[{ bytes: Uint8Array.of(1, 2) }], 'bytes'],
    // Longer paths than 256 characters are left out.
    [[{ [long(256)]: 1, a: { [long(254)]: 1 } }], `a.${long(254)}`, long(256)],
    [[{ [long(257)]: 1, a: { [long(255)]: 1 }, b: 1 }], 'b'],
  ])('of %o are %s', (records, ...fields) => {
    expect(fieldsOf(records)).toEqual(fields)
  })

  it('are at most a thousand', () => {
    const many = Object.fromEntries(Array.from({ length: 3000 }, (_, i) => [`f${i}`, 1]))
    expect(fieldsOf([many])).toEqual(Object.keys(many).slice(0, 1000).sort())
  })

  it.each([
    ['text', { a: 'x'.repeat(1_000_000) }],
    ['keys', { ['k'.repeat(1_000_000)]: 1, a: 1 }],
    ['bytes', { a: new Uint8Array(1_000_000) }],
    ['names', { names: { en: 'x'.repeat(1_000_000) } }],
    ['values with too long a path', { ['k'.repeat(300)]: { a: 'x'.repeat(1_000_000) } }],
    ['numbers', { a: Array.from({ length: 15_600 }, () => 1) }],
    ['empty names', { names: Object.fromEntries(Array.from({ length: 14_000 }, (_, i) => [`${i}`, ''])) }],
  ])('are sampled from at most 16 MiB of %s', (_, record) => {
    let read = 0
    const records = (function* () {
      for (; read < 1000; read++) yield record
    })()
    fieldsOf(records)
    expect(read).toBeGreaterThan(14)
    expect(read).toBeLessThan(20)
  })
})
