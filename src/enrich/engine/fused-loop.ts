// What the fused loops of formats have in common.
//
// A fused loop enriches the usual lines of a format in an arena, which holds a slice of the input, the output and the texts of
// locations. For each line it does in one pass what a LineFormat does in several calls: it reads the address and the time,
// finds the location, and copies line and location to the output. It stops at every line that is unusual in any way. The
// LineFormat reads that line, and is what tests compare the loop with.
import type { Arena } from '../../bytes/arena.ts'
import { FAILURE_REASONS } from '../counting/counts.ts'
import { NOT_IPV4 } from '../locating/address-cache.ts'
import type { LineCounter } from '../locating/line-counter.ts'
import { FIRST_LOCATION, type LineLocator } from '../locating/line-locator.ts'

/** Bytes of input in the arena. Input and output together fit in the second-level cache of most processors. */
export const INPUT_BYTES = 131_072
/** Loops read and write whole words, so up to this many bytes after the end of a text. */
export const SPARE_BYTES = 64
/** Where the output begins in the arena. */
export const OUTPUT_START = INPUT_BYTES + SPARE_BYTES
/** The most output of one run. */
export const OUTPUT_BYTES = 524_288
/** Where it ends. */
export const OUTPUT_END = OUTPUT_START + OUTPUT_BYTES
/** The fixed regions of the arena. A line of an access log is written as an object before it is known whether there is room for it. */
const FIXED_BYTES = OUTPUT_END + INPUT_BYTES + SPARE_BYTES

const SPACE = 0x20
const QUOTE = 0x22
const COMMA = 0x2c
const DOT = 0x2e
const ZERO = 0x30
const BACKSLASH = 0x5c
const DELETE = 0x7f

/** Reads lines, and writes them with their locations. */
export abstract class FusedLoop {
  /** Where the output of the last run ends in the arena. */
  outputEnd = OUTPUT_START
  /** Lines with a location in the last run. */
  resolved = 0
  /** Lines without a location in the last run, by index in `FAILURE_REASONS`. */
  readonly failed = new Int32Array(FAILURE_REASONS.length)
  /** Lines without a time of their own in the last run. */
  withoutTime = 0
  /** Counts the lines; set before the first one. */
  counter: LineCounter | null = null
  readonly arena: Arena
  protected readonly locator: LineLocator
  /**
   * The own time of the line in milliseconds since 1970, or `NaN`. V8 makes an object of each number like this that is
   * passed to a function, and of none that is written to a field.
   */
  protected instant = Number.NaN
  /** The number of the address that {@link hostAt} or {@link addressIn} read; see `LineLocator.numberOf`. */
  protected number = 0
  /** Whether that is an IPv4 address in its usual spelling. */
  protected isIPv4 = false
  /** Where {@link findText} found the text of the location in the arena, and its size: 0 without a location. */
  protected text = 0
  protected textSize = 0
  #ipv4 = 0

  /** @param locator one that has located nothing yet */
  constructor(locator: LineLocator) {
    this.locator = locator
    this.arena = locator.texts.arena
    this.arena.fix(FIXED_BYTES)
  }

  /**
   * Enriches whole lines, which end with line feeds, from `arena.bytes[start, end)`. Writes to the output from its start.
   *
   * @returns the start of the first line that it did not enrich because the line is unusual or the output is full; `end`
   *   if there is none
   */
  abstract run(start: number, end: number): number

  /** Begins a run. */
  protected begin(): void {
    this.resolved = 0
    this.withoutTime = 0
    this.failed.fill(0)
  }

  /** Finds the text of the location of `number` at `instant`. The arena may grow. @returns whether there is a location */
  protected findText(): boolean {
    const { texts } = this.locator
    this.textSize = 0
    if (this.number < FIRST_LOCATION) return false
    texts.instant = this.locator.instantOr(this.instant)
    this.text = texts.startOf(this.number - FIRST_LOCATION)
    this.textSize = texts.sizeOf(this.number - FIRST_LOCATION)
    return true
  }

  /** Whether the output has room for so many bytes from `to`, and some more. */
  protected hasRoom(to: number, size: number): boolean {
    return to + size + SPARE_BYTES <= OUTPUT_END
  }

