// Well-formed databases: our own, and those of the format's authors in ../shared/fixtures.
import fc from 'fast-check'
import { Reader, type Response } from 'mmdb-lib'
import { describe, expect, it } from 'vitest'
import { Database } from '../../src/mmdb/database.ts'
import { lazily } from '../lazily.ts'
import { OWN_DATABASES } from '../own-databases.ts'
import { hasShared, sharedBytes } from '../shared.ts'
import { ask } from './questions.ts'

const OF_THE_AUTHORS = [
  ...'GeoIP2-City-Test GeoLite2-ASN-Test GeoLite2-City-Test GeoLite2-Country-Test'.split(' '),
  ...'MaxMind-DB-no-ipv4-search-tree MaxMind-DB-string-value-entries'.split(' '),
  ...'MaxMind-DB-test-decoder MaxMind-DB-test-ipv4-24 MaxMind-DB-test-ipv4-28'.split(' '),
  ...'MaxMind-DB-test-ipv4-32 MaxMind-DB-test-ipv6-24 MaxMind-DB-test-ipv6-28'.split(' '),
  ...'MaxMind-DB-test-ipv6-32 MaxMind-DB-test-metadata-pointers'.split(' '),
  ...'MaxMind-DB-test-mixed-24 MaxMind-DB-test-mixed-28 MaxMind-DB-test-mixed-32'.split(' '),
  ...'MaxMind-DB-test-nested MaxMind-DB-test-pointer-decoder'.split(' '),
]

/** Networks of the sources, and near those of the test databases. */
const ADDRESSES = [
  ...'0.0.0.0 1.1.1.1 1.1.1.2 1.1.1.3 1.1.1.16 1.1.1.32 1.1.1.33 2.125.160.216'.split(' '),
  ...'81.2.69.142 81.2.69.192 89.160.20.112 216.160.83.56 255.255.255.255 :: ::1.1.1.1'.split(' '),
  ...'::ffff:1.1.1.1 ::1:ffff:ffff ::2:0:1 ::2:0:59 2001:0:101:101:: 2002:101:101::'.split(' '),
  ...'2001:218:: 2a02:d300::1 ffff::'.split(' '),
]

/** The tests of a well-formed database. */
function answersAsMmdbLib(bytes: () => Uint8Array): void {
  const sample = lazily(() => {
    const file = bytes()
    return { database: new Database(file), oracle: new Reader<Response>(Buffer.from(file)) }
  })

  function compare(address: string): void {
    const { database, oracle } = sample()
    const { record, prefixLength } = ask(database, address)
    if (address.includes(':') && database.metadata.ipVersion === 4) {
      // mmdb-lib 3.0.3 walks an IPv4 tree with the first bits of an IPv6 address, and returns a wrong record.
      expect(record).toBeNull()
      return
    }
    expect([record, prefixLength], address).toEqual(withoutBuffers(oracle.getWithPrefixLength(address)))
  }

  it('has the metadata and the answers of mmdb-lib, for the addresses of the sources', () => {
    const { database, oracle } = sample()
    expect(oracle.metadata).toMatchObject({
      databaseType: database.metadata.databaseType,
      ipVersion: database.metadata.ipVersion,
      nodeCount: database.metadata.nodeCount,
      recordSize: database.metadata.recordSize,
      languages: database.metadata.languages,
      description: database.metadata.description,
      buildEpoch: database.metadata.buildDate,
    })
    for (const address of ADDRESSES) compare(address)
  })

  it('answers for any address as mmdb-lib does', () => {
    const small = fc.tuple(fc.nat(40), fc.nat(40)).map(([a, b]) => `1.1.${a % 3}.${b}`)
    const near = fc.nat(0xffff).map((n) => `::${(n >> 8).toString(16)}:0:${(n & 255).toString(16)}`)
    fc.assert(fc.property(fc.oneof(fc.ipV4(), small, near, groups), compare), { numRuns: 400 })
  })
}

describe.each(Object.keys(OWN_DATABASES))('%s', (name) => {
  answersAsMmdbLib(() => OWN_DATABASES[name]?.() ?? new Uint8Array(0))
})

describe.skipIf(!hasShared).each(OF_THE_AUTHORS)('%s', (name) => {
  answersAsMmdbLib(() => sharedBytes(`fixtures/mmdb/${name}.mmdb`))
})

/** mmdb-lib returns byte strings as Buffers that are views of the database; ours are Uint8Arrays and copies. */
function withoutBuffers(value: unknown): unknown {
  if (value instanceof Uint8Array) return new Uint8Array(value)
  if (Array.isArray(value)) return value.map(withoutBuffers)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, withoutBuffers(each)]))
}

/** IPv6 without dotted tails. */
const groups = fc
  .array(fc.oneof(fc.nat(0xffff), fc.constant(0)), { minLength: 8, maxLength: 8 })
  .map((each) => each.map((group) => group.toString(16)).join(':'))
