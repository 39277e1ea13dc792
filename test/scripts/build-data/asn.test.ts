import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  type AsnRange,
  type AsnSource,
  asnCoverage,
  buildAsn,
  checkAsnCoverage,
  dateOfVersion,
  readAsnSource,
  verifyAsn,
} from '../../../scripts/build-data/asn.ts'
import { Resolver } from '../../../src/core.ts'
import { temporaryFolder } from '../../temporary.ts'

const folder = temporaryFolder()

/** The package of the source with these rows. */
function read(ipv4: string, ipv6 = '', version = '2.3.2026061719'): AsnSource {
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ version }))
  writeFileSync(join(folder, 'asn-ipv4-num.csv'), ipv4)
  writeFileSync(join(folder, 'asn-ipv6-num.csv'), ipv6)
  return readAsnSource(folder)
}

const IPV4 = `16777216,16777471,13335,"Cloudflare,  Inc."
16778240,16779263,38803,-Reserved AS-
16779264,16779300,65002,AS65002
`
const IPV6 =
  '42540528726795050063891204319802818560,42540528806023212578155541913346768895,2500,WIDE Project\n'

describe('readAsnSource', () => {
  it('reads ranges, and the date of the version', () => {
    const { ipv4, ipv6, buildDate } = read(IPV4, IPV6)
    expect(ipv4).toEqual([
      { first: 0x01000000n, last: 0x010000ffn, number: 13335, organization: 'Cloudflare, Inc.' },
      { first: 0x01000400n, last: 0x010007ffn, number: 38803, organization: null },
      { first: 0x01000800n, last: 0x01000824n, number: 65002, organization: null },
    ])
    expect(ipv6.map(({ first, number }) => [first.toString(16), number])).toEqual([
      [`20010200${'0'.repeat(24)}`, 2500],
    ])
    expect(buildDate).toEqual(new Date('2026-06-17T19:00:00Z'))
    expect(() => dateOfVersion('2.3.4')).toThrow('no date in the version 2.3.4')
  })

  it.each([
    ['a missing name', '1,2,3\n', /row 1: not two addresses, a number and a name|Invalid Record Length/],
    ['an empty name', '1,2,3," "\n', /row 1: there is no name/],
    ['a text in place of an address', '1.0.0.0,2,3,x\n', /row 1: not two addresses/],
    ['an end before the start', '2,1,3,x\n', /row 1: not in ascending order/],
    ['ranges out of order', '5,6,3,x\n1,2,3,x\n', /row 2: not in ascending order/],
    ['an address with more than 32 bits', '1,4294967296,3,x\n', /row 1: not in ascending order/],
    ['AS0', '1,2,0,x\n', /row 1: AS0/],
    ['more than 32 bits', '1,2,4294967296,x\n', /row 1: AS4294967296/],
  ])('refuses %s', (_, rows, message) => {
    expect(() => read(rows)).toThrow(message)
  })
})

/** Ascending ranges below 2 ** 32, of few systems, with and without gaps. */
const ranges = fc
  .array(
    fc.record({
      gap: fc.constantFrom(0n, 0n, 1n, 7n, 1_000_003n),
      size: fc.bigInt({ min: 1n, max: 20_000_000n }),
      number: fc.integer({ min: 1, max: 3 }),
      organization: fc.constantFrom('One', null),
    }),
    { maxLength: 40 },
  )
  .map((parts): AsnRange[] => {
    let next = 0x01000000n
    return parts.map(({ gap, size, number, organization }) => {
      const first = next + gap
      next = first + size
      return { first, last: next - 1n, number, organization }
    })
  })

const buildDate = new Date('2026-01-01T00:00:00Z')

describe('the database', () => {
  it('has each address of the ranges, and no other', async () => {
    await fc.assert(
      fc.asyncProperty(ranges, async (ipv4) => {
        const ipv6 = ipv4.map((range) => ({
          ...range,
          first: (0x2a000000n << 96n) + (range.first << 70n),
          last: (0x2a000000n << 96n) + ((range.last + 1n) << 70n) - 1n,
        }))
        const source = { ipv4, ipv6, buildDate }
        const { bytes } = buildAsn(source)
        expect(verifyAsn(Buffer.from(bytes), source)).toBeGreaterThan(0)
        const city = bytes
        const geo = await Resolver.open(city)
        for (const { first, last } of ipv4) {
          for (const at of [first - 1n, first, (first + last) / 2n, last, last + 1n]) {
            const text = [24n, 16n, 8n, 0n].map((shift) => (at >> shift) & 255n).join('.')
            const wanted = ipv4.find((range) => range.first <= at && at <= range.last)
            const found = geo.find(text)
            // Special-purpose addresses have none.
            if ('error' in found && found.error.reason !== undefined) continue
            expect([text, geo.asn(text)?.number]).toEqual([text, wanted?.number])
          }
        }
      }),
      { numRuns: 20 },
    )
  })

  it('is refused if a network has another system, none, or one too many', () => {
    const source = read(IPV4, IPV6)
    const [first, second, third] = source.ipv4
    if (first === undefined || second === undefined || third === undefined) throw new Error('no ranges')
    const { bytes } = buildAsn(source)
    const wrong: [string, AsnRange[]][] = [
      ['another number', [{ ...first, number: 7 }, second, third]],
      ['another name', [{ ...first, organization: 'x' }, second, third]],
      ['a range too many', [second, third]],
      ['one too few', [first, second, third, { ...third, first: third.last + 1n, last: third.last + 1n }]],
      ['a longer range', [{ ...first, last: first.last + 1n }, second, third]],
      ['a shorter range', [{ ...first, last: first.last - 1n }, second, third]],
      ['one in a gap', [first, { ...first, first: first.last + 5n, last: first.last + 6n }, second, third]],
    ]
    expect(verifyAsn(Buffer.from(bytes), source)).toBeGreaterThan(0)
    for (const [what, ipv4] of wrong) {
      expect(() => verifyAsn(Buffer.from(bytes), { ...source, ipv4 }), what).toThrow(/^the network at/)
    }
  })
})

describe('the coverage', () => {
  it('counts addresses once, and a source that was cut off is refused', () => {
    const overlapping = '1,10,1,x\n5,20,2,y\n30,30,2,y\n'
    const coverage = asnCoverage(read(overlapping, IPV6))
    expect(coverage).toEqual({
      ranges: 4,
      ipv4Addresses: 21,
      ipv6Networks48: 65_536,
      systems: 3,
      systemsWithoutName: 0,
      overlaps: 1,
    })
    const usual = { ...coverage, ipv4Addresses: 3.3e9, ipv6Networks48: 1.9e10, systems: 90_000 }
    expect(() => checkAsnCoverage(usual)).not.toThrow()
    expect(() => checkAsnCoverage({ ...usual, systems: 50_000 })).toThrow('only 50000 autonomous systems')
    expect(() => checkAsnCoverage({ ...usual, ipv4Addresses: 3e9 })).toThrow('IPv4 addresses')
    expect(() => checkAsnCoverage({ ...usual, ipv6Networks48: 1 })).toThrow('IPv6 networks')
    expect(() => checkAsnCoverage({ ...usual, overlaps: 11 })).toThrow('11 ranges overlap')
  })
})
