import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, vi } from 'vitest'
import { Resolver as CoreResolver } from '../../src/core.ts'
import { InvalidDatabaseError, MalformedAddressError } from '../../src/errors.ts'
import { Resolver } from '../../src/index.ts'
import { AutonomousSystems } from '../../src/location/autonomous-systems.ts'
import { Database } from '../../src/mmdb/database.ts'
import { pack, uint32, type WritableValue } from '../../src/writer.ts'
import { addressOf } from '../address/address-of.ts'
import { offsetAt } from '../mmdb/questions.ts'
import { databaseOf } from '../own-databases.ts'
import { makeFile, temporaryFolder } from '../temporary.ts'

const IP = '81.2.69.142'
const folder = temporaryFolder()

const system = (number: number, organization: string) => ({
  autonomous_system_number: uint32(number),
  autonomous_system_organization: organization,
})

const CITY = databaseOf({ '81.2.69.0/24': { country: { iso_code: 'GB' } } })
const ASN = databaseOf({
  '81.2.64.0/19': system(20712, 'Andrews & Arnold Ltd'),
  '2001:db8::/32': system(64496, 'Documentation'),
  '2a02::/16': system(3320, 'Telekom'),
  '10.0.0.0/8': system(64500, 'Private'),
})

const lite = { asn: 'AS3320', as_name: 'Telekom', as_domain: 'telekom.de', country: 'Germany' }
const enterprise = { autonomous_system_number: uint32(7), autonomous_system_organization: 'Seven' }
const telekom = { number: 3320, organization: 'Telekom' }

describe('the fields of a vendor', () => {
  it.each<[string, WritableValue, { number: number; organization: string | null } | null]>([
    ['GeoLite2 ASN, DB-IP, ip-location-db', system(3320, 'Telekom'), telekom],
    ['without a name', { autonomous_system_number: uint32(1) }, { number: 1, organization: null }],
    ['GeoIP2 Enterprise', { traits: enterprise }, { number: 7, organization: 'Seven' }],
    // The organization of GeoIP2 ISP is the customer.
    ['GeoIP2 ISP', { ...system(3320, 'Telekom'), organization: 'x', isp: 'y' }, telekom],
    ['IPinfo Lite', lite, telekom],
    ['IPinfo ASN', { asn: 'AS3320', name: 'Telekom', domain: 'telekom.de', type: 'isp' }, telekom],
    ['a domain only', { asn: 'AS3320', domain: 'telekom.de' }, { ...telekom, organization: 'telekom.de' }],
    ['digits', { asn: '3320' }, { number: 3320, organization: null }],
    ['a number', { asn: uint32(3320) }, { number: 3320, organization: null }],
    ['the greatest number', { asn: 'AS4294967295' }, { number: 4294967295, organization: null }],
    // IPinfo writes "" for an address that nobody announces.
    ['no system', { asn: '', as_name: '' }, null],
    ['0, which is reserved', system(0, 'Zero'), null],
    ['more than 32 bits', { asn: 'AS4294967296' }, null],
    ['another text', { asn: 'AS-3320', name: 'x' }, null],
    ['a fraction', { asn: 1.5 }, null],
  ])('%s', async (_, record, expected) => {
    const known = system(1, 'so that the database has some')
    const geo = await CoreResolver.open(CITY, {
      asn: databaseOf({ '1.0.0.0/24': known, '81.2.69.0/24': record }),
    })
    expect(geo.asn(IP)).toEqual(expected && { ...expected, network: '81.2.69.0/24' })
  })
})

const ANDREWS = { number: 20712, organization: 'Andrews & Arnold Ltd', network: '81.2.64.0/19' }

