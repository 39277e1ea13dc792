import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type EnrichOptions, makePlan } from '../../../../src/enrich/formats/formats.ts'
import { planText } from '../../../../src/enrich/formats/text/text.ts'
import { type LineOptions, LOCATION_FIELDS } from '../../../../src/enrich/options.ts'
import { DatabaseSet } from '../../../../src/location/database-set.ts'
import { Database } from '../../../../src/mmdb/database.ts'
import { MmdbWriter } from '../../../../src/writer.ts'
import { tableOf } from '../../../table-of.ts'
import { bytesOf, enrichBytes, enrichText, run, utf8, wholeSample } from '../../world.ts'

const AT = Date.UTC(2026, 6, 1)
const LINE = 'Oct 11 22:14:15 web sshd[1]: Failed password for root from 81.2.69.142 port 5 ssh2\n'

describe('the guess', () => {
  it.each([
    ['syslog', LINE],
    ['RFC 5424', '<34>1 2003-10-11T22:14:15.003Z web su - ID47 - from 81.2.69.142\n'],
    ['an error log', '2023/10/11 14:32:52 [error] 1#1: *1 x, client: 81.2.69.142, server: _\n'.repeat(3)],
    ['commas in a log of Python', '2023-10-11 14:32:52,123 INFO from 81.2.69.142\n'.repeat(3)],
    ['tabs', '2023-10-11 14:32:52\tINFO\tfrom 81.2.69.142\n'.repeat(3)],
    ['private addresses', '[pid: 1|app: 0] 127.0.0.1 () {38 vars in 696 bytes}\n'],
    ['prose', 'Hello,\nplease look at 81.2.69.142.\n'],
    ['Latin-1', 'von M\xfcnchen 81.2.69.142\n'],
    ['lines after a crash', `${'\0'.repeat(500)}${LINE}`],
    ['a template in brackets', '[{x}] 81.2.69.142 y\n'],
    ['small numbers after names', 'x rip=4.1.2.3, lip=4.1.2.4\n'.repeat(3)],
    ['small numbers with ports', 'from 4.1.2.3:5123 x\n'.repeat(3)],
    ['small numbers in requests', '4.1.2.3 x "GET /a HTTP/1.1" 200\n'.repeat(3)],
    ['small numbers in most lines', LINE.repeat(2) + LINE.replace('81.2.69.142', '45.12.20.3').repeat(20)],
    ['a sentence and another of as many words', 'this remote is\n81.2.69.142 not known\n'],
  ])('is text for %s, and is lossless', (_, input) => {
    const bytes = bytesOf(input)
    const { plan, notes, output } = enrichBytes(bytes, {})
    expect(plan.format).toBe('text')
    expect(notes.slice(0, 2)).toEqual([
      'the format is text',
      'a place is added to each public address, as {ip} [{country_code} {city}]. For objects: --to ndjson (in a program: to)',
    ])
    const decoder = new TextDecoder('latin1')
    expect(decoder.decode(output).replaceAll(' [GB London]', '')).toBe(decoder.decode(bytes))
  })

  it('says that the addresses of lines look like versions', () => {
    expect(() => makePlan(wholeSample('- libfoo 4.1.2.3\n'.repeat(3)), {})).toThrow(
      'the addresses in the lines look like versions, for example "4.1.2.3". If they are addresses, add --format text',
    )
  })

  it.each([
    ['no address', 'Once upon a time\n'],
    ['versions', '- libfoo 4.1.2.3\n- libbar 2.0.1.4\n- libbaz 1.2.3.1\n'],
    ['JSON that does not end', '{\n  "ip": "81.2.69.142"\n'],
    ['an array of texts', '[\n "81.2.69.142"\n]\n'],
    ['W3C without fields', '#Software: x\n#Version: 1.0\n81.2.69.142 x\n'],
    ['a table separated by spaces', 'srcaddr bytes action\n81.2.69.142 7 OK\n'],
    ['a binary file', `PAR1\x15\x04\x15\x00\x00\x01 81.2.69.142 ${'\x00\x02'.repeat(20)}\n`],
  ])('is not text for %s', (_, input) => {
    expect(() => makePlan(wholeSample(bytesOf(input)), {})).toThrow(
      expect.objectContaining({ code: expect.stringMatching(/^ENRICH_/) }),
    )
  })

  it.each([
    ['a table whose column is unclear', 'source_ip,dest\n81.2.69.142,1.1.1.1\n'],
    ['a table without a header', '2026-07-01T12:00:00Z,81.2.69.142,x\n2026-07-01T12:00:00Z,81.2.69.142,y\n'],
    ['a table with a text', 'time,message\n2026-07-01,from 81.2.69.142\n'],
  ])('is still a table for %s', (_, input) => {
    let format: string | null = null
    try {
      ;({ format } = makePlan(wholeSample(input), {}).plan)
    } catch (error) {
      expect(error).toMatchObject({ code: expect.stringMatching(/^ENRICH_(FIELD_UNKNOWN|HEADER_MISSING)$/) })
    }
    expect(format).not.toBe('text')
  })
})

