import { Address } from '../../address/address.ts'
import { NOT_IPV4 } from '../../address/ip-text.ts'
import { COLON, DOT, ZERO } from '../ascii.ts'
import { CachedView, isDigit, latin1 } from '../swar.ts'

/** Colons of an address without `::`, at least: its last two groups can be a dotted quad. */
const MIN_COLONS = 6
/** A longer run of groups and colons is searched in parts, since it is read again after each address in it. Bytes. */
const MAX_RUN = 256

/** Decides which texts are addresses. A policy sets the place of an address that it takes in the scanner. */
export interface AddressPolicy {
  /** The marks between the numbers of an IPv4 address. */
  readonly marks: string
  /** Numbers, with one of the marks between them, are in `scanner.numbers`. @returns whether they are an address */
  takesNumbers(scanner: AddressScanner): boolean
  /** @param start of the longest IPv6 address, by its spelling, that begins there; it ends at `after` */
  takesGroups(scanner: AddressScanner, start: number, after: number): boolean
  /** Whether a mark can be in an address that is spelled neither as IPv4 nor as IPv6, such as a name made of an address. */
  takesName(scanner: AddressScanner, mark: number): boolean
  /** Whether digits without a mark are an address; `null` if they never are. Sets `scanner.resume`. */
  readonly takesDigits: ((scanner: AddressScanner, at: number) => boolean) | null
}

/**
 * Finds addresses in text. The scanner finds numbers and groups that are spelled as addresses are, and its policy decides. No
 * text is read again after it was refused, so that the work for each byte is bounded.
 *
 * Most bytes are skipped four at a time. A word of four bytes is looked at if it has a colon, as every IPv6 address, or if it
 * has no letters: any IPv4 address contains such a word whole, wherever words begin, because it has seven bytes or more. In names
 * that are made of an address, hexadecimal digits are looked at too.
 */
export class AddressScanner {
  /** What `next` was given: the bytes, the start and the end of the line, and where the search begins in it. */
  text: Uint8Array = new Uint8Array(0)
  line = 0
  lineEnd = 0
  from = 0
  /** The address is `bytes[start, end)` without its port, after `next` returns `true`. */
  start = 0
  end = 0
  /** The address with its port is `bytes[tokenStart, tokenEnd)`. Brackets belong to it if a port follows. */
  tokenStart = 0
  tokenEnd = 0
  /** Whether the address is the host of a URL. */
  isInUrl = false
  /** The address as 32 bits; `NOT_IPV4` if it is in `address`. */
  ipv4 = NOT_IPV4
  /** The address if it is IPv6. */
  readonly address = new Address()
  /** Whether the order or the meaning of the numbers of an IPv4 address is not certain. */
  isDoubtful = false
  /** The mark between the numbers or groups. */
  separator = DOT
  readonly numbers = new Numbers()
  /** Where the search goes on after what is not an address. */
  resume = 0
  readonly #policy: AddressPolicy
  /** 1 for each byte that is a mark of the policy or a colon. */
  readonly #marks: Uint8Array
  readonly #words = new CachedView()

