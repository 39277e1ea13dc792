import ipaddr from 'ipaddr.js'
import { describe, expect, it } from 'vitest'
import { formatIPv4, formatIPv6 } from '../../src/address/ip-text.ts'
import { Resolver as CoreResolver } from '../../src/core.ts'
import { isLookupFailure, type LocatedNetwork, type Overlay, Resolver } from '../../src/index.ts'
import { Database } from '../../src/mmdb/database.ts'
import { pack } from '../../src/packed/pack.ts'
import { lastOf, visitNetworks } from '../mmdb/every-network.ts'
import { encode, handMadeTree, type Node } from '../mmdb/hand-made.ts'
import { databaseOf, OWN_DATABASES } from '../own-databases.ts'
import { BERLIN } from './berlin.ts'

const at = Date.UTC(2026, 6, 1)
const country = (code: string) => ({ country: { iso_code: code } })
const codes = (networks: Iterable<LocatedNetwork>): string[] =>
  Array.from(networks, ({ network, location }) => `${network} ${location.country.code}`)
const cities = (code: string, ...networks: string[]): Uint8Array =>
  databaseOf(Object.fromEntries(networks.map((network) => [network, country(code)])))
const open = (source: Uint8Array | Uint8Array[], ...networks: string[]): Resolver =>
  Resolver.openSync(source, { overlays: networks.map((network): Overlay => ({ network, record: BERLIN })) })

/** The first and the last address of a network. */
function endsOf(network: string): [first: string, last: string] {
  const [ip = '', length = ''] = network.split('/')
  const { Class, bytes } = ip.includes(':')
    ? { Class: ipaddr.IPv6, bytes: 16 }
    : { Class: ipaddr.IPv4, bytes: 4 }
  const last = Class.parse(ip).toByteArray()
  for (let bit = Number(length); bit < 8 * bytes; bit++)
    last[bit >> 3] = (last[bit >> 3] ?? 0) | (128 >> (bit & 7))
  return [ip, new Class(last).toString()]
}

const NAMES = Object.keys(OWN_DATABASES)

