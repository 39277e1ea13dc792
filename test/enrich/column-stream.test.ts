import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type ColumnOptions, ColumnRequestError, ColumnStream } from '../../src/enrich/column-stream.ts'
import type { LocationField } from '../../src/enrich/options.ts'
import { RowStream } from '../../src/enrich/row-stream.ts'
import { makeRowPlan, RowWriter } from '../../src/enrich/row-writer.ts'
import { alignedSize } from '../../src/enrich/writing/location-columns.ts'
import { DatabaseSet } from '../../src/location/database-set.ts'
import { Database } from '../../src/mmdb/database.ts'
import { MmdbWriter } from '../../src/writer.ts'
import { PLACED, UNPLACED, utf8, worldSet } from './world.ts'
import { columnsOf } from './writing/columns-of.ts'

const set = worldSet()
const FIELDS: LocationField[] = ['country_code', 'city', 'timezone_offset']
const OPTIONS: ColumnOptions = { fields: FIELDS, times: 'microseconds' }
const LONDON = '81.2.69.142'
const [JANUARY, JULY] = [Date.UTC(2026, 0, 1), Date.UTC(2026, 6, 1)]
const NO_MICROSECONDS = -(2n ** 63n)

type Row = readonly [address: string, time?: bigint | string]

/** A request, as the documentation of `ColumnStream` has it. */
function requestOf(rows: readonly Row[]): Uint8Array {
  const [addresses, offsets] = textsOf(rows.map(([address]) => address))
  const times = rows.map(([, time]) => time)
  const [texts, textOffsets] = textsOf(times.map((time) => (typeof time === 'string' ? time : '')))
  const isText = times.some((time) => typeof time === 'string')
  const numbers = times.filter((time) => typeof time === 'bigint')
  const between = isText ? textOffsets : new Uint8Array(BigInt64Array.from(numbers).buffer)
  const header = [0x31584647, rows.length, addresses.length, isText ? texts.length : 0]
  return joined([
    new Uint8Array(Uint32Array.from(header).buffer),
    offsets,
    between,
    addresses,
    isText ? texts : utf8(''),
  ])
}

function textsOf(texts: readonly string[]): [texts: Uint8Array, offsets: Uint8Array] {
  const all = texts.map(utf8)
  const offsets = [0]
  for (const each of all) offsets.push((offsets.at(-1) ?? 0) + each.length)
  return [joined(all), new Uint8Array(Int32Array.from(offsets).buffer)]
}

function joined(parts: readonly Uint8Array[]): Uint8Array {
  return Uint8Array.from(Buffer.concat(parts))
}

/** The locations of the rows in answers, with tabs between their fields, and how many locations each answer has. */
function readAnswers(bytes: Uint8Array): { rows: string[]; counts: number[] } {
  const [rows, counts]: [string[], number[]] = [[], []]
  for (let at = 0; at < bytes.length; ) {
    const view = new DataView(bytes.buffer, bytes.byteOffset + at)
    const [count = 0, locations = 0, size = 0] = [0, 4, 8].map((from) => view.getUint32(from, true))
    const numbers = alignedSize(4 * count)
    const columns = columnsOf(bytes.subarray(at + 12 + numbers, at + 12 + size), locations, FIELDS)
    for (let row = 0; row < count; row++) {
      const number = view.getUint32(12 + 4 * row, true)
      rows.push(columns.map((values) => values[number] ?? '\\N').join('\t'))
    }
    counts.push(locations)
    at += 12 + size
  }
  return { rows, counts }
}

/** What a stream answers to chunks. */
function answerOf(stream: ColumnStream, chunks: readonly Uint8Array[]): ReturnType<typeof readAnswers> {
  const parts = chunks.flatMap((chunk) => [...stream.push(chunk)].map((part) => part.slice()))
  return readAnswers(joined([...parts, ...stream.end()]))
}

const answer = (rows: readonly Row[], options = OPTIONS): string[] =>
  answerOf(new ColumnStream(set, options), [requestOf(rows)]).rows

