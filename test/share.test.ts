import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { describe, expect, it, vi } from 'vitest'
import { randomPublicIPv4, seeded } from '../scripts/bench/addresses.ts'
import { Resolver as CoreResolver } from '../src/core.ts'
import { verify } from '../src/details.ts'
import { Resolver, type SharedDatabases } from '../src/index.ts'
import { MmdbWriter, overlay, pack } from '../src/writer.ts'
import { tarOf } from './bytes/tar-samples.ts'
import { effort } from './effort.ts'
import { british } from './own-databases.ts'
import { makeFile, temporaryFolder } from './temporary.ts'

const mmdb = british()
const IP = '81.2.69.142'
const folder = temporaryFolder()
const file = (name: string, content: Uint8Array): string => makeFile(join(folder, name), content)

/** Every other one in 2000::/3, the others IPv4. */
const randomAddresses = (count: number, random: () => number): string[] =>
  Array.from({ length: count }, (_, index) =>
    index % 2 === 0 ? randomPublicIPv4(random) : `${firstPart(random)}:${index.toString(16)}::1`,
  )
const firstPart = (random: () => number): string => (0x2000 + Math.floor(random() * 0x2000)).toString(16)

/** As another thread receives it. */
const sent = (shared: SharedDatabases): SharedDatabases => structuredClone(shared)

const ENTRIES = [
  ['the core', CoreResolver],
  ['Node', Resolver],
] as const

describe.each(ENTRIES)('share and attach in %s', (_, Entry) => {
  it.each([
    ['bytes', () => mmdb],
    ['gzip', () => gzipSync(mmdb)],
    ['a Blob', () => new Blob([mmdb])],
    ['a compressed Response', () => new Response(gzipSync(mmdb))],
    ['an archive', () => gzipSync(tarOf({ 'x.mmdb': mmdb }))],
  ])('are of the same memory: %s', async (__, source) => {
    const geo = await Entry.open(source())
    const shared = geo.share()
    const [database] = shared.databases
    expect(database?.bytes.buffer).toBeInstanceOf(SharedArrayBuffer)
    const received = sent(shared)
    expect(received.databases[0]?.bytes.byteOffset).toBe(database?.bytes.byteOffset)
    const other = Entry.attach(received, { trustedProxies: ['10.0.0.0/8'] })
    expect(other.lookup(IP)).toEqual(geo.lookup(IP))
    expect(other.databases).toEqual(geo.databases)
    // Written by one thread, read by the other.
    const [here, there] = [shared, received].map(({ databases: [each] }) => each?.bytes ?? new Uint8Array())
    expect(there).not.toBe(here)
    here?.fill(255, 0, 1)
    expect(there?.[0]).toBe(255)
  })

  it('copy at most once', async () => {
    const geo = await Entry.open(mmdb)
    expect(geo.share().databases[0]?.bytes).toBe(geo.share().databases[0]?.bytes)
    expect(geo.lookup(IP).country.code).toBe('GB')
    const compressed = await Entry.open(new Response(gzipSync(mmdb)))
    const before = compressed.share().databases[0]?.bytes
    expect(compressed.share().databases[0]?.bytes).toBe(before)
  })

  it.each([
    ['nothing', undefined],
    ['null', null],
    ['a path', 'city.mmdb'],
    ['what became of a resolver', {}],
    ['another version', { geofix: 2, databases: [] }],
    ['no list', { geofix: 1, databases: {} }],
    ['memory that is not shared', { geofix: 1, databases: [{ bytes: mmdb }] }],
    ['what JSON has left', { geofix: 1, databases: [{ bytes: { 0: 1 } }] }],
    ['no database', { geofix: 1, databases: [null] }],
    ['offsets that are not shared', { geofix: 1, databases: [], offsets: new ArrayBuffer(8) }],
    [
      'tables that are not shared',
      {
        geofix: 1,
        databases: [
          { bytes: new Uint8Array(new SharedArrayBuffer(9)), path: undefined, tables: new ArrayBuffer(8) },
        ],
      },
    ],
  ])('refuse %s', (__, value) => {
    expect(() => Reflect.apply(Entry.attach, Entry, [value])).toThrow(
      new TypeError(
        'attach takes what share() of a resolver gave, sent to a thread of the same process with postMessage',
      ),
    )
  })

  it('check what is shared as a file', () => {
    const bytes = new Uint8Array(new SharedArrayBuffer(100))
    expect(() => Entry.attach({ geofix: 1, databases: [{ bytes, path: '/a.mmdb' }] })).toThrow(
      /^\/a\.mmdb: it is not a MaxMind DB file/,
    )
  })

  it('do without decoded blocks of another size', async () => {
    const geo = await Entry.open(pack(mmdb))
    const { databases, ...rest } = geo.share()
    for (const tables of [undefined, new SharedArrayBuffer(4)]) {
      const attached = Entry.attach({ ...rest, databases: databases.map((each) => ({ ...each, tables })) })
      expect(attached.lookup(IP)).toEqual(geo.lookup(IP))
    }
  })

  it('name the missing headers if memory cannot be shared', async () => {
    const geo = await Entry.open(mmdb)
    vi.stubGlobal('SharedArrayBuffer', undefined)
    expect(() => geo.share()).toThrow(
      /cross-origin isolated: send the headers "Cross-Origin-Opener-Policy: same-origin"/,
    )
    const other = await Entry.open(new Response(gzipSync(mmdb)))
    expect(other.lookup(IP).country.code).toBe('GB')
  })

  it('are what a clone by mistake asks for', async () => {
    const geo = await Entry.open(mmdb)
    expect(() => structuredClone(geo)).toThrow(
      /Send resolver\.share\(\) and pass that to Resolver\.attach\(\) there/,
    )
    expect(() => new MessageChannel().port1.postMessage({ geo })).toThrow('A Resolver cannot be cloned')
  })
})

