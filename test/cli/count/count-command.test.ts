import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { asyncBufferFromFile, parquetReadObjects } from 'hyparquet'
import { parquetWriteBuffer } from 'hyparquet-writer'
import { describe, expect, it } from 'vitest'
import { textOf } from '../../../src/cli/count/forms.ts'
import { failure, geofix, ndjson, printed, workspace } from '../enrich/command-line.ts'

const { DB: database, at, file: input } = workspace()
const DB = ['--db', database]
const LINES = input('lines.ndjson', ndjson(7))

describe('geofix count', () => {
  it('prints an aligned table by country, and what is not in it', async () => {
    const { status, out, err } = await geofix(['count', LINES, ...DB])
    expect(status).toBe(0)
    expect(out.split('\n')).toEqual([
      'country  country_name    count  share',
      'GB       United Kingdom      3  42.9%',
      'AU       Australia           2  28.6%',
      '–        –                   2  28.6%',
      '',
    ])
    expect(err).toContain('7 lines: 5 with a location, 2 private\n')
  })

  it.each(
    Object.entries({
      csv: 'country,country_name,/path,count,unique\r\nGB,United Kingdom,"a, ""b""|c",2,2\r\n,,"a, ""b""|c",1,1\r\n',
      ndjson:
        '{"country":"GB","country_name":"United Kingdom","/path":"a, \\"b\\"|c","count":2,"unique":2}\n{"country":null,"country_name":null,"/path":"a, \\"b\\"|c","count":1,"unique":1}\n',
      tsv: 'country\tcountry_name\t/path\tcount\tunique\nGB\tUnited Kingdom\t"a, ""b""|c"\t2\t2\n\t\t"a, ""b""|c"\t1\t1\n',
      json: '[\n{"country":"GB","country_name":"United Kingdom","/path":"a, \\"b\\"|c","count":2,"unique":2},\n{"country":null,"country_name":null,"/path":"a, \\"b\\"|c","count":1,"unique":1}\n]\n',
      md: '| country | country\\_name | /path | count | unique |\n| --- | --- | --- | ---: | ---: |\n| GB | United Kingdom | a, "b"\\|c | 2 | 2 |\n|  |  | a, "b"\\|c | 1 | 1 |\n',
    }),
  )('writes %s, by --to or by the name of the output', async (form, expected) => {
    const file = input(
      'marks.ndjson',
      ['81.2.69.1', '81.2.69.2', '8.8.8.8']
        .map((ip) => `${JSON.stringify({ ip, path: 'a, "b"|c' })}\n`)
        .join(''),
    )
    const args = ['count', '--by', 'country,/path', '--unique', '--quiet', file, ...DB]
    expect(await geofix([...args, '--to', form])).toEqual({ status: 0, out: expected, err: '' })
    expect(await geofix([...args, '-o', at(`counts.${form}`)])).toEqual({ status: 0, out: '', err: '' })
    expect(readFileSync(at(`counts.${form}`), 'utf8')).toBe(expected)
  })

  it('reads only the columns of Parquet that are counted, and counts them as lines of JSON', async () => {
    const ips = ['81.2.69.1', null, '10.0.0.1', '81.2.69.2', '1.1.1.1']
    const rows = Array.from({ length: 9000 }, (_, index) => ({
      filler: `${'x'.repeat(index === 7 || index === 8000 ? 2 ** 20 : 50)}${index}`,
      request: { id: index % 3, ip: ips[index % 5] ?? null },
      plan: `${index % 4}`,
      time: `2026-07-01T0${index % 7}:00:00Z`,
    }))
    const lines = input('rows.ndjson', rows.map((row) => `${JSON.stringify(row)}\n`).join(''))
    const columnData = (['filler', 'request', 'plan', 'time'] as const).map((name) => ({
      name,
      data: rows.map((row) => row[name]),
      type: name === 'request' ? ('JSON' as const) : ('STRING' as const),
    }))
    const bytes = Buffer.from(parquetWriteBuffer({ columnData, rowGroupSize: 4000, codec: 'UNCOMPRESSED' }))
    // Bytes that are not UTF-8, which JSON has no text for.
    for (const text of ['x11', 'x8999']) bytes[bytes.lastIndexOf(text)] = 0xff
    writeFileSync(at('rows.parquet'), bytes)
    for (const by of ['country,/plan', 'hour,/request/id', 'ip,reason']) {
      const args = ['--by', by, '--unique', '--to', 'csv', '--field', 'request.ip', ...DB]
      // Only what is read of a row counts for the longest line.
      const { out } = await geofix(['count', lines, '--max-line-bytes', `${2 ** 21}`, ...args])
      expect(await geofix(['count', at('rows.parquet'), ...args])).toMatchObject({ status: 0, out })
    }
    const all = await geofix(['count', at('rows.parquet'), '--by', '/filler', ...DB])
    expect(all.err).toContain('the column "filler" has bytes, which JSON would change')
  })

  it('takes no other column of Parquet for one that JSON would change, which is no key', async () => {
    const decimal = { type: 'INT64', converted_type: 'DECIMAL', precision: 18, scale: 3 } as const
    const text = { type: 'BYTE_ARRAY', converted_type: 'UTF8' } as const
    const REQUIRED = { repetition_type: 'REQUIRED' } as const
    const bytes = parquetWriteBuffer({
      schema: [
        { name: 'root', num_children: 3 },
        { name: 'client', num_children: 2, ...REQUIRED },
        { name: 'ip', ...text, ...REQUIRED },
        { name: 'paid', ...decimal, ...REQUIRED },
        { name: 'time', ...decimal, ...REQUIRED },
        { name: 'created', ...text, ...REQUIRED },
      ],
      columnData: [
        { name: 'client', data: [{ ip: '81.2.69.1', paid: 1.5 }] },
        { name: 'time', data: [1782864000.5] },
        { name: 'created', data: ['2020-01-01T05:00:00Z'] },
      ],
    })
    writeFileSync(at('decimals.parquet'), Buffer.from(bytes))
    const count = (...args: string[]) =>
      geofix(['count', at('decimals.parquet'), ...args, '--to', 'csv', ...DB])
    for (const [key, column] of Object.entries({ time: 'time', '/client': 'client.paid' })) {
      const { err } = await count('--by', key)
      expect(err).toContain(
        `the column "${column}" is DECIMAL, which JSON would change. Count by another key`,
      )
    }
    // An instant needs no more digits than the sample has, and other columns are not counted.
    const { out } = await count('--by', 'country,day,hour')
    expect(out).toBe('country,country_name,day,hour,count\r\nGB,United Kingdom,2026-07-01,0,1\r\n')
  })

  it('writes Parquet, with columns of integers and of text', async () => {
    const args = ['count', '--by', 'country,/id', '--unique', '--quiet', LINES, ...DB]
    expect((await geofix([...args, '-o', at('counts.parquet')])).status).toBe(0)
    await geofix([...args, '-o', at('counts.json')])
    const rows = await parquetReadObjects({ file: await asyncBufferFromFile(at('counts.parquet')) })
    const plain = rows.map((row) => ({ ...row, count: Number(row.count), unique: Number(row.unique) }))
    expect(plain).toEqual(JSON.parse(readFileSync(at('counts.json'), 'utf8')))
    expect(typeof rows[0]?.count).toBe('bigint')
  })

  it('writes empty tables in each form', async () => {
    const none = ['count', '--only-country', 'JP', '--quiet', LINES, ...DB]
    expect((await geofix([...none, '--to', 'json'])).out).toBe('[]\n')
    expect((await geofix([...none, '--to', 'ndjson'])).out).toBe('')
    await geofix([...none, '-o', at('empty.parquet')])
    expect(await parquetReadObjects({ file: await asyncBufferFromFile(at('empty.parquet')) })).toEqual([])
  })

  it('begins CSV with a byte order mark, and nothing else', async () => {
    const args = ['count', '--quiet', LINES, ...DB]
    const { out } = await geofix([...args, '--to', 'csv'])
    await geofix([...args, '-o', at('marked.csv'), '--bom'])
    expect(readFileSync(at('marked.csv'), 'utf8')).toBe(`\ufeff${out}`)
    expect(await geofix([...args, '--bom'])).toEqual(failure(2, '--bom is for CSV and TSV'))
  })

  describe('names no address', () => {
    const file = input(
      'addresses.csv',
      `ip,via\n${['81.2.69.1', '81.2.69.9', '81.2.69.9', '1.0.0.7', '2002:5102:4501:77::1', '']
        .map((ip) => `${ip},"via ${ip}:80 [${ip}]"\n`)
        .join('')}`,
    )
    const rows = async (...args: string[]): Promise<string[]> => {
      const out = await printed(geofix(['count', file, '--to', 'csv', '--quiet', ...DB, ...args]))
      return out.trim().split('\r\n').slice(1)
    }

    it('but its first bits with --mask, and adds up rows that become equal', async () => {
      expect(await rows('--by', 'ip', '--unique', '--mask', '24,48')).toEqual([
        '81.2.69.0,3,2',
        '1.0.0.0,1,1',
        // Of the IPv4 address in it, 24 bits are kept.
        '2002:5102:4500::,1,1',
        ',1,0',
      ])
      expect(await rows('--by', 'network', '--mask', '24,48')).toContain('81.2.69.0/24,3')
      expect(await rows('--by', 'network', '--mask', '16,48')).toEqual([
        '81.2.0.0/16,3',
        '1.0.0.0/16,1',
        // 16 bits of the IPv4 address in it.
        '2002:5102::/32,1',
        ',1',
      ])
      expect(await rows('--by', '/via', '--mask', '8,16', '--top', '1')).toEqual([
        'via 81.0.0.0:80 [81.0.0.0],3',
      ])
    })

    it('with --drop-address', async () => {
      expect(await rows('--by', 'ip,country', '--unique', '--drop-address')).toEqual([
        '-,GB,United Kingdom,4,3',
        '-,AU,Australia,1,1',
        ',,,1,0',
      ])
    })

    it('but its name with --pseudonym, which is that of geofix enrich', async () => {
      const key = ['--pseudonym', at('key')]
      const first = await rows('--by', 'ip', ...key, '--new-key')
      expect(await rows('--by', 'ip', ...key)).toEqual(first)
      const { out } = await geofix(['enrich', file, '--quiet', ...DB, ...key])
      const names = out.split('\n').map((text) => text.split(',', 1)[0] ?? '')
      const counts = names.filter((name) => name.startsWith('ip-'))
      expect(new Set(first.map((row) => row.split(',')[0]))).toEqual(new Set([...counts, '']))
      expect(first[0]).toBe(`${counts[1]},2`)
    })
  })

  it.each(['reason', 'local_hour', 'country', 'ip', 'reason,country'])(
    'counts by %s what comes after an input without lines',
    async (by) => {
      const header = input('header.csv', 'ip,time\n')
      const rows = input(
        'rows.csv',
        'ip,time\n81.2.69.1,2026-07-01T12:00:00Z\n10.0.0.1,2026-07-01T12:00:00Z\n',
      )
      const count = (...files: string[]) =>
        geofix(['count', '--by', by, '--to', 'csv', '--quiet', ...files, ...DB])
      const alone = await count(rows)
      expect(alone.out.split('\r\n')).toHaveLength(4)
      expect(await count(header, rows)).toEqual(alone)
    },
  )

  it('gives the same with threads, and with several inputs', async () => {
    const [first, second] = [
      input('first.ndjson', ndjson(12_000)),
      input('second.ndjson', ndjson(9_000, 12_000)),
    ]
    const whole = input('whole.ndjson', ndjson(21_000))
    const args = ['--by', 'ip,/path', '--unique', '--top', '50', '--to', 'csv', '--quiet', ...DB]
    const one = await geofix(['count', whole, '--threads', '1', ...args])
    expect(one.out.split('\r\n')).toHaveLength(52)
    expect(await geofix(['count', whole, '--threads', '3', ...args])).toEqual(one)
    expect(await geofix(['count', first, second, ...args])).toEqual(one)
  }, 60_000)

  it('says which rows and lines are left out', async () => {
    const args = ['--by', '/path', '--top', '2', '--max-groups', '5', '--to', 'csv', ...DB]
    const { out, err } = await geofix(['count', LINES, ...args])
    expect(out).toBe('/path,count\r\n/a/b/c/0,1\r\n/a/b/c/1,1\r\n')
    expect(err).toContain('--top leaves out 3 rows with 42.9% of the lines')
    expect(err).toContain('2 lines are of other groups than the first 5')
    expect((await geofix(['count', LINES, '--only-country', 'GB', ...DB])).err).toContain(
      '4 in other countries',
    )
  })

  it('shows unreadable lines, and blank ones', async () => {
    const file = input('damaged.ndjson', `${ndjson(2)}{"ip":\n\n`)
    const { err } = await geofix(['count', file, ...DB])
    expect(err).toContain('4 lines: 2 with a location, 1 blank, 1 unreadable')
    expect(err).toMatch(/damaged\.ndjson, line 3: it is not valid JSON/)
  })

  it('counts by the embedded autonomous systems', async () => {
    const args = ['count', '--by', 'ip,asn', '--to', 'csv', '--quiet', '-', ...DB]
    const { out } = await geofix(args, { input: '8.8.8.8\n8.8.8.8\n10.0.0.1\n' })
    expect(out).toMatch(
      /^ip,asn,asn_organization,count\r\n8\.8\.8\.8,15169,Google[^,]*,2\r\n10\.0\.0\.1,,,1\r\n$/,
    )
  })

  it.each([
    [['--by', 'country,'], 2, /--by must be some of country/],
    [['--asn-db', 'asn.mmdb'], 2, /--asn-db is for --by asn/],
    [['-o', LINES], 3, /that this run reads/],
    [['--nth', '1'], 2, /--nth is for text/],
    [['-o', 'a.html'], 2, /no form has the ending \.html\. Write \.csv, \.tsv, \.json, .*--to table, csv,/],
    [['-o', 'a.parquet.gz'], 2, /leave out \.gz/],
  ])('refuses %j', async (args, status, message) => {
    expect(await geofix(['count', LINES, ...args, ...DB])).toEqual(failure(status, message))
  })

  it('leaves no output when it fails', async () => {
    const { status } = await geofix(['count', input('bad.txt', 'no log\n'), '-o', at('none.csv'), ...DB])
    expect(status).toBe(1)
    expect(existsSync(at('none.csv'))).toBe(false)
  })
})

