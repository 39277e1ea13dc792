import { NOT_IPV4, parseIPv4 } from './ipv4.ts'

const ZERO = 0x30
const NINE = 0x39
const COLON = 0x3a
const DOT = 0x2e
const LOWER_A = 0x61

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

/** The value of one hexadecimal digit, or -1. */
function hexDigit(code: number): number {
  if (code >= 0x30 && code <= 0x39) return code - 0x30
  const lower = code | 0x20
  return lower >= 0x61 && lower <= 0x66 ? lower - 0x57 : -1
}

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
    let digit = -1
    while (i < end && i - groupStart < 4) {
      const code = text.charCodeAt(i)
      digit = hexDigit(code)
      if (digit < 0) break
      if (code < LOWER_A && code > NINE) isPlain = false
      group = group * 16 + digit
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
    // Faster than copyWithin and fill for so few groups.
    for (let from = count - 1, to = 7; to >= gap; from--, to--)
      groups[to] = from >= gap ? (groups[from] ?? 0) : 0
  }
  for (let word = 0; word < 4; word++) {
    words[word] = ((groups[word * 2] ?? 0) << 16) | (groups[word * 2 + 1] ?? 0)
  }
  if (!isPlain) return IPV6
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
