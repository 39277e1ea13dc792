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
import { temporaryFolder } from './temporary.ts'

const bytes = new MmdbWriter({ databaseType: 'T' })
  .insert('81.2.69.0/24', { country: { iso_code: 'GB' } })
  .toBytes()
const geo = Resolver.openSync(bytes)
const request = { headers: {}, remoteAddress: '81.2.69.142' }
const keys = join(temporaryFolder(), 'keys.json')
writeFileSync(keys, JSON.stringify({ geofix: 1, keys: [] }), { mode: 0o600 })

interface Call {
  readonly name: string
  /** Calls with these options, and with those that it needs. */
  readonly call: (options: object) => unknown
  /** A misspelled option, and the one that was meant. */
  readonly misspelled: readonly [given: string, meant: string]
  readonly value: unknown
}

/** Passes options that the types refuse. */
const given = (call: (...args: never[]) => unknown, ...args: unknown[]): unknown =>
  Reflect.apply(call, undefined, args)
const LINES = { resolver: geo }

const CALLS: readonly Call[] = [
  {
    name: 'Resolver.open',
    call: (options) => given(Resolver.open.bind(Resolver), bytes, options),
    misspelled: ['trustedProxy', 'trustedProxies'],
    value: ['10.0.0.0/8'],
  },
  {
    name: 'Resolver.openSync',
    call: (options) => given(Resolver.openSync.bind(Resolver), bytes, options),
    misspelled: ['overlay', 'overlays'],
    value: [],
  },
  {
    name: 'Resolver.attach',
    call: (options) => given(Resolver.attach.bind(Resolver), geo.share(), options),
    misspelled: ['trustProxies', 'trustedProxies'],
    value: ['10.0.0.0/8'],
  },
  {
    name: 'Resolver.open of the core',
    call: (options) => given(CoreResolver.open.bind(CoreResolver), bytes, options),
    misspelled: ['cachebytes', 'cacheBytes'],
    value: 0,
  },
  {
    name: 'Resolver.openSync of the core',
    call: (options) => given(CoreResolver.openSync.bind(CoreResolver), bytes, options),
    misspelled: ['max_bytes', 'maxBytes'],
    value: 1,
  },
  {
    name: 'Resolver.attach of the core',
    call: (options) => given(CoreResolver.attach.bind(CoreResolver), geo.share(), options),
    misspelled: ['forwardHeader', 'forwardedHeader'],
    value: 'x-real-ip',
  },
  {
    name: 'lookup',
    call: (options) => given(geo.lookup.bind(geo), '81.2.69.142', options),
    misspelled: ['local', 'locale'],
    value: 'de',
  },
  {
    name: 'find',
    call: (options) => given(geo.find.bind(geo), '81.2.69.142', options),
    misspelled: ['atTime', 'at'],
    value: new Date(),
  },
  {
    name: 'lookupMany',
    call: (options) => given(geo.lookupMany.bind(geo), ['81.2.69.142'], options),
    misspelled: ['Locale', 'locale'],
    value: 'de',
  },
  {
    name: 'detect',
    call: (options) => given(geo.detect.bind(geo), request, options),
    misspelled: ['remoteAdress', 'remoteAddress'],
    value: '8.8.8.8',
  },
  {
    name: 'findClient',
    call: (options) => given(geo.findClient.bind(geo), request, options),
    misspelled: ['remoteAddr', 'remoteAddress'],
    value: '8.8.8.8',
  },
  {
    name: 'createClientAddress',
    call: (options) => given(createClientAddress, options),
    misspelled: ['trustedProxys', 'trustedProxies'],
    value: ['loopback'],
  },
  {
    name: 'the function of createClientAddress',
    call: (options) => given(createClientAddress(), request, options),
    misspelled: ['remote_address', 'remoteAddress'],
    value: '8.8.8.8',
  },
  {
    name: 'createHandler',
    call: (options) => given(createHandler, geo, { authenticate: null, ...options }),
    misspelled: ['maxBodybytes', 'maxBodyBytes'],
    value: 1,
  },
  {
    name: 'a plan',
    call: (options) =>
      given(createHandler, geo, {
        authenticate: null,
        lookupPlan: 'x',
        plans: [{ name: 'x', rate: 1, burst: 1, batch: 1, ...options }],
      }),
    misspelled: ['bursts', 'burst'],
    value: 2,
  },
  {
    name: 'createKeyFile',
    call: (options) => given(createKeyFile, keys, options),
    misspelled: ['onerror', 'onError'],
    value: () => {},
  },
  {
    name: 'enrich',
    call: (options) => given(enrich, new Blob(['']).stream(), { ...LINES, ...options }),
    misspelled: ['timefield', 'timeField'],
    value: 'ts',
  },
  {
    name: 'enrichStream',
    call: (options) => given(enrichStream, { ...LINES, ...options }),
    misspelled: ['trustedProxie', 'trustedProxies'],
    value: ['10.0.0.0/8'],
  },
  {
    name: 'createRowEnricher',
    call: (options) => given(createRowEnricher, { ...LINES, format: 'list', at: 0, ...options }),
    misspelled: ['maxLineByte', 'maxLineBytes'],
    value: 10,
  },
  {
    name: 'MmdbWriter',
    call: (options) => Reflect.construct(MmdbWriter, [{ databaseType: 'T', ...options }]),
    misspelled: ['ipversion', 'ipVersion'],
    value: 4,
  },
  {
    name: 'slim',
    call: (options) => given(slim, bytes, options),
    misspelled: ['country', 'countries'],
    value: ['DE'],
  },
  {
    name: 'the plugin',
    call: (options) => [given(esbuild, options), given(rollup, options)],
    misspelled: ['database', 'databases'],
    value: ['country'],
  },
]

