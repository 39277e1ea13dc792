// Characters that are written in other ways: an address can be spelled with them.

import { AND, BACKSLASH, COLON, DOT, HASH, NINE, PERCENT, SEMICOLON, UNDERSCORE, ZERO } from '../ascii.ts'
import { isDigit } from '../swar.ts'

const LOWER_U = 0x75
const LOWER_X = 0x78
/** First bytes of characters of East Asia that stand for those of ASCII, `．` and `。` among them. */
const FULL_WIDTH = 0xef
const IDEOGRAPHIC = 0xe3

/** What begins another spelling. */
export const MARKS = [PERCENT, AND, BACKSLASH, HASH, UNDERSCORE, FULL_WIDTH, IDEOGRAPHIC] as const

/** Bytes of `&#65294;`, the longest escape but for its backslashes. */
const MAX_BYTES = 8

function isMark(byte: number): boolean {
  return byte >= 0x80 || (byte >= HASH && byte <= AND) || byte === BACKSLASH
}

/** Hexadecimal digits, and the marks between them. */
export function isPart(byte = 0): boolean {
  const lower = byte | 0x20
  return (byte >= 0x2d && byte <= 0x3a && byte !== 0x2f) || (lower >= 0x61 && lower <= 0x66)
}

/**
 * Whether one of {@link MARKS} at `at` may spell a character of an address, or an escape that does, or the digits of an escape
 * would be read as those of an address after it.
 */
export function mayBeEscape(bytes: Uint8Array, at: number, end: number): boolean {
  switch (bytes[at]) {
    case PERCENT:
      return mayBeCode(bytes, at + (lowerOf(bytes[at + 1]) === LOWER_U ? 4 : 1), end)
    case BACKSLASH: {
      const letter = lowerOf(bytes[at + 1])
      return letter === LOWER_X ? mayBeCode(bytes, at + 2, end) : letter === LOWER_U && isHigh(bytes, at, end)
    }
    case HASH:
      return bytes[at + 1] === ZERO && digitOf(bytes[at + 2]) < 8 && digitOf(bytes[at + 3]) < 8
    case AND:
      return bytes[at + 1] === HASH
    case UNDERSCORE:
      return hasFourNumbers(bytes, at)
    case FULL_WIDTH:
      return bytes[at + 1] === 0xbc || bytes[at + 1] === 0xbd
    default:
      return bytes[at + 1] === 0x80 && bytes[at + 2] === 0x82
  }
}

/** `\u002e`, `\uff0e` or `\u3002`. */
function isHigh(bytes: Uint8Array, at: number, end: number): boolean {
  const isAscii = bytes[at + 2] === ZERO && bytes[at + 3] === ZERO
  return isAscii ? mayBeCode(bytes, at + 4, end) : lowerOf(bytes[at + 2]) === 0x66 || bytes[at + 2] === 0x33
}

/** Whether two digits are the code of what matters, or an address can begin after them. */
function mayBeCode(bytes: Uint8Array, at: number, end: number): boolean {
  if (at + 2 > end) return false
  const [high, low] = [digitOf(bytes[at]), digitOf(bytes[at + 1])]
  if (high > 15 || low > 15) return false
  const code = high * 16 + low
  const next = bytes[at + 2]
  // `%3A%2F` of a URL in a URL is the most usual escape, and the last colon of no address.
  if (code === COLON && next === PERCENT && bytes[at + 3] === 0x32 && digitOf(bytes[at + 4]) === 15)
    return false
  return (
    isPart(code) ||
    code === SEMICOLON ||
    isMark(code) ||
    isDigit(next) ||
    next === COLON ||
    lowerOf(next) === 0x66
  )
}

/** Whether numbers follow an underscore after a number, so that there can be four. */
function hasFourNumbers(bytes: Uint8Array, mark: number): boolean {
  let at = mark
  for (let numbers = 1; numbers < 4; numbers++) {
    if (bytes[at] !== UNDERSCORE || !isDigit(bytes[at - 1])) return false
    const start = ++at
    while (at < start + 4 && isDigit(bytes[at])) at++
  }
  return isDigit(bytes[at - 1])
}

/**
 * The length of the escape that ends a text, with what it stands for: `%2E`, `%u002e`, `\u002e`, `\x2e`, `#056` as rsyslog writes
 * it, `&#46;`, `&#x2e;`, `．`. Any number of backslashes can be before the first letter.
 */
class Escape {
  length = 0
  byte = 0

