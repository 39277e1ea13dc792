import { formatIPv4, formatIPv6 } from '../../src/address/ip-text.ts'
import type { Database } from '../../src/mmdb/database.ts'
import { lastOf, visitNetworks } from '../mmdb/every-network.ts'

/**
 * A random address in each of `count` random networks with a record, every network as likely as any other. All networks are
 * visited in order, and those whose number was drawn are kept.
 */
export function addressesInRandomNetworks(
  database: Database,
  total: number,
  count: number,
  random: () => number,
): string[] {
  const chosen = Array.from({ length: count }, () => Math.floor(random() * total)).sort((a, b) => a - b)
  const addresses: string[] = []
  let visited = 0
  visitNetworks(database, (value, first, depth) => {
    if (value === database.metadata.nodeCount) return
    while (chosen[addresses.length] === visited) {
      const last = lastOf(first, depth)
      const words = first.map((word, i) => word | ((word ^ (last[i] ?? 0)) & (random() * 2 ** 32)))
      addresses.push(words.length === 1 ? formatIPv4(words[0] ?? 0) : formatIPv6(words))
    }
    visited++
  })
  if (visited !== total) throw new Error(`${total} networks were expected, ${visited} are there`)
  return addresses
}
