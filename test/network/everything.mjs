// Does all that the built library can do: node everything.mjs esm|cjs CITY_FILE
// An export, or a method of Resolver, that nothing here runs is an error.
import { readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { Readable } from 'node:stream'
import { setTimeout } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { gzipSync } from 'node:zlib'

const [, , system, cityFile] = process.argv
const require = createRequire(import.meta.url)
const load = system === 'cjs' ? async (name) => require(name) : (name) => import(name)
const { exports, name: packageName } = require('../../package.json')

const ADDRESS = '81.2.69.142'
const bytes = new Uint8Array(readFileSync(cityFile))
const streamOf = (chunk) => new Blob([chunk]).stream()

/** Runs what must fail, and says with which code. */
async function failure(work) {
  try {
    await work()
  } catch (error) {
    return error.code ?? error.name
  }
  throw new Error(`${work} has not failed`)
}

/** A request as a server of Node gives it. */
const incoming = Object.assign(Readable.from([]), {
  method: 'GET',
  url: `/v1/ip/${ADDRESS}`,
  headers: { host: 'example.com' },
  rawHeaders: ['Host', 'example.com'],
  httpVersionMajor: 1,
  socket: { remoteAddress: ADDRESS },
  complete: true,
})

const trusting = { trustedProxies: ['loopback'] }
const proxied = {
  headers: { 'x-forwarded-for': `1.1.1.1, ${ADDRESS}`, host: 'example.com' },
  socket: { remoteAddress: '127.0.0.1', localAddress: '127.0.0.1', destroyed: false },
}

/** By method of Resolver. */
const METHODS = {
  lookup: (geo) => [geo.lookup(ADDRESS, { locale: 'ko', at: new Date(0) }), geo.lookup('2002:5102:458e::')],
  lookupMany: (geo) => geo.lookupMany([ADDRESS, '10.0.0.1', 'example.com', '']),
  detect: (geo) => [
    geo.detect(proxied),
    geo.detect({ raw: proxied }),
    geo.detect({ req: proxied }),
    geo.detect({ headers: new Map(), remoteAddress: ADDRESS }),
  ],
  find: (geo) => [ADDRESS, '10.0.0.1', 'example.com'].map((ip) => geo.find(ip)),
  findClient: (geo) => [geo.findClient(proxied), geo.findClient({ headers: {}, remoteAddress: null })],
  asn: (geo) => failure(() => geo.asn(ADDRESS)),
  raw: (geo) => [geo.raw(ADDRESS), geo.raw('10.0.0.1')],
  network: (geo) => geo.network(ADDRESS),
  networks: (geo) => [...geo.networks({ within: '81.2.69.0/24' })].length,
  details: (geo) => geo.details?.(ADDRESS),
  // Takes seconds for the embedded city database.
  verify: (geo) => geo.databases[0].nodeCount < 1e6 && geo.verify?.().map(({ faultCount }) => faultCount),
  share: (geo) => geo.constructor.attach(geo.share()).lookup(ADDRESS),
  status: (geo) => geo.status?.reloads,
  databases: (geo) => geo.databases.map(({ type }) => type),
  close: async (geo) => {
    geo.close()
    return await failure(() => geo.lookup(ADDRESS))
  },
}

async function runAll(geo) {
  const results = [geo.databases]
  for (let type = Object.getPrototypeOf(geo); type !== Object.prototype; type = Object.getPrototypeOf(type)) {
    for (const name of Object.getOwnPropertyNames(type)) {
      if (METHODS[name] !== undefined || name === 'constructor') continue
      // The methods of other libraries' readers are errors.
      if ((await failure(() => geo[name](ADDRESS))) !== 'TypeError') throw new Error(`nothing runs ${name}`)
    }
  }
  for (const method of Object.values(METHODS)) results.push(await method(geo))
  return results
}

const SHARED = {
  AddressUnavailableError: ({ createClientAddress }) =>
    failure(() => createClientAddress()({ headers: {}, remoteAddress: null })),
  GeofixError: ({ GeofixError }) => GeofixError.name,
  InvalidDatabaseError: ({ Resolver }) => failure(() => Resolver.open(new Uint8Array(100))),
  InvalidLocaleError: async ({ Resolver }) => {
    const geo = await Resolver.open(bytes)
    return failure(() => geo.lookup(ADDRESS, { locale: 'no such' }))
  },
  InvalidOverlayError: ({ Resolver }) =>
    failure(() => Resolver.openSync(bytes, { overlays: [{ network: 'example.com', record: {} }] })),
  InvalidSchemaError: ({ Resolver }) => failure(() => Resolver.openSync(bytes, { schema: { city: '' } })),
  MalformedAddressError: ({ parseAddress }) => failure(() => parseAddress('localhost')),
  UnresolvableAddressError: async ({ Resolver }) => {
    const geo = await Resolver.open(bytes)
    return failure(() => geo.lookup('127.0.0.1'))
  },
  createClientAddress: ({ createClientAddress }) => createClientAddress(trusting)(proxied),
  isGeofixError: ({ isGeofixError }) => isGeofixError(new Error()),
  isLookupFailure: ({ isLookupFailure }) => isLookupFailure({ ip: '', error: {} }),
  parseAddress: ({ parseAddress }) => parseAddress('64:ff9b::8.8.8.8'),
}

async function openEvery(Resolver, sources) {
  const results = []
  for (const source of sources) results.push(await runAll(await Resolver.open(source, trusting)))
  return results
}

const OVERLAYS = [{ network: '10.1.0.0/16', record: { country: { code: 'DE' }, city: 'example.com' } }]

/** Follows a file until it is replaced. */
async function reloaded(Resolver) {
  const path = `${cityFile}.followed`
  writeFileSync(path, bytes)
  const events = []
  const geo = await Resolver.open(path, {
    watch: true,
    watchInterval: 5,
    canaries: [ADDRESS],
    staleAfter: 0.001,
    onStale: ({ databases }) => events.push(databases),
    onReload: ({ current }) => events.push(current),
    onReloadError: ({ message }) => events.push(message),
  })
  for (const content of [bytes.subarray(0, 100), bytes]) {
    const count = events.length
    writeFileSync(path, content)
    while (events.length === count) await setTimeout(5)
  }
  geo.close()
  return events
}

const ofBytes = () => [
  bytes,
  bytes.buffer,
  new Blob([bytes]),
  [bytes, bytes],
  streamOf(bytes),
  new Response(bytes),
]

/** By entry and export. */
const RUNS = {
  geofix: {
    ...SHARED,
    embedded: ({ embedded }) => [embedded.city.protocol, embedded.country.protocol, embedded.asn.protocol],
    Resolver: async ({ Resolver, embedded }) => {
      const sources = [undefined, embedded.country, cityFile, pathToFileURL(cityFile), ...ofBytes()]
      const results = await openEvery(Resolver, sources)
      for (const source of [undefined, embedded.country, cityFile, bytes]) {
        results.push(await runAll(Resolver.openSync(source, trusting)))
      }
      results.push(await reloaded(Resolver))
      results.push(await runAll(await Resolver.open(bytes, { ...trusting, overlays: OVERLAYS })))
      for (const url of ['http://127.0.0.1:9/x.mmdb', 'https://example.com/x.mmdb']) {
        results.push(await failure(() => Resolver.open(url)), await failure(() => Resolver.openSync(url)))
      }
      return results
    },
  },
  'geofix/core': {
    ...SHARED,
    embedded: ({ embedded }) => [embedded.city.protocol, embedded.country.protocol, embedded.asn.protocol],
    Resolver: async ({ Resolver }) => [
      await openEvery(Resolver, [...ofBytes(), gzipSync(bytes)]),
      await Resolver.loadDecompression(),
      await runAll(Resolver.openSync(gzipSync(bytes), trusting)),
    ],
  },
  'geofix/details': {
    details: async ({ details }) => {
      const { Resolver } = await load('geofix/core')
      return details(await Resolver.open(bytes), ADDRESS)
    },
    verify: async ({ verify }) => {
      const { Resolver } = await load('geofix/core')
      return verify(await Resolver.open(bytes)).length
    },
  },
  'geofix/asn': { default: (entry) => entry.default.protocol },
  'geofix/city': { default: (entry) => entry.default.protocol },
  'geofix/country': { default: (entry) => entry.default.protocol },
  'geofix/bundler': {
    esbuild: ({ esbuild }) =>
      esbuild().setup({ initialOptions: {}, onLoad: () => {}, onEnd: (end) => end({}) }),
    rollup: ({ rollup }) => [rollup().config(), rollup().generateBundle({}, {})],
  },
  'geofix/enrich': {
    BadLineError: async (entry) => {
      const resolver = await resolverOf()
      const { output } = entry.enrich(streamOf('{"ip":"1.1.1.1"}\n{"ip"\n'), { resolver, onBadLine: 'fail' })
      return failure(() => readAll(output))
    },
    EnrichError: async (entry) => {
      const resolver = await resolverOf()
      return failure(() => readAll(entry.enrich(streamOf('{"a":1}\n{"a":2}\n'), { resolver }).output))
    },
    LOCATION_FIELDS: ({ LOCATION_FIELDS }) => LOCATION_FIELDS,
    count: async ({ count }) => {
      const input = streamOf(`{"ip":"${ADDRESS}"}\n{"ip":"http://example.com/"}\n`)
      return count(input, { resolver: await resolverOf(), by: ['country'] })
    },
    enrich: async ({ enrich }) => {
      const resolver = await resolverOf()
      const results = []
      for (const text of [
        `{"id":1,"ip":"${ADDRESS}"}\n{"id":2,"ip":"http://example.com/"}\n`,
        `id,client_ip\n1,${ADDRESS}\n2,example.com\n`,
        `${ADDRESS} - - [21/Nov/2026:10:00:00 +0000] "GET http://example.com/ HTTP/1.1" 200 1\n`,
        `${ADDRESS}\n2001:4860:4860::8888\n`,
      ]) {
        for (const input of [streamOf(text), Readable.from([text])]) {
          const { output, summary } = enrich(input, { resolver, trustedProxies: ['loopback'] })
          results.push(await readAll(output), await summary)
        }
      }
      return results
    },
    createRowEnricher: async ({ createRowEnricher }) => {
      const rows = createRowEnricher({ resolver: await resolverOf(), format: 'list', at: 0 })
      return rows(new TextEncoder().encode(`${ADDRESS}\nexample.com\n`)).map(String)
    },
    enrichStream: async ({ enrichStream }) => {
      const resolver = await resolverOf()
      return readAll(streamOf(`{"ip":"${ADDRESS}"}\n`).pipeThrough(enrichStream({ resolver })))
    },
  },
  'geofix/http': {
    createHandler: async ({ createHandler }) => {
      const handler = createHandler(await resolverOf(), { authenticate: null })
      const answers = [`/v1/ip/${ADDRESS}`, '/v1/ip/http:%2f%2fexample.com', '/v1/ip'].map((path) =>
        handler(new Request(`http://example.com${path}`), { remoteAddress: ADDRESS }),
      )
      return (await Promise.all(answers)).map(({ status }) => status)
    },
    createKeyFile: async ({ createKeyFile }) => {
      const path = `${cityFile}.keys`
      writeFileSync(path, '{"keys":[]}', { mode: 0o600 })
      const file = await createKeyFile(path, { interval: 5 })
      await setTimeout(20)
      file.close()
      return [file.size, file.authenticate('live_nothing')]
    },
    createNodeListener: async ({ createHandler, createNodeListener }) => {
      const listen = createNodeListener(createHandler(await resolverOf(), { authenticate: null }))
      const body = await new Promise((end, reject) => {
        listen(incoming, { setHeader() {}, end, destroy: () => reject(new Error('the listener failed')) })
      })
      return body.length
    },
    nodeRequestInfo: ({ nodeRequestInfo }) => nodeRequestInfo(incoming),
    KeyFileError: ({ createKeyFile }) => failure(() => createKeyFile('http://example.com/keys')),
  },
  'geofix/writer': {
    MmdbWriter: (entry) => {
      const { MmdbWriter, double, float, int32, uint16, uint32, uint64, uint128 } = entry
      const record = [double(1), float(1), int32(1), uint16(1), uint32(1), uint64(1n), uint128(1n), 'text']
      return new MmdbWriter({ databaseType: 'Mine' }).insert('1.0.0.0/8', { record }).toBytes().length
    },
    overlay: ({ overlay }) => overlay(bytes, OVERLAYS).length,
    slim: ({ slim }) => slim(bytes, { fields: ['country'], locales: ['en'], ipv4Only: true }).length,
    pack: ({ pack }) => pack(bytes).length,
    unpack: ({ pack, unpack }) => unpack(pack(bytes)).length,
    ...Object.fromEntries(
      ['double', 'float', 'int32', 'uint16', 'uint32', 'uint64', 'uint128'].map((type) => [
        type,
        (entry) => typeof entry[type](/64|128/.test(type) ? 1n : 1),
      ]),
    ),
  },
}

async function resolverOf() {
  const { Resolver } = await load('geofix')
  return Resolver.open(cityFile)
}

async function readAll(stream) {
  let text = ''
  for await (const chunk of stream) text += Buffer.from(chunk).toString()
  return text
}

const results = {}
for (const [path, conditions] of Object.entries(exports)) {
  if (typeof conditions !== 'object') continue
  const name = packageName + path.slice(1)
  const loaded = await load(name)
  // In CommonJS, the entry of a database is its URL itself.
  const entry = loaded instanceof URL ? { default: loaded } : loaded
  for (const key of Object.keys(entry)) {
    const run = RUNS[name]?.[key]
    if (run === undefined)
      throw new Error(`nothing runs ${key} of ${name}: add it to test/network/everything.mjs`)
    const result = await run(entry)
    // Offsets are those of now.
    const text = JSON.stringify(result ?? null).replace(/"offset":"[^"]+"/g, '')
    results[`${name} ${key}`] = text.length > 80 ? `${text.length} characters` : text
  }
}
console.log(JSON.stringify(results, null, 1))