describe('planText', () => {
  const plan = (options: EnrichOptions) => planText(wholeSample(LINE), options).plan

  it.each<[EnrichOptions, RegExp]>([
    [{ append: true, to: 'ndjson' }, /use one of the options "append" and "to"/],
    [{ annotate: '{ip} {city}', append: true }, /use one of the options "annotate" and "append"/],
    [{ fields: ['city'] }, /"fields" needs "append"/],
    [{ into: 'x' }, /"into" needs "to"/],
    [{ trustedProxies: ['10.0.0.0/8'] }, /^trustedProxies is not for text/],
  ])('refuses %j', (options, message) => {
    expect(() => plan(options)).toThrow(TypeError)
    expect(() => plan(options)).toThrow(message)
  })

  it.each<[EnrichOptions, string]>([
    [{ field: 'ip' }, 'ENRICH_FIELD_UNKNOWN'],
    [{ timeField: 'time' }, 'ENRICH_FIELD_UNKNOWN'],
    [{ to: 'ndjson', into: 'ip' }, 'ENRICH_FIELD_EXISTS'],
  ])('refuses %j: %s', (options, code) => {
    expect(() => plan(options)).toThrow(expect.objectContaining({ code }))
  })

  it('says what is not known about the times, if the output depends on them', () => {
    const notes = (line: string, options: EnrichOptions & { writtenAt?: number }) =>
      planText(wholeSample(line), { to: 'ndjson', ...options }).notes
    const local = '2023/10/11 14:32:52 [error] x 81.2.69.142\n'
    expect(notes(LINE, {})).toEqual([
      expect.stringMatching(/^its times have no year, and are not read: .*--at/),
    ])
    expect(notes(LINE, { writtenAt: AT })).toEqual([
      'its times have no year: the latest is used in which they are not after 2026-07-01T00:00:00.000Z, when the file was last written; --at gives another time',
      expect.stringMatching(/^its times have no offset from UTC/),
    ])
    expect(notes(LINE, { writtenAt: 5, at: AT })[0]).toContain('2026-07-01T00:00:00.000Z, the time of --at')
    expect(notes(local, {})).toEqual([expect.stringMatching(/^its times have no offset/)])
    expect(notes('2023-10-11T14:32:52Z 81.2.69.142\n', {})).toEqual([])
    expect(planText(wholeSample(local), {}).notes).toHaveLength(1)
    expect(planText(wholeSample(local), { annotate: '{ip} {timezone_offset}' }).notes).toHaveLength(2)
    expect(planText(wholeSample(local), { details: true }).notes).toHaveLength(2)
  })
})