describe('asn', () => {
  it('gives the network in the database, of both families', async () => {
    const geo = await CoreResolver.open(CITY, { asn: ASN })
    expect(geo.asn(IP)).toEqual(ANDREWS)
    expect(geo.asn('2a02:1::1')).toEqual({ number: 3320, organization: 'Telekom', network: '2a02::/16' })
    // IPv4-mapped, 6to4
    expect(geo.asn(`::ffff:${IP}`)?.network).toBe('81.2.64.0/19')
    expect(geo.asn('2002:5102:458e::1')?.network).toBe('81.2.64.0/19')
  })

  it('is null for an address without one, and for special-purpose addresses that the database has', async () => {
    const geo = await CoreResolver.open(CITY, { asn: ASN })
    expect(['8.8.8.8', '10.0.0.1', '2001:db8::1', '::1', '2c00::'].map((ip) => geo.asn(ip))).toEqual(
      Array(5).fill(null),
    )
  })

  it('throws for text that is not an address, without a database, and after close()', async () => {
    const geo = await CoreResolver.open(CITY, { asn: ASN })
    expect(() => geo.asn('1.2.3')).toThrow(MalformedAddressError)
    expect(() => Reflect.apply(geo.asn, undefined, [IP])).toThrow('(ip) => geo.asn(ip)')
    geo.close()
    expect(() => geo.asn(IP)).toThrow('the resolver is closed')
    const without = await CoreResolver.open(CITY)
    expect(() => without.asn(IP)).toThrow(
      new TypeError(
        'no open database has autonomous systems: open one with the option asn, such as Resolver.open(source, { asn: true })',
      ),
    )
  })

  it('reads a source that has both, after the databases of the option', async () => {
    const lite = databaseOf({
      '81.2.69.0/24': { asn: 'AS1', as_name: 'One', country: 'United Kingdom', country_code: 'GB' },
      '8.8.8.0/24': { asn: 'AS15169', as_name: 'Google', country: 'United States', country_code: 'US' },
    })
    const alone = await CoreResolver.open(lite)
    expect([alone.asn(IP)?.number, alone.lookup(IP).country.code]).toEqual([1, 'GB'])
    const both = await CoreResolver.open(lite, { asn: ASN })
    expect([both.asn(IP)?.number, both.asn('8.8.8.8')?.number]).toEqual([20712, 15169])
    expect((await CoreResolver.open(ASN)).asn(IP)?.number).toBe(20712)
    // 81.2.69.0/24 has another system.
    const after = await CoreResolver.open(ASN, { asn: lite })
    expect(['81.2.68.1', '81.2.72.1'].map((ip) => after.asn(ip)?.network)).toEqual([
      '81.2.68.0/24',
      '81.2.72.0/21',
    ])
  })

  it('takes an IPv4 file and an IPv6 file', async () => {
    const ipv4 = databaseOf({ '81.2.69.0/24': system(4, 'Four') }, { ipVersion: 4 })
    const ipv6 = databaseOf({ '2a02::/16': system(6, 'Six') })
    const geo = await CoreResolver.open(CITY, { asn: [ipv4, ipv6] })
    expect([geo.asn(IP)?.number, geo.asn('2a02::1')?.number, geo.asn('8.8.8.8')]).toEqual([4, 6, null])
    expect(geo.databases.length).toBe(3)
  })

  it('leaves lookup, raw and network to the sources', async () => {
    const [geo, without] = [await CoreResolver.open(CITY, { asn: ASN }), await CoreResolver.open(CITY)]
    for (const ip of [IP, '8.8.8.8', '81.2.70.1', '2a02:1::1', '2001:db8::1']) {
      expect([geo.raw(ip), geo.network(ip), geo.find(ip, { at: 0 })]).toEqual([
        without.raw(ip),
        without.network(ip),
        without.find(ip, { at: 0 }),
      ])
    }
    const ipv4 = await CoreResolver.open(
      databaseOf({ '1.0.0.0/24': { country: { iso_code: 'AU' } } }, { ipVersion: 4 }),
      {
        asn: ASN,
      },
    )
    expect(ipv4.find('2a02:1::1')).toMatchObject({ error: { message: /no database for IPv6 is open$/ } })
  })
})

