/** The result of {@link parseIPv4} for a text that is not an IPv4 address. */
export const NOT_IPV4 = -1

const ZERO = 0x30
const DOT = 0x2e

/**
 * Parses four decimal octets, `0` to `255`, without leading zeros: the grammar that `net.isIP`, Rust, Python and
 * `inet_pton` agree on. Leading zeros are refused because parsers disagree on them (`010` is 8 for `inet_aton`):
 * CVE-2021-28918 and similar.
 *
 * Reads character codes, without substrings, because every IPv4 lookup comes here. An address has only one accepted
 * spelling, so the input is the canonical text of the result.
 *
 * @param start where the address starts in the text, for the dotted tail of an IPv6 address
 * @returns the address as an unsigned 32-bit number, or {@link NOT_IPV4}
 */
export function parseIPv4(text: string, start = 0): number {
  const length = text.length
  // "0.0.0.0" is the shortest and "255.255.255.255" the longest spelling.
  if (length - start < 7 || length - start > 15) return NOT_IPV4
  let address = 0
  let at = start
  for (let octets = 0; octets < 4; octets++) {
    if (octets > 0 && (at >= length || text.charCodeAt(at++) !== DOT)) return NOT_IPV4
    if (at >= length) return NOT_IPV4
    let octet = text.charCodeAt(at++) - ZERO
    if (octet < 0 || octet > 9) return NOT_IPV4
    if (at < length) {
      const second = text.charCodeAt(at) - ZERO
      if (second >= 0 && second <= 9) {
        if (octet === 0) return NOT_IPV4
        octet = octet * 10 + second
        at++
        if (at < length) {
          const third = text.charCodeAt(at) - ZERO
          if (third >= 0 && third <= 9) {
            octet = octet * 10 + third
            if (octet > 255) return NOT_IPV4
            at++
          }
        }
      }
    }
    address = (address << 8) | octet
  }
  return at === length ? address >>> 0 : NOT_IPV4
}

/** The dotted decimal text of an unsigned 32-bit number. */
export function formatIPv4(address: number): string {
  return `${address >>> 24}.${(address >>> 16) & 255}.${(address >>> 8) & 255}.${address & 255}`
}