  /** @returns whether `bytes[start, end)` ends with an escape */
  endsAt(bytes: Uint8Array, start: number, end: number): boolean {
    const last = bytes[end - 1] ?? 0
    if (last >= 0x80) return this.#isWide(bytes, start, end)
    if (last === SEMICOLON) return this.#isEntity(bytes, start, end)
    if (digitOf(last) > 15) return false
    if (end - 3 >= start && bytes[end - 3] === PERCENT) return this.#isCode(bytes, end - 2, end, 3, 16)
    if (end - 4 >= start && lowerOf(bytes[end - 3]) === LOWER_X && bytes[end - 4] === BACKSLASH)
      return this.#isCode(bytes, end - 2, end, 3 + backslashes(bytes, start, end - 3), 16)
    if (end - 6 >= start && lowerOf(bytes[end - 5]) === LOWER_U) {
      const marks = bytes[end - 6] === PERCENT ? 1 : backslashes(bytes, start, end - 5)
      if (marks > 0) return this.#isCode(bytes, end - 4, end, 5 + marks, 16)
    }
    // `&#046;` is decimal.
    return (
      end - 4 >= start &&
      bytes[end - 4] === HASH &&
      bytes[end - 5] !== AND &&
      bytes[end - 3] === ZERO &&
      this.#isCode(bytes, end - 3, end, 4, 8)
    )
  }

  #isCode(bytes: Uint8Array, start: number, end: number, length: number, base: number): boolean {
    let code = 0
    for (let at = start; at < end; at++) {
      const digit = digitOf(bytes[at])
      if (digit >= base) return false
      code = code * base + digit
    }
    return this.#is(code, length, length === 3)
  }

  #isEntity(bytes: Uint8Array, start: number, end: number): boolean {
    let at = end - 2
    while (at > start && at > end - 8 && digitOf(bytes[at]) < 16) at--
    const isHex = lowerOf(bytes[at]) === LOWER_X
    const first = at + 1
    if (isHex) at--
    if (at <= start || bytes[at] !== HASH || bytes[at - 1] !== AND || first === end - 1) return false
    return this.#isCode(bytes, first, end - 1, end - at + 1, isHex ? 16 : 10)
  }

  #isWide(bytes: Uint8Array, start: number, end: number): boolean {
    if (end - 3 < start || (bytes[end - 3] !== FULL_WIDTH && bytes[end - 3] !== IDEOGRAPHIC)) return false
    const [first = 0, second = 0, third = 0] = bytes.subarray(end - 3, end)
    return this.#is(((first & 15) << 12) | ((second & 63) << 6) | (third & 63), 3, false)
  }

  /** @param isByte whether a code over 127 is a byte of UTF-8 */
  #is(code: number, length: number, isByte: boolean): boolean {
    if (code === 0x3002 || code === 0xff61) this.byte = DOT
    else if (code > 0xff00 && code < 0xff5f) this.byte = code - 0xfee0
    else if (code < 0x80 || (isByte && code < 0x100)) this.byte = code
    else return false
    this.length = length
    return true
  }
}

/** The backslashes before `end`. */
function backslashes(bytes: Uint8Array, start: number, end: number): number {
  let at = end
  while (at > start && bytes[at - 1] === BACKSLASH) at--
  return end - at
}

const NO_DIGIT = 99

function digitOf(byte = 0): number {
  if (byte >= ZERO && byte <= NINE) return byte - ZERO
  const letter = (byte | 0x20) - 0x61
  return letter >= 0 && letter < 6 ? letter + 10 : NO_DIGIT
}

function lowerOf(byte = 0): number {
  return byte | 0x20
}

/** A text without its escapes, also those of escapes, and where each of its bytes was. */
export class SpelledText {
  bytes = new Uint8Array(1024)
  length = 0
  #offsets = new Uint32Array(1025)
  readonly #escape = new Escape()

  /** Reads `source[start, end)`. Underscores between digits become dots. */
  read(source: Uint8Array, start: number, end: number): void {
    if (end - start > this.bytes.length) {
      this.bytes = new Uint8Array(2 * (end - start))
      this.#offsets = new Uint32Array(this.bytes.length + 1)
    }
    const { bytes } = this
    const offsets = this.#offsets
    const code = this.#escape
    let size = 0
    // The text up to here has no escape that goes on.
    let mark = -MAX_BYTES
    for (let at = start; at < end; at++) {
      const byte = source[at] ?? 0
      if (isMark(byte)) mark = size
      const isDot = byte === UNDERSCORE && size > 0 && isDigit(bytes[size - 1]) && isDigit(source[at + 1])
      offsets[size] = at
      bytes[size++] = isDot ? DOT : byte
      // What is left of an escape can be the end of another one.
      while (size - mark <= MAX_BYTES && code.endsAt(bytes, 0, size)) {
        size -= code.length
        if (isMark(code.byte)) mark = size
        bytes[size++] = code.byte
      }
    }
    offsets[size] = end
    this.length = size
  }

  /** Where a byte of this text starts in the source. */
  offsetOf(index: number): number {
    return this.#offsets[index] ?? 0
  }
}