describe('the option asn', () => {
  it('refuses a database without autonomous systems, and takes one without records', async () => {
    await expect(CoreResolver.open(CITY, { asn: CITY })).rejects.toThrow(
      /it has no autonomous systems \(type "Any-Name"; its records only have "country"\): open an ASN database, or leave this one out/,
    )
    const geo = await CoreResolver.open(CITY, { asn: databaseOf({}) })
    expect(geo.asn(IP)).toBeNull()
  })

  it('is none for false, and true only in Node', async () => {
    expect((await Resolver.open(CITY, { asn: false })).databases.length).toBe(1)
    const open = Reflect.apply(CoreResolver.open, CoreResolver, [CITY, { asn: true }])
    await expect(open).rejects.toThrow(/geofix\/core, which opens no database by itself: pass one as asn/)
  })

  it.each([
    ['open', (asn: string | Uint8Array) => Resolver.open(CITY, { asn })],
    ['openSync', (asn: string | Uint8Array) => Resolver.openSync(CITY, { asn })],
  ])('of %s in Node takes paths and bytes, packed too', async (_, open) => {
    const path = makeFile(join(folder, 'asn.mmdb'), ASN)
    for (const source of [path, ASN, pack(ASN)]) {
      const geo = await open(source)
      expect(geo.asn(IP)).toEqual(ANDREWS)
      expect(geo.verify().map(({ faultCount }) => faultCount)).toEqual([0, 0])
      geo.close()
    }
  })

  it.each([true, false])('goes to other threads with share({ expand: %s })', async (expand) => {
    // Its locations are not used.
    const located = databaseOf({ '9.9.9.0/24': { ...enterprise, country: { iso_code: 'CH' } } })
    const geo = await Resolver.open(CITY, { asn: [pack(ASN), located] })
    const shared = structuredClone(geo.share({ expand }))
    expect(geo.asn(IP)?.number).toBe(20712)
    await Promise.all([CoreResolver.loadDecompression(), CoreResolver.loadOptions()])
    for (const Entry of [Resolver, CoreResolver]) {
      const other = Entry.attach(shared, { schema: { country: { code: ['country', 'iso_code'] } } })
      expect([other.asn(IP)?.number, other.lookup(IP).country.code]).toEqual([20712, 'GB'])
      expect([other.asn('9.9.9.9')?.number, other.find('9.9.9.9')]).toEqual([7, geo.find('9.9.9.9')])
    }
    expect(() => Resolver.attach({ ...shared, asn: 4 })).toThrow(
      'attach takes what share() of a resolver gave',
    )
  })

  it.each([
    ['the option, which is followed', true, 'it has no autonomous systems'],
    ['a source that a program has asked for them', false, 'but the previous file had'],
  ])('refuses a replacement without autonomous systems: %s', async (_, isOption, message) => {
    const path = makeFile(join(folder, `watched-${isOption}.mmdb`), ASN)
    const onReloadError = vi.fn()
    const watched = { watch: true, watchInterval: 5, onReloadError }
    const geo = isOption
      ? await Resolver.open(CITY, { asn: path, ...watched })
      : await Resolver.open(path, watched)
    expect(geo.asn(IP)?.number).toBe(20712)
    writeFileSync(path, databaseOf({ '81.2.69.0/24': system(2, 'Two') }))
    await vi.waitFor(() => expect(geo.asn(IP)?.number).toBe(2), 10_000)
    writeFileSync(path, CITY)
    await vi.waitFor(() => expect(onReloadError).toHaveBeenCalled(), 10_000)
    expect(onReloadError.mock.calls[0]?.[0].message).toContain(message)
    expect(geo.asn(IP)?.number).toBe(2)
    geo.close()
  })
})

describe('numbers of systems', () => {
  it('are equal for equal systems of different records, and give one frozen object', () => {
    const bytes = databaseOf({
      '81.2.69.0/24': { asn: 'AS1', name: 'One', route: 'a' },
      '8.8.8.0/24': { asn: 'AS1', name: 'One', route: 'b' },
      '9.9.9.0/24': { asn: 'AS2', name: 'One', route: 'b' },
    })
    const systems = new AutonomousSystems([new Database(bytes)], [new Database(CITY)])
    const [one, same, other, none] = [IP, '8.8.8.8', '9.9.9.9', '7.7.7.7'].map((ip) =>
      systems.find(addressOf(ip)),
    )
    expect([same === one, other === one, none]).toEqual([true, false, 0])
    expect(systems.system(one ?? 0)).toBe(systems.system(same ?? 0))
    expect(Object.isFrozen(systems.system(one ?? 0))).toBe(true)
    expect(() => systems.system(0)).toThrow(RangeError)
  })

  it('of a damaged record are an error, and those of the others stay', () => {
    const bytes = databaseOf({ '81.2.69.0/24': system(1, 'One'), '8.8.8.0/24': { asn: 'AS2' } })
    const database = new Database(bytes)
    const systems = new AutonomousSystems([database], [])
    const offset = offsetAt(database, addressOf('81.2.69.1').ipv4)
    bytes.fill(0xff, offset, offset + 20)
    expect(() => systems.find(addressOf(IP))).toThrow(InvalidDatabaseError)
    expect(systems.system(systems.find(addressOf('8.8.8.8'))).number).toBe(2)
  })

  it('of a hostile file with very long names take bounded memory', () => {
    const names = Array.from({ length: 300 }, (_, i) => system(i + 1, `${i}`.padEnd(513, 'x')))
    const bytes = databaseOf(
      Object.fromEntries(names.map((name, i) => [`1.${i >> 8}.${i & 255}.0/24`, name])),
    )
    expect(() => new AutonomousSystems([new Database(bytes)], [])).toThrow(InvalidDatabaseError)
  })
})
