import type { Address } from '../address/address.ts'
import { formatCidr } from '../address/ip-text.ts'
import type { OpenDatabase } from '../mmdb/database.ts'

const IPV6_ZERO = new Uint32Array(4)

/**
 * The offset of the record of an address, or `NO_RECORD`. Afterwards the tree has the length of the matched prefix.
 *
 * @throws InvalidDatabaseError when the tree is damaged on the address's path
 */
export function findRecord({ tree }: OpenDatabase, address: Address): number {
  return address.family === 4 ? tree.findIPv4(address.ipv4) : tree.findIPv6(address.words)
}

/** The leading bits of an address in its family, for those in a database's tree. Below 0: the network holds more than IPv4. */
export function prefixBits({ family }: Address, { metadata }: OpenDatabase, prefixLength: number): number {
  // IPv4 is at ::/96 of an IPv6 tree.
  return family === 4 && metadata.ipVersion === 6 ? prefixLength - 96 : prefixLength
}

/** The network of an address as CIDR text. @param bits as {@link prefixBits} gives them */
export function networkText({ family, ipv4, words }: Address, bits: number): string {
  if (bits < 0) return formatCidr(6, IPV6_ZERO, 96 + bits)
  return formatCidr(family, family === 4 ? Uint32Array.of(ipv4) : words, bits)
}
