import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { LOCATION_FIELDS, type LocationField } from '../../../src/enrich/location-field.ts'
import type { EnrichOptions } from '../../../src/enrich/options.ts'
import { isLookupFailure, type LocationRecord } from '../../../src/location/location-record.ts'
import {
  enrichBytes,
  enrichText,
  joined,
  LOCATED,
  latin1,
  NOT_LOCATED,
  smallResolver,
  utf8,
} from '../in-memory-run.ts'

const AT = Date.UTC(2026, 6, 1)
const csv = (text: string, options: EnrichOptions = {}): string =>
  enrichText(text, { format: 'csv', fields: ['country_code', 'city'], at: AT, ...options })
const LINKOEPING = 'SE,"Linköping, ""Östra""\tStaden"'

describe('columns', () => {
  it.each<[string, string, string]>([
    ['ip,a\n81.2.69.142,1\n', 'ip,a,country_code,city\n81.2.69.142,1,GB,London\n', 'follow the others'],
    ['ip,a\r\n9.9.9.9,1\r\n', 'ip,a,country_code,city\r\n9.9.9.9,1,,\r\n', 'are empty; the line end stays'],
    ['ip,a\n81.2.69.142,1', 'ip,a,country_code,city\n81.2.69.142,1,GB,London', 'without a last line end'],
    ['ip,a', 'ip,a,country_code,city', 'of a header alone'],
    ['\ufeffip,a\n', '\ufeffip,a,country_code,city\n', 'behind a byte order mark'],
    [
      '\ufeff"ip",a\n"81.2.69.142",1\n',
      '\ufeff"ip",a,country_code,city\n"81.2.69.142",1,GB,London\n',
      'the same, in front of a quote',
    ],
    [
      'ip;a\n89.160.20.112;1\n',
      'ip;a;country_code;city\n89.160.20.112;1;SE;"Linköping, ""Östra""\tStaden"\n',
      'quoted',
    ],
    ['ip,a\n89.160.20.112,1\n', `ip,a,country_code,city\n89.160.20.112,1,${LINKOEPING}\n`, 'quoted'],
    [
      'ip,a\n216.160.83.56,1\n',
      'ip,a,country_code,city\n216.160.83.56,1,US,"=HYPERLINK(""x"")"\n',
      'as the database has them',
    ],
    [
      'ip,a\n\n81.2.69.142,1\n\n',
      'ip,a,country_code,city\n\n81.2.69.142,1,GB,London\n\n',
      'are not on empty lines',
    ],
    [
      'ip,a\n81.2.69.142,"x\r\ny, ""z"""\n',
      'ip,a,country_code,city\n81.2.69.142,"x\r\ny, ""z""",GB,London\n',
      'follow quotes with line ends',
    ],
    [
      'a,ip\n 1 , 81.2.69.142 \n',
      'a,ip,country_code,city\n 1 , 81.2.69.142 ,GB,London\n',
      'follow blanks, which stay',
    ],
    ['ip\n81.2.69.142\n', 'ip,country_code,city\n81.2.69.142,GB,London\n', 'follow an only column'],
    [
      '\n\r\nip,a\n81.2.69.142,1\n',
      '\n\r\nip,a,country_code,city\n81.2.69.142,1,GB,London\n',
      'have their header behind empty lines',
    ],
  ])('%j becomes %j: %s', (given, expected) => {
    expect(csv(given)).toBe(expected)
  })

  it('are by default all, in their order', () => {
    expect(enrichText('ip,a\n81.2.69.142,1\n', { at: AT })).toBe(
      'ip,a,country_code,country_name,region_code,region_name,city,postal_code,latitude,longitude,timezone_id,timezone_offset\n' +
        '81.2.69.142,1,GB,United Kingdom,GB-ENG,England,London,EC1A,51.5142,-0.0931,Europe/London,+01:00\n',
    )
  })

  it('are empty where the record has nothing', () => {
    expect(enrichText('ip,a\n2001:4860::1,1\n', { at: AT }).split('\n')[1]).toBe(
      '2001:4860::1,1,US,United States,,,,,,,,',
    )
  })

  it('are in another language and order', () => {
    const options: EnrichOptions = { locale: 'de', fields: ['postal_code', 'country_name'] }
    expect(csv('ip,a\n81.2.69.142,1\n', options).split('\n')[1]).toBe(
      '81.2.69.142,1,EC1A,Vereinigtes Königreich',
    )
  })

  it('follow records without a header', () => {
    expect(csv('1,81.2.69.142\n2,9.9.9.9\n', { header: false })).toBe(
      '1,81.2.69.142,GB,London\n2,9.9.9.9,,\n',
    )
  })

  it('leave bytes that are no UTF-8 as they are', () => {
    const { output } = enrichBytes(latin1('ip,\xff\n81.2.69.142,\xe9\xfe\n'), { fields: ['country_code'] })
    expect(output).toEqual(latin1('ip,\xff,country_code\n81.2.69.142,\xe9\xfe,GB\n'))
  })

  it('are those of the hop that is not trusted', () => {
    const given = 'ip,xff\n1.1.1.1,"81.2.69.142, 10.0.0.1"\n1.1.1.1,10.0.0.1\n'
    const { output, tally } = enrichBytes(utf8(given), {
      trustedProxies: ['10.0.0.0/8'],
      fields: ['country_code'],
    })
    expect(new TextDecoder().decode(output)).toBe(
      'ip,xff,country_code\n1.1.1.1,"81.2.69.142, 10.0.0.1",GB\n1.1.1.1,10.0.0.1,\n',
    )
    expect(tally.failed).toEqual({ 'trusted-proxy': 1 })
  })

  it('have the offset at the time of the line', () => {
    const given = 'ip,at\n81.2.69.142,2026-01-05T00:00:00Z\n81.2.69.142,"1782864000"\n81.2.69.142,x\n'
    const { output, tally } = enrichBytes(utf8(given), {
      timeField: 'at',
      fields: ['timezone_offset'],
      at: Date.UTC(2026, 11, 1),
    })
    const offsets = new TextDecoder().decode(output).split('\n').slice(1, -1)
    expect(offsets.map((line) => line.slice(-6))).toEqual(['+00:00', '+01:00', '+00:00'])
    expect(tally.withoutTime).toBe(1)
  })
})

