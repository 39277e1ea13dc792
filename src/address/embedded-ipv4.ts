import type { IPv6Words } from './ipv6.ts'

/** What {@link mappedIPv4} and {@link translatedIPv4} answer when there is no IPv4 address inside. */
export const NO_EMBEDDED_IPV4 = -1

/**
 * The IPv4 address that an IPv4-mapped IPv6 address is (`::ffff:0:0/96`, RFC 4291 section 2.5.5.2).
 * IPv4-compatible addresses (`::/96`, deprecated by section 2.5.5.1) are not IPv4 addresses.
 */
export function mappedIPv4(words: IPv6Words): number {
  return words[0] === 0 && words[1] === 0 && words[2] === 0xffff ? (words[3] ?? 0) : NO_EMBEDDED_IPV4
}

/**
 * The IPv4 address whose location is that of a host behind a translation mechanism:
 *
 * - 6to4, `2002::/16`: bits 16 to 47 (RFC 3056 section 2)
 * - Teredo, `2001::/32`: the client, the last 32 bits inverted (RFC 4380 section 4); not the server
 * - NAT64, `64:ff9b::/96`: the last 32 bits (RFC 6052 section 2.1)
 *
 * One decoding, no recursion. For the database only, never for trust.
 */
export function translatedIPv4(words: IPv6Words): number {
  const first = words[0] ?? 0
  if (first >>> 16 === 0x2002) return (((first & 0xffff) << 16) | ((words[1] ?? 0) >>> 16)) >>> 0
  if (first === 0x2001_0000) return ~(words[3] ?? 0) >>> 0
  if (first === 0x0064_ff9b && words[1] === 0 && words[2] === 0) return words[3] ?? 0
  return NO_EMBEDDED_IPV4
}