  /** Counts a line whose own time is `instant`. */
  protected count(number: number): void {
    if (Number.isNaN(this.instant)) this.withoutTime++
    if (number < FIRST_LOCATION) this.failed[number] = (this.failed[number] ?? 0) + 1
    else this.resolved++
    const { counter } = this
    if (counter?.isOfLocations === true) counter.use(number)
    else if (counter !== null) {
      this.locator.take(number, this.instant, this.isIPv4 ? this.#ipv4 : NOT_IPV4)
      counter.count()
    }
  }

  /** @returns where the text ends */
  protected putText(bytes: Uint8Array, text: Uint8Array, to: number): number {
    let after = to
    for (let at = 0; at < text.length; at++) bytes[after++] = text[at] ?? 0
    return after
  }

  /** Writes the text that {@link findText} found. @returns where it ends */
  protected putLocation(bytes: Uint8Array, to: number): number {
    bytes.copyWithin(to, this.text, this.text + this.textSize)
    return to + this.textSize
  }

  /** Writes the canonical text of the address last located. @returns where it ends */
  protected putCanonical(bytes: Uint8Array, to: number): number {
    const { ip, ipStart, ipEnd } = this.locator.cache
    let after = to
    for (let at = ipStart; at < ipEnd; at++) bytes[after++] = ip[at] ?? 0
    return after
  }

  /**
   * Reads the address before a space or another separator, and sets `number` and `isIPv4`. The arena may grow.
   *
   * @returns where the separator is; -1 if the text before it is not a plain word
   */
  protected hostAt(bytes: Uint8Array, start: number, separator = SPACE): number {
    let end = this.#readIPv4(bytes, start)
    // 255.255.255.255 is a text here too.
    this.isIPv4 = end !== -1 && bytes[end] === separator && this.#ipv4 !== NOT_IPV4
    if (this.isIPv4) {
      this.number = this.locator.numberOfIPv4(this.#ipv4)
      return end
    }
    for (end = start; bytes[end] !== separator; end++) {
      const byte = bytes[end] ?? 0
      if (byte <= SPACE || byte >= DELETE || byte === QUOTE || byte === BACKSLASH) return -1
    }
    // A space after a comma does not end a list.
    if (end === start || bytes[end - 1] === COMMA) return -1
    this.number = this.locator.numberOf(bytes, start, end)
    return end
  }

  /** Reads the address that is `bytes[start, end)`, or another text, and sets `number` and `isIPv4`. The arena may grow. */
  protected addressIn(bytes: Uint8Array, start: number, end: number): void {
    const { locator } = this
    this.isIPv4 = locator.isPlain && this.#readIPv4(bytes, start) === end && this.#ipv4 !== NOT_IPV4
    this.number = this.isIPv4 ? locator.numberOfIPv4(this.#ipv4) : locator.numberOf(bytes, start, end)
  }

  /** Writes the canonical text of the address that was last read, which is `bytes[start, end)`. @returns where it ends */
  protected putAddress(bytes: Uint8Array, view: DataView, start: number, end: number, to: number): number {
    if (this.isIPv4) {
      // At most 15 bytes. Words that begin with ASCII are no NaN, which V8 could change.
      view.setFloat64(to, view.getFloat64(start))
      view.setFloat64(to + 8, view.getFloat64(start + 8))
      return to + end - start
    }
    return this.putCanonical(bytes, to)
  }

  /**
   * Reads an IPv4 address in the one spelling that `Address` accepts, up to the first byte that is neither a digit nor a
   * dot.
   *
   * @returns the index of that byte, or -1 if it is another text
   */
  #readIPv4(bytes: Uint8Array, start: number): number {
    let address = 0
    let dots = 0
    for (let at = start; ; dots++) {
      const first = (bytes[at] ?? 0) - ZERO
      if (first < 0 || first > 9) return -1
      let octet = first
      let digit = (bytes[++at] ?? 0) - ZERO
      if (digit >= 0 && digit <= 9) {
        octet = octet * 10 + digit
        digit = (bytes[++at] ?? 0) - ZERO
        if (digit >= 0 && digit <= 9) {
          octet = octet * 10 + digit
          digit = (bytes[++at] ?? 0) - ZERO
        }
        if (first === 0 || octet > 255) return -1
      }
      address = (address << 8) | octet
      if (dots === 3) {
        this.#ipv4 = address
        // A digit or a dot would be a part of a longer text.
        return digit === DOT - ZERO || (digit >= 0 && digit <= 9) ? -1 : at
      }
      if (digit !== DOT - ZERO) return -1
      at++
    }
  }
}
