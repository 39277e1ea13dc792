import { formatIPv4, formatIPv6 } from '../../src/address/ip-text.ts'
import type { Database } from '../../src/mmdb/database.ts'

/**
 * A random address in each of `count` random networks of a database, every network as likely as any other.
 * All networks are visited in order, and those whose number was drawn are kept.
 */
export function addressesInRandomNetworks(
  database: Database,
  total: number,
  count: number,
  random: () => number,
): string[] {
  const { tree, metadata } = database
  const chosen = Array.from({ length: count }, () => Math.floor(random() * total)).sort((a, b) => a - b)
  const addresses: string[] = []
  const words = new Uint32Array(4)
  const bits = metadata.ipVersion === 4 ? 32 : 128
  let visited = 0
  const visit = (value: number, depth: number): void => {
    if (value < metadata.nodeCount) {
      setBit(words, depth, 0)
      visit(tree.child(value, 0), depth + 1)
      setBit(words, depth, 1)
      visit(tree.child(value, 1), depth + 1)
      setBit(words, depth, 0)
      return
    }
    if (value === metadata.nodeCount) return
    while (chosen[addresses.length] === visited) {
      const address = Uint32Array.from(words)
      for (let bit = depth; bit < bits; bit++) setBit(address, bit, random() < 0.5 ? 0 : 1)
      addresses.push(bits === 32 ? formatIPv4(address[0] ?? 0) : formatIPv6(address))
    }
    visited++
  }
  visit(0, 0)
  if (visited !== total) throw new Error(`${total} networks were expected, ${visited} are there`)
  return addresses
}

function setBit(words: Uint32Array, bit: number, value: number): void {
  const index = bit >>> 5
  const mask = 1 << (31 - (bit & 31))
  const word = words[index] ?? 0
  words[index] = value === 0 ? word & ~mask : word | mask
}