const microseconds = (milliseconds: number): bigint => BigInt(milliseconds) * 1000n

describe('ColumnStream', () => {
  it('has each location once, with each of its offsets, and location 0 for rows without one', () => {
    const times = [JULY, JANUARY, JULY, JANUARY].map(microseconds)
    const rows = times.flatMap((time): Row[] => [
      [LONDON, time],
      ['10.0.0.1', time],
      ['81.2.69.1', time],
    ])
    const { rows: found, counts } = answerOf(new ColumnStream(set, OPTIONS), [requestOf(rows)])
    const [summer, winter, nothing] = ['GB\tLondon\t+01:00', 'GB\tLondon\t+00:00', '\\N\t\\N\t\\N']
    const both = [summer, nothing, summer, winter, nothing, winter]
    expect(found).toEqual([...both, ...both])
    expect(counts).toEqual([3])
  })

  it('writes values as they are', () => {
    expect(answer([['89.160.20.112', microseconds(JANUARY)]])).toEqual([
      'SE\tLinköping, "Östra"\tStaden\t+01:00',
    ])
  })

  it.each([
    ['no time', NO_MICROSECONDS, '\\N'],
    ['a time before 1970', microseconds(Date.UTC(1960, 6, 1)), '+01:00'],
    ['an unknown time, as programs write it', 0n, '\\N'],
    // As text, this would be 2001 in seconds.
    ['a time near 1970', 1_000_000_000n, '\\N'],
    ['the year 1', microseconds(-62_135_596_800_000), '\\N'],
    ['the last time of an event', microseconds(Date.UTC(2200, 0, 1)) - 1n, '+00:00'],
    ['the end of the year 9999', microseconds(253_402_300_799_000), '\\N'],
    ['a time after those of Date', microseconds(8.64e15) + 1_000_000n, '\\N'],
    ['the first time that 64 bits have', NO_MICROSECONDS + 1n, '\\N'],
    ['a fraction of a millisecond before the clocks go forward', 1_774_746_000_000_000n - 1n, '+00:00'],
    ['when the clocks go forward', 1_774_746_000_000_000n, '+01:00'],
  ])('microseconds: %s', (_, time, offset) => {
    const [row = ''] = answer([[LONDON, time]])
    expect(row.split('\t').at(-1)).toBe(offset)
  })

  it('reads times as texts', () => {
    const rows: Row[] = ['2026-07-01T00:00:00Z', '1767225600', '', 'x', '01/Jul/2026:00:00:00 +0000'].map(
      (time) => [LONDON, time],
    )
    const offsets = answer(rows, { ...OPTIONS, times: 'text' }).map((row) => row.split('\t').at(-1))
    expect(offsets).toEqual(['+01:00', '+00:00', '\\N', '\\N', '+01:00'])
  })

  it('has the time of the options for rows without one, and for requests without times', () => {
    const at = new Date(JANUARY)
    expect(answer([[LONDON, NO_MICROSECONDS]], { ...OPTIONS, at })).toEqual(['GB\tLondon\t+00:00'])
    expect(answer([[LONDON]], { ...OPTIONS, times: 'none', at })).toEqual(['GB\tLondon\t+00:00'])
    expect(() => new ColumnStream(set, { ...OPTIONS, times: 'none' })).toThrow(
      'the option "at" or "timeField" must be given',
    )
  })

  it('answers a request without rows, and requests of any length one after another', () => {
    const stream = new ColumnStream(set, OPTIONS)
    const many = Array.from(
      { length: 5000 },
      (_, index): Row => [PLACED[index % 7] ?? '', microseconds(JULY)],
    )
    const requests = [[], many, [[LONDON, 0n] as const], []].map(requestOf)
    const { rows, counts } = answerOf(stream, requests)
    expect(rows).toHaveLength(5001)
    expect(counts).toEqual([1, 7, 2, 1])
  })

  it('gives each row its own location where a request has more time zones than are kept at once', () => {
    const writer = new MmdbWriter({ databaseType: 'Sample-City' })
    const cities = Array.from({ length: 1500 }, (_, city) => city)
    const networkOf = (city: number): string => `1.${city >> 8}.${city & 255}`
    for (const city of cities)
      writer.insert(`${networkOf(city)}.0/24`, {
        city: { names: { en: `${city}` } },
        location: { time_zone: `Nowhere/Zone${city}` },
      })
    const small = new DatabaseSet([new Database(writer.toBytes())])
    const order = [...cities, 0, 1499, 700]
    const request = requestOf(order.map((city) => [`${networkOf(city)}.1`, 0n]))
    const { rows } = answerOf(new ColumnStream(small, OPTIONS), [request])
    expect(rows.map((row) => Number(row.split('\t')[1]))).toEqual(order)
  })

  it('gives what rows give, wherever chunks end', () => {
    const address = fc.oneof(
      fc.constantFrom(...PLACED, ...Object.keys(UNPLACED).map((each) => each.trim())),
      fc.string({ unit: 'binary' }).map(plain),
    )
    const time = fc.oneof(
      fc.bigInt({ min: 10n ** 15n, max: 4n * 10n ** 15n }),
      fc.constantFrom(microseconds(JANUARY), microseconds(JULY)),
    )
    const plan = makeRowPlan({ format: 'tsv', quoting: 'none', field: '1', timeField: '2', fields: FIELDS })
    fc.assert(
      fc.property(
        fc.array(fc.array(fc.tuple(address, time), { maxLength: 12 }), { maxLength: 4 }),
        fc.integer({ min: 1, max: 300 }),
        (requests, size) => {
          const bytes = joined(requests.map(requestOf))
          const chunks = Array.from({ length: Math.ceil(bytes.length / size) }, (_, index) =>
            bytes.subarray(index * size, (index + 1) * size),
          )
          const { rows } = answerOf(new ColumnStream(set, OPTIONS), chunks)
          const stream = new RowStream(new RowWriter(plan, set), { read: false, write: false })
          const text = requests.flatMap((each) => each.map(([ip, at]) => `${ip}\t${at}\n`)).join('')
          const expected = Buffer.concat([...stream.push(utf8(text)), ...stream.end()]).toString()
          const columns = expected
            .split('\n')
            .slice(0, -1)
            // Rows escape the tab in the name of a city.
            .map((row) => row.split('\t').slice(-FIELDS.length).join('\t').replace('\\t', '\t'))
          expect(rows).toEqual(columns)
        },
      ),
    )
  })

  it.each([
    [
      'another program',
      (numbers: Uint32Array) => numbers.fill(0x0a, 0, 1),
      'a request does not begin with GFX1',
    ],
    [
      'too many rows',
      (numbers: Uint32Array) => numbers.fill(2 ** 31, 1, 2),
      'a request has more than 1073741824 bytes',
    ],
    ['long texts', (numbers: Uint32Array) => numbers.fill(2 ** 30, 2, 3), 'a request has more than'],
    ['offsets that go back', (numbers: Uint32Array) => numbers.fill(5, 6, 7), 'not in order'],
    ['an offset after the texts', (numbers: Uint32Array) => numbers.fill(23, 5, 6), 'is after its texts'],
  ])('refuses %s', (_, change, message) => {
    const bytes = requestOf([
      [LONDON, 0n],
      [LONDON, 0n],
    ])
    change(new Uint32Array(bytes.buffer, 0, 7))
    const stream = new ColumnStream(set, OPTIONS)
    expect(() => [...stream.push(bytes)]).toThrow(ColumnRequestError)
    expect(() => [...new ColumnStream(set, OPTIONS).push(bytes)]).toThrow(message)
  })

  it('refuses an input that ends within a request', () => {
    const stream = new ColumnStream(set, OPTIONS)
    expect([...stream.push(requestOf([[LONDON, 0n]]).subarray(0, -1))]).toEqual([])
    expect(() => stream.end()).toThrow('the input ends within a request')
  })
})

/** A text without what ends a row or a column, which rows escape and columns do not. */
function plain(text: string): string {
  return text.replace(/[\t\n\r\\]/g, '')
}
