import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { DataSection } from '../../src/mmdb/data-section.ts'
import { Database } from '../../src/mmdb/database.ts'
import { FieldReader, NO_TEXT, type Path } from '../../src/mmdb/field-reader.ts'
import { MAX_VALUES } from '../../src/mmdb/format.ts'
import { decodeRecord, isMap, type MmdbValue } from '../../src/mmdb/record-decoder.ts'
import { NO_RECORD } from '../../src/mmdb/search-tree.ts'
import { double, float, MmdbWriter, type WritableValue as Written } from '../../src/writer.ts'
import { invalid } from '../invalid.ts'
import { processorMs } from '../processor-time.ts'
import { bytesOf, encode, type HandMade } from './hand-made.ts'
import { offsetAt } from './questions.ts'

const PATHS = {
  code: ['country', 'iso_code'],
  names: ['country', 'names'],
  region: ['subdivisions', 0, 'iso_code'],
  regionNames: ['subdivisions', 0, 'names'],
  latitude: ['location', 'latitude'],
  flat: ['city'],
} as const
type Name = keyof typeof PATHS

function readerOf(bytes: Uint8Array): FieldReader {
  return new FieldReader(new DataSection(bytes, 0, bytes.length), PATHS)
}

/** The same from the whole record, as the oracle. */
function pick(record: MmdbValue, path: Path): MmdbValue | undefined {
  let value: MmdbValue | undefined = record
  for (const key of path) {
    if (value === undefined) return undefined
    if (key === 0) value = Array.isArray(value) ? value[0] : undefined
    else value = isMap(value) && Object.hasOwn(value, key) ? value[key] : undefined
  }
  return value
}

function expectSame(fields: FieldReader, record: MmdbValue): void {
  for (const name of Object.keys(PATHS) as Name[]) {
    const value = pick(record, PATHS[name])
    expect(fields.text(name), name).toBe(typeof value === 'string' && value !== '' ? value : null)
    expect(fields.number(name), name).toBe(typeof value === 'number' ? value : null)
    const isMapHere = value !== undefined && isMap(value)
    expect(fields.mapOffset(name) !== null, name).toBe(isMapHere)
    const texts = isMapHere
      ? Object.entries(value).filter(([, text]) => typeof text === 'string' && text !== '')
      : []
    // In file order: the first name counts.
    expect([...textsOf(fields, name)]).toEqual(texts)
    const english = texts.filter(([language]) => language.toLowerCase() === 'en').at(-1)
    expect(textAt(fields, fields.defaultName(name)), name).toBe((english ?? texts[0])?.[1] ?? null)
    const text = typeof value === 'string' && value !== '' ? value : null
    expect(textAt(fields, fields.textOffset(name)), name).toBe(text)
  }
}

/** The text at an offset; `null` for none. */
function textAt(fields: FieldReader, offset: number): string | null {
  return offset === NO_TEXT ? null : fields.textAt(offset)
}

/** Where the entries of a map are that are text. */
function offsetsOf(fields: FieldReader, name: string): ReadonlyMap<string, number> {
  const map = fields.mapOffset(name)
  return map === null ? new Map() : fields.textsAt(map).offsets
}

/** The entries of a map that are text. */
function textsOf(fields: FieldReader, name: string): Map<string, string> {
  const offsets = offsetsOf(fields, name)
  return new Map([...offsets].map(([key, offset]) => [key, fields.textAt(offset)]))
}

/** A record whose country has such names. */
const withNames = (names: HandMade): Uint8Array => encode({ country: { names } })

// Keys as bytes, for maps that have one twice.
const [CITY, COUNTRY, ISO_CODE] = ['city', 'country', 'iso_code'].map((key) =>
  Buffer.from(encode(key)).toString('hex'),
)

/** A field of up to 65,820 bytes; text by default, or the type of another first hexadecimal digit. */
const sized = (bytes: number, type = '5'): HandMade => ({
  hex: `${type}e${(bytes - 285).toString(16).padStart(4, '0')}${'78'.repeat(bytes)}`,
})

