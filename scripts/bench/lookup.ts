import { readFileSync } from 'node:fs'
import { gunzipSync } from 'node:zlib'
import { Reader } from 'mmdb-lib'
import { embedded, Resolver } from '../../src/index.ts'
import { randomIPv4, seeded, skewed } from './addresses.ts'
import { compare } from './compare.ts'

const SEED = 20260605

/** Lookups in the embedded city database, beside mmdb-lib's whole records. */
export function benchLookup(): void {
  const random = seeded(SEED)
  const uniform = randomIPv4(200_000, random)
  const inputs = {
    'random IPv4': uniform,
    'skewed IPv4': skewed(uniform.slice(0, 50_000), 200_000, random),
  }
  const geo = Resolver.openSync()
  const reader = new Reader(gunzipSync(readFileSync(embedded.city)))
  for (const [title, ips] of Object.entries(inputs)) {
    compare(title, ips.length, [
      { name: 'geofix lookup', run: () => each(ips, (ip) => geo.lookup(ip)) },
      { name: 'geofix lookupMany', run: () => geo.lookupMany(ips) },
      { name: 'mmdb-lib get', run: () => each(ips, (ip) => reader.get(ip)) },
    ])
  }
}

/** An address without a location throws, which is part of what a caller pays. */
function each(ips: readonly string[], ask: (ip: string) => unknown): void {
  for (const ip of ips) {
    try {
      ask(ip)
    } catch {}
  }
}