describe('overwrite', () => {
  const given =
    'city,ip,"country_code",x\r\nold,81.2.69.142,"o,ld",1\r\n"o""ld",9.9.9.9,,2\r\n,89.160.20.112,,3'

  it('puts new values in the place of old ones and the others behind', () => {
    expect(csv(given, { overwrite: true, fields: ['country_code', 'postal_code', 'city'] })).toBe(
      'city,ip,"country_code",x,postal_code\r\nLondon,81.2.69.142,GB,1,EC1A\r\n,9.9.9.9,,2,\r\n' +
        '"Linköping, ""Östra""\tStaden",89.160.20.112,SE,3,',
    )
  })

  it('adds nothing where all are there, and what it wrote it writes again', () => {
    const once = csv(given, { overwrite: true })
    expect(once.split('\r\n')[0]).toBe('city,ip,"country_code",x')
    expect(csv(once, { overwrite: true })).toBe(once)
  })

  it('fills all columns of a name', () => {
    expect(csv('city,ip,city\na,81.2.69.142,b\n', { overwrite: true, fields: ['city'] })).toBe(
      'city,ip,city\nLondon,81.2.69.142,London\n',
    )
  })
})

describe('TSV', () => {
  const tsv = (text: string): string => csv(text, { format: 'tsv' })

  it('has quotes around what has tabs, and commas as they are', () => {
    expect(tsv('ip\ta\n89.160.20.112\t"1\t2"\n')).toBe(
      'ip\ta\tcountry_code\tcity\n89.160.20.112\t"1\t2"\tSE\t"Linköping, ""Östra""\tStaden"\n',
    )
  })

  it('has no quotes added where they are text, and no tabs in values', () => {
    expect(tsv('ip\ta\n81.2.69.142\t"1\n89.160.20.112\t"2\n9.9.9.9\tx\n')).toBe(
      'ip\ta\tcountry_code\tcity\n81.2.69.142\t"1\tGB\tLondon\n89.160.20.112\t"2\tSE\tLinköping, "Östra" Staden\n' +
        '9.9.9.9\tx\t\t\n',
    )
  })
})

