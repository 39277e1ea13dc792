import fc from 'fast-check'
import { describe, expect, it, vi } from 'vitest'
import { formatCidr, formatIPv4, parseNetwork } from '../../src/address/ip-text.ts'
import { Resolver as CoreResolver } from '../../src/core.ts'
import { type OpenOptions, type Overlay, Resolver } from '../../src/index.ts'
import { readOverlays as read } from '../../src/location/overlays.ts'
import { databaseOf } from '../own-databases.ts'
import { BERLIN, summerInBerlin } from './berlin.ts'

const CITY = { city: 'Here' }

const readOverlays = (overlays: unknown) => read(overlays, (record) => record)

describe('readOverlays', () => {
  it.each<readonly [string, string]>([
    ['10.1.2.3', '10.1.2.3/32'],
    ['10.0.0.0/8', '10.0.0.0/8'],
    ['FD00:1:0::/48', 'fd00:1::/48'],
    ['fd00::1', 'fd00::1/128'],
    // An IPv4-mapped network is IPv4.
    ['::ffff:10.0.0.0/104', '10.0.0.0/8'],
    // These hold more than translated networks.
    ...['2000::/3', '2001::/20', '64:ff9b::/48', '::/95'].map((network) => [network, network] as const),
  ])('reads the network %s', (network, canonical) => {
    const texts = readOverlays([{ network, record: CITY }]).map(({ family, words, prefixLength }) =>
      formatCidr(family, words, prefixLength),
    )
    expect(texts).toEqual([canonical])
  })

  it('gives larger networks first', () => {
    const given = ['10.0.0.1', '10.0.0.0/8', '10.0.0.0/16'].map((network) => ({ network, record: CITY }))
    expect(readOverlays(given).map(({ prefixLength }) => prefixLength)).toEqual([8, 16, 32])
  })

  it('reads codes and zones in any case, and regions without their country', () => {
    const record = { country: { code: 'de' }, region: { code: 'be' }, timezone: { id: 'europe/berlin' } }
    expect(readOverlays([{ network: '10.0.0.0/8', record }])[0]?.value).toEqual({
      country: { iso_code: 'DE' },
      location: { time_zone: 'Europe/Berlin' },
      subdivisions: [{ iso_code: 'BE' }],
    })
  })

  it('takes a LocationRecord without its address', () => {
    const record = {
      country: { code: 'GB', name: 'United Kingdom' },
      region: { code: null, name: null },
      city: null,
      postal_code: null,
      coordinates: { latitude: null, longitude: null },
      timezone: { id: 'Europe/London', offset: '+01:00' },
    }
    expect(readOverlays([{ network: '10.0.0.0/8', record }])[0]?.value).toEqual({
      country: { iso_code: 'GB', names: { en: 'United Kingdom' } },
      location: { time_zone: 'Europe/London' },
    })
  })

  const networks: [unknown, string][] = [
    [7, 'overlays[0].network: write a network as text'],
    ['', 'overlays[0].network: write a network as text'],
    ['10.0.0', 'overlays[0].network: "10.0.0" is neither an address nor a network'],
    ['10.0.0.0/33', 'overlays[0].network: 10.0.0.0/33 is not a network'],
    ['::1', 'overlays[0].network: "::1" is in ::/96, where databases have IPv4 networks'],
    ['2001::/32', 'write the IPv4 network instead of 2001::/32'],
    ['2002:a00::/24', 'write the IPv4 network instead of 2002:a00::/24'],
    ['64:ff9b::a00:0/104', 'have the location of the IPv4 address inside'],
  ]
  it.each(networks)('refuses the network %j', (network, message) => {
    expect(() => readOverlays([{ network, record: CITY }])).toThrow(message)
  })

  const records: [unknown, string][] = [
    [undefined, 'overlays[0].record: write an object with country, region'],
    [{ country: { code: 'zz' } }, '"zz" is not an ISO 3166-1 alpha-2 code'],
    ['Berlin', 'overlays[0].record: write an object with country, region'],
    [{ postal_code: '1', timezone: { id: 'Europe/Berlin' } }, 'it has no location: give a country'],
    [{ ip: '1.1.1.1', city: 'x' }, 'overlays[0].record: it has no field "ip": write country, region'],
    [{ country: 'DE' }, 'overlays[0].country: write an object with code, name'],
    [{ country: { code: 'UK' } }, 'overlays[0].country.code: "UK" is not the ISO 3166-1 code: write GB'],
    [{ country: { name: '' } }, 'overlays[0].country.name: write a text, or null'],
    [{ region: { code: 'BE' } }, 'overlays[0].region.code: it is not an ISO 3166-2 code: write one such as'],
    [{ country: { code: 'FR' }, region: { code: 'DE-BE' } }, 'it is not an ISO 3166-2 code of FR'],
    [{ city: 7 }, 'overlays[0].city: write a text'],
    [{ city: '\ud800' }, 'overlays[0].city: it has an unpaired surrogate'],
    [{ city: 'é'.repeat(257) }, 'overlays[0].city: it has more than 512 bytes in UTF-8'],
    [{ coordinates: { latitude: 91, longitude: 0 } }, 'coordinates.latitude: write a number from -90 to 90'],
    [{ coordinates: { latitude: 1, longitude: '2' } }, 'coordinates.longitude: write a number from -180 to'],
    [{ coordinates: { latitude: Number.NaN, longitude: 2 } }, 'coordinates.latitude: write a number'],
    [{ coordinates: { latitude: 1 } }, 'coordinates.longitude: it is missing'],
    [{ coordinates: { longitude: 1 } }, 'coordinates.latitude: it is missing'],
    [{ coordinates: { latitude: 0, longitude: -0 } }, '0, 0 means an unknown location'],
    [{ city: 'x', timezone: { id: 'Mars/Base' } }, 'overlays[0].timezone.id: the platform does not know it'],
  ]
  it.each(records)('refuses the record %j', (record, message) => {
    expect(() => readOverlays([{ network: '10.0.0.0/8', record }])).toThrow(message)
  })

  it.each<[unknown, string]>([
    ['10.0.0.0/8', 'overlays must be an array'],
    [[null], 'overlays[0]: write an object with network, record'],
    [
      [{ network: '10.0.0.0/8', record: CITY, name: 'x' }],
      'overlays[0]: it has no field "name": write network, record only',
    ],
    [
      [
        { network: '10.0.0.1', record: CITY },
        { network: '10.0.0.1/32', record: CITY },
      ],
      'overlays[1].network: 10.0.0.1/32 is also overlays[0].network: keep one of them',
    ],
    [new Array(100_001), 'there are 100001 overlays, more than 100000'],
  ])('refuses the list %#', (list, message) => {
    const error = { code: 'INVALID_OVERLAY', message: expect.stringContaining(message) }
    expect(() => readOverlays(list)).toThrow(expect.objectContaining(error))
  })
})

