import { inspect } from 'node:util'
import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import {
  AddressUnavailableError,
  InvalidLocaleError,
  isLookupFailure,
  MalformedAddressError,
  Resolver,
  UnresolvableAddressError,
} from '../src/core.ts'
import { CoreResolver } from '../src/core-resolver.ts'
import { Resolver as NodeResolver } from '../src/index.ts'
import { databaseOf } from './own-databases.ts'

const place = (code: string, city: string) => ({
  country: { iso_code: code },
  city: { names: { en: city } },
  location: { latitude: 51.5, longitude: -0.5, time_zone: 'Europe/London' },
})

/** A database for both families, with networks of several lengths. */
function sample(options: { ipVersion?: 4 | 6; aliases?: boolean } = {}): Uint8Array {
  const ipv4 = {
    '81.2.0.0/16': place('GB', 'London'),
    '81.2.69.0/24': place('GB', 'Boxford'),
    '10.0.0.0/8': place('XX', 'Nowhere'),
  }
  const ipv6 = { '2001:4860::/32': place('US', 'Mountain View'), '2002::/16': place('XX', 'Nowhere') }
  return databaseOf({ ...ipv4, ...(options.ipVersion !== 4 && ipv6) }, options)
}

const ipv6Only = (): Uint8Array => databaseOf({ '2001:4860::/32': place('US', 'Mountain View') })

describe('lookup', () => {
  it('has all keys in the order of the specification', async () => {
    const record = (await Resolver.open(sample())).lookup('81.2.69.142', { at: 0 })
    expect(JSON.stringify(record)).toBe(
      '{"ip":"81.2.69.142","country":{"code":"GB","name":"United Kingdom"},"region":{"name":null,"code":null},' +
        '"city":"Boxford","postal_code":null,"coordinates":{"latitude":51.5,"longitude":-0.5},' +
        '"timezone":{"id":"Europe/London","offset":"+01:00"}}',
    )
  })

  it.each([
    ['::ffff:81.2.69.142', '81.2.69.142', 'Boxford', 'IPv4-mapped'],
    ['2001:4860:0:0:0:0:0:1', '2001:4860::1', 'Mountain View', 'canonical text'],
    ['2002:5102:458e::1', '2002:5102:458e::1', 'Boxford', '6to4'],
    ['64:ff9b::5102:458e', '64:ff9b::5102:458e', 'Boxford', 'NAT64'],
    ['2001:0:4136:e378:8000:63bf:aefd:ba71', '2001:0:4136:e378:8000:63bf:aefd:ba71', 'Boxford', 'Teredo'],
  ])('%s has the ip %s and is in %s: %s', async (asked, ip, city) => {
    expect((await Resolver.open(sample())).lookup(asked)).toMatchObject({ ip, city })
  })

  it('has different errors for not found, malformed addresses and invalid locales', async () => {
    const geo = await Resolver.open(sample())
    expect(() => geo.lookup('8.8.8.8')).toThrow(UnresolvableAddressError)
    expect(() => geo.lookup('8.8.8.8')).toThrow('8.8.8.8 has no location: the database has none for it')
    expect(() => geo.lookup('8.8.8')).toThrow(MalformedAddressError)
    expect(() => geo.lookup('81.2.69.142', { locale: 'x_y' })).toThrow(InvalidLocaleError)
  })

  it.each([
    ['an invalid Date', new Date('never')],
    ['beyond the range of Date', 8.64e15 + 1],
    ['not a number', Number.NaN],
    ['text', '2026-01-01'],
    ['null', null],
  ])('refuses an instant: %s', async (_, at) => {
    const geo = await Resolver.open(sample())
    expect(() => Reflect.apply(geo.lookup, geo, ['81.2.69.142', { at }])).toThrow(TypeError)
  })

  it('never looks up an IPv6 address in an IPv4 tree', async () => {
    const geo = await Resolver.open(sample({ ipVersion: 4 }))
    expect(geo.lookup('81.2.69.142').city).toBe('Boxford')
    // An IPv4 tree would read its first 32 bits as an IPv4 address.
    expect(() => geo.lookup('2a00:1450:4009::1')).toThrow(/no database for IPv6 is open/)
    expect(geo.raw('2a00:1450:4009::1')).toBeNull()
    expect(geo.network('2a00:1450:4009::1')).toBeNull()
  })

  it('shares frozen parts and returns a fresh record', async () => {
    const geo = await Resolver.open(sample())
    const first = geo.lookup('81.2.69.142', { at: 0 })
    const second = geo.lookup('81.2.69.1', { at: 0 })
    expect(first).not.toBe(second)
    for (const part of [first.country, first.region, first.coordinates, first.timezone]) {
      expect(Object.isFrozen(part)).toBe(true)
    }
    first.city = 'changed'
    expect(geo.lookup('81.2.69.142').city).toBe('Boxford')
  })
})

