import { CARRIAGE_RETURN, LINE_FEED, SPACE } from '../../ascii.ts'
import { lineEndIn, type RecordEnds } from '../../reading/record-ends.ts'
import { ByteFinder } from '../../swar.ts'

const CAPITAL_P = 0x50

/** Where the tag of a line is: after a time and the name of a stream. */
const TAG_WORD = 2
const MAX_TAG_AT = 64

/**
 * Finds lines that a container runtime has cut into parts: each part but the last has the tag `P`. A line whose parts together
 * exceed the bound is not joined: each part is then a record.
 */
export class PartialLines implements RecordEnds {
  readonly endWithLines = true
  spansLines = false
  contentStart = 0
  readonly #maxBytes: number
  #bytes: Uint8Array = new Uint8Array(0)
  #lineFeeds = new ByteFinder(LINE_FEED, this.#bytes)
  /** Parts that start before this are records. */
  #plainUntil = 0

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  reset(bytes: Uint8Array): void {
    this.#bytes = bytes
    this.#lineFeeds = new ByteFinder(LINE_FEED, bytes)
    this.#plainUntil = 0
  }

  mayCut(at: number): boolean {
    return at >= this.#plainUntil
  }

  next(start: number, end: number, isLast: boolean): number {
    this.contentStart = start
    this.spansLines = false
    const first = this.#lineFeeds.next(start, end)
    if (start < this.#plainUntil) return first === -1 && isLast ? end : first
    let last = first
    for (let at = start; last !== -1 && this.isPart(this.#bytes, at, last); ) {
      at = last + 1
      last = this.#lineFeeds.next(at, end)
      const size = (last === -1 ? end : last) - start
      if (size <= this.#maxBytes) continue
      this.#plainUntil = at
      return first
    }
    this.spansLines = last !== first
    return last === -1 && isLast ? end : last
  }

  passOver(bytes: Uint8Array, from: number, until: number): number {
    return lineEndIn(bytes, from, until)
  }

  /** Whether the line that begins at `start` is a part that others follow. */
  isPart(bytes: Uint8Array, start: number, end: number): boolean {
    const most = Math.min(end, start + MAX_TAG_AT)
    let words = 0
    for (let at = start; at < most; at++) {
      if (bytes[at] === LINE_FEED) return false
      if (bytes[at] === SPACE && ++words === TAG_WORD) return bytes[at + 1] === CAPITAL_P
    }
    return false
  }

  /** The end of the line at `start`, without its line end. */
  endOfLine(bytes: Uint8Array, start: number, end: number): number {
    const lineFeed = bytes.indexOf(LINE_FEED, start)
    if (lineFeed === -1 || lineFeed >= end) return end
    return lineFeed > start && bytes[lineFeed - 1] === CARRIAGE_RETURN ? lineFeed - 1 : lineFeed
  }

  /** The start of the line after the one that ends at `end`. */
  nextLine(bytes: Uint8Array, lineEnd: number, end: number): number {
    return Math.min(
      bytes[lineEnd] === CARRIAGE_RETURN ? lineEnd + 2 : lineEnd + 1,
      Math.max(end, lineEnd + 1),
    )
  }
}
