// Characters that are written as escapes: an address can be spelled with them.

const HASH = 0x23
const PERCENT = 0x25
const ZERO = 0x30
const BACKSLASH = 0x5c
const LOWER_U = 0x75
const LOWER_X = 0x78
/** Bytes of `\u002e`, the longest escape. */
const MOST_BYTES = 6

/** What begins an escape. */
export const MARKS = [PERCENT, BACKSLASH, HASH] as const

/**
 * The bytes of an escape at `at`: `%2E` in a URL, `\u002e` in JSON, `\x2e` as servers write it, and `#056` as rsyslog does.
 *
 * @returns 0 when there is none, or its character is not one byte
 */
export function escapeLength(bytes: Uint8Array, at: number, end: number): number {
  switch (bytes[at]) {
    case PERCENT:
      return areDigits(bytes, at + 1, at + 3, end, 16) ? 3 : 0
    case BACKSLASH:
      if (bytes[at + 1] === LOWER_X) return areDigits(bytes, at + 2, at + 4, end, 16) ? 4 : 0
      if (bytes[at + 1] !== LOWER_U || bytes[at + 2] !== ZERO || bytes[at + 3] !== ZERO) return 0
      return areDigits(bytes, at + 4, at + MOST_BYTES, end, 16) ? MOST_BYTES : 0
    case HASH:
      return bytes[at + 1] === ZERO && areDigits(bytes, at + 1, at + 4, end, 8) ? 4 : 0
    default:
      return 0
  }
}

/** The byte of an escape, whose digits are its last two. */
export function escapedByte(bytes: Uint8Array, at: number, length: number): number {
  const base = bytes[at] === HASH ? 8 : 16
  return digitOf(bytes[at + length - 2]) * base + digitOf(bytes[at + length - 1])
}

function areDigits(bytes: Uint8Array, from: number, to: number, end: number, base: number): boolean {
  if (to > end) return false
  for (let at = from; at < to; at++) if (digitOf(bytes[at]) >= base) return false
  return true
}

const NO_DIGIT = 99

function digitOf(byte = 0): number {
  if (byte >= ZERO && byte <= ZERO + 9) return byte - ZERO
  const letter = (byte | 0x20) - 0x61
  return letter >= 0 && letter < 6 ? letter + 10 : NO_DIGIT
}

/** A text without its escapes, and where each of its bytes was. */
export class SpelledText {
  bytes = new Uint8Array(1024)
  length = 0
  #offsets = new Uint32Array(1025)

  /** Reads `source[start, end)`. A backslash before a backslash is a character, and no escape follows it. */
  read(source: Uint8Array, start: number, end: number): void {
    if (end - start > this.bytes.length) {
      this.bytes = new Uint8Array(2 * (end - start))
      this.#offsets = new Uint32Array(this.bytes.length + 1)
    }
    const { bytes } = this
    const offsets = this.#offsets
    let size = 0
    for (let at = start; at < end; ) {
      const length = escapeLength(source, at, end)
      offsets[size] = at
      bytes[size++] = length === 0 ? (source[at] ?? 0) : escapedByte(source, at, length)
      if (length === 0 && source[at] === BACKSLASH && source[at + 1] === BACKSLASH && at + 1 < end) {
        offsets[size] = at + 1
        bytes[size++] = BACKSLASH
        at++
      }
      at += length === 0 ? 1 : length
    }
    offsets[size] = end
    this.length = size
  }

  /** Where a byte of this text starts in the source. */
  offsetOf(index: number): number {
    return this.#offsets[index] ?? 0
  }
}