describe('lookupMany', () => {
  it('never throws for an item of any type', async () => {
    const geo = await Resolver.open(sample())
    const hostile = {
      toString() {
        throw new Error('no text')
      },
    }
    const items = [null, undefined, 7, 7n, Symbol('x'), hostile, ['81.2.69.142'], () => '81.2.69.142']
    const results: unknown = Reflect.apply(geo.lookupMany, geo, [items])
    expect(results).toEqual(
      items.map(() => ({
        ip: expect.any(String),
        error: expect.objectContaining({ code: 'MALFORMED_ADDRESS' }),
      })),
    )
  })

  it('refuses a string, which would be iterated by character', async () => {
    const geo = await Resolver.open(sample())
    expect(() => geo.lookupMany('81.2.69.142')).toThrow(TypeError)
  })
})

describe('detect', () => {
  const request = (field: string, remoteAddress = '10.0.0.1') => ({
    headers: { 'x-forwarded-for': field },
    remoteAddress,
  })

  it('returns the record of lookup for the client', async () => {
    const geo = await Resolver.open(sample(), { trustedProxies: ['10.0.0.0/8'] })
    const options = { locale: 'de', at: 0 }
    expect(geo.detect(request('1.1.1.1, 81.2.69.142'), options)).toEqual(geo.lookup('81.2.69.142', options))
    expect(geo.detect(request('1.1.1.1', '81.2.70.1')).city).toBe('London')
    expect(geo.detect(new Request('http://localhost/'), { remoteAddress: '81.2.70.1' }).city).toBe('London')
  })

  it('has the source of the address in errors', async () => {
    const geo = await Resolver.open(sample(), { trustedProxies: ['10.0.0.0/8'] })
    expect(() => geo.detect(request('8.8.8.8'))).toThrow(
      expect.objectContaining({ reason: 'not-found', address: '8.8.8.8', via: 'x-forwarded-for' }),
    )
    expect(() => geo.detect(request('', '127.0.0.1'))).toThrow(
      expect.objectContaining({ reason: 'loopback', address: '127.0.0.1', via: 'socket' }),
    )
    expect(() => geo.detect(request('nonsense'))).toThrow(
      expect.objectContaining({ status: 400, via: 'x-forwarded-for' }),
    )
    expect(() => geo.detect(request('', undefined), { remoteAddress: null })).toThrow(AddressUnavailableError)
  })

  it.each([
    ['127.0.0.1', true],
    ['10.0.0.1', true],
    ['fe80::1', true],
    // No proxy connects from these.
    ['192.0.2.1', false],
    ['8.8.8.8', false],
  ])('says that the peer %s may be a proxy: %s', async (peer, isSaid) => {
    const geo = await Resolver.open(sample())
    const failure = geo.findClient(request('81.2.69.142', peer))
    if (!isLookupFailure(failure)) throw new Error('a location')
    expect(failure.error.message.includes('trustedProxies')).toBe(isSaid)
    expect(() => geo.detect(request('81.2.69.142', peer))).toThrow(failure.error.message)
    expect(() => geo.lookup(peer)).not.toThrow('trustedProxies')
  })

  it('refuses invalid options before any file is read', async () => {
    const options = { trustedProxies: ['10/8'] }
    await expect(Resolver.open(new Uint8Array(), options)).rejects.toThrow(TypeError)
    await expect(NodeResolver.open('missing.mmdb', options)).rejects.toThrow(TypeError)
    expect(() => NodeResolver.openSync('missing.mmdb', options)).toThrow(TypeError)
  })
})

