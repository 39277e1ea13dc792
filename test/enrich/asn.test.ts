// The option `asn`, in every format.
import { Readable } from 'node:stream'
import { text as textOf } from 'node:stream/consumers'
import { describe, expect, it } from 'vitest'
import { createRowEnricher, type EnrichOptions, enrich } from '../../src/enrich.ts'
import { Resolver } from '../../src/index.ts'
import { MmdbWriter, uint32 } from '../../src/writer.ts'
import { ASN_DATABASE, DATABASE, openSample } from '../http/service.ts'

const geo = await Resolver.open(DATABASE, { asn: ASN_DATABASE })
const AT = 0
const [LONDON, TOKYO, OSAKA] = ['81.2.69.142', '133.11.93.3', '2001:4860::1'] as const
const ORGANIZATION = 'Andrews & "Arnold" Ltd ü'
const SYSTEM = { number: 20712, organization: ORGANIZATION }

async function run(input: string, options: EnrichOptions = {}, resolver = geo): Promise<string> {
  const { output, summary } = enrich(Readable.from([input]), {
    resolver,
    asn: true,
    at: AT,
    ...options,
  })
  const [written] = await Promise.all([textOf(output), summary])
  return written
}

const location = (ip: string) => geo.lookup(ip, { at: AT })
const lines = (input: string) => input.trimEnd().split('\n')

describe('objects', () => {
  it('get the member beside the location', async () => {
    const input = [LONDON, TOKYO, OSAKA, '10.0.0.1', LONDON].map((ip) => JSON.stringify({ ip, a: 1 }))
    const written = await run(`${input.join('\n')}\n`)
    expect(lines(written).map((line) => JSON.parse(line))).toEqual([
      { ip: LONDON, a: 1, location: location(LONDON), asn: SYSTEM },
      { ip: TOKYO, a: 1, location: location(TOKYO), asn: null },
      { ip: OSAKA, a: 1, location: location(OSAKA), asn: { number: 15169, organization: null } },
      { ip: '10.0.0.1', a: 1, location: null, asn: null },
      { ip: LONDON, a: 1, location: location(LONDON), asn: SYSTEM },
    ])
  })

  it('name it after the location', async () => {
    const [line = ''] = lines(await run(`{"ip":"${LONDON}"}\n`, { into: 'geo' }))
    expect(Object.keys(JSON.parse(line))).toEqual(['ip', 'geo', 'geo_asn'])
  })

  it('refuse a member that exists, in the sample and later', async () => {
    await expect(run(`{"ip":"${LONDON}","asn":1}\n`)).rejects.toThrow(
      'there are objects with a member "asn" already: add another name, as in --into geo, which adds geo and geo_asn',
    )
    const many = `{"ip":"${LONDON}"}\n`.repeat(60_000)
    const written = await run(`${many}{"ip":"${LONDON}","asn":1}\n`)
    expect(lines(written).at(-1)).toBe(`{"ip":"${LONDON}","asn":1}`)
  })

  it('are replaced with overwrite', async () => {
    const [line = ''] = lines(await run(`{"location":1,"ip":"${LONDON}"}\n`, { overwrite: true }))
    expect(JSON.parse(line)).toEqual({ location: location(LONDON), asn: SYSTEM, ip: LONDON })
  })

  it('that are indented stay valid', async () => {
    const document = JSON.stringify({ events: [{ ip: LONDON }, { ip: TOKYO }] }, null, 2)
    expect(JSON.parse(await run(document))).toEqual({
      events: [
        { ip: LONDON, location: location(LONDON), asn: SYSTEM },
        { ip: TOKYO, location: location(TOKYO), asn: null },
      ],
    })
  })
})

const ACCESS = (ip: string) => `${ip} - - [01/Jan/1970:00:00:00 +0000] "GET / HTTP/1.1" 200 1`

describe('lines', () => {
  it('of logs become objects with both members, also those that cannot be read', async () => {
    const written = lines(await run(`${ACCESS(LONDON)}\nnonsense\n${ACCESS('10.0.0.1')}\n`))
    const [london, bad, internal] = written.map((line) => JSON.parse(line))
    expect([london.location, london.asn]).toEqual([location(LONDON), SYSTEM])
    expect(bad).toEqual({ raw: 'nonsense', location: null, asn: null })
    expect([internal.location, internal.asn]).toEqual([null, null])
  })

  it.each([
    ['access-log', ACCESS],
    ['list', (ip: string) => ip],
    ['text', (ip: string) => `Jan  1 00:00:00 host sshd[1]: from ${ip} port 22`],
  ] as const)('that are kept get two values of JSON, or columns: %s', async (format, lineOf) => {
    const input = `${lineOf(LONDON)}\n${lineOf('10.0.0.1')}\n`
    const [london = '', internal = ''] = lines(await run(input, { format, append: true }))
    const [, found = '', system = ''] = london.split('\t')
    expect([JSON.parse(found).city, JSON.parse(system)]).toEqual(['London', SYSTEM])
    expect(internal).toBe(`${lineOf('10.0.0.1')}\tnull\tnull`)
    const fields = ['city', 'asn_number', 'asn_organization'] as const
    expect(await run(input, { format, append: true, fields })).toBe(
      `${lineOf(LONDON)}\tLondon\t20712\t${ORGANIZATION}\n${lineOf('10.0.0.1')}\t\t\t\n`,
    )
  })

  it('of text name the organisation at each address', async () => {
    const line = `Failed password from ${LONDON} port 22, then ${TOKYO}\n`
    const format = 'text'
    expect(await run(line, { format })).toBe(
      `Failed password from ${LONDON} [GB London, ${ORGANIZATION}] port 22, then ${TOKYO} [JP Chiyoda]\n`,
    )
    expect(await run(line, { format, annotate: '{ip} (AS{asn_number})' })).toContain(`${LONDON} (AS20712)`)
    await expect(run(line, { format, annotate: '{ip} (AS{asn_number})', asn: false })).rejects.toThrow(
      'the option "annotate" has {asn_number}, which needs "asn"',
    )
  })
})