describe('files', () => {
  it.each([
    ['raw', file('raw.mmdb', mmdb)],
    ['gzip', file('packed.mmdb.gz', gzipSync(mmdb))],
  ])('are read into memory that is shared without a copy: %s', async (_, path) => {
    const geo = await Resolver.open(path)
    const attached = Resolver.attach(sent(geo.share()))
    expect(attached.databases[0]?.path).toBe(path)
    expect(attached.status.watching).toBe(false)
    expect(Resolver.attach(Resolver.openSync(path).share()).lookup(IP).country.code).toBe('GB')
  })

  it.each(Object.entries({ watch: true, asn: false, maxBytes: 1, signal: AbortSignal.abort() }))(
    'are not opened again by attach, which has no option %s',
    (name, value) => {
      for (const Entry of [Resolver, CoreResolver]) {
        const shared = Resolver.openSync(mmdb).share()
        expect(() => Reflect.apply(Entry.attach, Entry, [shared, { [name]: value }])).toThrow(
          `has no option "${name}"`,
        )
      }
    },
  )
})

describe('a packed database', () => {
  const random = seeded(33)
  /** Several blocks of networks of both families and of records. */
  const writer = new MmdbWriter({ databaseType: 'Sample-City' })
  for (let index = 0; index < 3000; index++) {
    const country = { iso_code: ['GB', 'FR', 'JP'][index % 3] ?? '' }
    const city = { names: { en: `City ${index % 700}`, de: `Stadt ${index % 700}` } }
    const first = firstPart(random)
    writer.insert(`${randomPublicIPv4(random)}/32`, { country, city })
    writer.insert(`${randomPublicIPv4(random).replace(/\.\d+$/, '.0')}/24`, { country })
    writer.insert(`${first}::/${16 + (index % 17)}`, { country, city })
  }
  const packed = pack(writer.toBytes())
  const ips = randomAddresses(effort({ short: 100, long: 3000 }), random)

  it.each(ENTRIES)('shares its decoded blocks in %s', async (_, Entry) => {
    const geo = await Entry.open(packed)
    const expected = ips.map((ip) => [geo.find(ip), geo.raw(ip), geo.network(ip)])
    const shared = geo.share()
    expect(shared.databases[0]?.bytes).toEqual(packed)
    expect(shared.databases[0]?.tables).toBeInstanceOf(SharedArrayBuffer)
    // Later calls make no other copy.
    for (const { bytes, tables } of [geo.share(), geo.share()].flatMap(({ databases }) => databases)) {
      expect(bytes).toBe(shared.databases[0]?.bytes)
      expect(tables).toBe(shared.databases[0]?.tables)
    }
    const attached = Entry.attach(sent(shared))
    for (const each of [geo, attached]) expect(verify(each)[0]?.faults).toEqual([])
    const found = (each: CoreResolver) => ips.map((ip) => [each.find(ip), each.raw(ip), each.network(ip)])
    expect(found(geo)).toEqual(expected)
    // What one thread has decoded, no other one reads.
    shared.databases[0]?.bytes.fill(0, packed.length / 2)
    expect(found(attached)).toEqual(expected)
  })

  it.each(ENTRIES)('is shared as it is if expand is false in %s', async (_, Entry) => {
    const geo = await Entry.open(packed)
    const shared = geo.share({ expand: false })
    expect(shared.databases[0]?.bytes).toEqual(packed)
    const attached = Entry.attach(sent(shared))
    expect(ips.map((ip) => attached.find(ip))).toEqual(ips.map((ip) => geo.find(ip)))
    expect(shared.databases[0]?.tables).toBeUndefined()
    // Later with the decoded blocks, for threads with many lookups.
    expect(geo.share().databases[0]?.tables?.byteLength).toBeGreaterThan(0)
    for (const expand of ['no', 1, null]) {
      expect(() => Reflect.apply(geo.share, geo, [{ expand }])).toThrow(
        new TypeError('expand must be true or false'),
      )
    }
  })

  it('keeps the overlays that a command added to it', () => {
    const added = overlay(mmdb, [{ network: '10.0.0.0/8', record: { country: { code: 'FR' } } }])
    const geo = Resolver.openSync(pack(added))
    expect(geo.lookup('10.1.1.1').country.code).toBe('FR')
    expect(Resolver.attach(sent(geo.share())).lookup('10.1.1.1').country.code).toBe('FR')
  })
})
