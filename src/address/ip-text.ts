// Addresses and networks as text and as bits.
import { quoted } from '../errors.ts'

/** The result of {@link parseIPv4} for a text that is not an IPv4 address. */
export const NOT_IPV4 = -1

const SMALL_A = 0x61
const ZERO = 0x30
const COLON = 0x3a
const DOT = 0x2e
const LOWER_A = 0x61

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

/** No accepted spelling of an address is longer: 45 characters, `%`, and a zone of 32 characters fit. */
export const MAX_ADDRESS_CHARS = 96

/** An IPv6 address as four big-endian 32-bit words. */
export type IPv6Words = Uint32Array

/** Results of {@link parseIPv6}: not an address, an address, or an address in the spelling of {@link formatIPv6}. */
export const NOT_IPV6 = 0
export const IPV6 = 1
export const CANONICAL_IPV6 = 2

/** Eight 16-bit groups, reused by all calls: the parser is synchronous and never re-entered. */
const groups = new Uint16Array(8)

/** The groups that `::` replaces in canonical text; a start of -1 if none. */
const zeros = { start: -1, length: 1 }

/** Added to the value of a hexadecimal digit that is a capital letter. */
const CAPITAL = 16

/**
 * The value of each hexadecimal digit by its character code; -1 for other characters. It is a table, because a processor cannot
 * predict whether a digit is a letter.
 */
const HEX_DIGITS = Int8Array.from({ length: 128 }, (_, code) => {
  const value = Number.parseInt(String.fromCharCode(code), 16)
  if (Number.isNaN(value)) return -1
  return value > 9 && code < LOWER_A ? value + CAPITAL : value
})

/**
 * Parses an IPv6 address in the three forms of RFC 4291 section 2.2: eight groups of one to four hexadecimal
 * digits; `::` at most once, for at least one group of zeros; the last 32 bits as dotted IPv4.
 *
 * @param end where the address ends in the text; the caller handles a zone (`%eth0`) after it
 * @param words receives the address; undefined content when the text is not an address
 * @returns {@link NOT_IPV6}, {@link IPV6}, or {@link CANONICAL_IPV6}, for which the caller need not format the text
 */
export function parseIPv6(text: string, end: number, words: IPv6Words): number {
  if (end < 2 || end > 45) return NOT_IPV6
  let isPlain = true
  let capitals = 0
  let hasZeroGroup = false
  let count = 0
  let gap = -1
  let i = 0
  if (text.charCodeAt(0) === COLON) {
    if (text.charCodeAt(1) !== COLON) return NOT_IPV6
    gap = 0
    i = 2
  }
  while (i < end) {
    const groupStart = i
    let group = 0
    while (i < end && i - groupStart < 4) {
      const digit = HEX_DIGITS[text.charCodeAt(i)] ?? -1
      if (digit < 0) break
      capitals |= digit
      group = (group << 4) | (digit & 15)
      i++
    }
    if (i < end && text.charCodeAt(i) === DOT) {
      // parseIPv4 reads to the end of the text, so cut off a zone.
      const tail =
        count <= 6 ? parseIPv4(end === text.length ? text : text.slice(0, end), groupStart) : NOT_IPV4
      if (tail === NOT_IPV4) return NOT_IPV6
      isPlain = false
      groups[count++] = tail >>> 16
      groups[count++] = tail & 0xffff
      i = end
      break
    }
    if (i === groupStart || count === 8) return NOT_IPV6
    if (group === 0) hasZeroGroup = true
    if (i - groupStart > 1 && text.charCodeAt(groupStart) === ZERO) isPlain = false
    groups[count++] = group
    if (i === end) break
    if (text.charCodeAt(i) !== COLON) return NOT_IPV6
    i++
    if (i === end) return NOT_IPV6
    if (text.charCodeAt(i) === COLON) {
      if (gap >= 0) return NOT_IPV6
      gap = count
      i++
    }
  }
  if (gap >= 0 ? count > 7 : count !== 8) return NOT_IPV6
  if (gap >= 0) {
    // A loop: `copyWithin` and `fill` take five times as long for so few groups.
    for (let from = count - 1, to = 7; to >= gap; from--, to--)
      groups[to] = from >= gap ? (groups[from] ?? 0) : 0
  }
  for (let word = 0; word < 4; word++) {
    words[word] = ((groups[word * 2] ?? 0) << 16) | (groups[word * 2 + 1] ?? 0)
  }
  if (!isPlain || capitals >= CAPITAL) return IPV6
  // Without a zero group in the text, `::` is the only run of zeros. It must not stand for one group.
  if (!hasZeroGroup) return count === 7 ? IPV6 : CANONICAL_IPV6
  findZeros(words)
  return gap === zeros.start && (gap < 0 || 8 - count === zeros.length) ? CANONICAL_IPV6 : IPV6
}

