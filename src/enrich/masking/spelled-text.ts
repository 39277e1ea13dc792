// Replaces escapes such as %3A in text, because an address can be spelled with them.

import { AND, BACKSLASH, DOT, HASH, PERCENT, SEMICOLON, UNDERSCORE } from '../ascii.ts'
import { isHex } from '../scanning/address-scanner.ts'
import { isDigit, latin1 } from '../swar.ts'

/** First bytes of characters of East Asia that stand for those of ASCII, `．` and `。` among them. */
const FULL_WIDTH = 0xef
const IDEOGRAPHIC = 0xe3

/** What begins another spelling. */
export const MARKS = [PERCENT, AND, BACKSLASH, HASH, UNDERSCORE, FULL_WIDTH, IDEOGRAPHIC] as const

/** Bytes of `\U0001f642`, the longest escape with one backslash, and of `&#x00002e;`: its digits can be escapes themselves. */
const MAX_BYTES = 10

function isMark(byte: number): boolean {
  return byte >= 0x80 || (byte >= HASH && byte <= AND) || byte === BACKSLASH
}

/** Hexadecimal digits, and the marks between them. */
export function isPart(byte = 0): boolean {
  const lower = byte | 0x20
  return (byte >= 0x2d && byte <= 0x3a && byte !== 0x2f) || (lower >= 0x61 && lower <= 0x66)
}

/**
 * Two digits that are the code of a character of addresses, or after which an address can begin. Not `%3A%2F`: it is the most usual
 * escape, that of a URL in a URL, and no address ends with this colon.
 */
const CODE =
  '(?!3[Aa]%2[Ff])(?:2[3-6DEde]|3[\\dABab]|[46][1-6]|5[Cc]|[89A-Fa-f][\\dA-Fa-f]|[\\dA-Fa-f]{2}(?=[\\d:Ff]))'
/** The start of what may be an escape, or four numbers with underscores, from a mark on. */
const MAY_BE_ESCAPE = /* @__PURE__ */ new RegExp(
  `^(?:%(?:[Uu]..)?${CODE}|\\\\[Xx]${CODE}|\\\\[Uu](?:00${CODE}|00[01][\\dA-Fa-f]{5}(?=[\\d:Ff])|[Ff3]|[\\dA-Fa-f]{4}(?=[\\d:Ff]))|#0[0-7]{2}|&#|(?:_\\d{1,4}){3}|\xef[\xbc\xbd]|\xe3\x80\x82)`,
  's',
)
/** The bytes that this reads, at most. */
const MAX_READ = 16

/**
 * Whether one of {@link MARKS} at `at` may begin an escape of a character of an address, or of such an escape. Also if the digits
 * of an escape would be read as digits of the address after it.
 */
export function mayBeEscape(bytes: Uint8Array, at: number, end: number): boolean {
  const [mark, next] = [bytes[at], bytes[at + 1] ?? 0]
  // Most marks begin no escape. Make a text only for the others.
  if (mark === AND) return next === HASH
  if (mark === UNDERSCORE && !(isDigit(next) && isDigit(bytes[at - 1]))) return false
  if (mark === BACKSLASH && !'UXux'.includes(String.fromCharCode(next))) return false
  return MAY_BE_ESCAPE.test(latin1(bytes, at, Math.min(end, at + MAX_READ)))
}