describe('resolver.networks()', () => {
  it.each(NAMES)('has what lookup finds in every network of %s, packed or not, and nothing else', (name) => {
    const bytes = OWN_DATABASES[name]?.() ?? new Uint8Array()
    const geo = Resolver.openSync(bytes)
    const one = geo.find('1.1.1.1')
    if (isLookupFailure(one) && one.error.code === 'INVALID_DATABASE') {
      expect(() => geo.networks()).toThrow('it has no locations')
      return
    }
    const found = [...geo.networks({ at })]
    const covered = new Set<string>()
    for (const { network, location } of found) {
      for (const ip of endsOf(network)) {
        expect(geo.lookup(ip, { at })).toEqual({ ...location, ip: geo.lookup(ip).ip })
        covered.add(geo.lookup(ip).ip)
      }
    }
    expect(found.map(({ network }) => network)).toEqual([...new Set(found.map(({ network }) => network))])
    const database = new Database(bytes)
    visitNetworks(database, (_, first, depth) => {
      const isIPv4 = first.length === 1 || (depth >= 96 && !first[0] && !first[1] && !first[2])
      for (const words of [first, lastOf(first, depth)]) {
        const ip = isIPv4 ? formatIPv4(words.at(-1) ?? 0) : formatIPv6(words)
        if (isLookupFailure(geo.find(ip)) || /^(2001:0?:|2001::|2002:|64:ff9b:)/.test(ip)) continue
        expect(covered).toContain(ip)
      }
    })
    expect([...Resolver.openSync(pack(bytes)).networks({ at })]).toEqual(found)
  })

  it('asks databases and overlays in the order of a lookup, and cuts networks where the answer changes', () => {
    const geo = open([cities('AU', '1.0.0.0/23'), cities('US', '1.0.0.0/22', '2a00::/32')], '1.0.0.128/25')
    expect(codes(geo.networks())).toEqual([
      '1.0.0.0/25 AU',
      '1.0.0.128/25 DE',
      '1.0.1.0/24 AU',
      '1.0.2.0/23 US',
      '2a00::/32 US',
    ])
  })

  it('has special-purpose networks only from overlays, and addresses with an IPv4 address inside never', () => {
    const all = cities('US', '0.0.0.0/0', '::/0')
    const found = codes(open(all, '10.1.0.0/16', 'fd00::/48').networks())
    expect(found.filter((each) => each.endsWith('DE'))).toEqual(['10.1.0.0/16 DE', 'fd00::/48 DE'])
    const inside = /^(10\.(?!1\.)|127\.|192\.168\.|2002:|2001::|2001:db8:|::|64:ff9b:|ff)/
    expect(found.filter((each) => inside.test(each))).toEqual([])
    expect(found).toContain('11.0.0.0/8 US')
  })

  it('has no IPv6 networks of an IPv4 database whose last address has a location', () => {
    const all = databaseOf({ '0.0.0.0/0': country('US') }, { ipVersion: 4 })
    const found = codes(open([all, cities('DE', '2a00::/32')]).networks())
    expect(found.filter((each) => each.includes(':'))).toEqual(['2a00::/32 DE'])
  })

  const geo = open(cities('US', '1.0.0.0/22', '2a00::/32'), '1.0.4.0/24')
  it.each<[string, Parameters<Resolver['networks']>[0], string[]]>([
    ['IPv4', { ipVersion: 4 }, ['1.0.0.0/22 US', '1.0.4.0/24 DE']],
    ['IPv6', { ipVersion: 6 }, ['2a00::/32 US']],
    ['countries', { countries: ['de'] }, ['1.0.4.0/24 DE']],
    ['the European Union', { countries: ['EU'] }, ['1.0.4.0/24 DE']],
    ['a network that is cut', { within: '1.0.1.0/24' }, ['1.0.1.0/24 US']],
    ['an address', { within: '2a00::7' }, ['2a00::7/128 US']],
    ['an IPv4-mapped network', { within: '::ffff:1.0.4.0/118' }, ['1.0.4.0/24 DE']],
    ['all IPv6 addresses', { within: '::/0' }, ['2a00::/32 US']],
    ['a network of the other family', { within: '1.0.0.0/8', ipVersion: 6 }, []],
    ['an IPv6 network of IPv4', { within: '2a00::/16', ipVersion: 4 }, []],
    ['a network without a location', { within: '10.0.0.0/8' }, []],
    ['IPv4-compatible addresses', { within: '::/96' }, []],
    ['some of them', { within: '::100:0/104' }, []],
  ])('takes %s only', (_, options, expected) => {
    expect(codes(geo.networks(options))).toEqual(expected)
  })

  it('has names in the locale, and offsets at the instant', () => {
    const [found] = geo.networks({ within: '1.0.4.0/24', locale: 'fr', at: new Date(at) })
    expect(found?.location).toMatchObject({
      country: { name: 'Allemagne' },
      timezone: { offset: '+02:00' },
    })
    expect(found?.location).not.toHaveProperty('ip')
  })

  it.each([
    [{ ipVersion: 5 }, 'ipVersion must be 4 or 6'],
    [{ countries: [] }, 'countries must be a list of country codes'],
    [{ countries: ['ZZ'] }, '"ZZ" is not an ISO 3166-1 alpha-2 code'],
    [{ within: '1.0.0.1/24' }, '1.0.0.1/24 has bits set after its prefix'],
    [{ within: 'x' }, '"x" is neither an address nor a network'],
    [{ family: 4 }, 'networks has no option "family"'],
    [{ locale: '!' }, '!'],
  ])('refuses %j when it is called', (options, message) => {
    expect(() => geo.networks(options as object)).toThrow(message) // JavaScript can call it so
  })

  it('finds networks while it is iterated, also after other lookups and close()', () => {
    const own = CoreResolver.openSync(cities('US', '1.0.0.0/22', '2a00::/32'))
    const networks = own.networks()
    expect(networks.next().value).toMatchObject({ network: '1.0.0.0/22' })
    own.lookup('2a00::1')
    own.close()
    expect(networks.next().value).toMatchObject({ network: '2a00::/32' })
    expect(networks.next().done).toBe(true)
    expect(() => own.networks()).toThrow('closed')
  })

  it('ends at a tree that repeats its subtrees without end', () => {
    const nodes = Array.from({ length: 30 }, (_, node): Node => [node + 1, node + 1])
    const bytes = handMadeTree([...nodes, [{ data: 0 }, { data: 0 }]], encode(country('US')))
    const geo = Resolver.openSync(bytes)
    expect(geo.lookup('1.1.1.1').country.code).toBe('US')
    expect(() => {
      for (const _ of geo.networks());
    }).toThrow('repeats subtrees too often')
  })
})
