import type { IPv6Words } from './ipv6.ts'

const ZONE = /^[0-9A-Za-z._~-]{1,32}$/

/** Whether the text behind `%` is a zone id: 1 to 32 unreserved characters (RFC 6874 section 2). */
export function isZoneId(text: string): boolean {
  return ZONE.test(text)
}

/**
 * Whether an address may carry a zone: it must be of non-global scope (RFC 4007 section 11). That is
 * link-local unicast and multicast whose scope field is not global (0xe, RFC 4291 section 2.7). Unique
 * local addresses are of global scope (RFC 4193 section 3.3), and loopback needs no zone.
 */
export function mayHaveZone(words: IPv6Words): boolean {
  const first = (words[0] ?? 0) >>> 16
  return first >>> 6 === 0x3fa || (first >>> 8 === 0xff && (first & 0xf) !== 0xe)
}
