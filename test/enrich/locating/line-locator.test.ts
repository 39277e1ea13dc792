import { describe, expect, expectTypeOf, it } from 'vitest'
import type { Address } from '../../../src/address/address.ts'
import { queriesOf } from '../../../src/enrich/count-plan.ts'
import type { FailureReason } from '../../../src/enrich/counting/counts.ts'
import { LineCounter } from '../../../src/enrich/locating/line-counter.ts'
import { LineLocator } from '../../../src/enrich/locating/line-locator.ts'
import { commonPlan } from '../../../src/enrich/options.ts'
import { InvalidDatabaseError, type UnresolvableReason } from '../../../src/errors.ts'
import { DatabaseSet } from '../../../src/location/database-set.ts'
import { localeOf } from '../../../src/location/locale.ts'
import { Location } from '../../../src/location/location-table.ts'
import { Database } from '../../../src/mmdb/database.ts'
import { MmdbWriter } from '../../../src/writer.ts'
import { AT, openWorld, PLACED, run, text, utf8, WORLD, worldSet, written } from '../world.ts'

const plan = commonPlan({ at: AT, details: true })

function locate(locator: LineLocator, address: string): boolean {
  const bytes = utf8(`<${address}>`)
  return locator.locate(bytes, 1, bytes.length - 1)
}

/** The LocationRecord of the last address, in JSON. */
function recordOf(locator: LineLocator): string {
  const { ip, ipStart, ipEnd } = locator.cache
  const { texts, locationNumber, textInstant } = locator
  return `{"ip":"${text(ip.subarray(ipStart, ipEnd))}${written((out) => texts.write(locationNumber, textInstant, out))}`
}

