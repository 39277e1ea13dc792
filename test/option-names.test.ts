// Options with unknown names are refused in every public call: a misspelled option would be ignored, and with it what it
// protects.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { esbuild, rollup } from '../src/bundler.ts'
import { Resolver as CoreResolver } from '../src/core.ts'
import { createRowEnricher, enrich, enrichStream } from '../src/enrich.ts'
import { createHandler, createKeyFile } from '../src/http.ts'
import { createClientAddress, embedded, Resolver } from '../src/index.ts'
import { nearestName } from '../src/option-names.ts'
import { MmdbWriter, slim } from '../src/writer.ts'
import { british } from './own-databases.ts'
import { temporaryFolder } from './temporary.ts'

const bytes = british()
const geo = Resolver.openSync(bytes)
const request = { headers: {}, remoteAddress: '81.2.69.142' }
const keys = join(temporaryFolder(), 'keys.json')
writeFileSync(keys, JSON.stringify({ geofix: 1, keys: [] }), { mode: 0o600 })

/** A call with these options, and with those that it needs. */
type Call = (options: object) => unknown

/** Passes options that the types refuse. */
const given = (call: (...args: never[]) => unknown, ...args: unknown[]): unknown =>
  Reflect.apply(call, undefined, args)

/** Calls a method, or a function, with arguments before its options. */
const method =
  (of: object, name: string, ...args: unknown[]): Call =>
  (options) =>
    Reflect.apply(Reflect.get(of, name), of, [...args, options])
const plain =
  (call: (...args: never[]) => unknown, ...args: unknown[]): Call =>
  (options) =>
    given(call, ...args, options)
/** Calls a function whose only argument also has options that it needs. */
const needing =
  (call: (...args: never[]) => unknown, needed: object, ...args: unknown[]): Call =>
  (options) =>
    given(call, ...args, { ...needed, ...options })

const PLAN = { name: 'x', rate: 1, burst: 1, batch: 1 }
const LINES = { resolver: geo }
const IP = '81.2.69.142'

const attach =
  (of: object): Call =>
  (options) =>
    method(of, 'attach', geo.share())(options)
const plan: Call = (options) =>
  given(createHandler, geo, { authenticate: null, lookupPlan: 'x', plans: [{ ...PLAN, ...options }] })
const writer: Call = (options) => Reflect.construct(MmdbWriter, [{ databaseType: 'T', ...options }])
const lines: Call = (options) => given(enrich, new Blob(['']).stream(), { ...LINES, ...options })
const plugin: Call = (options) => [given(esbuild, options), given(rollup, options)]
const handler = needing(createHandler, { authenticate: null }, geo)
const rows = needing(createRowEnricher, { ...LINES, format: 'list', at: 0 })
const client = plain(createClientAddress(), request)

/** The name of a call, a misspelled option and the one that was meant, and a value. */
const CALLS: readonly (readonly [name: string, call: Call, names: string, value: unknown])[] = [
  ['Resolver.open', method(Resolver, 'open', bytes), 'trustedProxy trustedProxies', ['10.0.0.0/8']],
  ['Resolver.openSync', method(Resolver, 'openSync', bytes), 'overlay overlays', []],
  ['Resolver.attach', attach(Resolver), 'trustProxies trustedProxies', ['::1']],
  ['Resolver.open of the core', method(CoreResolver, 'open', bytes), 'cachebytes cacheBytes', 0],
  ['Resolver.openSync of the core', method(CoreResolver, 'openSync', bytes), 'max_bytes maxBytes', 1],
  ['Resolver.attach of the core', attach(CoreResolver), 'forwardHeader forwardedHeader', 'x-real-ip'],
  ['lookup', method(geo, 'lookup', IP), 'local locale', 'de'],
  ['find', method(geo, 'find', IP), 'atTime at', new Date()],
  ['lookupMany', method(geo, 'lookupMany', [IP]), 'Locale locale', 'de'],
  ['detect', method(geo, 'detect', request), 'remoteAdress remoteAddress', '8.8.8.8'],
  ['findClient', method(geo, 'findClient', request), 'remoteAddr remoteAddress', '8.8.8.8'],
  ['createClientAddress', plain(createClientAddress), 'trustedProxys trustedProxies', ['loopback']],
  ['the function of createClientAddress', client, 'remote_address remoteAddress', '8.8.8.8'],
  ['createHandler', handler, 'maxBodybytes maxBodyBytes', 1],
  ['a plan', plan, 'bursts burst', 2],
  ['createKeyFile', plain(createKeyFile, keys), 'onerror onError', () => {}],
  ['enrich', lines, 'timefield timeField', 'ts'],
  ['enrichStream', needing(enrichStream, LINES), 'trustedProxie trustedProxies', ['10.0.0.0/8']],
  ['createRowEnricher', rows, 'maxLineByte maxLineBytes', 10],
  ['MmdbWriter', writer, 'ipversion ipVersion', 4],
  ['slim', plain(slim, bytes), 'country countries', ['DE']],
  ['the plugin', plugin, 'database databases', ['country']],
]

