// geofix enrich with Parquet, as a user types it. hyparquet, another reader than the code that adds columns, reads the results.
import { existsSync, readFileSync, truncateSync, utimesSync, writeFileSync } from 'node:fs'
import { parse } from 'csv-parse/sync'
import fc from 'fast-check'
import { asyncBufferFromFile, parquetMetadataAsync, parquetReadObjects, type SchemaElement } from 'hyparquet'
import { parquetWriteBuffer } from 'hyparquet-writer'
import { describe, expect, it } from 'vitest'
import { isLookupFailure, Resolver } from '../../../../src/index.ts'
import { effort } from '../../../effort.ts'
import { failure, geofix, workspace } from '../command-line.ts'

const { DB, at: path, file, enrich: run } = workspace('--quiet')
const enrich = (...args: string[]) => run(args)
const resolver = Resolver.openSync(DB)

type Options = Parameters<typeof parquetWriteBuffer>[0]
type Columns = Options['columnData']

function writeParquet(name: string, columnData: Columns, more: Partial<Options> = {}): string {
  const options = { columnData, rowGroupSize: 100, columnIndex: true, ...more }
  return file(name, new Uint8Array(parquetWriteBuffer(options)))
}

const OUT = path('out.parquet')
const metadataOf = async (name: string) => parquetMetadataAsync(await asyncBufferFromFile(name))
const rowsOf = async (name: string): Promise<Record<string, unknown>[]> =>
  parquetReadObjects({ file: await asyncBufferFromFile(name) })

/** The rows of the Parquet file that a run writes. */
async function located(...args: string[]): Promise<Record<string, unknown>[]> {
  expect(await enrich(...args, '-o', OUT)).toEqual({ status: 0, out: '', err: '' })
  return rowsOf(OUT)
}

/** The outcome of a run that writes no file. @param name of the file */
async function refused(name: string, ...args: string[]) {
  const outcome = await enrich(...args, '-o', path(name))
  expect(existsSync(path(name))).toBe(false)
  return outcome
}

const ADDRESSES = ['81.2.69.142', '1.2.3.4', '10.0.0.1', 'nonsense', null, '2001:4860::1', '8.8.8.8']
const START = Date.UTC(2026, 2, 29)
const COUNT = 250
const each = <Value>(value: (index: number) => Value): Value[] =>
  Array.from({ length: COUNT }, (_, i) => value(i))

const ips = each((index) => ADDRESSES[index % ADDRESSES.length] ?? null)
const times = each((index) => new Date(START + index * 600_000))

/** Columns of types that JSON would change too. */
const ROWS = writeParquet('rows.parquet', [
  { name: 'id', data: each((index) => BigInt(index) * 10n ** 16n), type: 'INT64' },
  { name: 'client_ip', data: ips, type: 'STRING' },
  { name: 'time', data: times, type: 'TIMESTAMP' },
  {
    name: 'nested',
    data: each((index) => (index % 5 === 0 ? null : { a: [{ b: index }, { b: 0 }], c: `x${index}` })),
  },
  { name: 'bytes', data: each((index) => Uint8Array.of(index % 256, 0xff)), type: 'BYTE_ARRAY' },
  { name: 'half', data: each((index) => index / 2), type: 'FLOAT16' },
])

/** A file with a DECIMAL and another time. @param times a row each */
function writeDecimals(type: 'INT64' | 'BYTE_ARRAY', ...times: number[]): string {
  const text = { type: 'BYTE_ARRAY', converted_type: 'UTF8', repetition_type: 'REQUIRED' } as const
  const schema: SchemaElement[] = [
    { name: 'root', num_children: 3 },
    { name: 'ip', ...text },
    { name: 'time', type, converted_type: 'DECIMAL', precision: 18, scale: 3, repetition_type: 'REQUIRED' },
    { name: 'created', ...text },
  ]
  const columns = [
    { name: 'ip', data: times.map(() => '81.2.69.142') },
    { name: 'time', data: times },
    { name: 'created', data: times.map(() => '2020-01-01T05:00:00Z') },
  ]
  return writeParquet('decimals.parquet', columns, { schema })
}

