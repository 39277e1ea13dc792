import { Address } from '../../../address/address.ts'
import { CachedView } from '../../swar.ts'
import {
  borderBefore,
  COLON_FOLLOWS,
  endOfToken,
  endsColour,
  IN_URL,
  isDigit,
  isHex,
  isWord,
  NO_BORDER,
  PORT_FOLLOWS,
} from './token-borders.ts'

const DASH = 0x2d
const DOT = 0x2e
const ZERO = 0x30
const COLON = 0x3a
const OPEN = 0x5b
const CLOSE = 0x5d
const PERCENT = 0x25
const TILDE = 0x7e

/** The longest IPv6 address as text, with its zone. Bytes. */
const MAX_BYTES = 45 + 33
/** Colons of an address without `::`, at least: its last two groups can be a dotted quad. */
const MIN_COLONS = 6
/** Colons of an address, and one that ends a phrase. */
const MAX_COLONS = 9

/**
 * Finds the addresses in a line of text. An address is a whole token in the grammar of `Address.parse`. It can have a port:
 * `192.0.2.1:80`, `[2001:db8::1]:80`. `token-borders.ts` says what can be before and after it, so that versions, times, hardware
 * addresses and networks are not taken for addresses.
 *
 * Most bytes are skipped four at a time. A word of four bytes is looked at if it has a colon, as every IPv6 address, or if it
 * has no letters: any IPv4 address contains such a word whole, wherever words begin, because it has seven bytes or more.
 */
export class AddressScanner {
  /** After `next` returns `true`: the address is `bytes[start, end)`, without its port. */
  start = 0
  end = 0
  /** The address with its port is `bytes[tokenStart, tokenEnd)`. Brackets belong to it if a port follows. */
  tokenStart = 0
  tokenEnd = 0
  /** Whether it is the host of a URL. */
  isInUrl = false
  readonly #address = new Address()
  readonly #words = new CachedView()

