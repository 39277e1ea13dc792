// The option `asn`: what it refuses. What each format gets is in golden/cases.ts.
import { describe, expect, it } from 'vitest'
import type { EnrichOptions } from '../../src/enrich/formats/formats.ts'
import { enrich } from '../../src/enrich.ts'
import { Resolver } from '../../src/index.ts'
import { DatabaseSet } from '../../src/location/database-set.ts'
import { Database } from '../../src/mmdb/database.ts'
import { MmdbWriter, uint32 } from '../../src/writer.ts'
import { enrichText, objectsIn, openWorld, run, WORLD } from './world.ts'

const [LONDON, STOCKHOLM] = ['81.2.69.142', '89.160.20.112'] as const

const written = (input: string, options: EnrichOptions = {}): string =>
  enrichText(input, { asn: true, at: 0, ...options })

describe('objects', () => {
  it('refuse a member that exists, in the sample and later', () => {
    expect(() => written(`{"ip":"${LONDON}","asn":1}\n`)).toThrow(
      'there are objects with a member "asn" already: add another name, as in --into geo, which adds geo and geo_asn',
    )
    const many = `{"ip":"${LONDON}"}\n`.repeat(60_000)
    expect(written(`${many}{"ip":"${LONDON}","asn":1}\n`).endsWith(`}\n{"ip":"${LONDON}","asn":1}\n`)).toBe(
      true,
    )
  })
})

describe('an annotation', () => {
  it('can have the number, with the option', () => {
    const line = `Failed password from ${LONDON} port 22, then ${STOCKHOLM}\n`
    const options = { format: 'text', annotate: '{ip} (AS{asn_number})' } as const
    expect(written(line, options)).toContain(`${LONDON} (AS20712)`)
    expect(() => written(line, { ...options, asn: false })).toThrow(
      'the option "annotate" has {asn_number}, which needs "asn"',
    )
  })
})

describe('columns', () => {
  it('need the option, and names that the table does not have', () => {
    expect(() => written(`ip,a\n${LONDON},1\n`, { fields: ['asn_number'], asn: false })).toThrow(
      'the option "fields" has asn_number, which needs "asn"',
    )
    expect(() => written(`ip,asn_number\n${LONDON},1\n`)).toThrow(
      'the table has a column "asn_number" already',
    )
  })
})

describe('the option', () => {
  it('needs a database, and is true or false', async () => {
    const [resolver, without] = [await openWorld(), await Resolver.open(WORLD)]
    const enriched = async (options: Parameters<typeof enrich>[1]): Promise<string> =>
      new Response(enrich(new Blob([LONDON]).stream(), options).output).text()
    await expect(enriched({ resolver: without, asn: true })).rejects.toThrow(
      'no open database has autonomous systems',
    )
    await expect(enriched({ resolver, ...JSON.parse('{"asn":"yes"}') })).rejects.toThrow(
      'the option "asn" must be true or false',
    )
  })

  it('makes a line with a damaged record one without a location', () => {
    const bytes = new MmdbWriter({ databaseType: 'T' })
      .insert('81.2.69.0/24', { autonomous_system_number: uint32(1), autonomous_system_organization: 'One' })
      .insert('89.160.20.0/24', { asn: 'AS2' })
      .toBytes()
    const set = new DatabaseSet([new Database(WORLD), new Database(bytes)], { asnCount: 1 })
    const at = Buffer.from(bytes.buffer).indexOf('AS2')
    bytes.fill(0xff, at - 1, at + 3)
    const { output, counts } = run(`${LONDON}\n${STOCKHOLM}\n`, { asn: true, format: 'list' }, { set })
    expect(objectsIn(output)).toMatchObject([
      { location: { city: 'London' }, asn: { number: 1, organization: 'One' } },
      { location: null, asn: null },
    ])
    expect(counts.failed).toEqual({ 'invalid-database': 1 })
  })

  it('leaves the counts as they are', () => {
    const input = [LONDON, STOCKHOLM, '2001:4860::1', LONDON, '10.0.0.1'].join('\n')
    const [counted, expected] = [true, false].map((asn) => {
      const { counts, groups } = run(input, { asn, details: true })
      return [counts, ...groups.map((totals) => [...totals.groups()])]
    })
    expect(counted).toEqual(expected)
  })
})