describe('the table for people', () => {
  const column = (name: string, values: readonly (string | number | null)[]) => ({
    name,
    size: values.length,
    codes: Int32Array.from(values.keys()),
    value: (code: number) => values[code] ?? null,
  })
  const table = {
    columns: [
      column('city', ['東京', 'A\u001b[2Jvery long name of a city that no terminal has the room for', null]),
      column('hour', [9, 10, null]),
    ],
    counts: Float64Array.of(1000, 334, 1),
    unique: null,
    shown: 1335,
    hidden: { rows: 1, lines: 665 },
    other: 0,
    sampling: 1,
  }
  const shown = (hasBars: boolean, isShown: boolean): string[] =>
    [...textOf(table, 'table', { hasBars, hasMark: false, isShown })].join('').split('\n')

  it('has bars and cuts long values', () => {
    expect(shown(true, true)).toEqual([
      'city                                              hour  count  share',
      '東京                                                 9  1,000  50.0%  ████████████████████████',
      'A\ufffd[2Jvery long name of a city that no terminal …    10    334  16.7%  ████████',
      '–                                                    –      1  <0.1%  ▏',
      '',
    ])
  })

  it('has neither where nobody looks', () => {
    expect(shown(false, false)[2]).toBe(
      'A\ufffd[2Jvery long name of a city that no terminal has the room for    10    334  16.7%',
    )
  })
})
