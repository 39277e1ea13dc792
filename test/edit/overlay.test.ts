import fc from 'fast-check'
import { Reader } from 'mmdb-lib'
import { describe, expect, it } from 'vitest'
import { formatIPv4, formatIPv6 } from '../../src/address/ip-text.ts'
import { METADATA_MARKER } from '../../src/bytes/file-kind.ts'
import { Resolver } from '../../src/index.ts'
import { DataSection } from '../../src/mmdb/data-section.ts'
import { Database } from '../../src/mmdb/database.ts'
import { readMetadata } from '../../src/mmdb/metadata.ts'
import { decodeRecord } from '../../src/mmdb/record-decoder.ts'
import { verify } from '../../src/mmdb/verify.ts'
import { overlay, pack, slim, unpack } from '../../src/writer.ts'
import { BERLIN as REGION_ALONE, summerInBerlin } from '../location/berlin.ts'
import { databaseOf, databaseWith } from '../own-databases.ts'
import { hasShared, sharedBytes } from '../shared.ts'

const LONDON = {
  city: { names: { en: 'London' } },
  country: { iso_code: 'GB', names: { en: 'United Kingdom', de: 'Vereinigtes Königreich' } },
  traits: { is_anycast: true },
}

function sample(ipVersion: 4 | 6 = 6): Uint8Array {
  const networks = {
    '81.2.0.0/16': LONDON,
    '81.2.69.0/24': { country: { iso_code: 'FR' } },
    // Vendors have records for private networks, which are not locations.
    '10.0.0.0/8': { country: { iso_code: 'US' } },
    ...(ipVersion === 6 && { '2a00::/16': { country: { iso_code: 'DE' } } }),
  }
  return databaseOf(networks, { ipVersion, languages: [], description: { en: 'A sample' } })
}

/** With the whole code of the region, as ISO 3166-2 has it. */
const BERLIN = { ...REGION_ALONE, region: { code: 'DE-BE', name: 'Berlin' } }

