// Logs whose own lines name their columns.
import { describe, expect, it } from 'vitest'
import { BlockEnricher } from '../../../../src/enrich/block-enricher.ts'
import { type EnrichOptions, layoutOf, makePlan } from '../../../../src/enrich/formats/formats.ts'
import { Splitter, sampleBlocks } from '../../../../src/enrich/reading/splitter.ts'
import { makeRowPlan } from '../../../../src/enrich/row-writer.ts'
import { tableOf } from '../../../table-of.ts'
import { located, objectsIn, wholeSample, worldSet } from '../../world.ts'

const W3C = `#Software: Microsoft Internet Information Services 10.0
#Version: 1.0
#Date: 2026-07-01 00:00:07
#Fields: date time s-ip cs-method c-ip cs(User-Agent) sc-status
2026-07-01 00:00:07 10.0.0.1 GET 81.2.69.142 Mozilla/5.0+(X11) 200
2026-07-01 00:00:08 10.0.0.1 GET 10.9.8.7 - 404
`
const ZEEK = [
  '#separator \\x09',
  '#set_separator\t,',
  '#empty_field\t(empty)',
  '#unset_field\t-',
  '#path\tconn',
  '#fields\tts\tuid\tid.orig_h\tid.resp_h',
  '#types\ttime\tstring\taddr\taddr',
  '1782864007.250000\tC1\t81.2.69.142\t10.0.0.1',
  '1782864008.000000\tC2\t-\t10.0.0.1',
  '#close\t2026-07-01-00-10-00',
  '',
].join('\n')
const FLOW = `version account-id srcaddr dstaddr srcport start end action log-status
2 123456789010 81.2.69.142 172.31.9.12 49761 1782864007 1782864060 REJECT OK
2 123456789010 - - - 1782864007 1782864060 - NODATA
`

const CITY: EnrichOptions = { fields: ['country_code', 'city', 'timezone_offset'] }

describe('the day and the time of records', () => {
  it.each(tableOf(import.meta.dirname, 'clocks.tsv'))('are one instant: %s', (clock, offset) => {
    const log = `#Fields: date time c-ip\n2026-12-24 12:00:00 81.2.69.142\n${clock} 81.2.69.142\n`
    const { output } = located(log, { fields: ['timezone_offset'] })
    expect(output.split('\n')[2]).toBe(`${clock} 81.2.69.142 ${offset}`)
  })
})

describe('a log of Windows Firewall', () => {
  const log = `#Version: 1.5
#Software: Microsoft Windows Firewall
#Time Format: Local
#Fields: date time action protocol src-ip dst-ip src-port dst-port
2026-07-01 08:00:01 DROP TCP 81.2.69.142 192.168.1.10 52111 445
`

  it('has local times, whose offset is not known', () => {
    const { output, notes, counts } = located(log, { fields: ['city', 'timezone_offset'] })
    expect(output).toContain(' 445 London -\n')
    expect(notes.join()).toContain('the times are local, as #Time Format: says')
    expect(counts.withoutTime).toBe(1)
    expect(located(log, { fields: ['timezone_offset'], at: Date.UTC(2026, 6) }).output).toContain(
      ' 445 +01:00\n',
    )
  })

  it('has times in UTC after a directive that says so', () => {
    const joined = log + log.replace('Local', 'GMT')
    const { output } = located(joined, { fields: ['timezone_offset'] })
    expect(output.match(/ 445 .*/g)).toEqual([' 445 -', ' 445 +01:00'])
  })
})