/** `%2E` or `\x2e`; `%u002e` or `\u002e`; `\U0000002e`; `&#x2e;`; `&#46;`; `#056` of rsyslog, but `&#046;` is decimal; `．`. */
const ESCAPE =
  /(?:(?:%|\\[Xx])([\dA-Fa-f]{2})|(?:%|\\(?!U00[01]))[Uu]([\dA-Fa-f]{4})|\\U(00[01][\dA-Fa-f]{5})|&#[Xx]([\dA-Fa-f]{1,6});|&#(\d{1,6});|(&?)#(0[0-7]{2})|[\xef\xe3].[\x80-\xff])$/s

/**
 * The escape that ends the text `bytes[0, end)`, with what it stands for; `null` if none does. Any number of backslashes can be
 * before a letter.
 *
 * @param next the byte of the source after it. No address begins with a dot: in `\x81.2.69.142` the digits are of the address, unless
 *   they are the end of a wide digit
 */
function escapeBefore(
  bytes: Uint8Array,
  end: number,
  next: number | undefined,
): { readonly start: number; readonly byte: number } | null {
  const last = bytes[end - 1] ?? 0
  if (last < 0x80 && last !== SEMICOLON && !isHex(last)) return null
  const [text, byte, unit, long, entity, decimal, and, octal] =
    ESCAPE.exec(latin1(bytes, Math.max(0, end - MAX_BYTES), end)) ?? []
  if (text === undefined || and === '&') return null
  const digits = byte ?? unit ?? long ?? entity ?? decimal ?? octal
  const base = decimal !== undefined ? 10 : octal !== undefined ? 8 : 16
  const [first = 0, second = 0, third = 0] = bytes.subarray(end - 3, end)
  const wide = ((first & 15) << 12) | ((second & 63) << 6) | (third & 63)
  const known = characterOf(digits === undefined ? wide : Number.parseInt(digits, base), byte !== undefined)
  let start = end - text.length
  if (next === DOT && byte !== undefined && !isDigit(known ?? 0) && (bytes[start - 1] ?? 0) < 0x80)
    return null
  if (text[0] === '\\') while (start > 0 && bytes[start - 1] === BACKSLASH) start--
  // The digits of another character's escape are not those of the address after it.
  return known === null && digits === undefined ? null : { start, byte: known ?? 0 }
}

/** @param isByte whether a code over 127 is a byte of UTF-8 */
function characterOf(code: number, isByte: boolean): number | null {
  if (code === 0x3002 || code === 0xff61) return DOT
  if (code > 0xff00 && code < 0xff5f) return code - 0xfee0
  return code < 0x80 || (isByte && code < 0x100) ? code : null
}

/** Four numbers with dots between them, before and after an underscore, and their bytes at most. */
const QUAD_BEFORE = /(?:0?\d{1,3}\.){3}\d+$/
const QUAD_AFTER = /^(?:0?\d{1,3}\.){3}\d/
const QUAD_BYTES = 19

/** The underscores of `81_2_69_142`. */
function dotsIn(text: Uint8Array): readonly number[] {
  const dots: number[] = []
  for (let at = text.indexOf(UNDERSCORE); at !== -1; at = text.indexOf(UNDERSCORE, at + 1)) {
    if (!isDigit(text[at - 1]) || !isDigit(text[at + 1])) continue
    const before = latin1(text, Math.max(0, at - QUAD_BYTES), at)
    const after = latin1(text, at + 1, Math.min(text.length, at + QUAD_BYTES))
    if (!QUAD_BEFORE.test(before) && !QUAD_AFTER.test(after)) dots.push(at)
  }
  return dots
}

/** A text whose escapes are replaced, escapes of escapes too, and where each of its bytes was in the source. */
export class SpelledText {
  bytes = new Uint8Array(1024)
  length = 0
  #offsets = new Uint32Array(1025)

  /** Reads `source[start, end)`. Underscores between digits become dots, but not that before or after `81.2.69.142`. */
  read(source: Uint8Array, start: number, end: number): void {
    if (end - start > this.bytes.length) {
      this.bytes = new Uint8Array(2 * (end - start))
      this.#offsets = new Uint32Array(this.bytes.length + 1)
    }
    const { bytes } = this
    const offsets = this.#offsets
    let size = 0
    // Where the last mark is. No escape begins more than MAX_BYTES before the end of the text.
    let mark = -MAX_BYTES
    for (let at = start; at < end; at++) {
      const byte = source[at] ?? 0
      if (isMark(byte)) mark = size
      offsets[size] = at
      bytes[size++] = byte
      // The character that replaces an escape can complete another escape.
      while (size - mark <= MAX_BYTES) {
        const found = escapeBefore(bytes, size, source[at + 1])
        if (found === null) break
        size = found.start
        if (isMark(found.byte)) mark = size
        bytes[size++] = found.byte
      }
    }
    offsets[size] = end
    this.length = size
    for (const at of dotsIn(bytes.subarray(0, size))) bytes[at] = DOT
  }

  /** Where a byte of this text starts in the source. */
  offsetOf(index: number): number {
    return this.#offsets[index] ?? 0
  }
}
