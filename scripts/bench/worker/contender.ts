import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { Reader } from 'mmdb-lib'
import { Resolver } from '../../../src/index.ts'
import { readAddresses } from './address-file.ts'
import { hostileField } from './hostile-field.ts'
import { nodeRequests } from './node-request.ts'
import { BLOCK, each, inBatches, type Work } from './pass.ts'

/** Something that answers for addresses, opened and ready to be timed. */
interface Contender {
  /** Name and version of the package; `null` for Geofix. */
  readonly version: string | null
  readonly work: Work
}

/** The parts of `maxmind` and `geoip-lite` that are asked; they are not there when types are checked. */
interface Maxmind {
  open(path: string, options?: { cache: { max: number } }): Promise<{ get(ip: string): unknown }>
}
interface GeoipLite {
  lookup(ip: string): unknown
}

/**
 * @param database path of the uncompressed file
 * @param list path of the addresses, one a line
 * @param peers folder of node_modules that maxmind and geoip-lite are in
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
    case 'lookupMany': {
      const geo = await Resolver.open(database)
      return ours(inBatches(addresses, BLOCK, (batch) => geo.lookupMany(batch)))
    }
    case 'detect': {
      const geo = await Resolver.open(database)
      return ours(each(nodeRequests(addresses), (request) => geo.detect(request)))
    }
    case 'mmdb-lib': {
      const reader = new Reader(readFileSync(database))
      return {
        version: versionOf('mmdb-lib', import.meta.url),
        work: each(addresses, (ip) => reader.get(ip)),
      }
    }
    // What `maxmind` would be with room for everything.
    case 'mmdb-lib-map': {
      const reader = new Reader(readFileSync(database), { cache: new Map<string | number, unknown>() })
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
      throw new Error(`there is no contender "${name}"`)
  }
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