const DATABASE = databaseOf({
  '81.2.0.0/16': { country: { iso_code: 'GB' }, city: { names: { en: 'London' } } },
  '2a00::/16': { country: { iso_code: 'FR' } },
  '10.0.0.0/8': { country: { iso_code: 'US' } },
})

const OVERLAYS: readonly Overlay[] = [
  { network: '10.1.2.0/24', record: { city: 'Rack' } },
  { network: '10.1.0.0/16', record: BERLIN },
  { network: '81.2.69.0/24', record: { country: { code: 'CH', name: 'Office' } } },
  { network: 'fd00:1::/48', record: BERLIN },
  { network: '127.0.0.1', record: { city: 'Home' } },
]

const open = (options: OpenOptions = {}) => Resolver.openSync(DATABASE, { overlays: OVERLAYS, ...options })

describe('a resolver with overlays', () => {
  const geo = open()

  it('has their locations, in special-purpose networks too', () => {
    expect(geo.lookup('10.1.9.9', { at: new Date('2026-07-01T12:00:00Z') })).toEqual(
      summerInBerlin('10.1.9.9'),
    )
    expect(geo.lookup('10.1.9.9', { at: new Date('2026-01-01T12:00:00Z') }).timezone.offset).toBe('+01:00')
    expect(geo.lookup('10.1.2.3')).toMatchObject({ city: 'Rack', country: { code: null, name: null } })
    expect(geo.lookup('fd00:1::1').city).toBe('Berlin')
    expect(geo.lookup('::ffff:10.1.2.3').city).toBe('Rack')
    // The IPv4 address inside a NAT64 address.
    expect(geo.lookup('64:ff9b::10.1.2.3')).toMatchObject({ ip: '64:ff9b::a01:203', city: 'Rack' })
  })

  it('has names of countries in each language, and given names in all', () => {
    expect(geo.lookup('10.1.9.9', { locale: 'fr' }).country.name).toBe('Allemagne')
    expect(geo.lookup('10.1.9.9', { locale: 'fr' }).region.name).toBe('Berlin')
    expect(geo.lookup('81.2.69.1', { locale: 'fr' }).country.name).toBe('Office')
  })

  it('has no vendor record for them, and gives the network with the same result', () => {
    expect([geo.raw('10.1.2.3'), geo.network('10.1.2.3')]).toEqual([null, '10.1.2.0/24'])
    expect([geo.raw('10.2.0.1'), geo.network('10.2.0.1')]).toEqual([
      { country: { iso_code: 'US' } },
      // 10.0.0.0/8 of the database, without 10.1.0.0/16.
      '10.2.0.0/15',
    ])
    expect(geo.network('10.1.3.1')).toBe('10.1.3.0/24')
    expect(geo.network('81.2.70.1')).toBe('81.2.70.0/23')
    expect(geo.network('fd00:1::1')).toBe('fd00:1::/48')
    expect(geo.network('2a00::1')).toBe('2a00::/16')
  })

  it('wins over all databases', () => {
    const both = Resolver.openSync([DATABASE, DATABASE], { overlays: OVERLAYS })
    const ips = ['81.2.69.1', '10.1.2.3', '81.2.70.1', '2a00::1']
    expect(ips.map((ip) => both.find(ip))).toEqual(ips.map((ip) => geo.find(ip)))
    expect(both.databases).toHaveLength(2)
  })

  it('does not change which proxies are trusted', () => {
    const trusting = open({ trustedProxies: ['127.0.0.1'] })
    const from = (remoteAddress: string, hops: string) =>
      trusting.findClient({ headers: { 'x-forwarded-for': hops }, remoteAddress })
    expect(from('127.0.0.1', '81.2.70.1, 10.1.2.3')).toMatchObject({ ip: '10.1.2.3', city: 'Rack' })
    expect(from('10.1.2.3', '81.2.70.1')).toMatchObject({ ip: '10.1.2.3', city: 'Rack' })
    expect(from('127.0.0.1', '127.0.0.1')).toMatchObject({ error: { reason: 'trusted-proxy' } })
    expect(trusting.detect({ headers: {}, remoteAddress: '10.1.9.9' }).city).toBe('Berlin')
  })

  it('shares them with other threads', async () => {
    const shared = structuredClone(open().share())
    for (const Entry of [Resolver, CoreResolver]) {
      await CoreResolver.loadOptions()
      expect(Entry.attach(shared).lookup('10.1.2.3').city).toBe('Rack')
      expect(Entry.attach(shared, { overlays: [] }).find('10.1.2.3')).toMatchObject({
        error: { reason: 'private' },
      })
    }
    // The one that shared them uses a copy of the database, and keeps them.
    const sharing = open()
    sharing.share()
    expect(sharing.lookup('10.1.2.3').city).toBe('Rack')
  })

  it('keeps nothing of the given objects, and does not change them', () => {
    const record = { city: 'Before', country: { code: 'de' } }
    const overlays = [{ network: '10.0.0.0/8', record }]
    const other = open({ overlays })
    expect(overlays).toEqual([{ network: '10.0.0.0/8', record: { city: 'Before', country: { code: 'de' } } }])
    record.city = 'After'
    record.country.code = 'FR'
    overlays.length = 0
    expect(other.lookup('10.0.0.1')).toMatchObject({ city: 'Before', country: { code: 'DE' } })
  })

  it('has locations where the database has none at all', () => {
    const other = Resolver.openSync(databaseOf({ '1.0.0.0/8': { asn: 1 } }), { overlays: OVERLAYS })
    expect(other.lookup('10.1.2.3').city).toBe('Rack')
    expect(other.lookup('81.2.69.1').country.code).toBe('CH')
    expect(other.find('81.2.69.1')).toEqual(other.lookupMany(['81.2.69.1'])[0])
    expect(() => other.lookup('1.1.1.1')).toThrow('it has no locations')
  })

  it('refuses bad ones before it reads anything', async () => {
    const overlays = [{ network: '10.0.0.0/33', record: BERLIN }]
    const error = { code: 'INVALID_OVERLAY', message: expect.stringContaining('overlays[0].network') }
    await expect(Resolver.open('/no/such/file', { overlays })).rejects.toMatchObject(error)
    await expect(CoreResolver.open(new Uint8Array(1), { overlays })).rejects.toMatchObject(error)
    expect(() => Resolver.openSync('/no/such/file', { overlays })).toThrow('overlays[0].network')
  })
})

