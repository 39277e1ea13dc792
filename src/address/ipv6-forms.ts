// IPv6 addresses with a meaning beyond their own bits: those that contain an IPv4 address, and those that may have a zone.
import type { IPv6Words } from './ipv6.ts'

/** The result of {@link mappedIPv4} and {@link translatedIPv4} when the address contains no IPv4 address. */
export const NO_EMBEDDED_IPV4 = -1

/**
 * The IPv4 address of an IPv4-mapped IPv6 address (`::ffff:0:0/96`, RFC 4291 section 2.5.5.2).
 * IPv4-compatible addresses (`::/96`, deprecated by section 2.5.5.1) are not IPv4 addresses.
 */
export function mappedIPv4(words: IPv6Words): number {
  return words[0] === 0 && words[1] === 0 && words[2] === 0xffff ? (words[3] ?? 0) : NO_EMBEDDED_IPV4
}

/**
 * The IPv4 address inside an address of a translation mechanism, which locates its host:
 *
 * - 6to4, `2002::/16`: bits 16 to 47 (RFC 3056 section 2)
 * - Teredo, `2001::/32`: the client, the last 32 bits inverted (RFC 4380 section 4); not the server
 * - NAT64, `64:ff9b::/96`: the last 32 bits (RFC 6052 section 2.1)
 *
 * Decodes once, without recursion. For database lookups only, never for decisions about trust.
 */
export function translatedIPv4(words: IPv6Words): number {
  const first = words[0] ?? 0
  if (first >>> 16 === 0x2002) return (((first & 0xffff) << 16) | ((words[1] ?? 0) >>> 16)) >>> 0
  if (first === 0x2001_0000) return ~(words[3] ?? 0) >>> 0
  if (first === 0x0064_ff9b && words[1] === 0 && words[2] === 0) return words[3] ?? 0
  return NO_EMBEDDED_IPV4
}

const ZONE_ID = /^[0-9A-Za-z._~-]{1,32}$/

/** Whether the text after `%` is a zone id: 1 to 32 unreserved characters (RFC 6874 section 2). */
export function isZoneId(text: string): boolean {
  return ZONE_ID.test(text)
}

/**
 * Whether an address may have a zone: its scope must not be global (RFC 4007 section 11). This is true for
 * link-local unicast, and for multicast whose scope field is not 0xe (RFC 4291 section 2.7). Unique local addresses
 * have global scope (RFC 4193 section 3.3), and loopback needs no zone.
 */
export function mayHaveZone(words: IPv6Words): boolean {
  const first = (words[0] ?? 0) >>> 16
  return first >>> 6 === 0x3fa || (first >>> 8 === 0xff && (first & 0xf) !== 0xe)
}
