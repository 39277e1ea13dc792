const QUOTE = 0x22
const LINE_FEED = 0x0a
const CARRIAGE_RETURN = 0x0d

/** What a plan is made from, where the first lines are not longer: plenty to guess by. Bytes. */
export const SAMPLE_BYTES = 256 * 1024

/** A header and a record, or the line before the header and the header. */
const WHOLE_LINES = 2

/**
 * How much of an input a plan is made from: 256 KiB, and more where its first two lines that are not empty are longer,
 * as a table of very many columns has them. Line feeds between quotes end no line.
 */
export class SampleSize {
  /** Bytes that came. */
  length = 0
  readonly #most: number
  #lines = 0
  #isQuoted = false
  #isEmpty = true
  /** Where the last of the lines ends. */
  #end = 0

  /** @param maxLineBytes bound of a line: longer ones are not waited for */
  constructor(maxLineBytes: number) {
    this.#most = maxLineBytes + SAMPLE_BYTES
  }

  /** Bytes that a plan should have, as far as what came tells. */
  get wanted(): number {
    return this.#lines === WHOLE_LINES ? Math.max(SAMPLE_BYTES, Math.min(this.#end, this.#most)) : this.#most
  }

  add(chunk: Uint8Array): void {
    for (let at = 0; at < chunk.length && this.#lines < WHOLE_LINES; at++) {
      const byte = chunk[at]
      if (byte === LINE_FEED && !this.#isQuoted) {
        if (!this.#isEmpty) this.#lines++
        this.#isEmpty = true
        this.#end = this.length + at + 1
      } else if (byte === QUOTE) this.#isQuoted = !this.#isQuoted
      else if (byte !== CARRIAGE_RETURN) this.#isEmpty = false
    }
    this.length += chunk.length
  }
}
