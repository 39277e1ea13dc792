import { extended, RowSet } from '../../bytes/tables.ts'
import type { CountPlan } from '../count-plan.ts'
import { NO_CODE, type PartValues } from './values.ts'

const FIRST_GROUPS = 256

/** How many times there are, the first one and the last one in milliseconds since 1970. The first is after the last if there is none. */
export type Times = Readonly<Record<'lines' | 'first' | 'last', number>>

class TimeRange implements Times {
  lines = 0
  first = Number.POSITIVE_INFINITY
  last = Number.NEGATIVE_INFINITY

  add(first: number, last = first, lines = 1): void {
    this.lines += lines
    if (first < this.first) this.first = first
    if (last > this.last) this.last = last
  }
}

/** The groups that some lines are in, as numbers of groups and codes of values. */
export class Groups {
  /** The codes of the next line, one for each dimension of the plan. */
  readonly next: Int32Array
  /** Lines of other groups than the first {@link CountPlan.maxGroups}. */
  other = 0
  /** Whether no group is added any more. No value needs a new code then. */
  isFull = false
  /** The times of the lines that are instants, if times or local hours are counted. */
  readonly instants = new TimeRange()
  /** The times of the lines whose offset from UTC is unknown, as if they were UTC. */
  readonly localTimes = new TimeRange()
  readonly distinct: DistinctAddresses | null
  #rows: RowSet
  #counts: Float64Array = new Float64Array(FIRST_GROUPS)
  /** The sum of other groups, then that of each group; `NaN` where a value is negative or not a number. */
  #sums: Float64Array | null

  constructor(readonly plan: CountPlan) {
    const { dimensions, unique, summed } = plan
    this.next = new Int32Array(dimensions.length)
    this.#rows = new RowSet(dimensions.length)
    this.distinct = unique ? new DistinctAddresses() : null
    this.#sums = summed === null ? null : new Float64Array(FIRST_GROUPS)
  }

  /** How many groups there are. */
  get size(): number {
    return this.#rows.size
  }

  /** The codes of all groups, group after group: one for each dimension of the plan. */
  get codes(): Int32Array {
    return this.#rows.rows.subarray(0, this.#rows.size * this.next.length)
  }

  /** The lines of each group. */
  get lines(): Float64Array {
    return this.#counts.subarray(0, this.#rows.size)
  }

  /** The sum of the `summed` field of the plan; `null` without one, or if a value is negative or not a number. */
  get sum(): number | null {
    const sum = this.allSums?.reduce((before, each) => before + each) ?? Number.NaN
    return Number.isNaN(sum) ? null : sum
  }

  /** The sum of each group; `null` if {@link sum} is `null`. */
  get sums(): Float64Array | null {
    return this.sum === null ? null : (this.allSums?.subarray(1) ?? null)
  }

  /** See {@link GroupPart.sums}. */
  get allSums(): Float64Array | null {
    return this.#sums?.subarray(0, 1 + this.#rows.size) ?? null
  }