/** What the resolver gives, which reads no Parquet. */
function expected(index: number) {
  const [found] = resolver.lookupMany([ips[index] ?? ''], { at: times[index] })
  return found === undefined || isLookupFailure(found) ? undefined : found
}

describe('Parquet to Parquet', () => {
  it('adds the columns to a file without rows too', async () => {
    const none = writeParquet('none.parquet', [{ name: 'client_ip', data: [], type: 'STRING' }])
    await located(ROWS, '--fields', 'city')
    const added = (await metadataOf(OUT)).schema.at(-1)
    expect(await located(none, '--fields', 'city')).toEqual([])
    expect((await metadataOf(OUT)).schema.at(-1)).toEqual(added)
  })

  it('adds a struct with the location of each row, at its time, and keeps every byte before the footer', async () => {
    const after = await located(ROWS)
    const rows = await rowsOf(ROWS)
    expect(after).toHaveLength(COUNT)
    for (const [index, { location, ...rest }] of after.entries()) {
      expect(rest).toEqual(rows[index])
      expect(location ?? undefined).toEqual(expected(index))
    }
    expect(after[0]?.location).toMatchObject({ city: 'London' })
    const before = readFileSync(ROWS)
    const end = before.length - 8 - before.readUint32LE(before.length - 8)
    expect(readFileSync(OUT).subarray(0, end).equals(before.subarray(0, end))).toBe(true)
    const changed = await metadataOf(OUT)
    expect(changed.row_groups.length).toBe(3)
    for (const [index, { columns }] of (await metadataOf(ROWS)).row_groups.entries())
      expect(changed.row_groups[index]?.columns.slice(0, columns.length)).toEqual(columns)
  })

  it('adds flat columns instead, named by --fields, or a struct with another name', async () => {
    const flat = await located(ROWS, '--fields', 'country_code,latitude,timezone_offset')
    for (const [index, row] of flat.entries()) {
      const found = expected(index)
      expect([row.country_code ?? null, row.latitude ?? null, row.timezone_offset ?? null]).toEqual([
        found?.country.code ?? null,
        found?.coordinates.latitude ?? null,
        found?.timezone.offset ?? null,
      ])
    }
    const named = await located(ROWS, '--into', 'place', '--field', 'client_ip', '--time-field', 'time')
    expect(named[0]?.place).toEqual(expected(0))
  })

  it('says what it guessed, and does not add its columns again', async () => {
    const own = path('own.parquet')
    const { err } = await geofix(['enrich', '--db', DB, ROWS, '-o', own, '--stats', 'none'])
    expect(err).toBe(
      `geofix: ${ROWS}: the address is in client_ip\ngeofix: ${ROWS}: the time of the event is in time\n`,
    )
    expect(await refused('again.parquet', own)).toEqual(failure(2, 'a column "location" already'))
  })

  it('reads addresses and times in structs', async () => {
    const data = each((index) => ({
      client: { ip: ips[index] ?? undefined },
      when: { ts: times[index]?.toISOString() },
    }))
    const text = { type: 'BYTE_ARRAY', converted_type: 'UTF8', repetition_type: 'OPTIONAL' } as const
    const group = (name: string, num_children = 1) =>
      ({ name, num_children, repetition_type: 'OPTIONAL' }) as const
    const schema: SchemaElement[] = [
      { name: 'root', num_children: 1 },
      group('event', 2),
      group('client'),
      { name: 'ip', ...text },
      group('when'),
      { name: 'ts', ...text },
    ]
    const structs = writeParquet('structs.parquet', [{ name: 'event', data }], { schema })
    const rows = await located(structs, '--field', 'event.client.ip', '--time-field', 'event.when.ts')
    for (const [index, { location }] of rows.entries()) expect(location ?? undefined).toEqual(expected(index))
  })

  it.each(['INT64', 'BYTE_ARRAY'] as const)(
    'takes the time of a column that JSON would change: %s',
    async (type) => {
      const rows = await located(writeDecimals(type, 1782864000), '--fields', 'timezone_offset')
      expect(rows[0]?.timezone_offset).toBe('+01:00')
    },
  )

  it("renews Spark's copy of the schema and removes Arrow's", async () => {
    const fields = [{ name: 'ip', type: 'string', nullable: true, metadata: {} }]
    const kvMetadata = [
      { key: 'org.apache.spark.sql.parquet.row.metadata', value: JSON.stringify({ type: 'struct', fields }) },
      { key: 'ARROW:schema', value: 'x' },
      { key: 'pandas', value: '{}' },
    ]
    const columns: Columns = [{ name: 'ip', data: ['81.2.69.142'], type: 'STRING' }]
    await located(writeParquet('spark.parquet', columns, { kvMetadata }))
    const { key_value_metadata: found = [] } = await metadataOf(OUT)
    expect(found.map(({ key }) => key)).toEqual([kvMetadata[0]?.key, 'pandas'])
    const spark: { fields: { name: string; type: { fields: { name: string }[] } }[] } = JSON.parse(
      found[0]?.value ?? '',
    )
    expect(spark.fields[0]).toEqual(fields[0])
    expect(spark.fields[1]?.name).toBe('location')
    expect(spark.fields[1]?.type.fields.map(({ name }) => name)).toEqual(Object.keys(expected(0) ?? {}))
  })

  it.each([
    ['structs', [], { from: { city: 'London' }, to: { city: 'Sydney' } }],
    ['flat columns', ['--fields', 'city'], { from_city: 'London', to_city: 'Sydney' }],
  ])('has %s for several addresses, also of lines', async (_, flags, row) => {
    const given = { a: '81.2.69.142', b: '1.2.3.4' }
    const columns = Object.entries(given).map(([name, ip]) => ({ name, data: [ip], type: 'STRING' as const }))
    const table = `${Object.keys(given).join('\t')}\n${Object.values(given).join('\t')}\n`
    for (const input of [
      writeParquet('two.parquet', columns),
      file('two.ndjson', JSON.stringify(given)),
      ...(flags.length > 0 ? [file('two.tsv', table)] : []),
    ]) {
      const rows = await located(input, '--field', 'a=from', '--field', 'b=to', ...flags)
      expect(rows).toMatchObject([{ ...given, ...row }])
    }
  })

  it.each<[string, string[], string]>([
    ['rows would be left out', ['--only-failed'], '--only-failed has no effect on Parquet'],
    ['rows would be left out', ['--drop-unresolved'], '--drop-unresolved has no effect on Parquet'],
    ['there are no lines', ['--append'], '--append has no effect on Parquet'],
    ['there is no such column', ['--field', 'nothing'], 'nothing'],
    ['there are two', [ROWS], 'one Parquet file at a time'],
  ])('is refused where %s', async (_, flags, message) => {
    const { status, err } = await refused('refused.parquet', ROWS, ...flags)
    expect(status).not.toBe(0)
    expect(err).toContain(message)
  })

  it('is refused with addresses only in a list, by what names one and not by what reads lines', async () => {
    const lists = writeParquet('list.parquet', [
      { name: 'id', data: [1, 2] },
      { name: 'ip', data: [['81.2.69.142'], ['1.2.3.4']] },
      { name: 'seen', data: [{ by: [{ ip: '1.2.3.4' }] }, { by: [] }], type: 'JSON' },
    ])
    expect((await refused('list.out.parquet', lists)).err).toMatch(/add --field ip\.0\n$/)
    for (const [field, cities] of [
      ['ip.0', ['London', 'Sydney']],
      ['seen.by.0.ip', ['Sydney', undefined]],
    ] as const) {
      const rows = await located(lists, '--field', field, '--fields', 'city')
      expect(rows.map(({ city }) => city ?? undefined)).toEqual(cities)
    }
    const { err } = await refused('list.out.parquet', lists, '--field', 'id')
    expect(err).toMatch(/continue with --force \([^)]+\)\n$/)
    expect((await enrich(lists, '--to', 'ndjson')).err).toContain('add --format text')
  })

  it('is refused with addresses only in the lines of a column', async () => {
    const data = Array<string>(5).fill(
      '81.2.69.142 - - [01/Jul/2026:12:00:00 +0000] "GET / HTTP/1.1" 200 9\n',
    )
    const columns = ['log', 'stream', 'time'].map((name) => ({ name, data, type: 'STRING' as const }))
    const lines = writeParquet('docker.parquet', columns)
    expect(await refused('docker.out.parquet', lines)).toMatchObject({ status: 1 })
    expect((await enrich(lines, '--to', 'csv', '--fields', 'city')).out).toContain(',London\n')
  })

  it('gives every row its own location where one has a text of any length', async () => {
    const data = ['81.2.69.142', 'x'.repeat(3_000_000), '1.2.3.4']
    const long = writeParquet('long.parquet', [{ name: 'ip', data, type: 'STRING' }])
    const rows = await located(long, '--fields', 'city')
    expect(rows.map(({ city }) => city ?? null)).toEqual(['London', null, 'Sydney'])
  })

  it('is explained, also with columns that lines cannot have', async () => {
    const { status, out } = await enrich(ROWS, '--explain')
    expect(status).toBe(0)
    expect(out).toContain('the address is in client_ip')
    expect(out).toContain('London')
  })

  it('leaves no output for a file that is damaged, wherever it is cut', async () => {
    const whole = readFileSync(ROWS)
    const cut = path('cut.parquet')
    for (const length of [4, 11, 12, 1000, whole.length - 9, whole.length - 1]) {
      writeFileSync(cut, whole)
      truncateSync(cut, length)
      const message = 'cannot be read: its Parquet data cannot be read'
      expect(await refused('cut.out.parquet', cut), `${length}`).toEqual(failure(4, message))
    }
    await fc.assert(
      fc.asyncProperty(fc.nat(whole.length - 1), fc.nat(255), async (at, byte) => {
        const damaged = Buffer.from(whole)
        damaged[at] = byte
        writeFileSync(cut, damaged)
        const { status } = await enrich(cut, '-o', path('damaged.parquet'))
        expect([0, 1, 2, 4]).toContain(status)
      }),
      { numRuns: effort({ short: 20, long: 200 }) },
    )
  })
})