describe('FieldReader', () => {
  it.each<[string, HandMade]>([
    ['keys that objects have already', new Map([['constructor', { iso_code: 'x' }]])],
    ['what comes twice', { hex: `e2 ${CITY} 4161 ${CITY} 4162` }],
    // { country: { iso_code: 'A' }, country: { names: {} } }: nothing of the first is left
    ['a map that comes twice', { hex: `e2 ${COUNTRY} e1 ${ISO_CODE} 4141 ${COUNTRY} e1 456e616d6573 e0` }],
    ['a map that comes twice, then as text', { hex: `e2 ${COUNTRY} e1 ${ISO_CODE} 4141 ${COUNTRY} 4142` }],
  ])('agrees with the whole record for %s', (_, value) => {
    const bytes = encode(value)
    const fields = readerOf(bytes)
    fields.read(0)
    expectSame(fields, decodeRecord(new DataSection(bytes, 0, bytes.length), 0))
  })

  it('agrees with the whole record, for databases of random records', () => {
    const text = fc.oneof(fc.constantFrom('', 'GB', 'Zürich'), fc.string({ unit: 'grapheme', maxLength: 40 }))
    const finite = fc.double({ noNaN: true, noDefaultInfinity: true }).map(double)
    const scalar: fc.Arbitrary<Written> = fc.oneof(
      text,
      fc.nat(),
      fc.integer(),
      finite,
      fc.float({ noNaN: true, noDefaultInfinity: true }).map(float),
      fc.boolean(),
      fc.bigInt(0n, 2n ** 80n),
      fc.uint8Array({ maxLength: 5 }),
    )
    const { value } = fc.letrec<{ value: Written; map: Written }>((tie) => ({
      value: fc.oneof({ depthSize: 'small' }, scalar, tie('map'), fc.array(tie('value'), { maxLength: 3 })),
      map: fc.dictionary(
        fc.constantFrom(
          ...'country iso_code names subdivisions location latitude city en de other'.split(' '),
        ),
        tie('value'),
        { maxKeys: 6 },
      ),
    }))
    const names = fc.dictionary(fc.constantFrom('en', 'de', 'pt-BR'), fc.oneof(text, value))
    const place = fc.record(
      {
        city: fc.oneof(text, value),
        country: fc.oneof(fc.record({ iso_code: text, names }, { requiredKeys: [] }), value),
        subdivisions: fc.oneof(fc.array(fc.record({ iso_code: text, names }), { maxLength: 3 }), value),
        location: fc.oneof(fc.record({ latitude: finite, time_zone: text }), value),
      },
      { requiredKeys: [] },
    )
    fc.assert(
      fc.property(fc.array(fc.oneof(place, value), { minLength: 1, maxLength: 10 }), (records) => {
        const writer = new MmdbWriter({ databaseType: 'Test' })
        for (const [index, record] of records.entries()) writer.insert(`1.0.${index}.0/24`, record as Written)
        const database = new Database(writer.toBytes())
        const fields = new FieldReader(database.data, PATHS)
        for (const index of records.keys()) {
          const offset = offsetAt(database, 0x01000000 + index * 256)
          expect(offset).not.toBe(NO_RECORD)
          fields.read(offset)
          expectSame(fields, database.record(offset))
        }
      }),
      { numRuns: 200 },
    )
  })

  it('has the same offset for maps that records share, and for no others', () => {
    const names = { en: 'United Kingdom', de: 'Vereinigtes Königreich' }
    const database = new Database(
      new MmdbWriter({ databaseType: 'Test' })
        .insert('1.0.0.0/24', { country: { names }, city: 'a' })
        .insert('1.0.1.0/24', { country: { names }, city: 'b' })
        .insert('1.0.2.0/24', { country: { names: { en: 'x' } } })
        .toBytes(),
    )
    const fields = new FieldReader(database.data, PATHS)
    const offsets = [0, 1, 2].map((index) => {
      fields.read(offsetAt(database, 0x01000000 + index * 256))
      return fields.mapOffset('names')
    })
    expect(offsets[0]).toBe(offsets[1])
    expect(offsets[0]).not.toBe(offsets[2])
  })

  it('resets its limits for every record', () => {
    const fields = readerOf(encode({ city: 'a' }))
    for (let i = 0; i <= MAX_VALUES; i++) fields.read(0)
    expect(fields.text('flat')).toBe('a')
  })

  it('forgets the previous record, and a pointer in it that was not followed', () => {
    const country = encode({ iso_code: 'GB' })
    const bytes = Buffer.concat([country, encode({ country: { hex: '2000' } }), encode({})])
    const fields = readerOf(bytes)
    fields.read(country.length)
    fields.read(bytes.length - 1)
    expect(fields.text('code')).toBeNull()
  })

  it.each([
    ['a key that is not text', 'e1 a101 a101', 'the key of a map is not text'],
    ['a key that points to a number', 'e1 2004 40 a101', 'the key of a map is not text'],
    ['a value outside', `e1 4463697479 2fff ff`, 'is outside its section'],
    ['a pair missing', 'e2 4463697479 4161', 'is outside its section'],
    ['an offset outside', '', 'is outside its section'],
  ])('refuses %s', (_, hex, message) => {
    const fields = readerOf(bytesOf(hex))
    const read = (): unknown => {
      fields.read(0)
      return fields.text('flat')
    }
    expect(read).toThrow(invalid(message))
  })

  // Pointers let every pair of a large map lead to a large map, for work quadratic in the size of the file.
  it.each([
    ['country', '47636f756e747279'],
    ['a key that nobody asks for', '4478797a61'],
  ])('does limited work for maps of maps: %s', (_, key) => {
    const pairs = 60_000
    const size = `fe${(pairs - 285).toString(16).padStart(4, '0')}`
    const inner = bytesOf(`${size}${'417840'.repeat(pairs)}`)
    const pair = `${key}3800000000`
    const bytes = Buffer.concat([inner, bytesOf(`${size}${pair.repeat(pairs)}`)])
    const fields = readerOf(bytes)
    const taken = processorMs(() => {
      try {
        fields.read(inner.length)
      } catch (error) {
        expect(error).toEqual(
          expect.objectContaining({ message: expect.stringContaining(`more than ${MAX_VALUES} values`) }),
        )
      }
    })
    expect(taken).toBeLessThan(10_000)
  })

  it.each([
    ['values', '41613800000000', 'a text field is longer than 512 bytes'],
    ['keys', '38000000004161', 'the key of a map is longer than 1024 bytes'],
  ])(
    'does not decode a long text, or one text a thousand times, as %s of a map of names',
    (_, pair, message) => {
      const long = `5f${(1_000_000 - 65_821).toString(16).padStart(6, '0')}${'78'.repeat(1_000_000)}`
      const text = bytesOf(long)
      const pairs = 1000
      const names = `fe${(pairs - 285).toString(16).padStart(4, '0')}${pair.repeat(pairs)}`
      const bytes = Buffer.concat([text, bytesOf(`e1 47636f756e747279 e1 456e616d6573 ${names}`)])
      const fields = readerOf(bytes)
      fields.read(text.length)
      expect(() => offsetsOf(fields, 'names')).toThrow(message)
    },
  )

  it('has no name if the last value of its key is a number', () => {
    const fields = readerOf(bytesOf('e1 47636f756e747279 e1 456e616d6573 e2 42656e 4141 42656e a101'))
    fields.read(0)
    expect(textsOf(fields, 'names')).toEqual(new Map())
  })

  it.each<[string, HandMade, string | null]>([
    ['English in capitals', { de: 'D', EN: 'E' }, 'E'],
    ['English before others', { en: 'E', de: 'D' }, 'E'],
    ['the first, where English is empty', { de: 'D', en: '' }, 'D'],
    ['a language that only begins like English', { eng: 'X', 'en-GB': 'Y' }, 'X'],
    ['one, among others that are too long', { en: 'E', de: sized(600) }, 'E'],
  ])('returns one of the names: %s', (_, names, expected) => {
    const fields = readerOf(withNames(names))
    fields.read(0)
    expect(textAt(fields, fields.defaultName('names'))).toBe(expected)
  })

  it('refuses a name that is too long', () => {
    const fields = readerOf(withNames({ en: sized(513) }))
    fields.read(0)
    expect(() => fields.defaultName('names')).toThrow('a text field is longer than 512 bytes')
  })

  it('has texts of up to 512 bytes, and skips other types of any size', () => {
    const read = (value: HandMade): string | null => {
      const fields = readerOf(encode({ city: value }))
      fields.read(0)
      return fields.text('flat')
    }
    expect(read(sized(512))).toBe('x'.repeat(512))
    expect(() => read(sized(513))).toThrow('a text field is longer than 512 bytes')
    expect(read(sized(600, '9'))).toBeNull()
  })

  it('has names of up to 8,192 bytes, keys and texts, in one map', () => {
    const read = (...more: [string, HandMade][]): number => {
      const names = Array.from({ length: 16 }, (_, i): [string, HandMade] => [`${10 + i}`, sized(510)])
      const fields = readerOf(withNames(new Map([...names, ...more])))
      fields.read(0)
      return offsetsOf(fields, 'names').size
    }
    expect(read()).toBe(16)
    expect(read(['', sized(9000, '9')])).toBe(16)
    expect(() => read(['', 'x'])).toThrow('a location has more than 8192 bytes of names')
    expect(() => read(['x', ''])).toThrow('a location has more than 8192 bytes of names')
  })

  it('has names in up to 256 languages', () => {
    const read = (languages: number): number => {
      // The hand-made encoder does not support maps of more than 284 pairs.
      const fields = readerOf(withNames(new Map(Array.from({ length: languages }, (_, i) => [`${i}`, 'x']))))
      fields.read(0)
      return offsetsOf(fields, 'names').size
    }
    expect(read(256)).toBe(256)
    expect(() => read(257)).toThrow('a location has names in more than 256 languages')
  })

  it.each([
    ['of a map of names', 'e1 47636f756e747279 e1 456e616d6573 e1 KEY 4161'],
    ['of a record', 'e1 KEY 4161'],
  ])('refuses a key of more than 1,024 bytes: %s', (_, hex) => {
    const read = (bytes: number): string | null => {
      const key = `5e${(bytes - 285).toString(16).padStart(4, '0')}${'78'.repeat(bytes)}`
      const fields = readerOf(bytesOf(hex.replace('KEY', key)))
      fields.read(0)
      return textAt(fields, fields.defaultName('names'))
    }
    expect(() => read(1024)).not.toThrow()
    expect(() => read(1025)).toThrow('the key of a map is longer than 1024 bytes')
  })

  it('knows keys after any number of other keys', () => {
    const keys = ['city', ...Array.from({ length: 10_000 }, (_, i) => `k${i}`)].map((key) => encode(key))
    const records: Uint8Array[] = []
    let at = 0
    for (const { length } of keys) {
      // A map of one pair: a pointer of four bytes to the key, and the text "x".
      records.push(bytesOf(`e1 38${at.toString(16).padStart(8, '0')} 4178`))
      at += length
    }
    const bytes = Buffer.concat([...keys, ...records])
    const fields = readerOf(bytes)
    const RECORD_BYTES = 8
    const found = [0, ...keys.keys(), 0].filter((index) => {
      fields.read(at + index * RECORD_BYTES)
      return fields.text('flat') === 'x'
    })
    expect(found).toEqual([0, 0, 0])
  })
})