  constructor(policy: AddressPolicy) {
    this.#policy = policy
    this.#marks = Uint8Array.from({ length: 256 }, (_, byte) =>
      `${policy.marks}:`.includes(String.fromCharCode(byte)) ? 1 : 0,
    )
  }

  /**
   * Finds the first address of the line that begins at `from` or later.
   *
   * @param line start of the line
   * @param from `line`, or the end of the address before
   * @param end of the line
   */
  next(bytes: Uint8Array, line: number, from: number, end: number): boolean {
    this.text = bytes
    this.line = line
    this.lineEnd = end
    this.from = from
    const view = this.#words.view(bytes)
    const marks = this.#marks
    const { takesDigits } = this.#policy
    const last = end - 4
    for (let at = from; at < end; ) {
      if (at <= last) {
        const word = view.getInt32(at, true)
        if (takesDigits === null ? !mayBeInAddress(word) : !mayBeInName(word)) {
          at += 4
          continue
        }
        if (takesDigits !== null && areDigits(word)) {
          if (takesDigits(this, at)) return true
          at = this.resume
          continue
        }
      }
      for (const stop = Math.min(at + 4, end); at < stop; at++) {
        const byte = bytes[at] ?? 0
        if (marks[byte] === 0) continue
        if (byte === COLON) {
          if (this.#hasGroups(at)) return true
          at = this.resume - 1
        } else if (at > from && isHex(bytes[at - 1]) && at + 1 < end) {
          const isNumber = isDigit(bytes[at - 1]) && isDigit(bytes[at + 1])
          if (!isNumber && !isHex(bytes[at + 1]) && bytes[at + 1] !== byte) continue
          if (this.#policy.takesName(this, at)) return true
          if (!isNumber) continue
          this.numbers.read(bytes, from, at, end)
          this.resume = this.numbers.end
          if (this.#policy.takesNumbers(this)) return true
          at = this.resume - 1
        }
      }
    }
    return false
  }

  /** @param colon the first one of a run of groups and colons. Most are of times and names */
  #hasGroups(colon: number): boolean {
    const { text: bytes, from, lineEnd: end } = this
    this.resume = colon + 1
    if (colon + 1 >= end) return false
    if (bytes[colon + 1] !== COLON && !(isHex(bytes[colon + 1]) && colon > from && isHex(bytes[colon - 1])))
      return false
    let colons = 0
    let isShort = false
    let last = colon
    const limit = Math.min(end, colon + MAX_RUN)
    let after = colon
    for (; after < limit; after++) {
      if (bytes[after] === COLON) {
        isShort ||= after === last + 1 && after > colon
        colons++
        last = after
      } else if (!isHex(bytes[after])) break
    }
    // Numbers with dots after the last colon can be an address of their own.
    this.resume = last + 1
    const isWhole = after < limit || limit === end
    if (isWhole && !isShort && colons < MIN_COLONS) return false
    let start = colon
    while (start > from && start > colon - 4 && isHex(bytes[start - 1])) start--
    while (start < last) {
      const endOfAddress = endOfIPv6(bytes, start, end, COLON)
      if (endOfAddress !== -1 && this.#policy.takesGroups(this, start, endOfAddress)) {
        this.separator = COLON
        return true
      }
      // The next address can begin at a doubled colon, or with the next group.
      if (bytes[start] === COLON) start++
      else {
        while (start < last && bytes[start] !== COLON) start++
        if (bytes[start + 1] !== COLON) start++
      }
    }
    return false
  }
}

/** Whether a word has a colon, or no byte from `@` on. */
function mayBeInAddress(word: number): boolean {
  return (word & 0xe0e0e0e0) === 0x20202020 || hasColon(word)
}

/** Whether a word has a colon, or no letter after `g`: such a letter has one of two bits below its bit 0x40. */
function mayBeInName(word: number): boolean {
  const letters = word & 0x40404040
  return (word & ((letters >>> 2) | (letters >>> 3))) === 0 || hasColon(word)
}

function hasColon(word: number): boolean {
  const colons = word ^ 0x3a3a3a3a
  return ((colons - 0x01010101) & ~colons & 0x80808080) !== 0
}

/** Whether all bytes of a word are digits. The first test fails for most words. */
function areDigits(word: number): boolean {
  return (word & 0xf0f0f0f0) === 0x30303030 && ((word + 0x06060606) & 0xf0f0f0f0) === 0x30303030
}

/**
 * The end of the longest IPv6 address that begins at `start`, in the forms of RFC 4291 section 2.2.
 *
 * @param separator between its groups
 * @returns -1 when none begins there
 */
export function endOfIPv6(bytes: Uint8Array, start: number, limit: number, separator: number): number {
  let at = start
  let groups = 0
  let isShort = false
  let found = -1
  if (bytes[at] === separator) {
    if (at + 1 >= limit || bytes[at + 1] !== separator) return -1
    isShort = true
    at += 2
    found = at
  }
  for (;;) {
    const group = at
    while (at < limit && at < group + 4 && isHex(bytes[at])) at++
    if (at === group || (at < limit && isHex(bytes[at]))) return found
    if (at < limit && bytes[at] === DOT && (isShort ? groups <= 5 : groups === 6)) {
      const endOfQuad = endOfIPv4(bytes, group, limit)
      if (endOfQuad !== -1) return endOfQuad
    }
    groups++
    if (isShort ? groups <= 7 : groups === 8) found = at
    if (groups >= (isShort ? 7 : 8) || at >= limit || bytes[at] !== separator) return found
    at++
    if (at >= limit || bytes[at] !== separator) continue
    if (isShort) return found
    isShort = true
    at++
    found = at
  }
}

const OCTET = '(?:25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]?\\d)'
const QUAD = /* @__PURE__ */ new RegExp(`^(?:${OCTET}\\.){3}${OCTET}(?!\\d)`)

/** Four decimal octets without leading zeros. @returns where they end, or -1 */
function endOfIPv4(bytes: Uint8Array, start: number, limit: number): number {
  const quad = QUAD.exec(latin1(bytes, start, Math.min(limit, start + 16)))
  return quad === null ? -1 : start + quad[0].length
}

/**
 * Whether an IPv6 address is one that hosts have and is spelled as theirs are, so that it hardly is something else with
 * colons: `a::b` of a program, a hardware address of eight bytes. Hosts have addresses in 2000::/3, unique local and link-local
 * ones, and those with an IPv4 address inside.
 *
 * @param words of the address
 */
export function isOfHost([first = 0, second = 0, third = 0]: Uint32Array, text: string): boolean {
  const group = first >>> 16
  if (group >>> 13 === 1 || group >>> 9 === 0x7e || group >>> 6 === 0x3fa)
    return /^[\da-f]{4}[:-]/i.test(text)
  if (first === 0x0064_ff9b) return second === 0 && third === 0
  return first === 0 && second === 0 && text.includes('.')
}

/** Numbers of a run that are kept. A run with more is not an address. */
const MOST = 6
/** Larger numbers count as this. */
export const TOO_LARGE = 65_536

/** A run of numbers with the same mark between them: `81.2.69.142`. */
export class Numbers {
  start = 0
  end = 0
  count = 0
  separator = DOT
  /** The first numbers, and where each of them starts and ends. */
  readonly values = new Int32Array(MOST)
  readonly starts = new Int32Array(MOST)
  readonly ends = new Int32Array(MOST)

  /** Reads the run that a mark between two digits belongs to. Most have two numbers, of which only the end is read. */
  read(bytes: Uint8Array, from: number, mark: number, end: number): void {
    const { values, starts, ends } = this
    const separator = bytes[mark] ?? 0
    let at = mark + 1
    while (at < end && isDigit(bytes[at])) at++
    this.end = at
    this.count = 2
    const goesOn = at + 1 < end && bytes[at] === separator && isDigit(bytes[at + 1])
    at = mark - 1
    while (at > from && isDigit(bytes[at - 1])) at--
    if (!goesOn && (at === from || bytes[at - 1] !== separator)) return
    while (at > from && (isDigit(bytes[at - 1]) || (bytes[at - 1] === separator && isDigit(bytes[at])))) at--
    if (bytes[at] === separator) at++
    this.separator = separator
    this.start = at
    let count = 0
    for (;;) {
      const start = at
      let value = 0
      for (let digit = (bytes[at] ?? 0) - ZERO; digit >= 0 && digit <= 9; digit = (bytes[at] ?? 0) - ZERO) {
        value = value * 10 + digit
        if (value > TOO_LARGE) value = TOO_LARGE
        if (++at === end) break
      }
      if (count < MOST) {
        values[count] = value
        starts[count] = start
        ends[count] = at
      }
      count++
      if (at + 1 >= end || bytes[at] !== separator || !isDigit(bytes[at + 1])) break
      at++
    }
    this.count = count
    this.end = at
  }

  /** Whether a number has leading zeros. */
  hasZeros(bytes: Uint8Array, index: number): boolean {
    const start = this.starts[index] ?? 0
    return bytes[start] === ZERO && (this.ends[index] ?? 0) > start + 1
  }
}

const HEX = /* @__PURE__ */ Uint8Array.from({ length: 256 }, (_, byte) =>
  /[\da-f]/i.test(String.fromCharCode(byte)) ? 1 : 0,
)

export function isHex(byte: number | undefined): boolean {
  return HEX[byte ?? 0] === 1
}