describe('lines of text', () => {
  const three = 'x 10.0.0.1 9.9.9.9 81.2.69.142\nno address\n127.0.0.1 only\n'

  it('are counted by the first public address', () => {
    const { counts } = enrichBytes(utf8(three), { format: 'text' })
    expect(counts).toMatchObject({
      lines: 3,
      resolved: 0,
      bad: 0,
      failed: { 'not-found': 1, missing: 1, loopback: 1 },
    })
    expect(enrichText(three, { format: 'text' })).toContain('81.2.69.142 [GB London]')
  })

  it.each<[number | undefined, string | null, number]>([
    [undefined, '9.9.9.9', 0],
    [1, '10.0.0.1', 0],
    [2, '9.9.9.9', 0],
    [3, '81.2.69.142', 1],
    [4, null, 0],
  ])('become objects with address %s: %s', (nth, ip, resolved) => {
    const { output, counts } = enrichBytes(utf8(three), { format: 'text', to: 'ndjson', nth })
    const [object] = new TextDecoder().decode(output).split('\n')
    expect(JSON.parse(object ?? '')).toMatchObject({ raw: 'x 10.0.0.1 9.9.9.9 81.2.69.142', ip })
    expect(counts.resolved).toBe(resolved)
  })

  it.each(tableOf(import.meta.dirname, 'clients.tsv'))(
    'prefer the address that is not one %s',
    (_, line, ip) => {
      const { output } = enrichBytes(utf8(`${line}\n`), { format: 'text', to: 'ndjson' })
      expect(JSON.parse(new TextDecoder().decode(output))).toMatchObject({
        raw: line,
        ip: ip === '-' ? null : ip,
      })
    },
  )

  it.each([
    ...tableOf(import.meta.dirname, 'lines.tsv'),
    ['8 Connect\t/?x@81.2.69.142 on db using TCP/IP'],
    ['/a?b\u000181.2.69.142\u00019.9.9.9'],
    [`${'x'.repeat(200_000)}?a=81.2.69.142`],
    [`"/${'10.0.0.1&'.repeat(5_000)} 81.2.69.142`],
  ])('keep the address of the client, whatever is before it: %.80s', (line) => {
    const { output } = enrichBytes(utf8(`${line}\n`), { format: 'text', to: 'ndjson' })
    expect(JSON.parse(new TextDecoder().decode(output))).toMatchObject({ ip: '81.2.69.142' })
  })

  it('have a note where several addresses can be that of the client', () => {
    const notes = (line: string, options: LineOptions): string[] =>
      planText(wholeSample(`${line}\n`), options).notes.filter((note) => note.includes('--nth 2'))
    const two = 'x 81.2.69.142 9.9.9.9 81.2.69.142'
    expect(notes(two, { to: 'ndjson' })).toEqual([
      "1 of the first 1 lines have several public addresses that can be the client's, such as 81.2.69.142 and 9.9.9.9: the first of each line counts. For the second: --nth 2 (in a program: nth)",
    ])
    expect(notes(two, { details: true })).toHaveLength(1)
    expect(notes(two, { onlyFailed: true })).toHaveLength(1)
    expect(notes(two, { onlyCountries: ['GB'] })).toHaveLength(1)
    expect(notes(two, {})).toEqual([])
    expect(notes(two, { to: 'ndjson', nth: 1 })).toEqual([])
    expect(notes('x 81.2.69.142 10.0.0.1 dst=9.9.9.9 81.2.69.142', { to: 'ndjson' })).toEqual([])
  })

  it('are doubtful if they have an address that is not taken', () => {
    const lines =
      'x 81.2.69.142\nnginx/81.2.69.142\nx\n"GET /?a=81.2.69.142 HTTP/1.1"\n81.2.69.0/24\n12:30:00 x-1-2.3\n'
    const { counts } = enrichBytes(utf8(lines), { format: 'text', to: 'ndjson' })
    expect(counts).toMatchObject({ resolved: 1, failed: { missing: 5 }, doubtful: 3 })
    expect(counts.doubtfulLines.map(({ line }) => line)).toEqual([2, 4, 5])
    expect(counts.doubtfulLines[0]?.message).toContain('an address that is not taken')
    expect(enrichBytes(utf8(lines), { format: 'text', nth: 2 }).counts.doubtful).toBe(0)
  })

  it.each([
    ['a named client, and what its user wrote', 'for invalid user from 9.9.9.9 from 81.2.69.142 port 5', 1],
    ['a public address after another one', '10.0.0.1 x 81.2.69.142', 1],
    ['a public client after another name of a client', 'remote=10.0.0.1 client_ip=81.2.69.142', 1],
    ['a public client after an unnamed address', '10.0.0.1 client=81.2.69.142', 0],
    ['two public addresses', '81.2.69.142 9.9.9.9', 0],
    ['one client twice', '81.2.69.142:51234 peer from 81.2.69.142:51234', 0],
    ['a client after its sender', 'Jul  1 12:00:00 10.0.0.1 app[7]: 81.2.69.142', 0],
  ])('are doubtful if the choice is a guess: %s', (_, line, doubtful) => {
    const { counts } = enrichBytes(utf8(`${line}\n`), { format: 'text', to: 'ndjson' })
    expect(counts.doubtful).toBe(doubtful)
    expect(enrichBytes(utf8(`${line}\n`), { format: 'text', nth: 1 }).counts.doubtful).toBe(0)
  })

  it('have one place with `nth`', () => {
    expect(enrichText('81.2.69.142 81.2.69.142 81.2.69.142\n', { format: 'text', nth: 2 })).toBe(
      '81.2.69.142 81.2.69.142 [GB London] 81.2.69.142\n',
    )
  })

  it('have no offset near a change of clocks, if their own clock is unknown', () => {
    // London changed its clocks on 31 March 2024 at 01:00 UTC.
    const offset = (time: string): string =>
      enrichText(`${time} 81.2.69.142\n`, {
        format: 'text',
        annotate: '{ip} [{timezone_offset} {city}]',
      }).split('142 ')[1] ?? ''
    expect(offset('2024-03-31 16:00:00 x')).toBe('[+01:00 London]\n')
    expect(offset('2024-03-31 02:00:00 x')).toBe('[London]\n')
    expect(offset('2024-03-30 12:00:00 x')).toBe('[+00:00 London]\n')
    expect(offset('2024-03-31T02:00:00Z x')).toBe('[+01:00 London]\n')
  })

  it('are kept with `append`, and get their location after them', () => {
    const options: EnrichOptions = { format: 'text', append: true }
    expect(enrichText(three, { ...options, fields: ['country_code', 'city'], nth: 3 })).toBe(
      three
        .replace('142\n', '142\tGB\tLondon\n')
        .replace('address\n', 'address\t\t\n')
        .replace('only\n', 'only\t\t\n'),
    )
    expect(enrichText('x\n', options)).toBe('x\tnull\n')
  })
})

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
    expect(() => makePlan(wholeSample('a 81.2.69.142\n'), { annotate })).toThrow(TypeError)
    expect(() => makePlan(wholeSample('a 81.2.69.142\n'), { annotate })).toThrow(message)
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
        const fields = LOCATION_FIELDS.map((field) => `{${field}}`).join(' ')
        const options: EnrichOptions = { format: 'text', annotate: `({city}) {ip} [${fields}]`, at: 0 }
        const text = new TextDecoder().decode(run('a 81.2.69.142 b\n', options, { set }).output)
        expect(text.startsWith('a ') && text.endsWith(' b\n')).toBe(true)
        expect(text.slice(0, -1)).not.toMatch(/[\p{Cc}\u2028\u2029]/u)
        expect(text).toContain('81.2.69.142')
      }),
    )
  })
})
