import { Address } from '../../address/address.ts'
import { NOT_IPV4 } from '../../address/ip-text.ts'
import { CachedView } from '../swar.ts'

const DASH = 0x2d
const DOT = 0x2e
const SLASH = 0x2f
const ZERO = 0x30
const COLON = 0x3a
const BACKSLASH = 0x5c

/** The longest IPv6 address as text, and the longest port and other group after it. Bytes. */
const MAX_BYTES = 45 + 12
/** The colons of an address that has no `::`, at least: its last two groups can be a dotted quad. */
const MIN_COLONS = 6
/** Numbers of the longest token in which an address is looked for: an address and its port, as tcpdump writes them. */
const MAX_NUMBERS = 5

/** What can be right before and after an IPv6 address of any kind: white space, quotes, brackets and separators. */
const BORDERS = /* @__PURE__ */ new Set([...'\t\n\r "\'(),;<=>[]{|}'].map((each) => each.charCodeAt(0)))

/**
 * Finds all that can be an address, so that it can be masked. The scanner of the format `text` finds what surely is one: it would
 * leave an address in a path, a name or a version, which must not be handed on.
 *
 * IPv4: four decimal numbers up to 255 with dots between them, or with dashes in a name, whatever is before and after them. More
 * than five numbers are an object identifier. `name/120.0.0.0` is the version of a browser. IPv6: what parses as an address and
 * is in a range that hosts have, or stands alone between {@link BORDERS}.
 *
 * Most bytes are skipped four at a time, as by `AddressScanner`.
 */
export class AddressSearch {
  /** After `next` returns `true`: the address is `bytes[start, end)`, without its port and zone. */
  start = 0
  end = 0
  /** The address as 32 bits; `NOT_IPV4` if it is in `address`. An IPv4-mapped IPv6 address is IPv4. */
  ipv4 = NOT_IPV4
  /** The address if it is IPv6. */
  readonly address = new Address()
  /** Whether an IPv4 address is a part of a name, such as `host-192-0-2-1.example` or `1.2.0.192.in-addr.arpa`. Its numbers can be in any order. */
  isInName = false
  /** The character between the numbers of an IPv4 address. */
  separator = DOT
  readonly #words = new CachedView()
  /** Where the search goes on after a token of numbers. */
  #resume = 0

  /** Finds the first address in `bytes[from, end)`. */
  next(bytes: Uint8Array, from: number, end: number): boolean {
    const view = this.#words.view(bytes)
    const last = end - 4
    for (let at = from; at < end; ) {
      if (at <= last && !mayBeInAddress(view.getInt32(at, true))) {
        at += 4
        continue
      }
      for (const stop = Math.min(at + 4, end); at < stop; at++) {
        const byte = bytes[at]
        if (byte === COLON) {
          if (this.#isIPv6(bytes, from, at, end)) return true
        } else if ((byte === DOT || byte === DASH) && at > from && isDigit(bytes[at - 1])) {
          if (at + 1 >= end || !isDigit(bytes[at + 1])) continue
          if (this.#isIPv4(bytes, from, at, end)) return true
          at = this.#resume - 1
        }
      }
    }
    return false
  }

  /** @param mark a dot or dash between two digits. Earlier ones can be in the same token */
  #isIPv4(bytes: Uint8Array, from: number, mark: number, end: number): boolean {
    const separator = bytes[mark] ?? 0
    const isDashed = separator === DASH
    let start = mark
    while (start > from && isInToken(bytes, start - 1, separator)) start--
    if (bytes[start] === separator) start++
    // The numbers of the token, and the address: four numbers that follow each other.
    let numbers = 0
    let fitting = 0
    let first = start
    let after = start
    let ipv4 = 0
    let at = start
    for (; ; at++) {
      const digits = at
      let number = 0
      for (; at < end && isDigit(bytes[at]); at++)
        number = Math.min(number * 10 + (bytes[at] ?? 0) - ZERO, 256)
      numbers++
      if (fitting < 4) {
        const isOctet =
          number <= 255 && at <= digits + 3 && !(isDashed && bytes[digits] === ZERO && at > digits + 1)
        if (!isOctet) fitting = 0
        else {
          if (fitting === 0) first = digits
          ipv4 = ((ipv4 << 8) | number) >>> 0
          after = at
          fitting++
        }
      }
      if (at + 1 >= end || bytes[at] !== separator || !isDigit(bytes[at + 1])) break
    }
    // A token without an address is not looked at again.
    this.#resume = at
    if (fitting < 4 || numbers > MAX_NUMBERS) return false
    const isNamed = isInName(bytes, from, start, at, end)
    if (isDashed && !isNamed) return false
    if ((ipv4 & 0xff_ffff) === 0 && isVersion(bytes, from, first)) return false
    this.ipv4 = ipv4
    this.separator = separator
    this.isInName = isDashed || (at + 1 < end && bytes[at] === DOT && isLetter(bytes[at + 1]))
    this.start = this.isInName ? start : first
    this.end = this.isInName ? at : after
    // The number of a name such as ec2.
    if (isDashed && numbers > 4 && isLetter(bytes[start - 1])) this.start = bytes.indexOf(DASH, start) + 1
    return true
  }

  /** @param colon a colon, the first one of the address if it is in one */
  #isIPv6(bytes: Uint8Array, from: number, colon: number, end: number): boolean {
    let start = colon
    while (start > from && start > colon - 4 && isHex(bytes[start - 1])) start--
    if (start === colon && bytes[colon + 1] !== COLON) return false
    const limit = Math.min(end, start + MAX_BYTES)
    let after = start
    let colons = 0
    let isShort = false
    for (
      ;
      after < limit && (isHex(bytes[after]) || bytes[after] === COLON || bytes[after] === DOT);
      after++
    ) {
      if (bytes[after] !== COLON) continue
      colons++
      isShort ||= after + 1 < limit && bytes[after + 1] === COLON
    }
    if (!isShort && colons < MIN_COLONS) return false
    const text = latin1(bytes, start, after)
    const size = sizeOfAddress(text, this.address)
    if (size === 0) return false
    const isAlone =
      size === text.length && isBorder(bytes, from, start - 1, end) && isBorder(bytes, from, after, end)
    if (!isOfHost(text.slice(0, size), this.address) && !(isAlone && text !== '::')) return false
    this.ipv4 = this.address.version === 4 ? this.address.ipv4 : NOT_IPV4
    this.isInName = false
    this.start = start
    this.end = start + size
    return true
  }
}