describe('raw and network', () => {
  it('return the content of the file, for special-purpose addresses too', async () => {
    const geo = await Resolver.open(sample())
    expect(geo.raw('10.0.0.1')).toEqual(place('XX', 'Nowhere'))
    expect(geo.raw('8.8.8.8')).toBeNull()
    expect(() => geo.raw('nonsense')).toThrow(MalformedAddressError)
    expect(() => geo.network('nonsense')).toThrow(MalformedAddressError)
  })

  it.each([
    ['81.2.69.142', '81.2.69.0/24', 'IPv4'],
    ['81.2.70.1', '81.2.70.0/23', 'the rest of a /16 beside a /24'],
    ['2001:4860::1', '2001:4860::/32', 'IPv6'],
    ['2002:5102:458e::1', '81.2.69.0/24', '6to4: of the embedded IPv4 address'],
    ['2a00::1', '2800::/5', 'a network without a record'],
    ['8.8.8.8', '8.0.0.0/7', 'without the private network next to it'],
  ])('the network of %s is %s: %s', async (ip, network) => {
    expect((await Resolver.open(sample())).network(ip)).toBe(network)
  })

  it('the network of an IPv4 address has IPv4 addresses only, even if the tree ends above ::/96', async () => {
    expect((await Resolver.open(ipv6Only())).network('81.2.69.142')).toBe('64.0.0.0/3')
  })
})

describe('find and findClient', () => {
  it.each([
    '',
    ...'nonsense 10.0.0.1 203.0.113.7 9.9.9.9 fe80::1%eth0 81.2.69.142 ::ffff:81.2.69.142'.split(' '),
  ])('find is lookupMany of one: %j', async (ip) => {
    const geo = await Resolver.open(sample())
    expect(geo.find(ip, { locale: 'de', at: 0 })).toEqual(geo.lookupMany([ip], { locale: 'de', at: 0 })[0])
  })

  it.each([
    [{ headers: {}, remoteAddress: '81.2.69.142' }],
    [{ headers: {}, remoteAddress: '9.9.9.9' }],
    [{ headers: {}, remoteAddress: null }],
    [{ headers: {}, remoteAddress: 'localhost' }],
    [{ headers: {}, remoteAddress: 'unix:' }],
    [{ headers: {}, remoteAddress: '10.0.0.1' }],
    [{ headers: { 'x-forwarded-for': '1.1.1.1, 81.2.69.142' }, remoteAddress: '10.0.0.1' }],
    [{ headers: { 'x-forwarded-for': '192.168.1.1' }, remoteAddress: '10.0.0.1' }],
    [{ headers: { 'x-forwarded-for': '81.2.69.142, 010.0.0.1' }, remoteAddress: '10.0.0.1' }],
    [{ headers: { 'x-forwarded-for': 'unknown' }, remoteAddress: '10.0.0.1' }],
    [{ headers: { 'x-forwarded-for': ','.repeat(9000) }, remoteAddress: '10.0.0.1' }],
    [{ headers: new Headers({ 'x-forwarded-for': '81.2.69.142' }), remoteAddress: '10.0.0.1' }],
  ])('findClient has what detect returns or throws: %#', async (request) => {
    const geo = await Resolver.open(sample(), { trustedProxies: ['10.0.0.0/8'] })
    const found = geo.findClient(request, { locale: 'de', at: 0 })
    if (!isLookupFailure(found)) return expect(found).toEqual(geo.detect(request, { locale: 'de', at: 0 }))
    const { ip, error } = found
    const thrown = thrownBy(() => geo.detect(request))
    expect({ address: ip || undefined, ...error }).toEqual({
      ...thrown,
      name: undefined,
      message: thrown.message,
    })
    expect(structuredClone(found)).toEqual(found)
  })

  it('throw for options, not for addresses', async () => {
    const geo = await Resolver.open(sample())
    const request = { headers: {}, remoteAddress: '81.2.69.142' }
    for (const options of [{ locale: 'no such' }, { at: Number.NaN }]) {
      expect(() => geo.find('x', options)).toThrow()
      expect(() => geo.findClient(request, options)).toThrow()
    }
    expect(() => Reflect.apply(geo.findClient, geo, [{}])).toThrow(TypeError)
    expect(Reflect.apply(geo.find, geo, [undefined])).toMatchObject({ error: { code: 'MALFORMED_ADDRESS' } })
  })
})

function thrownBy(call: () => unknown): Error {
  try {
    call()
  } catch (error) {
    if (error instanceof Error) return error
  }
  throw new Error('nothing was thrown')
}

