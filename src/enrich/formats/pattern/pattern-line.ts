import { eventTime, Timestamp } from '../../locating/event-time.ts'
import type { Pattern } from './directive.ts'

/** The member with the text after the last field of the pattern. */
export const REST = 'rest'

const SPACE = 0x20
const DASH = 0x2d
const BACKSLASH = 0x5c

/** Finds the fields of one line by its pattern, and holds their byte offsets. */
export class PatternLine {
  /** After `read` returns `false`: what is wrong with the line. */
  fault = ''
  readonly starts: Int32Array
  readonly ends: Int32Array
  /** Where the text begins that follows the last field of the pattern; the end of the line if there is none. */
  rest = 0
  readonly #pattern: Pattern
  /** The text before each field, and the one after the last. */
  readonly #texts: readonly Uint8Array[]
  /** Whether each field stands in quotes, in which a backslash escapes. */
  readonly #isQuoted: readonly boolean[]

  constructor(pattern: Pattern) {
    const encoder = new TextEncoder()
    this.#pattern = pattern
    const texts = [...pattern.fields.map(({ before }) => before), pattern.after]
    this.#texts = texts.map((text) => encoder.encode(text))
    this.#isQuoted = pattern.fields.map(
      ({ before }, index) => before.endsWith('"') && (texts[index + 1] ?? '').startsWith('"'),
    )
    this.starts = new Int32Array(pattern.fields.length)
    this.ends = new Int32Array(pattern.fields.length)
  }

  /** @returns whether `bytes[start, end)` is a line of the pattern */
  read(bytes: Uint8Array, start: number, end: number): boolean {
    const count = this.starts.length
    let at = start
    let isBare = false
    for (let field = 0; field < count; field++) {
      const isQuoted = this.#isQuoted[field] === true
      let valueStart = this.#after(bytes, at, end, field, isBare)
      let valueEnd = -1
      if (valueStart === -1 && isQuoted) {
        valueStart = this.#bareDash(bytes, at, end, field, isBare)
        if (valueStart !== -1) valueEnd = valueStart + 1
      }
      if (valueStart === -1) return this.#bad(field)
      isBare = valueEnd !== -1
      if (!isBare) valueEnd = this.#endOfValue(bytes, valueStart, end, field + 1, isQuoted)
      if (valueEnd === -1) return this.#bad(field + 1)
      this.starts[field] = valueStart
      this.ends[field] = valueEnd
      at = valueEnd
    }
    const after = this.#after(bytes, at, end, count, isBare)
    this.rest = after
    return after === end || (this.#pattern.grows && bytes[after] === SPACE) || this.#bad(count)
  }

  /** Whether a field is empty or `-`. */
  isMissing(bytes: Uint8Array, field: number): boolean {
    const start = this.starts[field] ?? 0
    const size = (this.ends[field] ?? 0) - start
    return size === 0 || (size === 1 && bytes[start] === DASH)
  }

  /**
   * @param isBare whether the quote that the text begins with is left out
   * @param left bytes at the end of the text that are left out
   * @returns the index after the text number `text`, which starts at `at`, or -1
   */
  #after(bytes: Uint8Array, at: number, end: number, text: number, isBare: boolean, left = 0): number {
    const expected = this.#texts[text] ?? new Uint8Array(0)
    let from = at
    for (let index = isBare ? 1 : 0; index < expected.length - left; index++) {
      if (from >= end || bytes[from] !== expected[index]) return -1
      from++
      if (expected[index] === SPACE && this.#pattern.pads) while (from < end && bytes[from] === SPACE) from++
    }
    return from
  }

  /** The index of `-` where the writer left out the quotes around a missing value, as S3 does; -1 if there are quotes. */
  #bareDash(bytes: Uint8Array, at: number, end: number, text: number, isBare: boolean): number {
    const dash = this.#pattern.grows ? this.#after(bytes, at, end, text, isBare, 1) : -1
    return bytes[dash] === DASH && (dash + 1 === end || bytes[dash + 1] === SPACE) ? dash : -1
  }

  /** The end of the value at `start`. @returns where the text number `text` begins, which follows the value, or -1 */
  #endOfValue(bytes: Uint8Array, start: number, end: number, text: number, isQuoted: boolean): number {
    const [first] = this.#texts[text] ?? []
    if (first === undefined) {
      // The last field is followed by nothing, or by a space and unknown fields.
      const space = this.#pattern.grows ? bytes.indexOf(SPACE, start) : -1
      return space === -1 || space > end ? end : space
    }
    for (let at = start; at < end; at++) {
      if (isQuoted && bytes[at] === BACKSLASH) at++
      else if (bytes[at] === first && this.#after(bytes, at, end, text, false) !== -1) return at
      // The next value can be a dash without its quotes.
      else if (
        bytes[at] === first &&
        this.#isQuoted[text] &&
        this.#bareDash(bytes, at, end, text, false) !== -1
      )
        return at
    }
    return -1
  }

  #bad(text: number): false {
    const name = this.#pattern.fields[text - 1]?.name
    const expected = JSON.stringify(this.#pattern.fields[text]?.before ?? this.#pattern.after)
    this.fault =
      name === undefined ? `it does not begin with ${expected}` : `no ${expected} follows its field ${name}`
    return false
  }
}

/** The instant of a value: that of access logs, ISO 8601, or a number since 1970. */
export class PatternTime {
  readonly #timestamp = new Timestamp()

  /** @returns milliseconds since 1970, or `NO_TIME` */
  read(bytes: Uint8Array, start: number, end: number): number {
    if (this.#timestamp.read(bytes, start, end) === end) return this.#timestamp.instant
    return eventTime(bytes, start, end)
  }
}