describe('a locator', () => {
  it('writes what lookup returns, the second time from the cache', async () => {
    const geo = await openWorld()
    const locator = new LineLocator(worldSet(), plan)
    for (const _ of [1, 2]) {
      for (const ip of PLACED) {
        expect(locate(locator, ip)).toBe(true)
        expect(recordOf(locator)).toBe(JSON.stringify(geo.lookup(ip, { at: AT })))
      }
      expect(locate(locator, '10.0.0.1')).toBe(false)
      expect(locator.reason).toBe('private')
    }
  })

  it('empties its caches when they are full, and loses no count', () => {
    // Each address has its own location, and there are more than are kept.
    const inner = worldSet()
    const places: Location[] = []
    class Endless extends DatabaseSet {
      override find(address: Address): number {
        const { shared, coordinates } = inner.location(inner.find(address))
        return places.push(new Location(shared, `City ${address.ipv4}`, null, coordinates))
      }

      override stored(): null {
        return null
      }

      override location(number: number): Location {
        const place = places[number - 1]
        if (place === undefined) throw new RangeError('no location has this number')
        return place
      }
    }
    const locator = new LineLocator(new Endless([new Database(WORLD)]), plan)
    const counter = new LineCounter(queriesOf(plan), locator, null, localeOf('en'))
    const count = 140_000
    let located = 0
    for (let n = 0; n < count; n++) {
      const ip = `1.128.${(n >> 8) & 255}.${n & 255}`
      // Beyond 65,536 the addresses come again, in another spelling.
      const spelling = n < 65_536 ? ip : `::${n < 131_072 ? 'ffff' : 'FFFF'}:${ip}`
      if (locate(locator, spelling)) located++
      if (n % 1000 === 0)
        expect(recordOf(locator)).toContain(`"city":"City ${((1 << 24) | (128 << 16) | (n & 0xffff)) >>> 0}"`)
      counter.count()
    }
    expect(located).toBe(count)
    const [counted] = counter.take()
    expect(counted?.counts.reduce((sum, lines) => sum + lines, 0)).toBe(count)
    expect(places.length).toBe(count)
  })

  it('takes the numbers of emptied tables for other locations', () => {
    const inner = worldSet()
    // Each location has the number 1 of a new generation.
    class Emptied extends DatabaseSet {
      #generation = 0
      #number = 0
      override find(address: Address): number {
        this.#generation++
        this.#number = inner.find(address)
        return 1
      }

      override location(): Location {
        return inner.location(this.#number)
      }

      override get generation(): number {
        return this.#generation
      }
    }
    const locator = new LineLocator(new Emptied([new Database(WORLD)]), plan)
    const usual = new LineLocator(inner, plan)
    for (const ip of [...PLACED, ...PLACED]) {
      const [json, expected] = [locator, usual].map((each) => {
        expect(locate(each, ip)).toBe(true)
        return recordOf(each)
      })
      expect(json).toBe(expected)
    }
  })

  it('finds locations in the second database', () => {
    const first = new MmdbWriter({ databaseType: 'Sample-City' }).insert('81.2.69.0/25', {
      city: { names: { en: 'Boxford' } },
    })
    const set = new DatabaseSet([new Database(first.toBytes()), new Database(WORLD)])
    const locator = new LineLocator(set, plan)
    const cities = { '81.2.69.1': 'Boxford', '81.2.69.142': 'London', '1.128.0.1': 'नई दिल्ली' }
    expect(() => new DatabaseSet([]).location(1)).toThrow(RangeError)
    for (const [ip, city] of Object.entries(cities)) {
      expect(locate(locator, ip)).toBe(true)
      expect(recordOf(locator)).toContain(`"city":"${city}"`)
    }
  })

  it('reports the faults of a database', () => {
    const asn = new MmdbWriter({ databaseType: 'Sample-ASN' }).insert('81.2.69.0/24', {
      autonomous_system_number: 1,
    })
    expect(() => new LineLocator(new DatabaseSet([new Database(asn.toBytes())]), plan)).toThrow(
      InvalidDatabaseError,
    )
    class Damaged extends DatabaseSet {
      override find(): number {
        throw new InvalidDatabaseError('it is damaged')
      }
    }
    const locator = new LineLocator(new Damaged([new Database(WORLD)]), plan)
    expect(locate(locator, '81.2.69.142')).toBe(false)
    expect(locator.reason).toBe('invalid-database')
  })

  it('rethrows errors that are not about a database', () => {
    class Faulty extends DatabaseSet {
      override find(): number {
        throw new RangeError('a fault of its own')
      }
    }
    const locator = new LineLocator(new Faulty([new Database(WORLD)]), plan)
    expect(() => locate(locator, '81.2.69.142')).toThrow(RangeError)
  })

  it.each([
    [{}, 96],
    [{ trustedProxies: ['10.0.0.1'] }, 8192],
  ])('does not read what is too long for an address, or with %j for a list', (options, longest) => {
    const locator = new LineLocator(worldSet(), commonPlan({ at: AT, ...options }))
    let reads = 0
    const field = (length: number): Uint8Array =>
      new Proxy(new Uint8Array(length).fill(0x39), {
        get: (bytes, key) => {
          reads++
          const value: unknown = Reflect.get(bytes, key, bytes)
          return typeof value === 'function' ? value.bind(bytes) : value
        },
      })
    for (const [length, isRead] of [
      [longest, true],
      [longest + 1, false],
      [10_000_000, false],
    ] as const) {
      reads = 0
      expect(locator.locate(field(length), 0, length)).toBe(false)
      expect(locator.reason).toBe('malformed')
      expect(reads > 0).toBe(isRead)
      expect(locate(locator, '81.2.69.142')).toBe(true)
    }
  })

  it('reads lists up to the length that detect reads', () => {
    const locator = new LineLocator(worldSet(), commonPlan({ at: AT, trustedProxies: ['10.0.0.1'] }))
    const list = (length: number): string => '81.2.69.142, 10.0.0.1'.padStart(length, ',')
    expect(locate(locator, list(8192))).toBe(true)
    expect(recordOf(locator)).toContain('"ip":"81.2.69.142"')
    expect(locate(locator, list(8193))).toBe(false)
    expect(locator.reason).toBe('malformed')
  })

  it('has a reason for every reason of an UnresolvableAddressError', () => {
    expectTypeOf<FailureReason>().toEqualTypeOf<
      UnresolvableReason | 'missing' | 'malformed' | 'invalid-database'
    >()
  })
})

const ALB = (client: string) =>
  `https 2026-07-01T12:00:00.123456Z app/web/1 ${client} 10.0.0.1:80 0.000 0.001 0.000 200 200 34 366 "GET https://example.com:443/ HTTP/1.1" "curl/8.5.0" TLS_AES_128_GCM_SHA256 TLSv1.3 arn:aws:elasticloadbalancing:eu-west-1:1:targetgroup/web/1`

/** Inputs whose field is an address and a port, with another record before and after. */
const WITH_PORTS: readonly (readonly [format: string, input: (address: string) => string])[] = [
  ['ndjson', (ip) => [`81.2.69.142:1`, ip, '10.0.0.1:2'].map((ip) => JSON.stringify({ ip })).join('\n')],
  ['csv', (ip) => `n,ip\n1,10.0.0.1:1\n2,${ip}\n3,10.0.0.2:2\n`],
  ['list', (ip) => `10.0.0.1:1\n${ip}\n10.0.0.2:2\n`],
  ['aws-alb', (ip) => `${['10.0.0.1:1', ip, '10.0.0.2:2'].map(ALB).join('\n')}\n`],
]

/** The places of an input that begin with GB or US. */
function countries(input: string): string[] {
  const { output } = run(input, { to: 'ndjson' })
  return [...new TextDecoder().decode(output).matchAll(/"country":\{"code":"(\w\w)"/g)].map(
    ([, code = '']) => code,
  )
}

describe('a field that is an address and a port', () => {
  it.each(WITH_PORTS)('has the port after the last colon of an IPv6 address: %s', (_, input) => {
    for (const ip of ['2001:4860:4860::8888:58430', '2001:4860:4860::8888:443', '[2001:4860:4860::8888]:443'])
      expect(countries(input(ip))).toContain('US')
  })

  it('is not one if its IPv4 addresses have no port', () => {
    const { counts } = run('{"ip":"81.2.69.142"}\n{"ip":"2001:4860:4860::8888:58430"}\n{"ip":"10.0.0.1"}\n')
    expect(counts.failed.malformed).toBe(1)
  })
})
