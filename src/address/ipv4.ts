/** What {@link parseIPv4} answers for text that is not an IPv4 address. */
export const NOT_IPV4 = -1

const ZERO = 0x30
const DOT = 0x2e

/**
 * Reads four decimal octets, `0` to `255`, without leading zeros: the grammar that `net.isIP`, Rust,
 * Python and `inet_pton` agree on. Leading zeros are refused because readers disagree on them
 * (`010` is 8 to `inet_aton`): CVE-2021-28918 and its family.
 *
 * Works on character codes, without substrings, because every IPv4 lookup passes here. The text that it
 * accepts has only one spelling, so the canonical text of the result is the input itself.
 *
 * @param start where in the text the address begins, for the dotted tail of an IPv6 address
 * @returns the address as an unsigned 32-bit number, or {@link NOT_IPV4}
 */
export function parseIPv4(text: string, start = 0): number {
  const length = text.length
  // "0.0.0.0" is the shortest and "255.255.255.255" the longest spelling.
  if (length - start < 7 || length - start > 15) return NOT_IPV4
  let address = 0
  let octet = 0
  let digits = 0
  let dots = 0
  for (let i = start; i < length; i++) {
    const code = text.charCodeAt(i)
    const digit = code - ZERO
    if (digit >= 0 && digit <= 9) {
      if (digits > 0 && octet === 0) return NOT_IPV4
      octet = octet * 10 + digit
      if (octet > 255) return NOT_IPV4
      digits++
    } else {
      if (code !== DOT || digits === 0 || dots === 3) return NOT_IPV4
      address = address * 256 + octet
      octet = 0
      digits = 0
      dots++
    }
  }
  return dots === 3 && digits > 0 ? address * 256 + octet : NOT_IPV4
}

/** The dotted decimal text of an unsigned 32-bit number. */
export function formatIPv4(address: number): string {
  return `${address >>> 24}.${(address >>> 16) & 255}.${(address >>> 8) & 255}.${address & 255}`
}