  /**
   * Finds the first address of the line that begins at `from` or later.
   *
   * @param line start of the line
   * @param from `line`, or the `tokenEnd` of the address before
   * @param end of the line
   */
  next(bytes: Uint8Array, line: number, from: number, end: number): boolean {
    const view = this.#words.view(bytes)
    const last = end - 4
    for (let at = from; at < end; ) {
      if (at <= last && !mayBeInAddress(view.getInt32(at, true))) {
        at += 4
        continue
      }
      for (const stop = Math.min(at + 4, end); at < stop; at++) {
        const byte = bytes[at]
        if (byte === DOT) {
          if (at === from || !isDigit(bytes[at - 1]) || !isDigit(bytes[at + 1])) continue
          if (this.#isIPv4(bytes, line, from, at, end)) return true
          // The digits and dots after it belong to the same token.
          while (at + 1 < end && isDottedDigit(bytes[at + 1])) at++
        } else if (byte === COLON && this.#isIPv6(bytes, line, from, at, end)) return true
      }
    }
    return false
  }

  /** @param dot a dot between two digits. Earlier ones can be in the same token */
  #isIPv4(bytes: Uint8Array, line: number, from: number, dot: number, end: number): boolean {
    let start = dot
    while (start > from && isDottedDigit(bytes[start - 1])) start--
    const after = endOfIPv4(bytes, start, end)
    return after !== -1 && this.#isToken(bytes, line, start, after, end, false)
  }

  /** @param colon the first colon of an address is doubled, or ends the first of eight groups. Most colons are neither */
  #isIPv6(bytes: Uint8Array, line: number, from: number, colon: number, end: number): boolean {
    const next = colon + 1 < end ? bytes[colon + 1] : 0
    if (next !== COLON) {
      const start = startOfFirst(bytes, from, colon)
      return start !== -1 && isHex(next) && this.#isIPv6At(bytes, line, start, end)
    }
    if (bytes[colon + 2] === COLON) return false
    // Groups can be before the doubled colon, as in 64:ff9b::1, or the name of a field, as in client:fe80::1.
    let start = colon
    while (start > from && start > colon - 5 && isHex(bytes[start - 1])) start--
    if (start > line && isWord(bytes[start - 1]) && !endsColour(bytes, line, start)) return false
    let first = start
    const least = Math.max(from, start - MAX_BYTES)
    while (first > least && (isHex(bytes[first - 1]) || bytes[first - 1] === COLON)) first--
    if (bytes[first] === COLON && bytes[first + 1] !== COLON) first++
    return (
      (first < start && this.#isIPv6At(bytes, line, first, end)) || this.#isIPv6At(bytes, line, start, end)
    )
  }

  #isIPv6At(bytes: Uint8Array, line: number, start: number, end: number): boolean {
    let after = start
    let colons = 0
    let isShort = false
    for (; after < end && (isHex(bytes[after]) || bytes[after] === COLON || bytes[after] === DOT); after++) {
      // A longer run is not an address. Stop here: its end would be looked for from each of its bytes.
      if (colons > MAX_COLONS || after - start > MAX_BYTES) return false
      if (bytes[after] !== COLON) continue
      colons++
      isShort ||= bytes[after + 1] === COLON
    }
    if (!isShort && colons < MIN_COLONS) return false
    // Prose goes on after an address: "from 2001:db8::1." and "2001:db8::1: refused".
    while (bytes[after - 1] === DOT) after--
    if (bytes[after - 1] === COLON && bytes[after - 2] !== COLON) after--
    if (bytes[after] === PERCENT) after = endOfZone(bytes, after, end)
    if (after - start > MAX_BYTES || !this.#address.parse(latin1(bytes, start, after))) return false
    const isBracketed = start > line && bytes[start - 1] === OPEN && after < end && bytes[after] === CLOSE
    if (!isOfHost(this.#address.words, bytes, start, after, isBracketed)) return false
    return this.#isToken(bytes, line, start, after, end, isBracketed)
  }

  /** Whether `bytes[start, after)`, which is an address, is a whole token. Sets the result. */
  #isToken(
    bytes: Uint8Array,
    line: number,
    start: number,
    after: number,
    end: number,
    isBracketed: boolean,
  ): boolean {
    const hasPort = isBracketed && bytes[after + 1] === COLON && isDigit(bytes[after + 2])
    const border = borderBefore(bytes, line, start)
    if (border === NO_BORDER) return false
    const from = hasPort ? after + 1 : after
    const tokenEnd = endOfToken(bytes, from, end, border === IN_URL)
    if (tokenEnd === -1) return false
    if (border === PORT_FOLLOWS && tokenEnd === from) return false
    if (border === COLON_FOLLOWS && (tokenEnd === from || bytes[from] !== COLON)) return false
    this.start = start
    this.end = after
    this.tokenStart = hasPort ? start - 1 : start
    this.tokenEnd = tokenEnd
    this.isInUrl = border === IN_URL
    return true
  }
}

/** Whether a word has a colon, or no byte from `@` on. */
function mayBeInAddress(word: number): boolean {
  const colons = word ^ 0x3a3a3a3a
  return ((colons - 0x01010101) & ~colons & 0x80808080) !== 0 || (word & 0xe0e0e0e0) === 0x20202020
}

/** Four decimal octets without leading zeros. @returns where they end, or -1 */
function endOfIPv4(bytes: Uint8Array, start: number, end: number): number {
  let at = start
  for (let octets = 1; ; octets++) {
    const first = at
    let octet = 0
    while (at < end && at < first + 3 && isDigit(bytes[at])) octet = octet * 10 + (bytes[at++] ?? 0) - ZERO
    if (at === first || octet > 255 || (bytes[first] === ZERO && at > first + 1)) return -1
    if (octets === 4) return at
    if (at >= end || bytes[at++] !== DOT) return -1
  }
}

function isDottedDigit(byte: number | undefined): boolean {
  return byte === DOT || isDigit(byte)
}

/**
 * Where the first of eight groups starts that ends at `colon`: four digits from 2000 to 3fff, which is all global unicast
 * space, or from f000; or a zero, as in Java's `0:0:0:0:0:0:0:1`. Hours, dates and hardware addresses rarely begin so.
 *
 * @returns -1 when there is no such group
 */
function startOfFirst(bytes: Uint8Array, from: number, colon: number): number {
  const start = colon - 4
  const digit = start < from ? 0 : (bytes[start] ?? 0)
  if (digit === 0x32 || digit === 0x33 || (digit | 0x20) === 0x66) {
    return isHex(bytes[start + 1]) && isHex(bytes[start + 2]) && isHex(bytes[start + 3]) ? start : -1
  }
  return colon > from && bytes[colon - 1] === ZERO ? colon - 1 : -1
}

/**
 * Whether an IPv6 address is one that hosts have, so that it cannot be something else with colons: `a::b` of a program,
 * `::` between words, a hardware address of eight bytes. Hosts have addresses in 2000::/3, unique local, link-local and
 * multicast ones, loopback, and those with an IPv4 address inside. `::` is an address if it is in brackets.
 *
 * @param words of the address
 */
function isOfHost(
  words: Uint32Array,
  bytes: Uint8Array,
  start: number,
  end: number,
  isBracketed: boolean,
): boolean {
  const [first = 0, second = 0, third = 0, fourth = 0] = words
  const group = first >>> 16
  if (group >>> 13 === 1 || group >>> 9 === 0x7e || group >>> 6 === 0x3fa || group >>> 8 === 0xff) {
    return end - start > 4 && bytes[start + 4] === COLON
  }
  if (first === 0x0064_ff9b) return second === 0 && third === 0
  if (first !== 0 || second !== 0) return false
  if (third === 0 && fourth <= 1) return fourth === 1 || isBracketed
  return bytes.subarray(start, end).includes(DOT)
}

/** @param start index of the `%` */
function endOfZone(bytes: Uint8Array, start: number, end: number): number {
  let at = start + 1
  while (at < end && (isWord(bytes[at]) || bytes[at] === DASH || bytes[at] === DOT || bytes[at] === TILDE))
    at++
  return at
}

function latin1(bytes: Uint8Array, start: number, end: number): string {
  return String.fromCharCode(...bytes.subarray(start, end))
}
