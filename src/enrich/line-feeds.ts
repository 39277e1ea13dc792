import { viewOf } from './words.ts'

const LINE_FEED = 0x0a

/**
 * Finds the line feeds of some bytes, four bytes at a step: on lines as short as those of logs that takes half as
 * long as a call of `indexOf` for each.
 */
export class LineFeeds {
  readonly #bytes: Uint8Array
  readonly #view: DataView

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes
    this.#view = viewOf(bytes)
  }

  /** @returns the index of the first in `[start, end)`, or -1 */
  next(start: number, end: number): number {
    const view = this.#view
    let at = start
    for (const last = end - 4; at <= last; at += 4) {
      const word = view.getInt32(at, true) ^ 0x0a0a0a0a
      // Whether a byte of the word is 0 (Warren, Hacker's Delight, section 6-1).
      if (((word - 0x01010101) & ~word & 0x80808080) !== 0) break
    }
    const bytes = this.#bytes
    for (; at < end; at++) if (bytes[at] === LINE_FEED) return at
    return -1
  }

  /** How many lines begin in the bytes. */
  lines(): number {
    const end = this.#bytes.length
    let lines = 0
    for (let start = 0; start < end; lines++) {
      const lineFeed = this.next(start, end)
      start = lineFeed === -1 ? end : lineFeed + 1
    }
    return lines
  }
}