describe('the core', () => {
  it('opens with overlays, and says what to load for openSync and attach', async () => {
    vi.resetModules()
    const { Resolver: Fresh } = await import('../../src/core.ts')
    const options = { overlays: OVERLAYS }
    for (const each of [options, { schema: { city: 'town' } }])
      expect(() => Fresh.openSync(DATABASE, each)).toThrow('call "await Resolver.loadOptions()"')
    const geo = await Fresh.open(DATABASE, options)
    expect(geo.lookup('10.1.2.3').city).toBe('Rack')
    expect(Fresh.openSync(DATABASE, options).lookup('10.1.2.3').city).toBe('Rack')
  })
})

const IPV4_ONLY = databaseOf({}, { ipVersion: 4 })
const EMPTY = databaseOf({})

describe('the networks of overlays', () => {
  it('are all IPv4 addresses for 0.0.0.0/0', () => {
    const overlays = [{ network: '0.0.0.0/0', record: BERLIN }]
    for (const database of [EMPTY, IPV4_ONLY]) {
      const geo = Resolver.openSync(database, { overlays })
      expect([geo.lookup('1.2.3.4').city, geo.network('1.2.3.4')]).toEqual(['Berlin', '1.0.0.0/8'])
    }
    const geo = Resolver.openSync(EMPTY, { overlays })
    expect(geo.find('2a00::1')).toMatchObject({ error: { reason: 'not-found' } })
  })

  it('are not ::1 and its neighbours, which are IPv4 networks in databases', () => {
    const geo = Resolver.openSync(DATABASE, { overlays: [{ network: '::/0', record: BERLIN }] })
    expect(geo.find('::1')).toMatchObject({ error: { reason: 'loopback' } })
    expect(geo.network('::1')).toBe('::1/128')
    expect(geo.network('2a00::1')).toBe('2800::/5')
    expect(geo.lookup('2a00::1').city).toBe('Berlin')
  })

  it.each([
    // Overlay, address, its network: without the addresses next to it that are looked up as IPv4 addresses.
    ['2001::/19', '2001:1ff::1', '2001:100::/24'], // Teredo, 2001::/32
    ['2002::/15', '2003::1', '2003::/16'], // 6to4, 2002::/16
    ['64:ff9b::/32', '64:ff9b:1::1', '64:ff9b:1::/48'], // NAT64, 64:ff9b::/96
    ['::/16', '::fffe:0:1', '::fffe:0:0/96'], // IPv4-mapped, ::ffff:0:0/96
  ])('%s has the address %s in the network %s, in a database too', (network, ip, expected) => {
    const geo = Resolver.openSync(DATABASE, { overlays: [{ network, record: BERLIN }] })
    expect(geo.network(ip)).toBe(expected)
    expect(geo.raw(ip)).toBeNull()
    expect(Resolver.openSync(databaseOf({ [network]: 'record' })).network(ip)).toBe(expected)
  })
})