  /** Adds to the sum of a group; of all others if it is {@link NO_CODE}. @param value `NaN` makes the sums unknown */
  addSum(group: number, value: number): void {
    const index = group - NO_CODE
    if (this.#sums === null) return
    if (index >= this.#sums.length) this.#sums = resized(this.#sums, 2 * index)
    this.#sums[index] = (this.#sums[index] ?? 0) + value
  }

  /**
   * Counts lines with the codes in {@link next}.
   *
   * @param isNew whether no lines with these codes were counted before. Without a search for them, `count --by ip` takes 0.93 of the time
   * @returns the number of their group; {@link NO_CODE} if they are counted as other lines
   */
  count(lines: number, isNew = false): number {
    const group = this.#groupOf(isNew)
    if (group === NO_CODE) {
      this.other += lines
      return group
    }
    if (group >= this.#counts.length) this.#counts = resized(this.#counts, 2 * group)
    this.#counts[group] = (this.#counts[group] ?? 0) + lines
    return group
  }

  /** Takes the groups of a part with the same plan, with their numbers. Call it only if this object has counted nothing. */
  adopt({ groups, counts, sums, pairs, halvings }: GroupPart): void {
    this.#rows = new RowSet(this.next.length, groups)
    this.#counts = counts
    this.#sums = sums
    if (pairs !== null) this.distinct?.adopt(pairs, halvings)
    this.isFull = this.size >= this.plan.maxGroups
  }

  #groupOf(isNew: boolean): number {
    const { next } = this
    if (this.#lacksCode()) return NO_CODE
    if (this.isFull) return this.#rows.find(next)
    const group = isNew ? this.#rows.append(next) : this.#rows.add(next)
    this.isFull = this.size >= this.plan.maxGroups
    return group
  }

  #lacksCode(): boolean {
    const { next } = this
    for (let i = 0; i < next.length; i++) {
      if (next[i] !== NO_CODE) continue
      // Too many values of one dimension. The others must not grow without bound either.
      this.isFull = true
      return true
    }
    return false
  }
}

function resized(numbers: Float64Array, length: number): Float64Array {
  return extended(numbers, new Float64Array(Math.max(FIRST_GROUPS, length)))
}

/** A group, and the four words of an address. */
const PAIR_WIDTH = 5
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
  #pairs = new RowSet(PAIR_WIDTH)
  readonly #row = new Int32Array(PAIR_WIDTH)

  constructor(private readonly maxPairs = MAX_PAIRS) {}

  /** The pairs, row after row: a group, and the four words of an address. */
  get pairs(): Int32Array {
    return this.#pairs.rows.subarray(0, this.#pairs.size * PAIR_WIDTH)
  }

  /** @param words holds the four words of the address from index `at` on; an IPv4 address is mapped to IPv6 */
  add(group: number, words: Int32Array, at = 0): void {
    const row = this.#row
    row[0] = group
    for (let word = 0; word < 4; word++) row[word + 1] = words[at + word] ?? 0
    if (this.halvings > 0 && !isSampled(row, 1, this.halvings)) return
    this.#pairs.add(row)
    while (this.#pairs.size >= this.maxPairs) this.halve()
  }

  /** Keeps half of the sample. */
  halve(): void {
    this.halvings++
    const { pairs } = this
    this.#pairs = new RowSet(PAIR_WIDTH)
    for (let at = 0; at < pairs.length; at += PAIR_WIDTH) {
      if (isSampled(pairs, at + 1, this.halvings)) this.#pairs.add(pairs.subarray(at, at + PAIR_WIDTH))
    }
  }

  /** Takes the pairs of an object with the same plan. Call it only if this object has none. */
  adopt(pairs: Int32Array, halvings: number): void {
    this.#pairs = new RowSet(PAIR_WIDTH, pairs)
    this.halvings = halvings
  }

  /** Adds the pairs of another one, whose groups have the numbers of `groups` here; -1 for those to leave out. */
  merge(pairs: Int32Array, halvings: number, groups: Int32Array): void {
    while (this.halvings < halvings) this.halve()
    for (let at = 0; at < pairs.length; at += PAIR_WIDTH) {
      const group = groups[pairs[at] ?? 0] ?? -1
      if (group !== -1) this.add(group, pairs, at + 1)
    }
  }

  /** The distinct addresses of each group: estimates if there were halvings. */
  counts(groups: number): Float64Array {
    const counts = new Float64Array(groups)
    const { pairs } = this
    for (let at = 0; at < pairs.length; at += PAIR_WIDTH) {
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

/** The groups of some lines, with the values of their codes. Plain data that survives `structuredClone`. */
export interface GroupPart {
  readonly values: readonly PartValues[]
  readonly groups: Int32Array
  readonly counts: Float64Array
  /**
   * The sum of the `summed` field of the plan in all other groups, then in each group; `NaN` where a value is negative or not a
   * number. `null` without such a field.
   */
  readonly sums: Float64Array | null
  readonly other: number
  readonly pairs: Int32Array | null
  readonly halvings: number
  /** Fields of the log that none of the lines has, by their index in the plan. */
  readonly absentFields: readonly number[]
  readonly instants: Times
  readonly localTimes: Times
}