describe('Parquet to lines', () => {
  const texts = [' x', 'a,b', 'a "b"\r\nc', null]
  const plain = writeParquet('plain.parquet', [
    { name: 'id', data: each((index) => BigInt(index) * 10n ** 16n), type: 'INT64' },
    { name: 'client_ip', data: ips, type: 'STRING' },
    { name: 'a "b"', data: each((index) => texts[index % 4]), type: 'STRING' },
    { name: 'time', data: times, type: 'TIMESTAMP' },
    { name: 'json', data: each((index) => ({ index })), type: 'JSON' },
  ])
  const timeOf = (index: number) => times[index]?.toISOString().replace('.000', '')

  it('writes an object for each row', async () => {
    const { out } = await enrich(plain)
    expect(out).toContain('"id":2490000000000000000,')
    const lines = out.trimEnd().split('\n')
    expect(lines.map((line): unknown => JSON.parse(line))).toEqual(
      each((index) => ({
        id: index * 1e16,
        client_ip: ips[index],
        'a "b"': texts[index % 4],
        time: timeOf(index),
        json: { index },
        location: expected(index) ?? null,
      })),
    )
  })

  it.each([
    ['-o', path('table.csv')],
    ['--to', 'csv'],
  ])('writes a row of CSV for each row, with columns for the location: %s', async (flag, value) => {
    const { out } = await enrich(plain, flag, value, '--fields', 'city,timezone_offset')
    const text = flag === '-o' ? readFileSync(value, 'utf8') : out
    expect(text.split('\n')[0]).toBe('id,client_ip,"a ""b""",time,json,city,timezone_offset')
    expect(parse(text, { columns: true })).toEqual(
      each((index) => ({
        id: String(BigInt(index) * 10n ** 16n),
        client_ip: ips[index] ?? '',
        'a "b"': texts[index % 4] ?? '',
        time: timeOf(index),
        json: `{"index":${index}}`,
        city: expected(index)?.city ?? '',
        timezone_offset: expected(index)?.timezone.offset ?? '',
      })),
    )
  })

  const tables = [
    ['csv', ','],
    ['tsv', '\t'],
  ] as const
  it.each(tables)('guesses nothing of its text: %s', async (form, delimiter) => {
    const names = ['2024', 'sep=;', '']
    const cells = ['a "b"\n1.1.1.1,x,y\n'.repeat(60_000), ' \t;', null]
    const columns = [['sep=;ip', ips.slice(0, 3)] as const, ...names.map((name) => [name, cells] as const)]
    const texts = writeParquet(
      'texts.parquet',
      columns.map(([name, data]) => ({ name, data, type: 'STRING' })),
    )
    const located = ['--to', form, '--field', 'sep=;ip=', '--fields', 'city', '--into', 'geo']
    for (const flags of [[], ['--threads', '2', '--max-line-bytes', '9']]) {
      const { out, err } = await enrich(texts, ...located, ...flags)
      expect(err).toBe('')
      const cities = ['geo_city', 'London', 'Sydney', '']
      const rows = cities.map((city, row) => [
        ...columns.map(([name, data]) => (row === 0 ? name : (data[row - 1] ?? ''))),
        city,
      ])
      expect(parse(out, { delimiter, record_delimiter: '\n' })).toEqual(rows)
    }
  })

  it.each(['csv', 'tsv', 'ndjson'] as const)('locates the same in %s, also in a struct', async (form) => {
    const both = writeParquet('both.parquet', [
      { name: 'source_ip', data: ['1.2.3.4'], type: 'STRING' },
      { name: 'request', data: [{ client_ip: '81.2.69.142' }], type: 'JSON' },
    ])
    const cities = async (...flags: string[]) => {
      const { out } = await enrich(both, '--to', form, '--asn', '--fields', 'asn_number,city', ...flags)
      return out.match(/London|Sydney/g)
    }
    expect(await cities()).toEqual(['London'])
    expect(await cities('--field', 'source_ip')).toEqual(['Sydney'])
    expect(await cities('--field', 'request.client_ip')).toEqual(['London'])
    const named = ['--field', 'source_ip=from', '--field', 'request.client_ip=to']
    expect(await cities(...named)).toEqual(['Sydney', 'London'])
  })

  it('is refused by a pipe, with what to do, and for columns that JSON would change', async () => {
    expect(await run([], readFileSync(plain))).toEqual(failure(4, 'name the file'))
    for (const form of ['ndjson', 'csv'])
      expect(await refused(`never.${form}`, ROWS)).toEqual(failure(4, 'which JSON would change'))
    for (const [form, out] of [
      ['ndjson', ''],
      ['csv', 'ip,time,created,city\n'],
      ['tsv', 'ip\ttime\tcreated\tcity\n'],
    ] as const) {
      const none = [writeDecimals('INT64'), '--fields', 'city', '--to', form]
      expect(await enrich(...none)).toEqual({ status: 0, out, err: '' })
    }
  })

  it('keeps rows of one column that are empty', async () => {
    const only = writeParquet('only.parquet', [{ name: 'ip', data: ['81.2.69.142', null], type: 'STRING' }])
    const { out } = await enrich(only, '--to', 'csv', '--fields', 'city')
    expect(out).toBe('ip,city\n81.2.69.142,London\n"",\n')
  })
})

