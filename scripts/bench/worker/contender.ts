import { readFileSync } from 'node:fs'
import { IncomingMessage } from 'node:http'
import { createRequire } from 'node:module'
import { Socket } from 'node:net'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import proxyAddr from '@fastify/proxy-addr'
import { Reader } from 'mmdb-lib'
import {
  createClientAddress,
  isLookupFailure,
  type LocationRecord,
  type LookupResult,
  Resolver,
} from '../../../src/index.ts'
import { answer, BATCH_SIZE, each, inBatches, readAddresses, type Work } from './pass.ts'

/**
 * Opens a contender, answers with its version, and runs a round for each line of standard input: for that many
 * milliseconds, or one pass over the list for 0. A round continues where the previous one ended.
 */
export async function serveRounds(contender = '', database = '', addresses = '', peers = ''): Promise<void> {
  const { version, work } = await openContender(contender, database, addresses, peers)
  answer({ version })
  let cursor = 0
  for await (const line of createInterface({ input: process.stdin })) {
    const budget = Number(line)
    let items = 0
    let found = 0
    let elapsed = 0
    const started = performance.now()
    do {
      const end = Math.min(cursor + BATCH_SIZE, work.items)
      found += work.pass(cursor, end)
      items += end - cursor
      cursor = end === work.items ? 0 : end
      elapsed = performance.now() - started
    } while (budget > 0 ? elapsed < budget : items < work.items)
    answer({ items, seconds: elapsed / 1e3, found })
  }
}

/** An opened library. */
interface Contender {
  /** Name and version of the package; `null` for Geofix. */
  readonly version: string | null
  readonly work: Work
}

/** The parts of `maxmind` and `geoip-lite` in use. The packages are not installed when types are checked. */
interface Maxmind {
  open(path: string, options?: { cache: { max: number } }): Promise<{ get(ip: string): unknown }>
}
interface GeoipLite {
  lookup(ip: string): unknown
}

/**
 * @param database path of the uncompressed file
 * @param list path of a file with one address per line
 * @param peers folder whose node_modules has maxmind and geoip-lite
 */
export async function openContender(
  name: string,
  database: string,
  list: string,
  peers: string,
): Promise<Contender> {
  if (name.startsWith('hostile:')) return hostileField(name)
  const addresses = readAddresses(list)
  switch (name) {
    case 'lookup': {
      const geo = await Resolver.open(database)
      return ours(each(addresses, (ip) => geo.lookup(ip)))
    }
    case 'find': {
      const geo = await Resolver.open(database)
      return ours(each(addresses, (ip) => locationOrNull(geo.find(ip))))
    }
    case 'lookupMany': {
      const geo = await Resolver.open(database)
      return ours(inBatches(addresses, BATCH_SIZE, (batch) => geo.lookupMany(batch)))
    }
    case 'detect': {
      const geo = await Resolver.open(database)
      return ours(each(nodeRequests(addresses), (request) => geo.detect(request)))
    }
    // With a map, it is like `maxmind` with an unbounded cache.
    case 'mmdb-lib':
    case 'mmdb-lib-map': {
      const options = name === 'mmdb-lib' ? undefined : { cache: new Map<string | number, unknown>() }
      const reader = new Reader(readFileSync(database), options)
      return {
        version: versionOf('mmdb-lib', import.meta.url),
        work: each(addresses, (ip) => reader.get(ip)),
      }
    }
    case 'maxmind':
    case 'maxmind-million': {
      const maxmind: Maxmind = load('maxmind', peers)
      const options = name === 'maxmind' ? undefined : { cache: { max: 1_000_000 } }
      const reader = await maxmind.open(database, options)
      return { version: versionOf('maxmind', peers), work: each(addresses, (ip) => reader.get(ip)) }
    }
    case 'geoip-lite': {
      const geoip: GeoipLite = load('geoip-lite', peers)
      return { version: versionOf('geoip-lite', peers), work: each(addresses, (ip) => geoip.lookup(ip)) }
    }
    default:
      throw new Error(`unknown contender "${name}"`)
  }
}

/** As a program that tells them apart. */
function locationOrNull(result: LookupResult): LocationRecord | null {
  return isLookupFailure(result) ? null : result
}

function ours(work: Work): Contender {
  return { version: null, work }
}

function load<Module>(name: string, from: string): Module {
  return createRequire(join(from, 'any.js'))(name)
}

function versionOf(name: string, from: string): string {
  const require = createRequire(from.startsWith('file:') ? from : join(from, 'any.js'))
  const { version }: { version: string } = require(`${name}/package.json`)
  return `${name} ${version}`
}

const trustedProxies = ['10.0.0.0/8']
const REPETITIONS = 100

/** Fields of 8 KB that callers can send through a trusted proxy. Each must take microseconds. */
const HOSTILE_FIELDS: Readonly<Record<string, string>> = {
  'no proxy': '1.1.1.1, '.repeat(900),
  'text left of the answer': `${'1.1.1.1, '.repeat(900)}8.8.8.8`,
  'trusted hops': `${'10.0.0.2, '.repeat(800)}10.0.0.3`,
  'no comma': `${'1:'.repeat(4000)}1`,
  commas: ','.repeat(8191),
}

/**
 * Reads a hostile field, without a lookup.
 *
 * @param name `hostile:`, the implementation, `:` and the field
 */
export function hostileField(name: string): { version: string | null; work: Work } {
  const [, implementation = '', field = ''] = name.split(':')
  const remoteAddress = field === 'no proxy' ? '8.8.8.8' : '10.0.0.1'
  const socket = { remoteAddress }
  const request = { headers: { 'x-forwarded-for': HOSTILE_FIELDS[field] }, socket, connection: socket }
  const requests = Array.from({ length: REPETITIONS }, () => request)
  if (implementation === 'geofix') {
    const clientAddress = createClientAddress({ trustedProxies })
    return { version: null, work: each(requests, (given) => clientAddress(given)) }
  }
  const { version }: { version: string } = createRequire(import.meta.url)('@fastify/proxy-addr/package.json')
  const ask = (given: unknown) => Reflect.apply(proxyAddr, undefined, [given, trustedProxies])
  return { version: `@fastify/proxy-addr ${version}`, work: each(requests, ask) }
}

/** Headers of a browser in Node's `rawHeaders`. */
const RAW_HEADERS = [
  ...[
    'Host',
    'example.com',
    'User-Agent',
    'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0',
  ],
  ...[
    'Accept',
    'text/html,application/xhtml+xml',
    'Accept-Language',
    'en-GB,en;q=0.5',
    'Accept-Encoding',
    'gzip, br',
  ],
  ...['Connection', 'keep-alive', 'Cookie', 'session=4f0c2a'],
]

/**
 * Requests of Node's HTTP server, each on its own socket from one of the addresses. These sockets are not connected, so
 * the peer is set in `_peername`, where Node caches it.
 */
export function nodeRequests(addresses: readonly string[]): IncomingMessage[] {
  return addresses.map((address) => {
    const socket = new Socket()
    Object.assign(socket, { _peername: { address, family: 'IPv4', port: 50_000 } })
    if (socket.remoteAddress !== address) throw new Error('this Node keeps the peer of a socket elsewhere')
    const request = new IncomingMessage(socket)
    request.rawHeaders.push(...RAW_HEADERS)
    return request
  })
}