describe('several databases', () => {
  it('an IPv4 file and an IPv6 file work together, in either order', async () => {
    for (const sources of [
      [sample({ ipVersion: 4 }), ipv6Only()],
      [ipv6Only(), sample({ ipVersion: 4 })],
    ]) {
      const geo = await Resolver.open(sources)
      expect(geo.databases.map(({ ipVersion }) => ipVersion).sort()).toEqual([4, 6])
      expect(geo.lookup('81.2.69.142').city).toBe('Boxford')
      expect(geo.network('81.2.69.142')).toBe('81.2.69.0/24')
      expect(geo.lookup('2001:4860::1').city).toBe('Mountain View')
      expect(geo.raw('2001:4860::1')).toEqual(place('US', 'Mountain View'))
    }
  })
})

describe('databases', () => {
  it('describes the open databases', async () => {
    const built = new Date('2026-06-05T00:00:00Z')
    const lite = { databaseType: 'GeoLite2-City', languages: ['en', 'de'], buildDate: built }
    const edited = databaseOf({}, { databaseType: 'Geofix-City', description: { de: 'eigene' } })
    const geo = await Resolver.open([databaseOf({}, lite), sample(), edited])
    expect(geo.databases).toEqual([
      {
        type: 'GeoLite2-City',
        buildDate: built,
        ipVersion: 6,
        locales: ['en', 'de'],
        nodeCount: expect.any(Number),
        licence: 'GeoLite End User License Agreement',
        attribution: expect.stringContaining('MaxMind'),
        path: null,
      },
      expect.objectContaining({ type: 'Any-Name', licence: null, attribution: null }),
      expect.objectContaining({ licence: 'CC BY 4.0', attribution: null }),
    ])
    expect(Object.isFrozen(geo.databases)).toBe(true)
  })
})

describe('close', () => {
  it('throws for every call after it is closed', async () => {
    const geo = await Resolver.open(sample())
    geo.close()
    geo.close()
    for (const ask of [
      () => geo.lookup('81.2.69.142'),
      () => geo.find('81.2.69.142'),
      () => geo.detect({ headers: {}, remoteAddress: '81.2.69.142' }),
      () => geo.findClient({ headers: {}, remoteAddress: '81.2.69.142' }),
      () => geo.lookupMany([]),
      () => geo.raw('81.2.69.142'),
      () => geo.network('81.2.69.142'),
      () => geo.share(),
    ]) {
      expect(ask).toThrow(new TypeError('the resolver is closed'))
    }
  })
})

describe('a printed resolver', () => {
  it('shows its databases and nothing internal', async () => {
    const geo = await Resolver.open(sample())
    const { databases } = geo
    expect(inspect(geo)).toBe(`Resolver { databases: ${inspect(databases)} }`)
    geo.close()
    expect(inspect(geo, { depth: 0 })).toBe(
      `Resolver { databases: ${inspect(databases, { depth: 0 })}, closed }`,
    )
  })

  it('can be behind a proxy or an object that inherits, which have no databases', async () => {
    const geo = await Resolver.open(sample())
    for (const each of [new Proxy(geo, {}), Object.create(geo)]) expect(inspect(each)).toBe('Resolver {}')
  })
})

it('maxBytes limits the size of a source', async () => {
  const bytes = sample()
  await expect(Resolver.open(bytes, { maxBytes: 0 })).rejects.toThrow(TypeError)
  await expect(Resolver.open(bytes, { maxBytes: bytes.length - 1 })).rejects.toThrow('limit that maxBytes')
  expect((await Resolver.open(bytes, { maxBytes: bytes.length })).databases).toHaveLength(1)
  await CoreResolver.loadDecompression()
  for (const Entry of [CoreResolver, NodeResolver]) {
    const openSync = () => Entry.openSync(gzipSync(bytes), { maxBytes: bytes.length - 1 })
    expect(openSync).toThrow('limit that maxBytes')
  }
})

describe('the core, without a source', () => {
  const open = (...args: unknown[]): unknown => Reflect.apply(CoreResolver.open, CoreResolver, args)
  const openSync = (...args: unknown[]): unknown => Reflect.apply(CoreResolver.openSync, CoreResolver, args)

  it.each([
    ['open', open],
    ['openSync', openSync],
  ])('%s says what it is and what to do', async (_, method) => {
    for (const args of [[], [undefined, {}]]) {
      const opening = async (): Promise<unknown> => method(...args)
      await expect(opening()).rejects.toMatchObject({
        name: 'InvalidDatabaseError',
        code: 'INVALID_DATABASE',
      })
      await expect(opening()).rejects.toThrow(/this is geofix\/core, the entry for browsers/)
      await expect(opening()).rejects.toThrow(
        /with rollup\(\) of geofix\/bundler, nodeResolve\(\{ exportConditions/,
      )
    }
  })
})