describe('the names of the fields that are added', () => {
  it.each([
    ['w3c', W3C, /#Fields: .* sc-status src_latitude src_city\n/],
    ['zeek', ZEEK, /\tid\.resp_h\tsrc_latitude\tsrc_city\n#types\t.*\taddr\tdouble\tstring\n/],
    ['ssv', FLOW, / log-status src_latitude src_city\n/],
  ])('begin with the one that is given: %s', (_, log, header) => {
    expect(located(log, { into: 'src', fields: ['latitude', 'city'] }).output).toMatch(header)
    expect(() => located(log, { into: 'a b' })).toThrow(TypeError)
  })

  it('are not those of the header', () => {
    const log = W3C.replace('sc-status', 'src_city')
    expect(() => located(log, { into: 'src' })).toThrow('the header has a field "src_city" already')
  })
})

describe('a W3C Extended log', () => {
  it('says what it has read', () => {
    const { notes } = located(W3C)
    expect(notes).toEqual([
      'the format is w3c',
      'the address is in the field c-ip (addresses are also in the field s-ip)',
      'the time of the event is in date and time, in UTC',
    ])
  })

  it('can name no address in the middle, as after a restart', () => {
    const { counts } = located(`${W3C}#Fields: date time\n2026-01-01 10:00:00\n`)
    expect(counts.badLines).toEqual([{ line: 8, message: 'its header has no field "c-ip"' }])
  })

  it('has the fields of the last directive before each record, in blocks of any size and order', () => {
    const first = '#Fields: c-ip x\n81.2.69.142 1\n'.repeat(2)
    const second = '#Fields: x c-ip\r\n"#Fields: c-ip" 81.2.69.142\r\n'
    const log = first + '81.2.69.142 2\n'.repeat(3) + second + '2 81.2.69.142\n'.repeat(3) + first
    const sample = wholeSample(log.replace('142 2', '142 "a #Fields: x c-ip"'))
    const { plan } = makePlan(sample, { format: 'w3c' })
    const layout = layoutOf(plan)
    for (let blockBytes = 1; blockBytes < log.length; blockBytes++) {
      const enricher = new BlockEnricher(plan, worldSet())
      const blocks = [...sampleBlocks(sample, layout, new Splitter(layout, blockBytes))].reverse()
      const resolved = blocks.map((block) => enricher.block(block).counts.resolved)
      expect(resolved.reduce((sum, count) => sum + count)).toBe(11)
    }
  })

  it('keeps its fields after a directive that is too long, in one piece or in many', () => {
    const [directive, record] = [`#Fields: ${'x '.repeat(99)}c-ip`, '2026-07-01 0:01 - - 81.2.69.142 - -']
    for (const blockBytes of [50, 400, 500, 600, 100_000]) {
      const { counts } = located(`${W3C}${directive}\n${record}\n`, { maxLineBytes: 150 }, blockBytes)
      expect(counts).toMatchObject({ lines: 4, resolved: 2, bad: 1 })
    }
  })

  it.each(
    Object.entries({
      // CloudFront separates names by spaces and values by tabs.
      '#Version: 1.0\n#Fields: date time c-ip x\n2026-07-01\t10:00:00\t89.160.20.112\ty z\n':
        '#Version: 1.0\n#Fields: date time c-ip x city\n2026-07-01\t10:00:00\t89.160.20.112\ty z\tLinköping, "Östra" Staden\n',
      '#Fields: c-ip cs(User-Agent) x\n89.160.20.112 "Mozilla (a b)" y\n81.2.69.142 "a y\n':
        '#Fields: c-ip cs(User-Agent) x city\n89.160.20.112 "Mozilla (a b)" y Linköping,+"Östra"+Staden\n81.2.69.142 "a y London\n',
      '\ufeff#Fields: c-ip x\r\n81.2.69.142 y\r\n': '\ufeff#Fields: c-ip x city\r\n81.2.69.142 y London\r\n',
      '#Fields: c-ip x\n81.2.69.142 y': '#Fields: c-ip x city\n81.2.69.142 y London',
      // Neither names fields, nor has as many values as there are names.
      '#Fields: c-ip x\n# Fields: x c-ip\n81.2.69.142\n81.2.69.142 y z\n81.2.69.142 y':
        '#Fields: c-ip x city\n# Fields: x c-ip\n81.2.69.142\n81.2.69.142 y z\n81.2.69.142 y London',
    }),
  )('%j', (input, expected) => {
    expect(located(input, { fields: ['city'] }).output).toBe(expected)
  })

  it.each([
    // The day of #Date: is that of the times after it; requests that began shortly before have the same day.
    ['2026-03-28 23:00:00', '23:30:00', '+00:00'],
    ['2026-03-28 23:00:00', '22:59:58', '+00:00'],
    ['2026-03-28 23:00:00', '02:30:00', '+01:00'],
    ['2026-03-29 02:00:00', '02:30:00', '+01:00'],
    ['2026-03-29 02:00:00', '02:30', '+01:00'],
    ['2026-03-29 02:00:00', 'nonsense', '-'],
  ])('after #Date: %s, the time %s has the offset %s', (date, time, offset) => {
    const { output } = located(`#Date: ${date}\n#Fields: time c-ip\n${time} 81.2.69.142\n`, {
      fields: ['timezone_offset'],
    })
    expect(output.split('\n')[2]).toBe(`${time} 81.2.69.142 ${offset}`)
  })
})

describe('a log of Zeek', () => {
  it('says itself how unknown and empty values are written', () => {
    const input =
      '#separator |\n#unset_field|(none)\n#empty_field|EMPTY\n#fields|ts|id.orig_h\n1|81.2.69.142\n2|(none)\n3|EMPTY\n'
    const { output, counts } = located(input, { fields: ['postal_code', 'city'] })
    expect(output.split('\n').slice(4)).toEqual([
      '1|81.2.69.142|EC1A|London',
      '2|(none)|(none)|(none)',
      '3|EMPTY|(none)|(none)',
      '',
    ])
    expect(counts.failed).toEqual({ missing: 2 })
  })
})

describe('spaces around a value', () => {
  const ofField = (log: string, field: string) =>
    objectsIn(located(log, { to: 'ndjson' }).output).map((object) => object[field])

  it('are no part of it, and hide neither that it is unknown nor its quotes', () => {
    const zeek = '#fields\tid.orig_h\tnote\n#empty_field\t(empty)\n'
    const row = (note: string) => ` 81.2.69.142 \t${note}\n`
    expect(ofField(zeek + row(' a ') + row(' - ') + row(' (empty) ') + row(' ""'), 'note')).toEqual([
      ...['a', null, '', '""'],
    ])
    expect(ofField(zeek + row('x'), 'id.orig_h')).toEqual(['81.2.69.142'])
    const exchange = '#Fields: date-time,client-ip,subject\n'
    const line = (subject: string) => `2026-07-01T12:00:00.000Z,81.2.69.142,${subject}\n`
    expect(ofField(exchange + line(' a') + line('"  a ""b"" "') + line(' - '), 'subject')).toEqual([
      ...['a', 'a "b"', null],
    ])
  })
})

describe('a table with spaces', () => {
  it('says what it has read', () => {
    const { notes } = located(FLOW)
    expect(notes).toEqual([
      'the format is ssv',
      'the address is in the field srcaddr (addresses are also in the field dstaddr)',
      'the time of the event is in the field start',
    ])
  })

  it('is not a sentence', () => {
    expect(located('the client ip was 81.2.69.142\n').plan.format).toBe('text')
  })

  it.each(['a b c\n', 'a b c ip\nx y z rubbish\n', 'a a b ip\n1 2 3 81.2.69.142\n'])('is not %j', (input) => {
    expect(() => expect(located(input).plan.format).not.toBe('ssv')).toThrow()
  })
})

describe('logs whose lines name their columns', () => {
  it.each([
    [W3C, { field: 'x' }, 'ENRICH_FIELD_UNKNOWN', 'c-ip'],
    [W3C, { field: '9' }, 'ENRICH_FIELD_UNKNOWN', 'c-ip'],
    [W3C, { timeField: 'x' }, 'ENRICH_FIELD_UNKNOWN', 'the'],
    [W3C.replace('sc-status', 'city'), {}, 'ENRICH_FIELD_EXISTS', '--fields'],
    [
      W3C.replace('10.9.8.7', '"10.9.8.7,+1.2.3.4"').replace(',+', ', '),
      { field: 'c-ip' },
      'ENRICH_FIELD_IS_LIST',
      '--trust',
    ],
    ['81.2.69.142 x\n', { format: 'w3c' }, 'ENRICH_HEADER_MISSING', 'names'],
    ['81.2.69.142\tx\n', { format: 'zeek' }, 'ENRICH_HEADER_MISSING', 'names'],
  ] as [string, EnrichOptions, string, string][])('%j with %j: %s', (input, options, code, message) => {
    expect(() => located(input, options)).toThrow(expect.objectContaining({ code }))
    expect(() => located(input, options)).toThrow(message)
  })

  it('have a bound of fields', () => {
    const names = Array.from({ length: 4097 }, (_, index) => `x${index}`).join(' ')
    expect(() => located(`#Fields: ${names}\n`)).toThrow('4097 fields: 4096 are the most')
    const { counts } = located(`${W3C}#Fields: ${names}\n81.2.69.142 x\n`, CITY)
    expect(counts.badLines).toEqual([{ line: 8, message: 'its header has 4097 fields: 4096 are the most' }])
  })

  it.each(['w3c', 'zeek', 'ssv'] as const)('can be empty (%s), and cannot be rows', (format) => {
    expect(located('', { format })).toMatchObject({ output: '' })
    expect(() => makeRowPlan({ format })).toThrow('name their columns')
  })
})
