import { describe, expect, it } from 'vitest'
import { formatCidr } from '../../src/address/ip-text.ts'
import { isGeofixError } from '../../src/errors.ts'
import { readOverlays as read } from '../../src/location/overlay-records.ts'

const CITY = { city: 'Here' }

const readOverlays = (overlays: unknown) => read(overlays, (record) => record)

describe('readOverlays', () => {
  it.each([
    ['10.1.2.3', '10.1.2.3/32'],
    ['10.0.0.0/8', '10.0.0.0/8'],
    ['FD00:1:0::/48', 'fd00:1::/48'],
    ['fd00::1', 'fd00::1/128'],
    // An IPv4-mapped network is IPv4.
    ['::ffff:10.0.0.0/104', '10.0.0.0/8'],
    // Holds more than 6to4 networks.
    ['2000::/3', '2000::/3'],
  ])('reads the network %s', (network, canonical) => {
    const texts = readOverlays([{ network, record: CITY }]).map(({ family, words, prefixLength }) =>
      formatCidr(family, words, prefixLength),
    )
    expect(texts).toEqual([canonical])
  })

  it.each(['2001::/20', '64:ff9b::/48', '2000::/3', '::/95'])(
    'takes %s around translated networks',
    (network) => {
      expect(readOverlays([{ network, record: { city: 'Bern' } }])).toHaveLength(1)
    },
  )

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
    ['64:ff9b::a00:0/104', 'write the IPv4 network instead of 64:ff9b::a00:0/104'],
    ['2001::/32', 'write the IPv4 network instead of 2001::/32'],
    ['10.0.0.0/33', 'the prefix length must be at most 32'],
    ['10.0.0.1/8', 'has bits set after its prefix: write 10.0.0.0/8'],
    ['fe80::1%eth0', 'is neither an address nor a network'],
    ['2002:a00::/24', 'write the IPv4 network instead of 2002:a00::/24'],
    ['64:ff9b::a00:0/104', 'have the location of the IPv4 address inside'],
    ['2001::/32', 'have the location of the IPv4 address inside'],
  ]
  it.each(networks)('refuses the network %j', (network, message) => {
    expect(() => readOverlays([{ network, record: CITY }])).toThrow(message)
  })

  const records: [unknown, string][] = [
    [undefined, 'overlays[0].record: write an object with country, region'],
    [[], 'overlays[0].record: write an object with country, region'],
    [{ country: { code: 'zz' } }, '"zz" is not an ISO 3166-1 alpha-2 code'],
    [{ country: { code: 'EU' } }, '"EU" is not an ISO 3166-1 alpha-2 code'],
    ['Berlin', 'overlays[0].record: write an object with country, region'],
    [{ postal_code: '1', timezone: { id: 'Europe/Berlin' } }, 'it has no location: give a country'],
    [{ ip: '1.1.1.1', city: 'x' }, 'overlays[0].record: it has no field "ip": write country, region'],
    [{ country: 'DE' }, 'overlays[0].country: write an object with code, name'],
    [{ country: { code: 'UK' } }, 'overlays[0].country.code: "UK" is not the ISO 3166-1 code: write GB'],
    [{ country: { code: 'Germany' } }, '"Germany" is not an ISO 3166-1 alpha-2 code'],
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
    const error = failureOf(() => readOverlays(list))
    expect(error.message).toContain(message)
    expect(isGeofixError(error) && error.code).toBe('INVALID_OVERLAY')
  })
})

function failureOf(call: () => unknown): Error {
  try {
    call()
  } catch (error) {
    if (error instanceof Error) return error
  }
  throw new Error('it did not throw')
}
