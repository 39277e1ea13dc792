import { RowSet } from '../../location/tables.ts'

/** A group, and the four words of an address. */
const WIDTH = 5
/** Limit of the pairs that are kept: they take up to 120 MB. */
export const MAX_PAIRS = 2 ** 21

/**
 * Counts the distinct addresses of groups: exactly, until there are {@link MAX_PAIRS} pairs of a group and an address. Then
 * it keeps only a sample, half of the addresses at first and half of those whenever the pairs reach the limit again. All groups have
 * the same sample, which depends on the addresses alone, so that the counts of several threads can be added up.
 */
export class DistinctAddresses {
  /** One of 2 to the power of this many addresses is in the sample. */
  halvings = 0
  readonly #maxPairs: number
  #pairs = new RowSet(WIDTH)
  readonly #row = new Int32Array(WIDTH)

  constructor(maxPairs = MAX_PAIRS) {
    this.#maxPairs = maxPairs
  }

  /** The pairs, row after row: a group, and the four words of an address. */
  get pairs(): Int32Array {
    return this.#pairs.rows.subarray(0, this.#pairs.size * WIDTH)
  }

  /** @param words holds the four words of the address from index `at` on; an IPv4 address is mapped to IPv6 */
  add(group: number, words: Int32Array, at = 0): void {
    const row = this.#row
    row[0] = group
    for (let word = 0; word < 4; word++) row[word + 1] = words[at + word] ?? 0
    if (this.halvings > 0 && !isSampled(row, 1, this.halvings)) return
    this.#pairs.add(row)
    while (this.#pairs.size >= this.#maxPairs) this.halve()
  }

  /** Keeps half of the sample. */
  halve(): void {
    this.halvings++
    const { pairs } = this
    this.#pairs = new RowSet(WIDTH)
    for (let at = 0; at < pairs.length; at += WIDTH) {
      if (isSampled(pairs, at + 1, this.halvings)) this.#pairs.add(pairs.subarray(at, at + WIDTH))
    }
  }

  /** Adds the pairs of another one, whose groups have the numbers of `groups` here; -1 for those to leave out. */
  merge(pairs: Int32Array, halvings: number, groups: Int32Array): void {
    while (this.halvings < halvings) this.halve()
    for (let at = 0; at < pairs.length; at += WIDTH) {
      const group = groups[pairs[at] ?? 0] ?? -1
      if (group !== -1) this.add(group, pairs, at + 1)
    }
  }

  /** The distinct addresses of each group: estimates if there were halvings. */
  counts(groups: number): Float64Array {
    const counts = new Float64Array(groups)
    const { pairs } = this
    for (let at = 0; at < pairs.length; at += WIDTH) {
      const group = pairs[at] ?? 0
      counts[group] = (counts[group] ?? 0) + 2 ** this.halvings
    }
    return counts
  }
}

/** Whether an address is in a sample: the first bits of its hash are 0. */
function isSampled(words: Int32Array, at: number, halvings: number): boolean {
  let hash = 0x2545f491
  for (let word = at; word < at + 4; word++) {
    hash = Math.imul(hash ^ (words[word] ?? 0), 0x85ebca6b)
    hash ^= hash >>> 13
    hash = Math.imul(hash, 0xc2b2ae35)
    hash ^= hash >>> 16
  }
  return hash >>> (32 - halvings) === 0
}