describe('overlay', () => {
  const made = overlay(sample(), [
    { network: '81.2.0.0/17', record: { country: { code: 'DE', name: 'Office' } } },
    { network: '81.2.69.128/25', record: BERLIN },
    { network: '10.1.0.0/16', record: BERLIN },
    { network: '10.1.2.3', record: { city: 'Rack 7' } },
    { network: 'fd00:1::/48', record: BERLIN },
    { network: '2a00:1::/32', record: { country: { code: 'CH' } } },
  ])
  const geo = Resolver.openSync(made)
  const reader = new Reader<Record<string, unknown>>(Buffer.from(made))

  it('has the given locations, private ones too, with null for what is not given', () => {
    expect(geo.lookup('10.1.9.9', { at: new Date('2026-07-01T00:00:00Z') })).toEqual(
      summerInBerlin('10.1.9.9'),
    )
    expect(geo.lookup('10.1.2.3')).toMatchObject({ city: 'Rack 7', country: { code: null } })
    expect(geo.lookup('fd00:1::1').city).toBe('Berlin')
    expect(geo.lookup('2a00:1::1').country.code).toBe('CH')
  })

  it('has no field in the metadata that is not in the specification, with which Python cannot open it', () => {
    const section = new DataSection(made, readMetadata(made).start + METADATA_MARKER.length, made.length)
    expect(Object.keys(Object(decodeRecord(section, section.base)))).toEqual([
      'binary_format_major_version',
      'binary_format_minor_version',
      'build_epoch',
      'database_type',
      'description',
      'ip_version',
      'languages',
      'node_count',
      'record_size',
    ])
  })

  it('stores coordinates as they were given, for other readers too', () => {
    expect(reader.get('10.1.9.9')).toMatchObject({ location: { latitude: 52.52, longitude: 13.405 } })
    expect(geo.raw('10.1.9.9')).toMatchObject({ location: { latitude: 52.52, longitude: 13.405 } })
  })

  it('has no location for ::1 and its neighbours, in a file and as an option', () => {
    const overlays = ['0.0.0.0/0', '::/0'].map((network) => ({ network, record: { city: 'Bern' } }))
    const option = Resolver.openSync(sample(), { overlays })
    for (const each of [Resolver.openSync(overlay(sample(), overlays)), option]) {
      expect(each.lookup('127.0.0.1').city).toBe('Bern')
      expect(each.lookup('fd00::1').city).toBe('Bern')
      for (const ip of ['::', '::1', '::1.2.3.4', '::8.8.8.8']) {
        expect(each.find(ip)).toMatchObject({ error: { code: 'UNRESOLVABLE_ADDRESS' } })
      }
    }
  })

  it('leaves the other records as they are, for every reader', () => {
    expect(reader.get('81.2.200.1')).toEqual(LONDON)
    expect(reader.get('10.2.0.1')).toEqual({ country: { iso_code: 'US' } })
    expect(reader.get('10.1.2.3')).toEqual({ city: { names: { en: 'Rack 7' } } })
    expect(reader.getWithPrefixLength('::ffff:10.1.2.3')[0]).toEqual({ city: { names: { en: 'Rack 7' } } })
    expect(reader.get('81.2.69.200')).toMatchObject({
      country: { iso_code: 'DE' },
      subdivisions: [{ iso_code: 'BE', names: { en: 'Berlin' } }],
    })
  })

  it('is a valid file that can be packed, and overlaid again', () => {
    expect(verify(new Database(made)).faults).toEqual([])
    const packed = Resolver.openSync(pack(made))
    expect(packed.lookup('10.1.2.3').city).toBe('Rack 7')
    expect(packed.find('10.2.0.1')).toMatchObject({ error: { reason: 'private' } })
    const again = overlay(pack(made), [{ network: '10.2.0.0/16', record: { city: 'Bonn' } }])
    const both = Resolver.openSync(again)
    expect(['10.2.0.1', '10.1.2.3'].map((ip) => both.lookup(ip).city)).toEqual(['Bonn', 'Rack 7'])
    expect(new Reader(Buffer.from(unpack(pack(again)))).get('10.2.0.1')).toEqual({
      city: { names: { en: 'Bonn' } },
    })
  })

  it('keeps type and date, and says what was done', () => {
    expect(new Database(made).metadata).toMatchObject({
      databaseType: 'Any-Name',
      buildDate: new Date('2000-01-01T00:00:00Z'),
      languages: ['en'],
      description: { en: 'A sample (changed with Geofix: 6 networks overlaid)' },
    })
  })

  it('cannot be slimmed, which would lose the private networks', () => {
    expect(() => slim(made)).toThrow('use slim first, then overlay')
  })

  it('takes an empty list and a database without records', () => {
    expect(Resolver.openSync(overlay(sample(), [])).lookup('81.2.69.1').country.code).toBe('FR')
    const one = overlay(databaseOf({}, { ipVersion: 4 }), [
      { network: '0.0.0.0/0', record: { city: 'Here' } },
    ])
    expect(Resolver.openSync(one).lookup('192.168.0.1').city).toBe('Here')
  })

  it('writes an IPv6 file of an IPv4 one if a network needs that', () => {
    const ipv4 = overlay(sample(4), [{ network: '10.1.0.0/16', record: BERLIN }])
    expect(new Database(ipv4).metadata.ipVersion).toBe(4)
    const ipv6 = overlay(sample(4), [{ network: 'fd00::/8', record: BERLIN }])
    const both = Resolver.openSync(ipv6)
    expect([both.lookup('fd00::1').city, both.lookup('81.2.200.1').city]).toEqual(['Berlin', 'London'])
    expect(new Reader(Buffer.from(ipv6)).get('::ffff:81.2.200.1')).toEqual(LONDON)
  })

  it('writes the schema of GeoIP2 where the database has another', () => {
    const flat = databaseWith({ country: 'GB', region: 'England', city: 'London', loc: '51.5,-0.1' })
    const other = Resolver.openSync(overlay(flat, [{ network: '10.0.0.0/8', record: BERLIN }]))
    const original = Resolver.openSync(flat)
    expect(other.lookup('81.2.69.1')).toEqual(original.lookup('81.2.69.1'))
    expect(other.lookup('10.0.0.1').region.code).toBe('DE-BE')
  })

  it('keeps the aliases of IPv4 networks', () => {
    const original = sample()
    const wide = Resolver.openSync(overlay(original, [{ network: '::/8', record: { city: 'Nowhere' } }]))
    expect(wide.lookup('81.2.200.1').city).toBe('London')
    const narrow = new Reader(Buffer.from(overlay(original, [{ network: '81.2.200.0/24', record: BERLIN }])))
    expect(narrow.get('::ffff:81.2.200.1')).toMatchObject({ city: { names: { en: 'Berlin' } } })
  })

  it.skipIf(!hasShared)('keeps 6to4 and Teredo aliases of a vendor', () => {
    const original = sharedBytes('fixtures/mmdb/GeoIP2-City-Test.mmdb')
    const other = new Reader(Buffer.from(overlay(original, [{ network: '81.2.69.0/24', record: BERLIN }])))
    for (const ip of ['81.2.69.142', '::ffff:81.2.69.142', '2002:5102:458e::1']) {
      expect(other.get(ip)).toMatchObject({ city: { names: { en: 'Berlin' } } })
    }
    expect(other.get('2.125.160.216')).toEqual(new Reader(Buffer.from(original)).get('2.125.160.216'))
  })

  it('refuses a database without locations, and damage', () => {
    expect(() => overlay(databaseWith({ asn: 1 }), [])).toThrow('it has no locations')
    expect(() => overlay(new Uint8Array(100), [])).toThrow('it is not a MaxMind DB file')
  })
})