/**
 * The canonical text of RFC 5952 section 4: lower case, no leading zeros, and the first of the longest
 * runs of at least two zero groups as `::`. Always hexadecimal; the caller formats IPv4-mapped addresses as IPv4.
 */
export function formatIPv6(words: IPv6Words): string {
  findZeros(words)
  let text = ''
  for (let i = 0; i < 8; i++) {
    if (i === zeros.start) {
      text += '::'
      i += zeros.length - 1
      continue
    }
    if (text !== '' && !text.endsWith(':')) text += ':'
    text += groupOf(words, i).toString(16)
  }
  return text
}

/** Writes the text of {@link formatIPv4}, at most 15 bytes. @returns where it ends */
export function writeIPv4(address: number, into: Uint8Array, at: number): number {
  let end = at
  for (let shift = 24; shift >= 0; shift -= 8) {
    const octet = (address >>> shift) & 255
    if (shift < 24) into[end++] = DOT
    if (octet >= 100) into[end++] = ZERO + ((octet / 100) | 0)
    if (octet >= 10) into[end++] = ZERO + (((octet / 10) | 0) % 10)
    into[end++] = ZERO + (octet % 10)
  }
  return end
}

/** Writes the text of {@link formatIPv6}, at most 39 bytes. @returns where it ends */
export function writeIPv6(words: IPv6Words, into: Uint8Array, at: number): number {
  findZeros(words)
  let end = at
  for (let i = 0; i < 8; i++) {
    if (i > 0 || zeros.start === 0) into[end++] = COLON
    if (i === zeros.start) {
      i += zeros.length - 1
      if (i === 7) into[end++] = COLON
      continue
    }
    const group = groupOf(words, i)
    for (let shift = group === 0 ? 0 : (31 - Math.clz32(group)) & ~3; shift >= 0; shift -= 4) {
      const digit = (group >>> shift) & 15
      into[end++] = digit < 10 ? ZERO + digit : SMALL_A - 10 + digit
    }
  }
  return end
}

/** Finds the first of the longest runs of zero groups that `::` may replace. */
function findZeros(words: IPv6Words): void {
  zeros.start = -1
  zeros.length = 1
  let start = -1
  for (let i = 0; i < 8; i++) {
    if (groupOf(words, i) !== 0) {
      start = -1
      continue
    }
    if (start < 0) start = i
    if (i - start + 1 > zeros.length) {
      zeros.start = start
      zeros.length = i - start + 1
    }
  }
}

function groupOf(words: IPv6Words, index: number): number {
  const word = words[index >> 1] ?? 0
  return (index & 1) === 0 ? word >>> 16 : word & 0xffff
}

/**
 * The IPv4 address of an IPv4-mapped IPv6 address (`::ffff:0:0/96`, RFC 4291 section 2.5.5.2).
 * {@link NOT_IPV4} for other addresses. IPv4-compatible addresses (`::/96`, deprecated by section 2.5.5.1) are not IPv4 addresses.
 */
export function mappedIPv4(words: IPv6Words): number {
  return words[0] === 0 && words[1] === 0 && words[2] === 0xffff ? (words[3] ?? 0) : NOT_IPV4
}

