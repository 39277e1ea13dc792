import ipaddr from 'ipaddr.js'
import { describe, expect, it } from 'vitest'
import { isGeofixError } from '../../src/errors.ts'
import { Resolver } from '../../src/index.ts'
import { hasShared, sharedBytes, sharedJson } from '../shared.ts'
import { isLocation, mappedRecord, type SourceRecord, SUMMER } from './mapped-record.ts'

/** The first and last address of a CIDR block. */
function ends(network: string): string[] {
  const [address, prefix] = ipaddr.parseCIDR(network)
  const first = address.toByteArray()
  const last = first.map((byte, i) => byte | (255 >> Math.min(Math.max(prefix - i * 8, 0), 8)))
  return [first, last].map((bytes) => ipaddr.fromByteArray(bytes).toString())
}

/** The source's record of the most specific network of an address. */
function sourceOf(
  ip: string,
  networks: readonly (readonly [string, SourceRecord])[],
): SourceRecord | undefined {
  const address = ipaddr.parse(ip)
  return networks
    .map(([text, record]) => ({ cidr: ipaddr.parseCIDR(text), record }))
    .filter(({ cidr }) => cidr[0].kind() === address.kind() && address.match(cidr))
    .sort((a, b) => b.cidr[1] - a.cidr[1])[0]?.record
}

describe.skipIf(!hasShared)('fixtures with a JSON source', () => {
  it.each(['GeoIP2-City-Test', 'GeoLite2-City-Test', 'GeoLite2-Country-Test'])(
    '%s: lookups of both ends of every network return the record in the JSON source',
    (name) => {
      const json = sharedJson<Record<string, SourceRecord>[]>(`fixtures/mmdb-source/${name}.json`, [])
      const networks = json.flatMap((entry) => Object.entries(entry))
      const resolver = Resolver.openSync(sharedBytes(`fixtures/mmdb/${name}.mmdb`))
      let resolved = 0
      let refused = 0
      for (const [network] of networks) {
        for (const ip of ends(network)) {
          const source = sourceOf(ip, networks)
          let reason: unknown
          for (const locale of ['en', 'de'] as const) {
            try {
              const record = resolver.lookup(ip, { locale, at: SUMMER })
              expect(record).toEqual(mappedRecord(record.ip, source ?? {}, locale))
              resolved++
            } catch (error) {
              if (!isGeofixError(error) || !('reason' in error)) throw error
              reason = error.reason
            }
          }
          if (reason === undefined) continue
          refused++
          // Some networks of the fixtures are special-purpose, which lookups refuse.
          if (reason === 'not-found') expect(source === undefined || !isLocation(source)).toBe(true)
          else expect(ipaddr.process(ip).range()).not.toBe('unicast')
        }
      }
      expect(resolved).toBeGreaterThan(400)
      expect(refused).toBeLessThan(networks.length)
    },
  )
})