it('the network of an address has one result, with overlays and several databases', () => {
  const network = fc.tuple(fc.nat(63), fc.integer({ min: 26, max: 32 })).map(([last, length]) => {
    const first = (0x0b00_0000 + last) & (0xffff_ffff << (32 - length))
    return `${formatIPv4(first)}/${length}`
  })
  const places = fc.uniqueArray(fc.record({ network, source: fc.nat(2) }), {
    maxLength: 10,
    selector: (each) => each.network,
  })
  fc.assert(
    fc.property(places, (all) => {
      const of = (number: number) =>
        all.filter(({ source }) => source === number).map(({ network }) => network)
      const databases = [1, 2].map((number) =>
        databaseOf(Object.fromEntries(of(number).map((each) => [each, { city: { names: { en: each } } }]))),
      )
      const overlays = of(0).map((each) => ({ network: each, record: { city: each } }))
      const geo = Resolver.openSync(databases, { overlays })
      const results = Array.from({ length: 64 }, (_, last) => {
        const ip = formatIPv4(0x0b00_0000 + last)
        const { family, prefixLength } = parseNetwork(geo.network(ip) ?? '')
        const size = family === 6 ? 2 ** 32 : 2 ** (32 - prefixLength)
        return { size, result: JSON.stringify({ ...geo.find(ip), ip: '', error: '', raw: geo.raw(ip) }) }
      })
      for (const [last, { size, result }] of results.entries()) {
        const neighbours = results.filter((_, other) => (other ^ last) < size)
        expect(new Set(neighbours.map((each) => each.result))).toEqual(new Set([result]))
      }
    }),
    { numRuns: 100 },
  )
})