/** What a call throws, at once or later. */
async function errorOf(call: () => unknown): Promise<unknown> {
  try {
    await call()
    return undefined
  } catch (error) {
    return error
  }
}

const title = (name: string): string => name.replace(' of the core', '')

describe('an unknown option', () => {
  it.each(CALLS)('of $name is an error that names the option that was meant', async (row) => {
    const { name, call, misspelled, value } = row
    const [wrong, meant] = misspelled
    expect(await errorOf(() => call({ [wrong]: value }))).toEqual(
      new TypeError(`${title(name)} has no option "${wrong}": did you mean "${meant}"?`),
    )
  })

  it.each(CALLS)(
    'of $name that resembles none is an error that lists the options',
    async ({ name, call }) => {
      const error = await errorOf(() => call({ 'x\u001b[31m': 1 }))
      expect(error).toBeInstanceOf(TypeError)
      const [start, list] = String(error).split(': its options are ')
      expect(start).toBe(`TypeError: ${title(name)} has no option "x\\u001b[31m"`)
      expect(list).toMatch(/^\w+(, \w+)*( and \w+)?$/)
    },
  )

  it.each(CALLS)(
    'of $name whose value is undefined is an error too',
    async ({ call, misspelled: [wrong] }) => {
      expect(await errorOf(() => call({ [wrong]: undefined }))).toBeInstanceOf(TypeError)
    },
  )

  // A plan needs values.
  it.each(CALLS.filter(({ name }) => name !== 'a plan'))(
    'is not found in the options that $name has',
    async ({ call, misspelled: [, meant] }) => {
      expect(await errorOf(() => call({ [meant]: undefined }))).toBeUndefined()
    },
  )
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
    ['lang', undefined],
    ['w', undefined],
    ['', undefined],
  ])('of %j is %j', (name, nearest) => {
    const known = ['trustedProxies', 'forwardedHeader', 'cacheBytes', 'watch', 'onReload', 'onReloadError']
    expect(nearestName(name, known)).toBe(nearest)
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
