// What the fused loops of formats have in common.
//
// A fused loop enriches the usual lines of a format in an arena, which holds a slice of the input, the output and the texts of
// locations. For each line it does in one pass what a LineFormat does in several calls: it reads the address and the time,
// finds the location, and copies line and location to the output. It stops at every line that is unusual in any way. The
// LineFormat reads that line, and is what tests compare the loop with.
import type { Arena } from '../../bytes/arena.ts'
import { FAILURE_REASONS } from '../counting/counts.ts'
import type { LineLocator } from '../locating/line-locator.ts'

/** Bytes of input in the arena. Input and output together fit in the second-level cache of most processors. */
export const INPUT_BYTES = 131_072
/** Loops read and write whole words, so up to this many bytes after the end of a text. */
export const SPARE_BYTES = 64
/** Where the output begins in the arena. */
export const OUTPUT_START = INPUT_BYTES + SPARE_BYTES
const OUTPUT_BYTES = 524_288
/** Where it ends. */
export const OUTPUT_END = OUTPUT_START + OUTPUT_BYTES
/** The fixed regions of the arena. */
const FIXED_BYTES = OUTPUT_END + SPARE_BYTES

const DOT = 0x2e
const ZERO = 0x30

/** Reads lines, and writes them with their locations. */
export abstract class FusedLoop {
  /** Where the output of the last run ends in the arena. */
  outputEnd = OUTPUT_START
  /** Lines with a location in the last run. Each of them was counted by the locator too. */
  resolved = 0
  /** Lines without a location in the last run, by index in `FAILURE_REASONS`. */
  readonly failed = new Int32Array(FAILURE_REASONS.length)
  readonly arena: Arena
  protected readonly locator: LineLocator
  /** The address that {@link readIPv4} read. */
  protected ipv4 = 0

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

  /**
   * Reads an IPv4 address in the one spelling that `Address` accepts, up to the first byte that is neither a digit nor a
   * dot.
   *
   * @returns the index of that byte, or -1 if it is another text
   */
  protected readIPv4(bytes: Uint8Array, start: number): number {
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
        this.ipv4 = address
        // A digit or a dot would be a part of a longer text.
        return digit === DOT - ZERO || (digit >= 0 && digit <= 9) ? -1 : at
      }
      if (digit !== DOT - ZERO) return -1
      at++
    }
  }
}
