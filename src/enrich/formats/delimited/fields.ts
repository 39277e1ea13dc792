const QUOTE = 0x22
const SPACE = 0x20
const TAB = 0x09

/**
 * Finds the fields of one record of a delimited file (RFC 4180) and holds their byte offsets.
 *
 * A quote opens a quoted field only as the field's first byte. The next quote that is not doubled closes it. Quotes
 * anywhere else are text, and so is what follows a closing quote up to the delimiter: programs that break the RFC
 * write such fields, and they are read, not refused.
 */
export class RecordFields {
  /** After `read` returns `false`: what is wrong with the record. */
  fault = ''
  /** Fields of the last record. */
  count = 0
  /** Where the value is that `findValue` found last. */
  valueStart = 0
  valueEnd = 0
  readonly #delimiter: number
  readonly #quotes: boolean
  readonly #most: number
  #starts: Int32Array
  #ends: Int32Array

  /**
   * @param quotes whether fields can be quoted; if not, quotes are text
   * @param most fields whose offsets are kept; further fields are only counted
   */
  constructor(delimiter: number, quotes: boolean, most: number) {
    this.#delimiter = delimiter
    this.#quotes = quotes
    this.#most = most
    this.#starts = new Int32Array(Math.min(most, 64))
    this.#ends = new Int32Array(Math.min(most, 64))
  }

  /** Reads the record in `bytes[start, end)`. @returns `false` when a quoted field is not closed */
  read(bytes: Uint8Array, start: number, end: number): boolean {
    const delimiter = this.#delimiter
    let count = 0
    for (let at = start; ; at++) {
      const fieldStart = at
      if (bytes[at] === QUOTE && at < end && this.#quotes) {
        at = endOfQuotes(bytes, at, end)
        if (at === -1) {
          this.fault = `the quote that opens its field ${count + 1} is not closed`
          return false
        }
      }
      while (at < end && bytes[at] !== delimiter) at++
      if (count < this.#most) {
        if (count === this.#starts.length) this.#grow()
        this.#starts[count] = fieldStart
        this.#ends[count] = at
      }
      count++
      if (at >= end) break
    }
    this.count = count
    return true
  }

  /** Where a field begins, its opening quote included. */
  start(field: number): number {
    return this.#starts[field] ?? 0
  }

  /** Where a field ends, its closing quote included. */
  end(field: number): number {
    return this.#ends[field] ?? 0
  }

  /**
   * Finds the value of a field, without its quotes and without spaces and tabs around it. Doubled quotes in it stay
   * doubled, because addresses and times have none.
   */
  findValue(bytes: Uint8Array, field: number): void {
    let start = this.start(field)
    let end = this.end(field)
    if (this.#quotes && end - start >= 2 && bytes[start] === QUOTE && bytes[end - 1] === QUOTE) {
      start++
      end--
    }
    while (start < end && isBlank(bytes[start])) start++
    while (end > start && isBlank(bytes[end - 1])) end--
    this.valueStart = start
    this.valueEnd = end
  }

  #grow(): void {
    const size = Math.min(this.#most, this.#starts.length * 2)
    const [starts, ends] = [new Int32Array(size), new Int32Array(size)]
    starts.set(this.#starts)
    ends.set(this.#ends)
    this.#starts = starts
    this.#ends = ends
  }
}

/** @param start index of the opening quote. @returns the index after the closing quote, or -1 */
function endOfQuotes(bytes: Uint8Array, start: number, end: number): number {
  for (let at = start + 1; at < end; at++) {
    if (bytes[at] !== QUOTE) continue
    if (at + 1 >= end || bytes[at + 1] !== QUOTE) return at + 1
    at++
  }
  return -1
}

function isBlank(byte: number | undefined): boolean {
  return byte === SPACE || byte === TAB
}