/** Networks in a few nearby places, so that they nest. */
const network = fc
  .tuple(
    fc.boolean(),
    fc.constantFrom(0x0a00_0000, 0x5102_0000, 0x5102_4500),
    fc.nat(0xffff),
    fc.integer({ min: 9, max: 32 }),
  )
  .map(([isIPv6, start, rest, length]) => {
    const word = ((start + rest) & (0xffff_ffff << (32 - length))) >>> 0
    if (!isIPv6) return { text: `${formatIPv4(word)}/${length}`, word, length, isIPv6 }
    const first = (0x2a00_0000 + rest * 64) & (0xffff_ffff << (32 - length))
    return {
      text: `${formatIPv6(Uint32Array.of(first, 0, 0, 0))}/${length}`,
      word: first >>> 0,
      length,
      isIPv6,
    }
  })

describe('overlays of random networks', () => {
  it('give the record of the longest network with the address, or else that of the database', () => {
    const original = sample()
    const plain = Resolver.openSync(original)
    fc.assert(
      fc.property(
        fc.uniqueArray(network, { selector: ({ text }) => text, maxLength: 12 }),
        fc.array(fc.nat(0xffff), { minLength: 1, maxLength: 5 }),
        (networks, rests) => {
          const overlays = networks.map(({ text }, index) => ({
            network: text,
            record: { city: `City ${index}` },
          }))
          const inFile = Resolver.openSync(overlay(original, overlays))
          const asOption = Resolver.openSync(original, { overlays })
          const reader = new Reader<Record<string, unknown>>(Buffer.from(overlay(original, overlays)))
          const words = [...networks, ...rests.map((rest) => ({ word: 0x5102_0000 + rest, isIPv6: false }))]
          for (const { word, isIPv6 } of words) {
            const ip = isIPv6 ? formatIPv6(Uint32Array.of(word, 0, 0, 0)) : formatIPv4(word)
            const around = networks
              .map((each, index) => ({ ...each, index }))
              .filter((each) => each.isIPv6 === isIPv6 && (each.word ^ word) >>> (32 - each.length) === 0)
              .sort((a, b) => b.length - a.length)[0]
            const expected = around === undefined ? plain.find(ip) : { ip, city: `City ${around.index}` }
            for (const each of [inFile, asOption]) expect(each.find(ip)).toMatchObject(expected)
            if (around !== undefined)
              expect(reader.get(ip)).toEqual({ city: { names: { en: `City ${around.index}` } } })
          }
        },
      ),
      { numRuns: 60 },
    )
  })
})
