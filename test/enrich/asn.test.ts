// The option `asn`: what it refuses. What each format gets is in golden/cases.ts.
import { Readable } from 'node:stream'
import { text as textOf } from 'node:stream/consumers'
import { describe, expect, it } from 'vitest'
import { type EnrichOptions, enrich } from '../../src/enrich.ts'
import { Resolver } from '../../src/index.ts'
import { MmdbWriter, uint32 } from '../../src/writer.ts'
import { ASN_DATABASE, DATABASE, openSample } from '../http/service.ts'

const geo = await Resolver.open(DATABASE, { asn: ASN_DATABASE })
const [LONDON, TOKYO, OSAKA] = ['81.2.69.142', '133.11.93.3', '2001:4860::1'] as const

async function run(input: string, options: EnrichOptions = {}, resolver = geo): Promise<string> {
  const { output, summary } = enrich(Readable.from([input]), {
    resolver,
    asn: true,
    at: 0,
    ...options,
  })
  const [written] = await Promise.all([textOf(output), summary])
  return written
}

const lines = (input: string) => input.trimEnd().split('\n')

describe('objects', () => {
  it('refuse a member that exists, in the sample and later', async () => {
    await expect(run(`{"ip":"${LONDON}","asn":1}\n`)).rejects.toThrow(
      'there are objects with a member "asn" already: add another name, as in --into geo, which adds geo and geo_asn',
    )
    const many = `{"ip":"${LONDON}"}\n`.repeat(60_000)
    const written = await run(`${many}{"ip":"${LONDON}","asn":1}\n`)
    expect(lines(written).at(-1)).toBe(`{"ip":"${LONDON}","asn":1}`)
  })
})

describe('an annotation', () => {
  it('can have the number, with the option', async () => {
    const line = `Failed password from ${LONDON} port 22, then ${TOKYO}\n`
    const options = { format: 'text', annotate: '{ip} (AS{asn_number})' } as const
    expect(await run(line, options)).toContain(`${LONDON} (AS20712)`)
    await expect(run(line, { ...options, asn: false })).rejects.toThrow(
      'the option "annotate" has {asn_number}, which needs "asn"',
    )
  })
})

describe('columns', () => {
  it('need the option, and names that the table does not have', async () => {
    await expect(run(`ip,a\n${LONDON},1\n`, { fields: ['asn_number'], asn: false })).rejects.toThrow(
      'the option "fields" has asn_number, which needs "asn"',
    )
    await expect(run(`ip,asn_number\n${LONDON},1\n`)).rejects.toThrow(
      'the table has a column "asn_number" already',
    )
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