describe('bad records', () => {
  const given = 'ip,a\n81.2.69.142\n81.2.69.142,1,2\n9.9.9.9,"x\ny"\n\n81.2.69.142,1\n81.2.69.142,"'

  it('stay as they are and are counted by physical lines', () => {
    const { output, tally } = enrichBytes(utf8(given), { format: 'csv', fields: ['country_code'] })
    expect(new TextDecoder().decode(output)).toBe(
      'ip,a,country_code\n81.2.69.142\n81.2.69.142,1,2\n9.9.9.9,"x\ny",\n\n81.2.69.142,1,GB\n81.2.69.142,"',
    )
    expect(tally).toMatchObject({ lines: 6, resolved: 1, bad: 3, blank: 1, failed: { 'not-found': 1 } })
    expect(tally.badLines).toEqual([
      { line: 2, message: 'it has 1 column, not 2' },
      { line: 3, message: 'it has 3 columns, not 2' },
      { line: 8, message: 'the quote that opens its field 2 is not closed' },
    ])
  })

  it('are left out', () => {
    expect(csv(given, { onBadLine: 'drop', fields: ['country_code'] })).toBe(
      'ip,a,country_code\n9.9.9.9,"x\ny",\n\n81.2.69.142,1,GB\n',
    )
  })

  it('end the run', () => {
    expect(() => csv(given, { onBadLine: 'fail' })).toThrow('line 2: it has 1 column, not 2')
  })
})

/** A reader of the strictest CSV, written from the ABNF of RFC 4180 for the tests; text that is none throws. */
function parseCsv(text: string, delimiter: string): string[][] {
  const escaped = delimiter === '\t' ? '\\t' : delimiter
  const field = new RegExp(`(?:"((?:[^"]|"")*)"|([^"\\r\\n${escaped}]*))(${escaped}|\\r?\\n|$)`, 'y')
  const rows: string[][] = []
  let row: string[] = []
  for (let at = 0; at < text.length; ) {
    field.lastIndex = at
    const match = field.exec(text)
    if (match === null) throw new Error(`no CSV at ${at}`)
    const [whole, quoted, plain = '', end] = match
    row.push(quoted === undefined ? plain : quoted.replaceAll('""', '"'))
    at += whole.length
    if (end === delimiter && at < text.length) continue
    if (end === delimiter) row.push('')
    rows.push(row)
    row = []
  }
  return rows
}

function columnOf(record: LocationRecord, field: LocationField): string {
  const values: Record<LocationField, string | number | null> = {
    country_code: record.country.code,
    country_name: record.country.name,
    region_code: record.region.code,
    region_name: record.region.name,
    city: record.city,
    postal_code: record.postal_code,
    latitude: record.coordinates.latitude,
    longitude: record.coordinates.longitude,
    timezone_id: record.timezone.id,
    timezone_offset: record.timezone.offset,
  }
  return String(values[field] ?? '')
}

