import { describe, expect, it } from 'vitest'
import { fieldsOf } from '../../src/cli/info-command.ts'
import type { MmdbValue } from '../../src/mmdb/record-decoder.ts'

describe('the fields of records', () => {
  it.each<[string, MmdbValue[], string[]]>([
    ['no records', [], []],
    ['a record that is not a map', ['text', 42, true, 7n, Uint8Array.of(1)], []],
    ['an empty map, and an empty array', [{}, []], []],
    ['fields below fields', [{ country: { iso_code: 'GB' } }], ['country.iso_code']],
    [
      'elements of arrays',
      [{ subdivisions: [{ code: 'A' }, { type: 'B' }] }],
      ['subdivisions[].code', 'subdivisions[].type'],
    ],
    ['arrays in arrays', [[['x']]], ['[][]']],
    [
      'names, without their languages',
      [{ names: { en: 'x' }, city: { names: { de: 'y' } } }],
      ['city.names', 'names'],
    ],
    ['a key that only ends in names', [{ usernames: { en: 'x' } }], ['usernames.en']],
    ['several records, sorted and without duplicates', [{ b: 1 }, { a: 1, b: 2 }], ['a', 'b']],
    ['byte strings', [{ bytes: Uint8Array.of(1, 2) }], ['bytes']],
    [
      'a path of 256 characters',
      [{ ['k'.repeat(256)]: 1, a: { ['k'.repeat(254)]: 1 } }],
      [`a.${'k'.repeat(254)}`, 'k'.repeat(256)],
    ],
    [
      'longer paths, which are left out',
      [{ ['k'.repeat(257)]: 1, a: { ['k'.repeat(255)]: 1 }, b: 1 }],
      ['b'],
    ],
  ])('%s', (_, records, expected) => {
    expect(fieldsOf(records)).toEqual(expected)
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
