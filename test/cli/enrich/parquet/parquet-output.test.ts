// geofix enrich with Parquet, as a user types it. hyparquet, another reader than the code that adds columns, reads the results.
import { existsSync, readFileSync, truncateSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'csv-parse/sync'
import fc from 'fast-check'
import { asyncBufferFromFile, parquetMetadataAsync, parquetReadObjects, type SchemaElement } from 'hyparquet'
import { parquetWriteBuffer } from 'hyparquet-writer'
import { describe, expect, it } from 'vitest'
import { isLookupFailure, Resolver } from '../../../../src/index.ts'
import { effort } from '../../../effort.ts'
import { makeFile, temporaryFolder } from '../../../temporary.ts'
import { geofix, writeDatabase } from '../command-line.ts'

const folder = temporaryFolder()
const DB = writeDatabase(folder)
const enrich = (...args: string[]) => geofix(['enrich', '--db', DB, '--quiet', ...args])
const resolver = Resolver.openSync(DB)

type Columns = Parameters<typeof parquetWriteBuffer>[0]['columnData']

const path = (name: string): string => join(folder, name)

function writeParquet(
  name: string,
  columnData: Columns,
  rowGroupSize = 100,
  schema?: SchemaElement[],
): string {
  const options = { columnData, rowGroupSize, columnIndex: true, ...(schema === undefined ? {} : { schema }) }
  return makeFile(path(name), new Uint8Array(parquetWriteBuffer(options)))
}

async function rowsOf(file: string): Promise<Record<string, unknown>[]> {
  return parquetReadObjects({ file: await asyncBufferFromFile(file) })
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

/** What the resolver gives, which reads no Parquet. */
function expected(index: number) {
  const [found] = resolver.lookupMany([ips[index] ?? ''], { at: times[index] })
  return found === undefined || isLookupFailure(found) ? undefined : found
}

describe('Parquet to Parquet', () => {
  it('adds the columns to a file without rows too', async () => {
    const none = writeParquet('none.parquet', [{ name: 'client_ip', data: [], type: 'STRING' }])
    await enrich(ROWS, '--fields', 'city', '-o', path('some-out.parquet'))
    await enrich(none, '--fields', 'city', '-o', path('none-out.parquet'))
    const addedTo = async (name: string) =>
      (await parquetMetadataAsync(await asyncBufferFromFile(path(name)))).schema.at(-1)
    expect(await addedTo('none-out.parquet')).toEqual(await addedTo('some-out.parquet'))
    expect(await rowsOf(path('none-out.parquet'))).toEqual([])
  })

  it('adds a struct with the location of each row, at the time of each row', async () => {
    const { status, err } = await enrich(ROWS, '-o', path('out.parquet'))
    expect({ status, err }).toEqual({ status: 0, err: '' })
    const before = await rowsOf(ROWS)
    const after = await rowsOf(path('out.parquet'))
    expect(after).toHaveLength(COUNT)
    for (const [index, { location, ...rest }] of after.entries()) {
      expect(rest).toEqual(before[index])
      expect(location ?? undefined).toEqual(expected(index))
    }
    expect(after.some(({ location }) => location !== undefined && location !== null)).toBe(true)
  })

  it('keeps every byte before the footer, and the metadata of every column', async () => {
    await enrich(ROWS, '-o', path('same.parquet'))
    const [before, after] = [readFileSync(ROWS), readFileSync(path('same.parquet'))]
    const end = before.length - 8 - before.readUint32LE(before.length - 8)
    expect(after.subarray(0, end).equals(before.subarray(0, end))).toBe(true)
    const metadata = await parquetMetadataAsync(await asyncBufferFromFile(ROWS))
    const changed = await parquetMetadataAsync(await asyncBufferFromFile(path('same.parquet')))
    expect(changed.row_groups.length).toBe(3)
    for (const [index, { columns }] of metadata.row_groups.entries())
      expect(changed.row_groups[index]?.columns.slice(0, columns.length)).toEqual(columns)
  })

  it('adds flat columns instead, named by --fields, or a struct with another name', async () => {
    const out = path('flat.parquet')
    await enrich(ROWS, '-o', out, '--fields', 'country_code,latitude,timezone_offset')
    for (const [index, row] of (await rowsOf(out)).entries()) {
      const found = expected(index)
      expect([row.country_code ?? null, row.latitude ?? null, row.timezone_offset ?? null]).toEqual([
        found?.country.code ?? null,
        found?.coordinates.latitude ?? null,
        found?.timezone.offset ?? null,
      ])
    }
    await enrich(ROWS, '-o', out, '--into', 'place', '--field', 'client_ip', '--time-field', 'time')
    expect((await rowsOf(out))[0]?.place).toEqual(expected(0))
  })

  it('says what it guessed, and does not add its columns again', async () => {
    const own = path('own.parquet')
    const { err } = await geofix(['enrich', '--db', DB, ROWS, '-o', own, '--stats', 'none'])
    expect(err).toBe(
      `geofix: ${ROWS}: the address is in client_ip\ngeofix: ${ROWS}: the time of the event is in time\n`,
    )
    const again = await enrich(own, '-o', path('again.parquet'))
    expect(again).toMatchObject({ status: 2, err: expect.stringContaining('a column "location" already') })
    expect(existsSync(path('again.parquet'))).toBe(false)
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
    const file = writeParquet('structs.parquet', [{ name: 'event', data }], 100, schema)
    const flags = ['--field', 'event.client.ip', '--time-field', 'event.when.ts']
    expect(await enrich(file, '-o', path('structs.out.parquet'), ...flags)).toMatchObject({ status: 0 })
    const rows = await rowsOf(path('structs.out.parquet'))
    for (const [index, { location }] of rows.entries()) expect(location ?? undefined).toEqual(expected(index))
  })

  it("renews Spark's copy of the schema and removes Arrow's", async () => {
    const file = path('spark.parquet')
    const fields = [{ name: 'ip', type: 'string', nullable: true, metadata: {} }]
    const kvMetadata = [
      { key: 'org.apache.spark.sql.parquet.row.metadata', value: JSON.stringify({ type: 'struct', fields }) },
      { key: 'ARROW:schema', value: 'x' },
      { key: 'pandas', value: '{}' },
    ]
    const columnData: Columns = [{ name: 'ip', data: ['81.2.69.142'], type: 'STRING' }]
    writeFileSync(file, new Uint8Array(parquetWriteBuffer({ columnData, kvMetadata })))
    await enrich(file, '-o', path('spark.out.parquet'))
    const { key_value_metadata: found = [] } = await parquetMetadataAsync(
      await asyncBufferFromFile(path('spark.out.parquet')),
    )
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
    const columnData: Columns = ['a', 'b'].map((name, index) => ({
      name,
      data: [index === 0 ? '81.2.69.142' : '1.2.3.4'],
      type: 'STRING',
    }))
    writeFileSync(path('two.parquet'), new Uint8Array(parquetWriteBuffer({ columnData })))
    writeFileSync(path('two.ndjson'), '{"a":"81.2.69.142","b":"1.2.3.4"}\n')
    writeFileSync(path('two.tsv'), 'a\tb\n81.2.69.142\t1.2.3.4\n')
    const fields = ['--field', 'a=from', '--field', 'b=to', ...flags]
    for (const name of ['two.parquet', 'two.ndjson', ...(flags.length > 0 ? ['two.tsv'] : [])]) {
      const { err } = await enrich(path(name), '-o', path('two.out.parquet'), ...fields)
      expect(err).toBe('')
      expect(await rowsOf(path('two.out.parquet'))).toMatchObject([
        { a: '81.2.69.142', b: '1.2.3.4', ...row },
      ])
    }
  })

  it.each<[string, string[], string]>([
    ['rows would be left out', ['--only-failed'], '--only-failed has no effect on Parquet'],
    ['rows would be left out', ['--drop-unresolved'], '--drop-unresolved has no effect on Parquet'],
    ['there are no lines', ['--append'], '--append has no effect on Parquet'],
    ['there is no such column', ['--field', 'nothing'], 'nothing'],
    ['there are two', [ROWS], 'one Parquet file at a time'],
  ])('is refused where %s', async (_, flags, message) => {
    const { status, err } = await enrich(ROWS, '-o', path('refused.parquet'), ...flags)
    expect(status).not.toBe(0)
    expect(err).toContain(message)
    expect(existsSync(path('refused.parquet'))).toBe(false)
  })

  it('is refused with addresses only in a list, by what names one and not by what reads lines', async () => {
    const file = writeParquet('list.parquet', [
      { name: 'id', data: [1, 2] },
      { name: 'ip', data: [['81.2.69.142'], ['1.2.3.4']] },
      { name: 'seen', data: [{ by: [{ ip: '1.2.3.4' }] }, { by: [] }], type: 'JSON' },
    ])
    const out = ['-o', path('list.out.parquet')]
    expect((await enrich(file, ...out)).err).toMatch(/add --field ip\.0\n$/)
    for (const [field, cities] of [
      ['ip.0', ['London', 'Sydney']],
      ['seen.by.0.ip', ['Sydney', undefined]],
    ] as const) {
      const named = ['-o', path(`${field}.parquet`), '--field', field, '--fields', 'city']
      expect((await enrich(file, ...named)).status).toBe(0)
      expect((await rowsOf(path(`${field}.parquet`))).map(({ city }) => city ?? undefined)).toEqual(cities)
    }
    expect((await enrich(file, ...out, '--field', 'id')).err).toMatch(/continue with --force \([^)]+\)\n$/)
    expect((await enrich(file, '--to', 'ndjson')).err).toContain('add --format text')
  })

  it('gives every row its own location where one has a text of any length', async () => {
    const data = ['81.2.69.142', 'x'.repeat(3_000_000), '1.2.3.4']
    const file = writeParquet('long.parquet', [{ name: 'ip', data, type: 'STRING' }])
    const { status } = await enrich(file, '-o', path('long.out.parquet'), '--fields', 'city')
    expect(status).toBe(0)
    expect((await rowsOf(path('long.out.parquet'))).map(({ city }) => city ?? null)).toEqual([
      'London',
      null,
      'Sydney',
    ])
  })

  it('refuses a file with a column that has other rows than its row group says', async () => {
    const schema: SchemaElement[] = [
      { name: 'root', num_children: 1 },
      { name: 'ip', type: 'BYTE_ARRAY', converted_type: 'UTF8', repetition_type: 'REQUIRED' },
    ]
    const data = each(() => '81.2.69.142')
    const bytes = Buffer.from(parquetWriteBuffer({ columnData: [{ name: 'ip', data }], schema }))
    // The rows of the row group, its only member with this value besides the number of values of the column.
    const rows = Buffer.from([0x16, 0xf4, 0x03])
    const at = bytes.lastIndexOf(rows)
    bytes[at + 1] = 0xf6
    writeFileSync(path('rows.damaged.parquet'), bytes)
    const { status, err } = await enrich(path('rows.damaged.parquet'), '-o', path('never.parquet'))
    expect({ status, err }).toEqual({ status: 4, err: expect.stringContaining('its Parquet data cannot be') })
    expect(existsSync(path('never.parquet'))).toBe(false)
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
      const { status, err } = await enrich(cut, '-o', path('cut.out.parquet'))
      expect({ length, status }).toEqual({ length, status: 4 })
      expect(err).toContain('cannot be read: its Parquet data cannot be read')
      expect(existsSync(path('cut.out.parquet'))).toBe(false)
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
  const lines = (text: string): Record<string, unknown>[] =>
    text
      .split('\n')
      .filter(Boolean)
      .map((line): Record<string, unknown> => JSON.parse(line))

  it('writes an object for each row', async () => {
    const { status, out } = await enrich(ROWS)
    expect(status).toBe(4)
    expect(out).toBe('')
    const file = writeParquet('plain.parquet', [
      { name: 'id', data: each((index) => BigInt(index) * 10n ** 16n), type: 'INT64' },
      { name: 'client_ip', data: ips, type: 'STRING' },
      { name: 'time', data: times, type: 'TIMESTAMP' },
      { name: 'json', data: each((index) => ({ index })), type: 'JSON' },
    ])
    const found = await enrich(file)
    expect(found.status).toBe(0)
    expect(found.out).toContain('"id":2490000000000000000,')
    const rows = lines(found.out)
    expect(rows).toHaveLength(COUNT)
    for (const [index, row] of rows.entries()) {
      expect(row).toMatchObject({ client_ip: ips[index], json: { index } })
      expect(row.time).toBe(times[index]?.toISOString().replace('.000', ''))
      expect(row.location ?? undefined).toEqual(expected(index))
    }
  })

  it('is refused by a pipe, with what to do', async () => {
    const { status, err } = await geofix(['enrich', '--db', DB], { input: readFileSync(ROWS) })
    expect({ status, err }).toMatchObject({ status: 4, err: expect.stringContaining('name the file') })
  })
})

describe('Parquet to CSV', () => {
  const texts = [' x', 'a,b', 'a "b"\r\nc', null]
  const file = () =>
    writeParquet('to-csv.parquet', [
      { name: 'id', data: each((index) => BigInt(index) * 10n ** 16n), type: 'INT64' },
      { name: 'client_ip', data: ips, type: 'STRING' },
      { name: 'a "b"', data: each((index) => texts[index % 4]), type: 'STRING' },
      { name: 'time', data: times, type: 'TIMESTAMP' },
      { name: 'json', data: each((index) => ({ index })), type: 'JSON' },
    ])

  it.each([
    ['-o', path('table.csv')],
    ['--to', 'csv'],
  ])('writes a row for each row, with columns for the location: %s', async (flag, value) => {
    const { status, out } = await enrich(file(), flag, value, '--fields', 'city,timezone_offset')
    const text = flag === '-o' ? readFileSync(value, 'utf8') : out
    expect(status).toBe(0)
    expect(text.startsWith('id,client_ip,"a ""b""",time,json,city,timezone_offset\n')).toBe(true)
    const rows: Record<string, string>[] = parse(text, { columns: true })
    expect(rows).toHaveLength(COUNT)
    for (const [index, row] of rows.entries()) {
      const found = expected(index)
      expect(row).toEqual({
        id: String(BigInt(index) * 10n ** 16n),
        client_ip: ips[index] ?? '',
        'a "b"': texts[index % 4] ?? '',
        time: times[index]?.toISOString().replace('.000', ''),
        json: `{"index":${index}}`,
        city: found?.city ?? '',
        timezone_offset: found?.timezone.offset ?? '',
      })
    }
  })

  it('keeps rows of one column that are empty', async () => {
    const only = writeParquet('only.parquet', [{ name: 'ip', data: ['81.2.69.142', null], type: 'STRING' }])
    const { out } = await enrich(only, '--to', 'csv', '--fields', 'city')
    expect(out).toBe('ip,city\n81.2.69.142,London\n"",\n')
  })

  it('is refused for columns that text would change', async () => {
    expect(await enrich(ROWS, '-o', path('never.csv'))).toMatchObject({
      status: 4,
      err: expect.stringContaining('which JSON would change'),
    })
    expect(existsSync(path('never.csv'))).toBe(false)
  })
})

describe('lines to Parquet', () => {
  it('makes typed columns of objects, and loses nothing that comes later', async () => {
    const file = path('events.ndjson')
    const first = {
      ip: '81.2.69.142',
      n: 1,
      f: 1.5,
      ok: true,
      text: '007',
      deep: { a: [1] },
      user: null,
      none: null,
    }
    const later = { ip: '1.2.3.4', n: 'many', new: [1], user: 'bob', none: 3 }
    // The first row group decides on the types.
    const filler = `${JSON.stringify({ ip: '10.0.0.1' })}\n`.repeat(100_000)
    const big = '{"ip":"8.8.8.8","n":9223372036854775807}\n'
    writeFileSync(file, `${JSON.stringify(first)}\n${big}${filler}${JSON.stringify(later)}\nbad\n`)
    const { status } = await enrich(file, '-o', path('events.parquet'))
    expect(status).toBe(0)
    const rows = await rowsOf(path('events.parquet'))
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
    const file = path('times.ndjson')
    const rows = [
      {
        time: '2026-07-01T12:00:00+02:00',
        nanos: '2026-07-01T10:00:00.1234567Z',
        local: '2026-07-01T10:00:00',
        day: '2026-02-30T00:00:00Z',
      },
      {
        time: '1969-12-31T23:59:59.25Z',
        nanos: '2026-07-01T10:00:00Z',
        local: '2026-07-01T10:00:00',
        day: '2026-02-28T00:00:00Z',
      },
      { time: null },
    ]
    writeFileSync(file, rows.map((row) => `${JSON.stringify({ ip: '81.2.69.142', ...row })}\n`).join(''))
    await enrich(file, '-o', path('times.parquet'))
    const found = await rowsOf(path('times.parquet'))
    expect(found.map(({ time }) => time)).toEqual([
      new Date('2026-07-01T10:00:00Z'),
      new Date('1969-12-31T23:59:59.250Z'),
      null,
    ])
    expect(found[0]).toMatchObject({ nanos: rows[0]?.nanos, local: rows[0]?.local, day: rows[0]?.day })
    const { schema } = await parquetMetadataAsync(await asyncBufferFromFile(path('times.parquet')))
    expect(schema.find(({ name }) => name === 'time')).toMatchObject({
      type: 'INT64',
      converted_type: 'TIMESTAMP_MICROS',
      logical_type: { type: 'TIMESTAMP', isAdjustedToUTC: true, unit: 'MICROS' },
    })
    await enrich(path('times.parquet'), '-o', path('times.back.ndjson'), '--into', 'again')
    expect(readFileSync(path('times.back.ndjson'), 'utf8')).toContain('"time":"1969-12-31T23:59:59.25Z"')
  })

  it('makes texts of the columns of a table', async () => {
    const file = makeFile(
      path('table.csv'),
      'id,ip,ip,\n007,81.2.69.142,"a ""b""\nc",\n8,1.2.3.4,x,y\nshort\n',
    )
    await enrich(file, '--field', '2', '-o', path('table.parquet'), '--fields', 'city,latitude')
    expect(await rowsOf(path('table.parquet'))).toMatchObject([
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
    writeFileSync(path(`a.${name}`), text)
    expect(await enrich(path(`a.${name}`), '-o', path(`${name}.parquet`))).toMatchObject({ status: 0 })
    expect(await rowsOf(path(`${name}.parquet`))).toMatchObject([{ ...row, location: { city: 'London' } }])
    await enrich(path(`a.${name}`), '-o', path(`${name}.parquet`), '--fields', 'city,longitude')
    expect(await rowsOf(path(`${name}.parquet`))).toMatchObject([{ ...row, city: 'London', longitude: -0.5 }])
  })

  it('gives the rows of each input their own locations', async () => {
    const inputs = ['81.2.69.142', '1.2.3.4'].map((ip, index) => {
      const file = makeFile(
        path(`input${index}.txt`),
        `Failed password for root from ${ip} port 1\n`.repeat(15_000),
      )
      // The time of the file is in its plan, so that each has an enricher of its own.
      utimesSync(file, index + 1, index + 1)
      return file
    })
    await enrich(...inputs, '-o', path('inputs.parquet'), '--fields', 'city')
    const cities = (await rowsOf(path('inputs.parquet'))).map(({ city }) => city)
    expect(cities).toEqual(['London', 'Sydney'].flatMap((city) => Array<string>(15_000).fill(city)))
  })

  it('makes one row of a line that is too long, and of a last line without an end', async () => {
    const long = `{"ip":"81.2.69.142","x":"${'y'.repeat(5_000_000)}"}`
    writeFileSync(path('long.ndjson'), `{"ip":"81.2.69.142"}\n${long}\n{"ip":"1.2.3.4"}`)
    expect(await enrich(path('long.ndjson'), '-o', path('long.parquet'))).toMatchObject({ status: 0 })
    const rows = await rowsOf(path('long.parquet'))
    expect(rows.map(({ raw }) => String(raw).length)).toEqual([4, 2 ** 20, 4])
    expect(long.startsWith(String(rows[1]?.raw))).toBe(true)
    expect([rows[0], rows[2]]).toMatchObject([
      { location: { city: 'London' } },
      { location: { city: 'Sydney' } },
    ])
  })

  it('keeps a line with a text of its own in place of the location', async () => {
    const line = '{"ip":"1.2.3.4","location":"Paris"}'
    writeFileSync(path('own.ndjson'), `${'{"ip":"81.2.69.142"}\n'.repeat(1000)}${line}\n`)
    for (const flags of [[], ['--fields', 'city']]) {
      await enrich(path('own.ndjson'), '-o', path('own.parquet'), '--on-bad-line', 'keep', ...flags)
      expect((await rowsOf(path('own.parquet')))[1000]).toMatchObject({ raw: line })
    }
  })

  it('goes to standard output with --to parquet, and not with --rows', async () => {
    const input = '{"ip":"81.2.69.142"}\n'
    const { out } = await geofix(['enrich', '--db', DB, '--quiet', '--to', 'parquet'], { input })
    expect(out.startsWith('PAR1') && out.endsWith('PAR1')).toBe(true)
    expect(await enrich('--rows', '--to', 'parquet')).toMatchObject({ status: 2 })
  })

  it('keeps every value of any objects', async () => {
    const file = path('any.ndjson')
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
          writeFileSync(file, `${lines.join('\n')}\n`)
          expect(await enrich(file, '-o', path('any.parquet'))).toMatchObject({ status: 0 })
          const rows = await rowsOf(path('any.parquet'))
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
