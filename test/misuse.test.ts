import { statSync } from 'node:fs'
// Programs that are written as for other libraries get an error that says what to write.
import { gzipSync } from 'node:zlib'
import { describe, expect, it, vi } from 'vitest'
import { Resolver as CoreResolver } from '../src/core.ts'
import { embedded, Resolver } from '../src/index.ts'
import { utf8Decoder, utf8Encoder } from '../src/realm.ts'
import { british } from './own-databases.ts'

const bytes = british()
const geo = Resolver.openSync(bytes)

/** Calls a method as a program in JavaScript can. */
const call = (target: object, name: string, ...args: unknown[]): unknown =>
  Reflect.apply(Reflect.get(target, name), target, args)

describe('a habit of another library', () => {
  const OPEN = 'write await Resolver.open(source)'
  const IP = '81.2.69.142'
  it.each<[habit: () => unknown, remedy: string | RegExp]>([
    [() => Reflect.construct(Resolver, []), OPEN],
    [() => Reflect.construct(Resolver, ['x.mmdb']), OPEN],
    [() => Reflect.construct(CoreResolver, []), OPEN],
    // maxmind
    [() => call(geo, 'get', IP), 'a Resolver has no method get: geo.lookup(ip) gives'],
    [() => call(geo, 'getWithPrefixLength', IP), 'geo.network(ip)'],
    // @maxmind/geoip2-node
    [() => call(geo, 'city', IP), 'a Resolver has no method city: geo.lookup(ip) gives'],
    [() => call(geo, 'isp', IP), "geo.raw(ip) gives the vendor's record"],
    // A method that needs a database.
    [() => call(geo, 'asn', IP), 'Resolver.open(source, { asn: true })'],
    // geoip-lite, fast-geoip
    [() => call(Resolver, 'lookup', IP), 'const geo = await Resolver.open(), then geo.lookup('],
    [() => call(CoreResolver, 'get', IP), 'then geo.lookup('],
    // A missing await.
    [() => call(Resolver.open(bytes), 'lookup', IP), 'Resolver.open returns a promise'],
    [() => call(CoreResolver.open(bytes), 'city', IP), 'then geo.lookup('],
    [() => call(CoreResolver.open(bytes), 'networks'), 'then geo.networks('],
    // const { lookup } = geo
    [() => Reflect.apply(geo.lookup, undefined, [IP]), '(ip) => geo.lookup(ip)'],
    [() => call([IP], 'map', geo.find), 'instead of geo.find, or geo.lookupMany(ips)'],
    [() => call([IP], 'map', geo.raw), /instead of geo\.raw$/],
    [() => call([IP], 'map', geo.details), /instead of geo\.details$/],
    [() => call([IP], 'map', geo.network), '(ip) => geo.network(ip) instead of geo.network'],
    [() => call([[IP]], 'map', geo.lookupMany), '(ips) => geo.lookupMany(ips)'],
    [() => call([{}], 'map', geo.detect), '(request) => geo.detect(request)'],
    [
      () => call([{}], 'map', geo.networks),
      /\(options\) => geo\.networks\(options\) instead of geo\.networks$/,
    ],
    [() => call([{}], 'map', geo.share), /\(options\) => geo\.share\(options\) instead of geo\.share$/],
    [() => Reflect.apply(geo.verify, undefined, []), /write \(\) => geo\.verify\(\) instead of geo\.verify$/],
    [() => call(geo, 'lookup', IP, () => {}), 'Geofix calls no callback'],
  ])('%s is a TypeError with the remedy: %s', (habit, remedy) => {
    expect(habit).toThrow(TypeError)
    expect(habit).toThrow(remedy)
  })

  it.each<[string, unknown[], string]>([
    ['a callback', [() => {}], 'Geofix calls no callback'],
    ['a callback after the path', ['x.mmdb', () => {}], 'Geofix calls no callback'],
    ['a promise', [Promise.resolve(bytes)], 'await it'],
    [
      'options in place of a source',
      [{ watch: true }],
      'Options come second: Resolver.open(undefined, { … })',
    ],
    ['the options of maxmind', [bytes, { watchForUpdates: true }], 'did you mean "watch"?'],
  ])('%s for open is a TypeError with the remedy', async (_, args, remedy) => {
    const opening = Reflect.apply(Resolver.open, Resolver, args)
    await expect(opening).rejects.toThrow(TypeError)
    await expect(opening).rejects.toThrow(remedy)
  })

  it('adds no name that programs see', async () => {
    expect(Object.keys(Resolver.prototype)).toEqual([])
    const names = []
    for (const name in Resolver.open(bytes)) names.push(name)
    expect(names).toEqual([])
    expect((await Resolver.open(bytes)).lookup('81.2.69.142').country.code).toBe('GB')
  })
})

describe('tests of programs', () => {
  it.each([
    ['TextDecoder', utf8Decoder],
    ['TextEncoder', utf8Encoder],
  ])('without %s, as in jsdom, get an error with the remedy', (name, make) => {
    vi.stubGlobal(name, undefined)
    expect(make).toThrow(TypeError)
    expect(make).toThrow(`${name} is missing. In jest with jsdom, write`)
  })

  it('cannot make opening hang by a faked nextTick', async () => {
    const sources = { file: embedded.country, bytes: gzipSync(bytes) }
    const loaded: number[] = []
    const { nextTick } = process
    // As @sinonjs/fake-timers replaces it: with a member `clock`, and nothing runs before the clock ticks.
    process.nextTick = Object.assign(() => {}, { clock: {} })
    let codes: (string | null)[] = []
    try {
      const onProgress = (progress: { loaded: number }) => loaded.push(progress.loaded)
      const fromFile = await Resolver.open(sources.file, { onProgress })
      const fromBytes = await Resolver.open(sources.bytes)
      const fromCity = await Resolver.open()
      codes = [fromFile, fromBytes, fromCity].map((each) => each.lookup('81.2.69.142').country.code)
    } finally {
      process.nextTick = nextTick
    }
    expect(codes).toEqual(['GB', 'GB', 'GB'])
    expect(loaded.at(-1)).toBe(statSync(embedded.country).size)
  })
})