describe('lines to Parquet', () => {
  it('makes typed columns of objects, and loses nothing that comes later', async () => {
    const typed = { ip: '81.2.69.142', n: 1, f: 1.5, ok: true, text: '007', deep: { a: [1] } }
    const first = { ...typed, user: null, none: null }
    const later = { ip: '1.2.3.4', n: 'many', new: [1], user: 'bob', none: 3 }
    // The first row group decides on the types.
    const filler = `${JSON.stringify({ ip: '10.0.0.1' })}\n`.repeat(100_000)
    const big = '{"ip":"8.8.8.8","n":9223372036854775807}\n'
    const events = `${JSON.stringify(first)}\n${big}${filler}${JSON.stringify(later)}\nbad\n`
    const rows = await located(file('events.ndjson', events))
    expect(rows).toHaveLength(100_004)
    expect(rows[0]).toMatchObject({ ...first, n: 1n, location: { city: 'London' } })
    expect(rows[1]).toMatchObject({ n: 9223372036854775807n })
    expect(rows[100_002]).toMatchObject({
      ip: '1.2.3.4',
      // A column without values in the first row group is text.
      user: 'bob',
      none: null,
      location: { city: 'Sydney' },
      _rescued_data: { n: 'many', new: [1], none: 3 },
    })
    expect(rows[100_003]).toMatchObject({ _rescued_data: { raw: 'bad' } })
  })

  it('makes instants of a column whose texts are all times with an offset, to the microsecond', async () => {
    const plain = '2026-07-01T10:00:00Z'
    const others = {
      nanos: '2026-07-01T10:00:00.1234567Z',
      local: '2026-07-01T10:00:00',
      day: '2026-02-30T00:00:00Z',
    }
    const rows = [
      { time: '2026-07-01T12:00:00+02:00', ...others },
      { time: '1969-12-31T23:59:59.25Z', ...others, nanos: plain, day: plain },
      { time: null },
    ]
    const lines = rows.map((row) => `${JSON.stringify({ ip: '81.2.69.142', ...row })}\n`)
    const found = await located(file('times.ndjson', lines.join('')))
    expect(found.map(({ time }) => time)).toEqual([
      new Date('2026-07-01T10:00:00Z'),
      new Date('1969-12-31T23:59:59.250Z'),
      null,
    ])
    expect(found[0]).toMatchObject(others)
    const { schema } = await metadataOf(OUT)
    expect(schema.find(({ name }) => name === 'time')).toMatchObject({
      type: 'INT64',
      converted_type: 'TIMESTAMP_MICROS',
      logical_type: { type: 'TIMESTAMP', isAdjustedToUTC: true, unit: 'MICROS' },
    })
    expect((await enrich(OUT, '--into', 'again')).out).toContain('"time":"1969-12-31T23:59:59.25Z"')
  })

  it('makes texts of the columns of a table', async () => {
    const text = 'id,ip,ip,\n007,81.2.69.142,"a ""b""\nc",\n8,1.2.3.4,x,y\nshort\n'
    expect(await located(file('a.csv', text), '--field', '2', '--fields', 'city,latitude')).toMatchObject([
      { id: '007', ip: '81.2.69.142', ip_2: 'a "b"\nc', city: 'London', latitude: 51.5 },
      { id: '8', ip: '1.2.3.4', ip_2: 'x', column_4: 'y', city: 'Sydney', latitude: -33.5 },
      { raw: 'short' },
    ])
  })

  it.each([
    [
      'log',
      '81.2.69.142 - - [01/Jul/2026:12:00:00 +0000] "GET / HTTP/1.1" 200 9\n',
      { status: 200n, bytes: 9n },
    ],
    ['txt', 'Failed password for root from 81.2.69.142 port 1\n', { ip: '81.2.69.142' }],
    [
      'iis',
      '#Fields: time c-ip sc-status\n10:00:00 81.2.69.142 0200\n',
      { 'c-ip': '81.2.69.142', 'sc-status': '0200' },
    ],
  ])('makes columns of the objects of other formats: %s', async (name, text, row) => {
    const log = file(`a.${name}`, text)
    expect(await located(log)).toMatchObject([{ ...row, location: { city: 'London' } }])
    const flat = await located(log, '--fields', 'city,longitude')
    expect(flat).toMatchObject([{ ...row, city: 'London', longitude: -0.5 }])
  })

  it('gives the rows of each input their own locations', async () => {
    const inputs = ['81.2.69.142', '1.2.3.4'].map((ip, index) => {
      const input = file(`${index}.txt`, `Failed password for root from ${ip} port 1\n`.repeat(15_000))
      // The time of the file is in its plan, so that each has an enricher of its own.
      utimesSync(input, index + 1, index + 1)
      return input
    })
    const cities = (await located(...inputs, '--fields', 'city')).map(({ city }) => city)
    expect(cities).toEqual(['London', 'Sydney'].flatMap((city) => Array<string>(15_000).fill(city)))
  })

  it('makes one row of a line that is too long, and of a last line without an end', async () => {
    const long = `{"ip":"81.2.69.142","x":"${'y'.repeat(5_000_000)}"}`
    const rows = await located(file('long.ndjson', `{"ip":"81.2.69.142"}\n${long}\n{"ip":"1.2.3.4"}`))
    expect(rows.map(({ raw }) => String(raw).length)).toEqual([4, 2 ** 20, 4])
    expect(long.startsWith(String(rows[1]?.raw))).toBe(true)
    expect([rows[0], rows[2]]).toMatchObject([
      { location: { city: 'London' } },
      { location: { city: 'Sydney' } },
    ])
  })

  it('keeps a line with a text of its own in place of the location', async () => {
    const line = '{"ip":"1.2.3.4","location":"Paris"}'
    const own = file('own.ndjson', `${'{"ip":"81.2.69.142"}\n'.repeat(1000)}${line}\n`)
    for (const flags of [[], ['--fields', 'city']])
      expect((await located(own, '--on-bad-line', 'keep', ...flags))[1000]).toMatchObject({ raw: line })
  })

  it('goes to standard output with --to parquet, and not with --rows', async () => {
    const { out } = await run(['--to', 'parquet'], '{"ip":"81.2.69.142"}\n')
    expect(out.startsWith('PAR1') && out.endsWith('PAR1')).toBe(true)
    expect(await enrich('--rows', '--to', 'parquet')).toMatchObject({ status: 2 })
  })

  it('keeps every value of any objects', async () => {
    const member = fc.oneof(
      fc.string(),
      fc.integer(),
      fc.double({ noNaN: true, noDefaultInfinity: true }),
      fc.boolean(),
      fc.constant(null),
      fc.jsonValue({ maxDepth: 2 }),
    )
    const name = fc.constantFrom('a', 'b', 'c', '__proto__', 'ü', '_rescued_data')
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.dictionary(name, member), { minLength: 1, maxLength: 20 }),
        async (objects) => {
          const lines = objects.map((object) => JSON.stringify({ ...object, ip: '81.2.69.142' }))
          const rows = await located(file('any.ndjson', `${lines.join('\n')}\n`))
          expect(rows).toHaveLength(objects.length)
          for (const [index, line] of lines.entries()) {
            const wanted: Record<string, unknown> = JSON.parse(line)
            const { location: _, _rescued_data: rescued, ...row } = rows[index] ?? {}
            const found: Record<string, unknown> = { ...row, ...(typeof rescued === 'object' ? rescued : {}) }
            for (const [own, value] of Object.entries(wanted)) {
              const same = typeof found[own] === 'bigint' ? Number(found[own]) : (found[own] ?? null)
              if (own !== '__proto__') expect(same).toEqual(Object.is(value, -0) ? 0 : value)
            }
          }
        },
      ),
      { numRuns: effort({ short: 20, long: 200 }) },
    )
  })
})
