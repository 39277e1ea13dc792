// Databases of any tree shape and record size, with records that lack any part. Lookups, uncached and cached, must
// return mmdb-lib's whole record, mapped independently.
import fc from 'fast-check'
import ipaddr from 'ipaddr.js'
import { Reader } from 'mmdb-lib'
import { describe, expect, it } from 'vitest'
import { formatIPv4, formatIPv6 } from '../../src/address/ip-text.ts'
import { isLookupFailure, Resolver } from '../../src/index.ts'
import { MmdbWriter, type RecordSize, type WritableValue } from '../../src/writer.ts'
import { isLocation, mappedRecord, type SourceRecord, SUMMER } from './mapped-record.ts'

const some = <Value>(...values: Value[]): fc.Arbitrary<Value | undefined> =>
  fc.constantFrom(undefined, ...values)
const names = fc.record(
  {
    en: fc.constantFrom('Alpha', 'Béta', '東京'),
    de: fc.constantFrom('Älpha', 'Gamma'),
    fr: fc.constant('Delta'),
  },
  { requiredKeys: ['en'] },
)
const text = fc.option(names, { nil: undefined })

/** Records as vendors write them: with shared parts, missing parts, and fields that a location does not use. */
const source: fc.Arbitrary<SourceRecord> = fc.record(
  {
    country: fc.record({ iso_code: fc.constantFrom('GB', 'US', 'JP'), names: text }),
    subdivisions: fc.array(fc.record({ iso_code: some('ENG', 'CA', '13'), names }), { maxLength: 2 }),
    city: fc.record({ names }),
    postal: fc.record({ code: fc.constantFrom('EC1A', '94043') }),
    location: fc.record({
      latitude: fc.constantFrom(51.5142, -33.5, 0.25),
      longitude: fc.constantFrom(-0.0931, 179.875, -122.0775),
      time_zone: some('Europe/London', 'Asia/Tokyo', 'America/New_York'),
      accuracy_radius: fc.nat(1000),
    }),
    traits: fc.record({ is_anycast: fc.boolean() }),
  },
  { requiredKeys: [] },
)

/** The leading bits of a unicast address and the prefix length. Few bits vary, so that networks overlap. */
const network = fc
  .record({
    isIPv4: fc.boolean(),
    first: fc.nat(0x0fffffff),
    rest: fc.tuple(fc.nat(0xffffffff), fc.constantFrom(0, 1, 0xffffffff), fc.nat(0xffffffff)),
    prefixLength: fc.oneof(fc.integer({ min: 8, max: 32 }), fc.integer({ min: 8, max: 128 })),
  })
  .map(({ isIPv4, first, rest, prefixLength }) =>
    isIPv4
      ? { ip: formatIPv4(0x50000000 + (first >>> 1)), prefixLength: Math.min(prefixLength, 32) }
      : {
          ip: formatIPv6(Uint32Array.of(0x2a000000 + (first >>> 4), ...rest)),
          prefixLength: Math.max(prefixLength, 9),
        },
  )

const networkOf = (ip: string, prefixLength: number): string =>
  ipaddr.IPv6.isValid(ip)
    ? `${ipaddr.IPv6.networkAddressFromCIDR(`${ip}/${prefixLength}`)}/${prefixLength}`
    : `${ipaddr.IPv4.networkAddressFromCIDR(`${ip}/${prefixLength}`)}/${prefixLength}`

/** Members that are `undefined` are absent. */
const writable = (record: SourceRecord): WritableValue => JSON.parse(JSON.stringify(record))

describe('random databases', () => {
  it.each<RecordSize>([24, 28, 32])('with records of %i bits give what mmdb-lib reads', (recordSize) => {
    let resolved = 0
    let notFound = 0
    const sample = fc.record({
      networks: fc.array(fc.tuple(network, source), { minLength: 1, maxLength: 40 }),
      asked: fc.array(network, { minLength: 5, maxLength: 20 }),
      aliases: fc.boolean(),
    })
    fc.assert(
      fc.property(sample, ({ networks, asked, aliases }) => {
        const writer = new MmdbWriter({ databaseType: 'GeoIP2-City', recordSize, aliases })
        // A database without any location would be refused.
        writer.insert('9.0.0.0/8', { country: { iso_code: 'US' } })
        for (const [{ ip, prefixLength }, record] of networks) {
          writer.insert(networkOf(ip, prefixLength), writable(record))
        }
        const bytes = writer.toBytes()
        const geo = Resolver.openSync(bytes)
        const oracle = new Reader<never>(Buffer.from(bytes))
        const ips = [...networks.map(([{ ip }]) => ip), ...asked.map(({ ip }) => ip)]
        for (const locale of ['en', 'de'] as const) {
          for (const [i, result] of geo.lookupMany([...ips, ...ips], { locale, at: SUMMER }).entries()) {
            const ip = ips[i % ips.length] ?? ''
            const whole: SourceRecord = oracle.get(ip) ?? {}
            if (isLookupFailure(result)) {
              expect([ip, result.error.reason, isLocation(whole)]).toEqual([ip, 'not-found', false])
              notFound++
            } else {
              expect(result).toEqual(mappedRecord(ip, whole, locale))
              resolved++
            }
          }
        }
      }),
      { numRuns: 100 },
    )
    expect(resolved).toBeGreaterThan(0)
    expect(notFound).toBeGreaterThan(0)
  })
})
