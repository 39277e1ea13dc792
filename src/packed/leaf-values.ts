// The values of a block's leaves. A token says how recently the block used the value of its leaf.
import { FAR_VALUE, LEAVES_PER_BLOCK, NEW_VALUE, RECENCY_MASK, RECENT_VALUES } from './format.ts'

/** After this many searches, the next one decodes all values of the block, which takes as long as eight searches. */
const MAX_TRACED = 3

/** What values are decoded from. */
interface Streams {
  readonly tokens: Uint8Array
  readonly farValues: Uint8Array
  readonly newValues: Uint32Array
}

/**
 * The values of a block. Most processes look up few addresses of a block, so the first values are traced back to where
 * they were new, which takes less time than to decode all.
 */
export class LeafValues {
  #decoded: Uint32Array | null = null
  readonly #streams: Streams
  readonly #fault: (why: string) => Error
  #traced = 0

  /** @param fault makes the error for a recency that is too great */
  constructor(streams: Streams, fault: (why: string) => Error) {
    this.#streams = streams
    this.#fault = fault
  }

  /** Whether the next search should decode all values. */
  get isTraced(): boolean {
    return this.#traced >= MAX_TRACED
  }

  at(leaf: number): number {
    if (this.#decoded === null) {
      if (!this.isTraced) return this.trace(leaf)
      this.#decoded = this.all()
    }
    return this.#decoded[leaf] ?? 0
  }

  /**
   * Decodes the values of all leaves.
   *
   * @param values where they go
   */
  all(values: Uint32Array = new Uint32Array(this.#streams.tokens.length)): Uint32Array {
    this.#decode(values)
    return values
  }

  /** A function that ends with its loop, as those of leaf-block.ts do. */
  #decode(values: Uint32Array): void {
    const { tokens, farValues, newValues } = this.#streams
    recent.clear()
    let newAt = 0
    let farAt = 0
    for (let i = 0; i < tokens.length; i++) {
      let recency = (tokens[i] ?? 0) & RECENCY_MASK
      if (recency === NEW_VALUE) {
        values[i] = recent.add(newValues[newAt++] ?? 0)
        continue
      }
      // Most often a leaf has the value of the one before it: the list stays as it is.
      if (recency === 1 && i > 0) {
        values[i] = values[i - 1] ?? 0
        continue
      }
      if (recency === FAR_VALUE) recency += farValues[farAt++] ?? 0
      if (recency > recent.count) throw this.#tooGreat()
      values[i] = recent.use(recency)
    }
  }

  /** Follows a value back through the leaves before, to the one where it was new. */
  trace(leaf: number): number {
    this.#traced++
    const { tokens, farValues, newValues } = this.#streams
    /** The place of the value in the list before the leaf `at`. The value that a leaf uses moves to place 1. */
    let place = 1
    let farAt = -1
    let at = leaf + 1
    do {
      if (--at < 0) throw this.#tooGreat()
      let recency = (tokens[at] ?? 0) & RECENCY_MASK
      if (recency === FAR_VALUE) {
        farAt = farAt < 0 ? countOf(tokens, FAR_VALUE, at) : farAt - 1
        recency += farValues[farAt] ?? 0
      }
      if (place === 1) place = recency
      else if (recency === NEW_VALUE || recency >= place) place--
      if (place > RECENT_VALUES) throw this.#tooGreat()
    } while (place !== NEW_VALUE)
    return newValues[countOf(tokens, NEW_VALUE, at)] ?? 0
  }

  #tooGreat(): Error {
    return this.#fault('a leaf refers to a value before the first of its block')
  }
}

/** How many of the first leaves have a recency. */
function countOf(tokens: Uint8Array, recency: number, leaves: number): number {
  let count = 0
  for (let i = 0; i < leaves; i++) count += ((tokens[i] ?? 0) & RECENCY_MASK) === recency ? 1 : 0
  return count
}

/** Values of a greater recency are moved to the front by one call, which is faster for them. */
const LOOP_RECENCY = 24

/** The values that a block used last, most recent first. Recency counts from 1. */
class RecentValues {
  count = 0
  /** From `#first` on. There is room for all new values of a block before it, so that adding one moves no other. */
  readonly #values = new Uint32Array(LEAVES_PER_BLOCK + RECENT_VALUES)
  #first = LEAVES_PER_BLOCK

  /** Starts a block. */
  clear(): void {
    this.#first = LEAVES_PER_BLOCK
    this.count = 0
  }

  /** @returns {@link NEW_VALUE} for a value that is not in the list */
  recencyOf(value: number): number {
    for (let i = 0; i < this.count; i++) if (this.#values[this.#first + i] === value) return i + 1
    return NEW_VALUE
  }

  add(value: number): number {
    this.#values[--this.#first] = value
    this.count = Math.min(this.count + 1, RECENT_VALUES)
    return value
  }

  /** @param recency at most {@link count} */
  use(recency: number): number {
    const values = this.#values
    const first = this.#first
    const value = values[first + recency - 1] ?? 0
    // A loop is faster for most values, and copyWithin for the few that are far back.
    if (recency > LOOP_RECENCY) values.copyWithin(first + 1, first, first + recency - 1)
    else for (let i = first + recency - 1; i > first; i--) values[i] = values[i - 1] ?? 0
    values[first] = value
    return value
  }
}

/** Reused for every block: coding is synchronous. */
export const recent = new RecentValues()
