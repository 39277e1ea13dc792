// Tables of every format: geofix enrich --to csv, --to tsv, -o FILE.csv, --bom.
import { existsSync, readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { TableOutput } from '../../../../src/cli/enrich/rows/table-output.ts'
import { rowsOf, sampleTable } from '../../../../src/enrich/formats/delimited/table.ts'
import '../../../../src/enrich/formats/all-formats.ts'
import { definitionOf, FORMATS } from '../../../../src/enrich/formats/formats.ts'
import { effort } from '../../../effort.ts'
import { failure, workspace } from '../command-line.ts'

const { at: path, file, enrich } = workspace('--at', '2026-07-01', '--stats', 'none')
const CITY = ['--fields', 'city']

/** The records of a table, as the reader of CSV and TSV sees them. */
function recordsOf(text: string, delimiter = ','): readonly (readonly string[])[] {
  const bytes = new TextEncoder().encode(text)
  return rowsOf(
    sampleTable({ bytes, isWhole: true }, { delimiter: delimiter.charCodeAt(0), quotes: true }, 1e6, 1e6),
  )
}

const ACCESS =
  '81.2.69.142 - ann [01/Jul/2026:12:00:00 +0000] "GET /a,b HTTP/1.1" 200 5 "-" "curl/8.5.0"\n' +
  '10.0.0.1 - - [01/Jul/2026:12:00:01 +0000] "-" 400 0 "-" "-"\n'
const FIELDS = 'ip,ident,user,time,method,target,protocol,status,bytes,referrer,user_agent'

/** The members of rows that come each 80 ms for a second. */
const MEMBERS = Array.from({ length: 13 }, (_, row) => `m${row}`)
const LATEST = `${MEMBERS},_rescued_data`

describe('geofix enrich --to csv', () => {
  it('makes columns of the fields of an access log, and of the location', async () => {
    const { status, out, err } = await enrich(['--to', 'csv', '--fields', 'country_code,city'], ACCESS)
    expect(status).toBe(0)
    expect(out).toBe(
      `${FIELDS},country_code,city\n` +
        '81.2.69.142,,ann,2026-07-01T12:00:00+00:00,GET,"/a,b",HTTP/1.1,200,5,,curl/8.5.0,GB,London\n' +
        '10.0.0.1,,,2026-07-01T12:00:01+00:00,,,,400,0,,,,\n',
    )
    expect(err).toContain('the columns of the table are the members of the first 2 lines: ip, ident, user')
  })

  it.each([
    ['Docker Compose', 'web-1  | '],
    ['a container runtime', '2026-07-01T12:00:00.1Z stdout F '],
    ['kubectl', '[pod/web-1/web] '],
    ['syslog', '<13>Jul  1 12:00:00 host web[1]: '],
  ])('makes columns of the members of objects behind what %s writes before them', async (_, prefix) => {
    const lines = `${prefix}{"client_ip":"81.2.69.142","n":1}\n${prefix}{"client_ip":"10.0.0.1","more":[2]}\n${prefix}starting\n`
    const { out } = await enrich(['--to', 'csv', ...CITY], lines)
    expect(out).toContain(`\n"${prefix}",81.2.69.142,`)
    expect(recordsOf(out)).toEqual([
      ['wrapper', 'client_ip', 'more', 'n', 'city', '_rescued_data'],
      [prefix.trim(), '81.2.69.142', '', '1', 'London', ''],
      [prefix.trim(), '10.0.0.1', '[2]', '', '', ''],
      ['', '', '', '', '', JSON.stringify({ raw: `${prefix}starting` })],
    ])
  })

  it.each(FORMATS)('makes a table of %s, also by the name of the output', async (format) => {
    const log = format === 'custom-log' ? ['--log-format', '$remote_addr [$time_local] $status'] : []
    for (const [form, delimiter] of [
      ['csv', ','],
      ['tsv', '\t'],
    ] as const) {
      const input = `${definitionOf(format).example}\n`
      const typed = await enrich(['--to', form, '--fields', 'city,country_code', ...log], input)
      expect(typed.status).toBe(0)
      const [header = [], record = [], ...others] = recordsOf(typed.out, delimiter)
      expect(header.slice(-2)).toEqual(['city', 'country_code'])
      expect(record.slice(-2)).toEqual(['London', 'GB'])
      expect(record).toHaveLength(header.length)
      expect(record.some((value) => value.includes('81.2.69.142'))).toBe(true)
      expect(others).toEqual([])
      const named = path(`${format}.${form}`)
      await enrich([file('in', input), '-o', named, '--fields', 'city,country_code', ...log])
      expect(readFileSync(named, 'utf8')).toBe(typed.out)
    }
  })

  it('keeps the bytes of a table that is of this form already, and makes objects with --to ndjson', async () => {
    const input = 'id; client_ip\r\n"1"; 81.2.69.142\r\n'
    for (const [form, expected] of [
      ['csv', 'id; client_ip;city\r\n"1"; 81.2.69.142;London\r\n'],
      ['tsv', 'id\tclient_ip\tcity\n1\t" 81.2.69.142"\tLondon\n'],
      ['ndjson', '{"id":"1","client_ip":" 81.2.69.142","location":{"city":"London"}}\n'],
    ] as const)
      expect((await enrich(['--to', form, ...CITY], input)).out).toBe(expected)
  })

  it('writes members as JSON, and keeps what comes too late and what cannot be read', async () => {
    const first =
      '{"ip":"81.2.69.142","n":12345678901234567890,"t":true,"list":[1,"a"],"o":{"x":null},"e":null}\n'
    const small = await enrich(['--to', 'csv', ...CITY, '--field', 'ip'], first)
    expect(small.out).toBe(
      'ip,n,t,list,o,e,city\n81.2.69.142,12345678901234567890,true,"[1,""a""]","{""x"":null}",,London\n',
    )
    const late = '{"ip":"1.2.3.4","n":1,"more":[2]}\nnot JSON\n'
    const lines = `${first.repeat(10_000)}${late}`
    const { out, err } = await enrich(['--to', 'csv', ...CITY, '--field', 'ip'], lines)
    const rows = out.trimEnd().split('\n')
    expect(rows).toHaveLength(10_003)
    expect(rows[0]).toBe('ip,n,t,list,o,e,city,_rescued_data')
    expect(rows[10_001]).toBe('1.2.3.4,1,,,,,Sydney,"{""more"":[2]}"')
    expect(rows[10_002]).toBe(',,,,,,,"{""raw"":""not JSON""}"')
    expect(err).toContain('2 rows have members that are no columns, now as JSON in _rescued_data: more, raw')
  })

  it('has the text of a line that is too long once, whatever the number of addresses', async () => {
    const long = `{"ip":"81.2.69.142","to":"1.2.3.4","text":"${'x'.repeat(2 ** 21)}"}`
    const fields = [...CITY, '--field', 'ip=from', '--field', 'to=at']
    const { out } = await enrich(['--to', 'csv', ...fields], `{"ip":"81.2.69.142","to":"1.2.3.4"}\n${long}\n`)
    const [, , [, , , , rescued = ''] = []] = recordsOf(out)
    expect(JSON.parse(rescued)).toEqual({ raw: long.slice(0, 2 ** 20) })
  })

  it.each([
    ['raw', [{ raw: '"'.padEnd(2 ** 20, 'x'), location: null }]],
    ['keep', [{ raw: '"'.padEnd(2 ** 20, 'x'), location: null }]],
    ['drop', []],
  ])('is an array with the start of a line that is too long: %s', async (onBadLine, expected) => {
    const long = `"${'x'.repeat(2 ** 21)}"`
    const options = ['--to', 'json', ...CITY, '--on-bad-line', onBadLine]
    const { out } = await enrich(options, `{"ip":"81.2.69.142"}\n${long}\n\n`)
    expect(JSON.parse(out)).toEqual([{ ip: '81.2.69.142', location: { city: 'London' } }, ...expected])
  })

  it('is an array of the objects of a document that are not left out', async () => {
    const options = ['--to', 'json', '--format', 'json', ...CITY, '--drop-unresolved']
    const { out } = await enrich(options, '[{"ip":"10.0.0.1"},{"ip":"81.2.69.142"},{"ip":"10.0.0.1"}]')
    expect(JSON.parse(out)).toEqual([{ ip: '81.2.69.142', location: { city: 'London' } }])
  })

  it('is an array with the start of each line over --max-line-bytes, in one block or in pieces', async () => {
    const lines = [2000, 2 ** 18].map((size) => `{"ip":"81.2.69.142","p":"${'x'.repeat(size)}"}`)
    const options = ['--to', 'json', '--max-line-bytes', '1024']
    const { out } = await enrich(options, `{"ip":"81.2.69.142"}\n${lines.join('\n')}\n`)
    const [, ...long] = JSON.parse(out)
    expect(long).toEqual(lines.map((line) => ({ raw: line.slice(0, 1024), location: null })))
  })

  it('has no location twice: a column of this name must be named anew', async () => {
    const input = '{"ip":"81.2.69.142","city":"here"}\n'
    expect(await enrich(['--to', 'csv'], input)).toEqual(
      failure(2, 'a member "city" already: write other names, as in --into geo'),
    )
    const { out } = await enrich(['--to', 'csv', '--into', 'geo', ...CITY], input)
    expect(out).toBe('ip,city,geo_city\n81.2.69.142,here,London\n')
  })

  it('begins with a byte order mark with --bom, once', async () => {
    const csv = '\ufeffip\n81.2.69.142\n'
    for (const [input, expected] of [
      [ACCESS, `\ufeff${FIELDS}`],
      [csv, '\ufeffip,'],
      [csv.slice(1), '\ufeffip,'],
    ] as const) {
      const bytes = Buffer.from((await enrich(['--to', 'csv', '--bom'], input)).out)
      // The text that the test gets has lost the mark of a stream that begins with one.
      expect(`\ufeff${bytes.toString().replace(/^\ufeff/, '')}`.startsWith(expected)).toBe(true)
    }
    await enrich([file('in', ACCESS), '-o', path('bom.csv'), '--bom'])
    expect([...readFileSync(path('bom.csv')).subarray(0, 5)]).toEqual([0xef, 0xbb, 0xbf, 0x69, 0x70])
    expect((await enrich(['--bom'], ACCESS)).err).toContain('--bom is for tables: add --to csv')
  })

  it('keeps lines where --append or --annotate ask for it', async () => {
    await enrich([file('in', ACCESS), '-o', path('kept.csv'), '--append', ...CITY])
    expect(readFileSync(path('kept.csv'), 'utf8')).toBe(
      ACCESS.replace('0"\n', '0"\tLondon\n').replace('"-"\n', '"-"\t\n'),
    )
    const refused = failure(2, '--to csv makes a table of the lines, and --append keeps them')
    expect(await enrich(['--to', 'csv', '--append'], ACCESS)).toEqual(refused)
    expect(existsSync(path('csv'))).toBe(false)
  })

  it('writes what a live stream has before each pause', async () => {
    const pieces = (async function* () {
      yield '{"ip":"81.2.69.142","a":1}\n'
      await new Promise((resolve) => setTimeout(resolve, 1400))
      yield '{"ip":"1.2.3.4","b":2}\n'
    })()
    const { out } = await enrich(['--to', 'csv', ...CITY, '--format', 'ndjson', '--field', 'ip'], pieces)
    expect(out).toBe('ip,a,city,_rescued_data\n81.2.69.142,1,London,\n1.2.3.4,,Sydney,"{""b"":2}"\n')
  })

  it.each([
    ['after a pause', 3, ['', '', '', 'm0,m1,m2,_rescued_data']],
    ['after a second at the latest', 13, [...Array(12).fill(''), LATEST, LATEST]],
  ])('decides the columns of a live stream %s', async (_, writes, headers) => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
    onTestFinished(() => void vi.useRealTimers())
    let out = ''
    const target = {
      write: async (bytes: Uint8Array) => {
        out += Buffer.from(bytes)
      },
      flush: async () => {},
      finish: async () => {},
      discard: () => {},
    }
    const table = new TableOutput(target, {
      form: 'csv',
      added: [],
      isLive: true,
      hasMark: false,
      note: () => {},
    })
    const seen: string[] = []
    for (let row = 0; row < writes; row++) {
      const members = MEMBERS.slice(0, row + 1).map((name) => [name, 1])
      await table.write(Buffer.from(`${JSON.stringify(Object.fromEntries(members))}\n`))
      await vi.advanceTimersByTimeAsync(80)
      seen.push(out.split('\n')[0] ?? '')
    }
    await vi.advanceTimersByTimeAsync(80)
    expect([...seen, out.split('\n')[0]]).toEqual(headers)
  })

  it('has the values of any objects', async () => {
    const value = fc.oneof(
      fc.string({ unit: fc.constantFrom(...'ab ,;"\t\n\ré1') }).map((text) => text.trim()),
      fc.integer(),
      fc.boolean(),
      fc.constant(null),
    )
    const objects = fc.array(fc.dictionary(fc.constantFrom('a', 'b', 'c', 'd"e,f'), value), { maxLength: 6 })
    await fc.assert(
      fc.asyncProperty(objects, async (given) => {
        const lines = given.map((each) => `${JSON.stringify({ ip: '81.2.69.142', ...each })}\n`).join('')
        const first = '{"ip":"81.2.69.142"}\n'
        const { out } = await enrich(['--to', 'csv', ...CITY, '--field', 'ip'], first + lines)
        const [header = [], , ...records] = recordsOf(out)
        const textOf = (each: unknown): string =>
          each === undefined || each === null ? '' : typeof each === 'string' ? each : JSON.stringify(each)
        expect(
          records.map((record) => Object.fromEntries(record.map((each, at) => [header[at], each]))),
        ).toEqual(
          given.map((each) =>
            Object.fromEntries(
              header.map((name) => [
                name,
                textOf({ ip: '81.2.69.142', city: 'London', ...each }[name] satisfies unknown),
              ]),
            ),
          ),
        )
      }),
      { numRuns: effort({ short: 20, long: 100 }) },
    )
  })
})