/** The addresses that share the first `prefixLength` bits of `words`. */
export interface Network {
  readonly family: 4 | 6
  /** Big-endian 32-bit words of the first address: one for IPv4, four for IPv6. */
  readonly words: Uint32Array
  /** 0 to 32 for IPv4, 0 to 128 for IPv6. */
  readonly prefixLength: number
}

/**
 * Parses CIDR text such as `192.0.2.0/24` or `2001:db8::/32` (RFC 4632 section 3.1, RFC 4291 section 2.3).
 *
 * @throws TypeError when the text is not an address, a slash and a prefix length without leading zeros,
 *   or has bits set after the prefix
 */
export function parseCidr(text: string): Network {
  if (typeof text !== 'string')
    throw new TypeError(`a network must be a string such as 192.0.2.0/24, not ${typeof text}`)
  const match = /^([^/]+)\/(0|[1-9]\d{0,2})$/.exec(text)
  const address = match?.[1] ?? ''
  const prefixLength = Number(match?.[2])
  const ipv4 = parseIPv4(address)
  const words = ipv4 === NOT_IPV4 ? new Uint32Array(4) : Uint32Array.of(ipv4)
  const family = ipv4 === NOT_IPV4 ? 6 : 4
  if (family === 6 && parseIPv6(address, address.length, words) === NOT_IPV6) {
    throw new TypeError(`${quoted(text)} is not a network: write it as 192.0.2.0/24 or 2001:db8::/32`)
  }
  if (prefixLength > (family === 4 ? 32 : 128)) {
    throw new TypeError(
      `${text} is not a network: the prefix length must be at most ${family === 4 ? 32 : 128}`,
    )
  }
  if (words.some((word, index) => (word & ~maskOf(prefixLength - 32 * index)) !== 0)) {
    const right = formatCidr(family, words, prefixLength)
    throw new TypeError(`${text} has bits set after its prefix: write ${right}`)
  }
  return { family, words, prefixLength }
}

/** The IPv4 network of a network of IPv4-mapped addresses, which has 96 bits or more. Other networks stay as they are. */
export function unmapped(network: Network): Network {
  const ipv4 = mappedIPv4(network.words)
  if (ipv4 === NOT_IPV4) return network
  return { family: 4, words: Uint32Array.of(ipv4), prefixLength: network.prefixLength - 96 }
}

/**
 * Parses CIDR text, or an address, which is the network of this address alone: `/32` or `/128`. IPv4-mapped networks are IPv4.
 *
 * @throws TypeError when the text is neither
 */
export function parseNetwork(text: string): Network {
  if (typeof text !== 'string' || text.includes('/')) return unmapped(parseCidr(text))
  try {
    return unmapped(parseCidr(`${text}/${text.includes(':') ? 128 : 32}`))
  } catch {
    throw new TypeError(`${quoted(text)} is neither an address nor a network such as 192.0.2.0/24`)
  }
}

/** The canonical CIDR text of the network that contains an address. */
export function formatCidr(family: 4 | 6, words: Uint32Array, prefixLength: number): string {
  const first = words.map((word, index) => word & maskOf(prefixLength - 32 * index))
  return `${family === 4 ? formatIPv4(first[0] ?? 0) : formatIPv6(first)}/${prefixLength}`
}

/** A 32-bit word whose first bits are set. @param bits 0 or less for none, 32 or more for all */
function maskOf(bits: number): number {
  return bits <= 0 ? 0 : -1 << Math.max(32 - bits, 0)
}

/** Whether a network contains an address of its family. */
export function covers({ words, prefixLength }: Network, address: ArrayLike<number>): boolean {
  for (let index = 0, bits = prefixLength; bits > 0; index++, bits -= 32) {
    if (((words[index] ?? 0) ^ (address[index] ?? 0)) >>> Math.max(32 - bits, 0) !== 0) return false
  }
  return true
}
