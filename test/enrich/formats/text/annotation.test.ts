import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { BlockEnricher } from '../../../../src/enrich/block-enricher.ts'
import { type EnrichOptions, layoutOf, makePlan } from '../../../../src/enrich/formats/formats.ts'
import { LOCATION_FIELDS } from '../../../../src/enrich/options.ts'
import { Splitter } from '../../../../src/enrich/reading/splitter.ts'
import { DatabaseSet } from '../../../../src/location/database-set.ts'
import { Database } from '../../../../src/mmdb/database.ts'
import { MmdbWriter } from '../../../../src/writer.ts'
import { enrichText } from '../../in-memory-run.ts'
import { utf8 } from '../../world.ts'

const annotated = (annotate: string, ip = '81.2.69.142', at?: number): string =>
  enrichText(`a ${ip} b\n`, { format: 'text', annotate, at, force: true }).slice(2, -3)

const NOON = Date.UTC(2026, 6, 1, 12)

describe('an annotation', () => {
  it.each([
    ['{ip} [{country_code} {city}]', '81.2.69.142 [GB London]'],
    ['{ip}({country_name})', '81.2.69.142(United Kingdom)'],
    ['[{city}] {ip}', '[London] 81.2.69.142'],
    ['<{country_code}>{ip}<{city}>', '<GB>81.2.69.142<London>'],
    ['{ip} {latitude}/{longitude}', '81.2.69.142 51.5142/-0.0931'],
    ['{ip} [{postal_code}|{timezone_id}]', '81.2.69.142 [EC1A|Europe/London]'],
    ['{ip} {timezone_offset} {city}', '81.2.69.142 +01:00 London'],
    ['{ip} → {country_code}, {region_code}, {city}', '81.2.69.142 → GB, GB-ENG, London'],
    ['{ip} {{city}}', '81.2.69.142 {London}'],
  ])('%s is %s', (annotate, expected) => expect(annotated(annotate, '81.2.69.142', NOON)).toBe(expected))

  it.each([
    ['{ip} [{country_code} {city}]', '81.2.69.142 [GB London]'],
    ['{ip} {timezone_offset} {city}', '81.2.69.142 London'],
    ['{ip} {city} {timezone_offset}', '81.2.69.142 London'],
    ['{ip} [{country_code}, {timezone_offset}, {city}]', '81.2.69.142 [GB, London]'],
    ['{timezone_offset} {ip}', '81.2.69.142'],
    ['[{timezone_offset}] {ip}', '81.2.69.142'],
  ])('leaves out an unknown value and the separator beside it: %s is %s', (annotate, expected) => {
    expect(annotated(annotate)).toBe(expected)
  })

  it('stands after an address with its port, and leaves other addresses as they are', () => {
    const input = 'a 81.2.69.142:80 10.0.0.1 9.9.9.9 [::ffff:81.2.69.142]:443, 81.2.69.142.\n'
    expect(enrichText(input, { format: 'text' })).toBe(
      'a 81.2.69.142:80 [GB London] 10.0.0.1 9.9.9.9 [::ffff:81.2.69.142]:443 [GB London], 81.2.69.142 [GB London].\n',
    )
    expect(enrichText(input, { format: 'text', annotate: '({city}) {ip}' })).toBe(
      'a (London) 81.2.69.142:80 10.0.0.1 9.9.9.9 (London) [::ffff:81.2.69.142]:443, (London) 81.2.69.142.\n',
    )
  })

  it.each([
    ['{ip} {town}', /\{town\}, which is none of \{ip\}, \{country_code\}, .*\{timezone_offset\}/],
    ['{ip} {}', /\{\}, which is none of/],
    ['{city}', /must have \{ip\} once/],
    ['{ip} {ip} {city}', /must have \{ip\} once/],
    ['{ip}', /one or more of/],
    ['', /must have \{ip\} once/],
    ['{ip}\n{city}', /one line of text/],
    ['{ip}\u001b{city}', /one line of text/],
    [7 as never, /must be a text/],
  ])('that is %j is a TypeError', (annotate, message) => {
    expect(() => makePlan(utf8('a 81.2.69.142\n'), true, { annotate })).toThrow(TypeError)
    expect(() => makePlan(utf8('a 81.2.69.142\n'), true, { annotate })).toThrow(message)
  })

  it('never breaks a line or reaches a terminal, whatever the names of a database are', () => {
    const control = fc.integer({ min: 0, max: 0xa0 }).map((code) => String.fromCodePoint(code))
    const names = fc.string({ unit: 'grapheme', maxLength: 12 })
    const hostile = fc.oneof(names, fc.string({ unit: control, maxLength: 8 }))
    fc.assert(
      fc.property(hostile, hostile, (city, country) => {
        const bytes = new MmdbWriter({ databaseType: 'Sample-City' })
          .insert('81.2.69.0/24', {
            country: { iso_code: 'GB', names: { en: country } },
            city: { names: { en: city } },
          })
          .toBytes()
        const set = new DatabaseSet([new Database(bytes)])
        const input = utf8('a 81.2.69.142 b\n')
        const fields = LOCATION_FIELDS.map((field) => `{${field}}`).join(' ')
        const options: EnrichOptions = { format: 'text', annotate: `({city}) {ip} [${fields}]`, at: 0 }
        const { plan } = makePlan(input, true, options)
        const splitter = new Splitter(layoutOf(plan))
        const enricher = new BlockEnricher(plan, set)
        const blocks = [...splitter.push(input), ...splitter.end()]
        const output = blocks.flatMap((block) => [...enricher.pieces(block)].map((piece) => piece.output))
        const text = new TextDecoder().decode(Buffer.concat(output))
        expect(text.startsWith('a ') && text.endsWith(' b\n')).toBe(true)
        expect(text.slice(0, -1)).not.toMatch(/[\p{Cc}\u2028\u2029]/u)
        expect(text).toContain('81.2.69.142')
      }),
    )
  })
})