/** What a call throws, at once or later. */
const errorOf = (call: () => unknown): Promise<unknown> =>
  (async () => void (await call()))().catch((error: unknown) => error)

const title = (name: string): string => name.replace(' of the core', '')

describe('an unknown option', () => {
  it.each(CALLS)(
    'of %s is an error that names the option that was meant',
    async (name, call, names, value) => {
      const [wrong = '', meant = ''] = names.split(' ')
      const error = new TypeError(`${title(name)} has no option "${wrong}": did you mean "${meant}"?`)
      for (const each of [value, undefined])
        expect(await errorOf(() => call({ [wrong]: each }))).toEqual(error)
      // A plan needs values.
      if (name !== 'a plan') expect(await errorOf(() => call({ [meant]: undefined }))).toBeUndefined()
    },
  )

  it.each(CALLS)('of %s that resembles none is an error that lists the options', async (name, call) => {
    const error = await errorOf(() => call({ 'x\u001b[31m': 1 }))
    expect(error).toBeInstanceOf(TypeError)
    const [start, list] = String(error).split(': its options are ')
    expect(start).toBe(`TypeError: ${title(name)} has no option "x\\u001b[31m"`)
    expect(list).toMatch(/^\w+(, \w+)*( and \w+)?$/)
  })
})

describe('options', () => {
  it.each([
    ['a text', 'de', 'not a string.'],
    ['null', null, 'not null.'],
    ['an array', ['de'], 'not an array.'],
    ['an index, as map gives it', 0, 'not a number.'],
    ['a callback', () => {}, 'not a function. Geofix calls no callback: use what the call returns.'],
  ])('of a lookup cannot be %s', (_, options, kind) => {
    expect(() => given(geo.lookup.bind(geo), '81.2.69.142', options)).toThrow(
      new TypeError(`the options of lookup must be an object, such as { locale: … }, ${kind}`),
    )
  })

  it('can be inherited, and must have known names then too', () => {
    const inherited = Object.create({ locale: 'de' })
    expect(geo.lookup('81.2.69.142', inherited).country.name).toBe('Vereinigtes Königreich')
    expect(() => geo.lookup('81.2.69.142', Object.create({ lokale: 'de' }))).toThrow('has no option "lokale"')
  })

  it('have no members that a program gives to all objects', () => {
    Object.defineProperty(Object.prototype, 'polluted', { value: 1, enumerable: true, configurable: true })
    let name: string | null = null
    try {
      name = geo.lookup('81.2.69.142', { locale: 'de' }).country.name
    } finally {
      Reflect.deleteProperty(Object.prototype, 'polluted')
    }
    expect(name).toBe('Vereinigtes Königreich')
  })

  it('of createHandler can be what createKeyFile gave', async () => {
    const keyFile = await createKeyFile(keys)
    expect(createHandler(geo, keyFile)).toBeTypeOf('function')
    keyFile.close()
  })

  it('of the core have no names that only Node has', async () => {
    await expect(given(CoreResolver.open.bind(CoreResolver), bytes, { watch: true })).rejects.toThrow(
      'Resolver.open has no option "watch"',
    )
    expect(Resolver.openSync(embedded.country, { watch: false }).databases).toHaveLength(1)
  })
})

describe('nearestName', () => {
  it.each([
    ['trustProxy', 'trustedProxies'],
    ['forwarded', 'forwardedHeader'],
    ['cache', 'cacheBytes'],
    ['watchForUpdates', 'watch'],
    ['onReloadErr', 'onReloadError'],
    ['onReload_error', 'onReloadError'],
    ['lang', undefined],
    ['w', undefined],
    ['', undefined],
  ])('of %j is %j', (name, nearest) => {
    const known = ['trustedProxies', 'forwardedHeader', 'cacheBytes', 'watch', 'onReload', 'onReloadError']
    expect(nearestName(name, known)).toBe(nearest)
  })

  it.each(['', '_', 'c'])('is not a short name that begins the other: %j', (short) => {
    expect(nearestName('contry', [short, 'country'])).toBe('country')
  })

  it('of a name with one wrong character is the name', () => {
    const known = ['trustedProxies', 'maxLineBytes', 'dropUnresolved']
    fc.assert(
      fc.property(
        fc.constantFrom(...known),
        fc.nat(),
        fc.string({ maxLength: 2 }),
        (name, at, text) =>
          nearestName(name.slice(0, at % name.length) + text + name.slice((at % name.length) + 1), known) ===
          name,
      ),
    )
  })

  it('does not compare long names', () => {
    expect(nearestName('watch'.padEnd(100_000, 'x'), ['watch'])).toBeUndefined()
  })
})
