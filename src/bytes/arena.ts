import { utf8Encoder } from '../realm.ts'

/** Bytes of a new arena. */
const FIRST_BYTES = 65_536
/** The arena grows in large steps: memory takes no room until it is written, but each step copies all texts. */
const GROWTH = 8
/** UTF-8 has at most three bytes for each UTF-16 code unit. */
const MAX_UNIT_BYTES = 3

const MINUS = 0x2d
const POINT = 0x2e
const ZERO = 0x30
/** A sign, a point, and a digit for each decimal or each of the ten digits. */
const MAX_DECIMAL_BYTES = 32

const encoder = /* @__PURE__ */ utf8Encoder()

/**
 * One buffer with fixed regions at its start, for input and output, and a region of texts after them that grows. A copy
 * within one buffer is a `copyWithin`, which takes half as long as a `set` of a `subarray`: no object is made for it.
 *
 * To grow, the arena is copied into a larger buffer. Positions stay the same, but `bytes` and `view` are then others.
 */
export class Arena {
  bytes: Uint8Array
  view: DataView
  /** Where the texts end. */
  end: number
  #start = 0

  constructor() {
    this.bytes = new Uint8Array(FIRST_BYTES)
    this.view = new DataView(this.bytes.buffer)
    this.end = 0
  }

  /** Makes room for fixed regions at the start. Call it before there are texts. */
  fix(size: number): void {
    this.reserve(size)
    this.#start = size
    this.end = size
  }

  /** Bytes of all texts. */
  get textBytes(): number {
    return this.end - this.#start
  }

  /** Removes all texts. */
  clear(): void {
    this.end = this.#start
  }

  /** Makes room after the texts. @param size in bytes */
  reserve(size: number): void {
    const needed = this.end + size
    if (needed <= this.bytes.length) return
    const larger = new Uint8Array(Math.max(needed, GROWTH * this.bytes.length))
    larger.set(this.bytes)
    this.bytes = larger
    this.view = new DataView(larger.buffer)
  }

  /** Adds a text after the others. */
  addText(text: string): void {
    this.reserve(text.length * MAX_UNIT_BYTES)
    const { bytes } = this
    let at = this.end
    for (let index = 0; index < text.length; index++) {
      const code = text.charCodeAt(index)
      if (code > 0x7f) {
        // A surrogate is not separated from the one before it, which is above 0x7f too.
        at += encoder.encodeInto(text.slice(index), bytes.subarray(at)).written
        break
      }
      bytes[at++] = code
    }
    this.end = at
  }

  /** Adds a copy of `bytes[start, end)` after the texts. */
  addCopy(start: number, end: number): void {
    this.reserve(end - start)
    this.bytes.copyWithin(this.end, start, end)
    this.end += end - start
  }

  /** Adds a few bytes after the texts. */
  addBytes(text: Uint8Array): void {
    this.reserve(text.length)
    const { bytes, end } = this
    for (let at = 0; at < text.length; at++) bytes[end + at] = text[at] ?? 0
    this.end = end + text.length
  }

  /**
   * Adds a decimal number after the texts, as `String` writes it without an exponent.
   *
   * @param units the number times a power of ten, an integer of at most 31 bits
   * @param decimals the exponent of that power
   */
  addDecimal(units: number, decimals: number): void {
    this.reserve(MAX_DECIMAL_BYTES)
    const { bytes } = this
    let rest = Math.abs(units)
    let point = decimals
    for (; point > 0 && rest % 10 === 0; point--) rest /= 10
    let digits = 1
    for (let power = 10; power <= rest; power *= 10) digits++
    if (digits <= point) digits = point + 1
    const end = this.end + digits + (point > 0 ? 1 : 0) + (units < 0 ? 1 : 0)
    let at = end
    for (let digit = 0; digit < digits; digit++) {
      if (digit === point && point > 0) bytes[--at] = POINT
      bytes[--at] = ZERO + (rest % 10)
      rest = Math.floor(rest / 10)
    }
    if (units < 0) bytes[--at] = MINUS
    this.end = end
  }
}
