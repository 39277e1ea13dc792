// Lookups through the prefix index, the field reader and the location cache must return what a plain walk of the
// search tree and mmdb-lib's whole record give, mapped independently.
import { readFileSync } from 'node:fs'
import { gunzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { formatIPv4, formatIPv6 } from '../../src/address/ip-text.ts'
import { embedded, isLookupFailure, Resolver } from '../../src/index.ts'
import { Database } from '../../src/mmdb/database.ts'
import { PrefixIndex } from '../../src/mmdb/search-tree.ts'
import { TRIES_ALL } from '../effort.ts'
import { lastOf, offsetOf, visitNetworks } from '../mmdb/every-network.ts'
import { OWN_DATABASES } from '../own-databases.ts'
import { plainCity } from '../plain-city.ts'
import { isLocation, mappedRecord, type SourceRecord, SUMMER } from './mapped-record.ts'

/** IPv6 blocks whose addresses contain an IPv4 address, or are special-purpose. */
const TRANSLATED = /^(::|64:ff9b:|2001:0?:|2002:|2001::)/

/** A short run compares one network of this many in the embedded databases. */
const STRIDE = TRIES_ALL ? 1 : 97

interface Count {
  /** Networks with a record. */
  networks: number
  resolved: number
  notFound: number
  special: number
}

/** Looks up the first address of every network, and both ends in the prefix index. */
function compareEveryNetwork(bytes: Uint8Array, locale: 'en' | 'de', stride = 1): Count {
  const database = new Database(bytes)
  const geo = Resolver.openSync(bytes)
  const expectedByOffset = new Map<number, string | null>()
  const count: Count = { networks: 0, resolved: 0, notFound: 0, special: 0 }
  const ips: string[] = []
  const offsets: number[] = []

  /** The location as JSON, without its address. */
  const expectedAt = (offset: number): string | null => {
    const known = expectedByOffset.get(offset)
    if (known !== undefined) return known
    const source = database.record(offset) as unknown as SourceRecord // checked by the comparison that follows
    const record = isLocation(source) ? JSON.stringify(mappedRecord('', source, locale)) : null
    expectedByOffset.set(offset, record)
    return record
  }
  const compare = () => {
    for (const [i, result] of geo.lookupMany(ips, { locale, at: SUMMER }).entries()) {
      const [ip = '', offset = 0] = [ips[i], offsets[i]]
      const expected = offset === 0 ? null : expectedAt(offset)
      if (!isLookupFailure(result)) {
        count.resolved++
        const found = JSON.stringify({ ...result, ip: '' })
        // Faster than a matcher for each of millions of networks.
        if (result.ip !== ip || found !== expected) expect([result.ip, found]).toEqual([ip, expected])
      } else if (result.error.reason === 'not-found') {
        count.notFound++
        expect([ip, expected]).toEqual([ip, null])
      } else count.special++
    }
    ips.length = 0
    offsets.length = 0
  }
  const { metadata } = database
  const index = new PrefixIndex(database.tree, (offset) => offset)
  let visited = 0
  visitNetworks(database, (value, first, depth) => {
    if (visited++ % stride !== 0) return
    const offset = offsetOf(database, value)
    if (offset !== 0) count.networks++
    const isIPv4 =
      metadata.ipVersion === 4 || (depth >= 96 && first[0] === 0 && first[1] === 0 && first[2] === 0)
    const last = lastOf(first, depth)
    const ends = isIPv4
      ? [index.findIPv4(first.at(-1) ?? 0), index.findIPv4(last.at(-1) ?? 0)]
      : [index.findIPv6(first), index.findIPv6(last)]
    if (ends[0] !== offset || ends[1] !== offset)
      expect([formatIPv6(first), ends]).toEqual([null, [offset, offset]])
    const ip = isIPv4 ? formatIPv4(first.at(-1) ?? 0) : formatIPv6(first)
    if (!isIPv4 && TRANSLATED.test(ip)) return
    offsets.push(offset)
    if (ips.push(ip) === 4096) compare()
  })
  compare()
  return count
}

describe('every network', () => {
  it.each<[string, () => Buffer]>([
    ...(TRIES_ALL ? [['city', plainCity] satisfies [string, () => Buffer]] : []),
    ['country', () => gunzipSync(readFileSync(embedded.country))],
  ])(
    'of the embedded %s database has the location of its whole record',
    (name, plain) => {
      const count = compareEveryNetwork(plain(), 'en', STRIDE)
      console.info(`${name}: ${JSON.stringify(count)}`)
      expect(count.resolved).toBeGreaterThan(count.networks * 0.98)
    },
    1_200_000,
  )
})

describe('every network of our own databases', () => {
  it.each(Object.entries(OWN_DATABASES))('%s', (name, make) => {
    for (const locale of ['en', 'de'] as const) {
      const { networks, resolved } = compareEveryNetwork(make(), locale)
      if (name.startsWith('cities')) expect(resolved).toBeGreaterThan(3)
      expect(networks).toBeGreaterThan(0)
    }
  })
})