/** Whether a word has a colon, or no byte from `@` on. */
function mayBeInAddress(word: number): boolean {
  const colons = word ^ 0x3a3a3a3a
  return ((colons - 0x01010101) & ~colons & 0x80808080) !== 0 || (word & 0xe0e0e0e0) === 0x20202020
}

function isInToken(bytes: Uint8Array, at: number, separator: number): boolean {
  return isDigit(bytes[at]) || (bytes[at] === separator && isDigit(bytes[at + 1]))
}

/** Whether a letter, or a dot or dash and a letter, is before or after the numbers. */
function isInName(bytes: Uint8Array, from: number, start: number, after: number, end: number): boolean {
  const before = start > from ? (bytes[start - 1] ?? 0) : 0
  const isMark = (byte: number | undefined): boolean => byte === DOT || byte === DASH || byte === 0x5f
  const next = after < end ? bytes[after] : 0
  return (
    isLetter(before) ||
    isLetter(next) ||
    (isMark(before) && start - 2 >= from && isLetter(bytes[start - 2])) ||
    (isMark(next) && after + 1 < end && isLetter(bytes[after + 1]))
  )
}

/** Whether the name of a product and a slash are before the number: `Chrome/120.0.0.0`. In JSON the slash can be escaped. */
function isVersion(bytes: Uint8Array, from: number, start: number): boolean {
  if (start - 2 < from || bytes[start - 1] !== SLASH) return false
  const name = bytes[start - 2] === BACKSLASH ? start - 3 : start - 2
  return name >= from && isLetter(bytes[name])
}

/**
 * The characters of the longest address at the start of a text of hexadecimal digits, colons and dots; 0 if there is none.
 * Prose goes on after an address, and so do ports.
 */
function sizeOfAddress(text: string, address: Address): number {
  for (let size = text.length; size > 1; ) {
    if (address.parse(text.slice(0, size)) && text.slice(0, size).includes(':')) return size
    const mark = Math.max(text.lastIndexOf(':', size - 1), text.lastIndexOf('.', size - 1))
    // Without the mark, and first with it if it is the second of `::`.
    size = mark === size - 1 || text[mark - 1] !== ':' ? mark : mark + 1
  }
  return 0
}

/** Whether an address is in a range that hosts have, and is spelled so that it hardly is anything else. */
function isOfHost(text: string, { version, words }: Address): boolean {
  // `::ffff:192.0.2.1`, also as `::ffff:c000:201`.
  if (version === 4) return true
  const [first = 0, second = 0, third = 0] = words
  const group = first >>> 16
  if (group >>> 13 === 1 || group >>> 9 === 0x7e || group >>> 6 === 0x3fa) return text.indexOf(':') === 4
  if (first === 0x0064_ff9b) return second === 0 && third === 0
  return first === 0 && second === 0 && third === 0 && text.includes('.')
}

function isBorder(bytes: Uint8Array, from: number, at: number, end: number): boolean {
  return at < from || at >= end || BORDERS.has(bytes[at] ?? 0)
}

function isDigit(byte: number | undefined): boolean {
  return byte !== undefined && byte >= ZERO && byte <= ZERO + 9
}

function isLetter(byte: number | undefined): boolean {
  const lower = (byte ?? 0) | 0x20
  return lower >= 0x61 && lower <= 0x7a
}

function isHex(byte: number | undefined): boolean {
  const lower = (byte ?? 0) | 0x20
  return isDigit(byte) || (lower >= 0x61 && lower <= 0x66)
}

function latin1(bytes: Uint8Array, start: number, end: number): string {
  return String.fromCharCode(...bytes.subarray(start, end))
}
