import { parseCidr } from '../../address/cidr.ts'

/** Where a network stands in the search tree of a database. */
export type Placement = {
  /** Big-endian 32-bit words of the first address in the tree's own address space. */
  readonly words: Uint32Array
  readonly prefixLength: number
}

/** `::ffff:0:0/96`, IPv4-mapped addresses (RFC 4291 section 2.5.5.2). */
export const MAPPED: Placement = { words: Uint32Array.of(0, 0, 0xffff, 0), prefixLength: 96 }

/** `::/96`, where a tree for IPv6 holds IPv4 ("IPv4 addresses in an IPv6 tree"). */
export const IPV4_IN_IPV6: Placement = { words: Uint32Array.of(0, 0, 0, 0), prefixLength: 96 }

/**
 * Reads a network and says where it belongs in a tree for IPv4 or for IPv6.
 *
 * @throws TypeError when the text is not a network, or is an IPv6 network for an IPv4 tree
 */
export function placeNetwork(network: string, ipVersion: 4 | 6): Placement {
  const { family, words, prefixLength } = parseCidr(network)
  const ipv4 = family === 4 ? { words, prefixLength } : ipv4OfMapped(words, prefixLength)
  if (ipVersion === 4) {
    if (ipv4 === null)
      throw new TypeError(`${network} is an IPv6 network, and this database is for IPv4 only`)
    return ipv4
  }
  if (ipv4 === null) return { words, prefixLength }
  return { words: Uint32Array.of(0, 0, 0, ipv4.words[0] ?? 0), prefixLength: 96 + ipv4.prefixLength }
}

function ipv4OfMapped(words: Uint32Array, prefixLength: number): Placement | null {
  const mapped = words[0] === 0 && words[1] === 0 && words[2] === 0xffff
  if (!mapped || prefixLength < MAPPED.prefixLength) return null
  return { words: words.subarray(3), prefixLength: prefixLength - MAPPED.prefixLength }
}