describe('tables', () => {
  const CSV = `ip,a\n${LONDON},1\n10.0.0.1,2\n${TOKYO},3\n`

  it('get two more columns', async () => {
    const [header = '', london = '', internal = '', tokyo = ''] = lines(await run(CSV))
    expect(header.split(',').slice(-2)).toEqual(['asn_number', 'asn_organization'])
    expect(london).toMatch(/,20712,"Andrews & ""Arnold"" Ltd ü"$/)
    expect(internal).toBe(`10.0.0.1,2${','.repeat(12)}`)
    expect(tokyo).toMatch(/,Asia\/Tokyo,\+09:00,,$/)
  })

  it('get them by their names', async () => {
    expect(await run(CSV, { fields: ['asn_number', 'country_code'], into: 'src' })).toBe(
      `ip,a,src_asn_number,src_country_code\n${LONDON},1,20712,GB\n10.0.0.1,2,,\n${TOKYO},3,,JP\n`,
    )
    await expect(run(CSV, { fields: ['asn_number'], asn: false })).rejects.toThrow(
      'the option "fields" has asn_number, which needs "asn"',
    )
    await expect(run(`ip,asn_number\n${LONDON},1\n`)).rejects.toThrow(
      'the table has a column "asn_number" already',
    )
  })

  it('of Zeek get the types of the columns', async () => {
    const zeek = `#separator \\x09\n#fields\tts\tid.orig_h\n#types\ttime\taddr\n0.0\t${LONDON}\n`
    const fields = ['asn_number', 'asn_organization'] as const
    const [, names, types, line] = lines(await run(zeek, { format: 'zeek', fields }))
    expect([names, types, line]).toEqual([
      '#fields\tts\tid.orig_h\tasn_number\tasn_organization',
      '#types\ttime\taddr\tcount\tstring',
      `0.0\t${LONDON}\t20712\t${ORGANIZATION}`,
    ])
  })

  it('of logs with a header write what is unknown as they do', async () => {
    const w3c = `#Fields: date time c-ip\n1970-01-01 00:00:00 ${LONDON}\n1970-01-01 00:00:00 ${TOKYO}\n`
    const [, london = '', tokyo = ''] = lines(await run(w3c, { fields: ['asn_number', 'asn_organization'] }))
    expect(london.split(' ').slice(3)).toEqual(['20712', ORGANIZATION.replaceAll(' ', '+')])
    expect(tokyo).toBe(`1970-01-01 00:00:00 ${TOKYO} - -`)
  })
})

describe('rows', () => {
  it('get the same members and columns', () => {
    const rows = createRowEnricher({ resolver: geo, format: 'ndjson', field: 'ip', at: AT, asn: true })
    const [row] = rows(new TextEncoder().encode(`{"ip":"${LONDON}"}\n`))
    expect(JSON.parse(new TextDecoder().decode(row))).toEqual({
      ip: LONDON,
      location: location(LONDON),
      asn: SYSTEM,
    })
    const table = createRowEnricher({
      ...{ resolver: geo, format: 'tsv', quoting: 'none', field: '1', at: AT, asn: true },
      fields: ['asn_number', 'asn_organization'],
    })
    expect(
      table(new TextEncoder().encode(`${LONDON}\n${TOKYO}\n`)).map((row) => new TextDecoder().decode(row)),
    ).toEqual([`${LONDON}\t20712\t${ORGANIZATION}`, `${TOKYO}\t\\N\t\\N`])
  })
})

describe('the option', () => {
  it('needs a database, and is true or false', async () => {
    const without = await openSample()
    await expect(run(`${LONDON}\n`, {}, without)).rejects.toThrow('no open database has autonomous systems')
    await expect(run(`${LONDON}\n`, JSON.parse('{"asn":"yes"}'))).rejects.toThrow(
      'the option "asn" must be true or false',
    )
  })

  it('makes a line with a damaged record one without a location', async () => {
    const writer = new MmdbWriter({ databaseType: 'T' })
      .insert('81.2.69.0/24', { autonomous_system_number: uint32(1), autonomous_system_organization: 'One' })
      .insert('133.11.0.0/16', { asn: 'AS2' })
    const bytes = writer.toBytes()
    const damaged = await Resolver.open(DATABASE, { asn: bytes })
    const at = Buffer.from(bytes.buffer).indexOf('AS2')
    bytes.fill(0xff, at - 1, at + 3)
    const { output, summary } = enrich(Readable.from([`${LONDON}\n${TOKYO}\n`]), {
      ...{ resolver: damaged, asn: true, format: 'list' },
    })
    const written = lines(await textOf(output)).map((line) => JSON.parse(line))
    expect(written.map(({ location: found, asn }) => [found?.city ?? null, asn])).toEqual([
      ['London', { number: 1, organization: 'One' }],
      [null, null],
    ])
    expect((await summary).failed).toEqual({ 'invalid-database': 1 })
  })

  it('leaves the counts as they are', async () => {
    const input = [LONDON, TOKYO, OSAKA, LONDON, '10.0.0.1'].join('\n')
    const counts = async (asn: boolean) => {
      const { output, summary } = enrich(Readable.from([input]), {
        resolver: geo,
        asn,
        details: true,
      })
      await textOf(output)
      return summary
    }
    expect(await counts(true)).toEqual(await counts(false))
  })
})