describe('any file', () => {
  const text = fc.string({
    unit: fc.constantFrom('a', ' ', '"', ',', ';', '\t', '\n', '\r\n', 'é', "'", '='),
    maxLength: 8,
  })
  const cell = fc.record({ text, isQuoted: fc.boolean() })
  const table = fc.record({
    rows: fc.array(
      fc.record({
        before: fc.tuple(cell, cell),
        ip: fc.constantFrom(...LOCATED, ...NOT_LOCATED),
        behind: cell,
        isQuoted: fc.boolean(),
      }),
      { minLength: 1, maxLength: 12 },
    ),
    delimiter: fc.constantFrom(',', ';', '\t'),
    lineEnd: fc.constantFrom('\n', '\r\n'),
    hasLastEnd: fc.boolean(),
    hasMark: fc.boolean(),
    hasHeader: fc.boolean(),
    fields: fc.shuffledSubarray([...LOCATION_FIELDS], { minLength: 1 }),
    blockBytes: fc.integer({ min: 20, max: 400 }),
  })

  /** A field as a writer of CSV may write it: in quotes where it has to be, and sometimes where not. */
  function written(
    { text: value, isQuoted }: { text: string; isQuoted: boolean },
    delimiter: string,
  ): string {
    const isNeeded = value.includes(delimiter) || /["\r\n]/.test(value)
    return isNeeded || isQuoted ? `"${value.replaceAll('"', '""')}"` : value
  }

  it('keeps its bytes, and has the columns that lookup gives behind its own', async () => {
    const resolver = await smallResolver()
    fc.assert(
      fc.property(
        table,
        ({ rows, delimiter, lineEnd, hasLastEnd, hasMark, hasHeader, fields, blockBytes }) => {
          const records = rows.map(({ before, ip, behind, isQuoted }) =>
            [...before, { text: ip, isQuoted }, behind]
              .map((each) => written(each, delimiter))
              .join(delimiter),
          )
          const header = ['"a', 'name""', '1"', 'b', '"the, address"', 'c']
          const names = [header.slice(0, 3).join(delimiter), ...header.slice(3)].join(delimiter)
          const lines = hasHeader ? [names, ...records] : records
          const input = (hasMark ? '\ufeff' : '') + lines.join(lineEnd) + (hasLastEnd ? lineEnd : '')
          const options: EnrichOptions = {
            format: delimiter === '\t' ? 'tsv' : 'csv',
            header: hasHeader,
            field: '3',
            fields,
            at: AT,
          }
          const run = enrichBytes(utf8(input), options, blockBytes)
          // The dialect is a guess: with few lines another can fit as well.
          fc.pre(run.plan.format !== 'csv' || run.plan.delimiter === delimiter.charCodeAt(0))
          fc.pre(run.plan.format !== 'tsv' || run.plan.quotes)
          const output = new TextDecoder('utf-8', { ignoreBOM: true }).decode(run.output)
          const body = hasMark ? output.slice(1) : output
          const parsed = parseCsv(body, delimiter)
          expect(parsed.length).toBe(lines.length)
          const expected = rows.map(({ before, ip, behind }) => {
            const [result] = resolver.lookupMany([ip], { at: AT })
            const isFailed = result === undefined || isLookupFailure(result)
            const added = fields.map((field) => (isFailed ? '' : columnOf(result, field)))
            return [...before.map((each) => each.text), ip, behind.text, ...added]
          })
          expect(hasHeader ? parsed.slice(1) : parsed).toEqual(expected)
          // What was added is what the fields are when they are written anew.
          const added = parsed.map((row) =>
            row
              .slice(-fields.length)
              .map((value) => delimiter + written({ text: value, isQuoted: false }, delimiter)),
          )
          let at = hasMark ? 1 : 0
          const pieces = lines.map((line, index) => {
            const end = index === lines.length - 1 && !hasLastEnd ? '' : lineEnd
            const piece = line + (added[index] ?? []).join('') + end
            expect(output.startsWith(piece, at)).toBe(true)
            at += piece.length
            return utf8(line + end)
          })
          expect(at).toBe(output.length)
          expect(joined([utf8(hasMark ? '\ufeff' : ''), ...pieces])).toEqual(utf8(input))
        },
      ),
      { numRuns: 300 },
    )
  })
})
