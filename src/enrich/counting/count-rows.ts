import { byOtherWord, COUNT_COLUMNS, COUNT_KEYS, type CountValue, TIMES } from '../count-plan.ts'
import { numbersAt, type Ranks, ranksOf, sortedBy } from './sorting.ts'
import type { CountColumn, GroupColumn, GroupTotals } from './totals.ts'

/** The lines with the same values of the keys. `null` is a value that lines do not have. */
export interface CountRow {
  readonly [column: string]: CountValue | undefined
  readonly count: number
  /** Distinct addresses. Only with the option `unique`. */
  readonly unique?: number
}

/** The rows of a count, and what they leave out. */
export interface CountTable {
  /** The columns of the keys, in their order. */
  readonly columns: readonly string[]
  /**
   * The rows, the largest first. Rows of times are in the order of the times. If there are other keys too, rows with the same
   * values of these stand together, those with most lines first. A row without a value of any key but `reason` is the last.
   */
  readonly rows: readonly CountRow[]
  /** Lines in `rows`. */
  readonly shown: number
  /** Rows that `top` left out, and the lines in them. */
  readonly hidden: { readonly rows: number; readonly lines: number }
  /** Lines of other groups than the first `maxGroups`, which have no row. 0 if all rows are there. */
  readonly other: number
  /** `unique` is an estimate from one of this number of addresses; 1 if it is exact. */
  readonly sampling: number
}

/** The rows of a count by column, without an object for each. */
export interface CountColumns extends Omit<CountTable, 'columns' | 'rows'> {
  readonly columns: readonly CountColumn[]
  /** The lines of each row. */
  readonly counts: Float64Array
  /** The distinct addresses of each row; `null` if they are not counted. */
  readonly unique: Float64Array | null
}

/** Columns whose values have an order of their own. */
const ORDERED: readonly string[] = [...TIMES, 'local_hour']
const WEEKDAY = 'weekday'

/**
 * The rows of all groups.
 *
 * @param top how many rows; of rows with times and other keys, how many values of the other keys
 */
export function countTable(totals: GroupTotals, top?: number): CountTable {
  const { columns, counts, unique, ...rest } = countColumns(totals, top)
  const [counted, distinct] = COUNT_COLUMNS
  const rows = Array.from(counts, (count, row): CountRow => {
    const own = Object.fromEntries(columns.map(({ name, codes, value }) => [name, value(codes[row] ?? 0)]))
    return { ...own, [counted]: count, ...(unique !== null && { [distinct]: unique[row] ?? 0 }) }
  })
  return { columns: columns.map(({ name }) => name), rows, ...rest }
}

/** The ordered rows of a count as columns. */
export function countColumns(totals: GroupTotals, top: number = Number.POSITIVE_INFINITY): CountColumns {
  const { columns, lines } = totals
  const unique = totals.uniques()
  const groups = ordered(columns, lines, top)
  const counts = new Float64Array(groups.length)
  let shown = 0
  for (let row = 0; row < groups.length; row++) shown += counts[row] = lines[groups[row] ?? 0] ?? 0
  return {
    columns: columns.map(({ name, size, codes, value }) => {
      return { name, size, codes: numbersAt(codes, groups), value }
    }),
    counts,
    unique: unique === null ? null : Float64Array.from(groups, (group) => unique[group] ?? 0),
    shown,
    hidden: { rows: lines.length - groups.length, lines: lines.reduce((sum, each) => sum + each, 0) - shown },
    other: totals.other,
    sampling: totals.sampling,
  }
}

/** The groups that are shown, in their order. */
function ordered(columns: readonly GroupColumn[], lines: Float64Array, top: number): Int32Array {
  const ranksOfColumns = (areTimes: boolean) =>
    columns
      .filter(({ name }) => ORDERED.includes(name) === areTimes)
      .map(({ name, codes, ranks }) => ({
        name,
        ranks: ranks(name === WEEKDAY).map((each) => ranksAt(each, codes)),
      }))
  const times = ranksOfColumns(true).flatMap(({ ranks }) => ranks)
  const named = ranksOfColumns(false)
  const others = named.flatMap(({ ranks }) => ranks)
  const all = Int32Array.from(lines.keys())
  const bySize = (counts: Iterable<number>): Ranks => ranksOf(Array.from(counts, (count) => -count))
  const unknown = unknownOf(
    named.flatMap(({ name, ranks: [first] }) => (name === 'reason' || first === undefined ? [] : [first])),
    all.length,
  )
  if (times.length === 0) return sortedBy([unknown, bySize(lines), ...others], all).slice(0, top)
  if (others.length === 0) return sortedBy(times, sortedBy([bySize(lines), ...times], all).slice(0, top))
  // Groups that differ only in their times are a family.
  const families = new Int32Array(all.length)
  const counts: number[] = []
  let before = -1
  for (const group of sortedBy(others, all)) {
    if (before === -1 || others.some(({ ranks }) => ranks[group] !== ranks[before])) counts.push(0)
    const family = counts.length - 1
    families[group] = family
    counts[family] = (counts[family] ?? 0) + (lines[group] ?? 0)
    before = group
  }
  const places = new Int32Array(counts.length)
  const unknownFamilies = new Int32Array(counts.length)
  for (const group of all) unknownFamilies[families[group] ?? 0] = unknown.ranks[group] ?? 0
  const largest = sortedBy(
    [{ ranks: unknownFamilies, size: unknown.size }, bySize(counts)],
    Int32Array.from(counts.keys()),
  )
  for (const [place, family] of largest.entries()) places[family] = place
  const byFamily = ranksAt({ ranks: places, size: places.length }, families)
  const shown = all.filter((group) => (byFamily.ranks[group] ?? 0) < top)
  return sortedBy([byFamily, ...times], shown)
}

/**
 * Ranks groups without a value in any of these columns after all others.
 *
 * @param columns the first ranks of each column, by group; a missing value has the last rank
 */
function unknownOf(columns: readonly Ranks[], groups: number): Ranks {
  const ranks = new Int32Array(groups)
  if (columns.length > 0)
    for (let group = 0; group < groups; group++)
      ranks[group] = columns.every((column) => column.ranks[group] === column.size - 1) ? 1 : 0
  return { ranks, size: 2 }
}

function ranksAt({ ranks, size }: Ranks, codes: Int32Array): Ranks {
  return { ranks: numbersAt(ranks, codes), size }
}

/** What a user must know of a count, as notes: what is not exact, and what is not as it seems. */
export function countNotes(totals: GroupTotals): string[] {
  const { plan, other, sampling, localTimes, absentFields } = totals
  const notes: string[] = []
  for (const field of absentFields ?? []) {
    const name = String(plan.fields[field])
    const meant = byOtherWord(name, COUNT_KEYS)
    // Many loggers nest what people know by one word.
    const nested = /[./]/.test(name) ? '' : `; within another member of JSON it is written as parent.${name}`
    notes.push(
      `no line has a value in the field ${name}${meant === undefined ? nested : `: did you mean the key ${meant}?`}`,
    )
  }
  if (localTimes.lines > 0 && plan.dimensions.some(({ kind }) => kind === 'time')) {
    notes.push(
      `the times of ${localTimes.lines} lines have no offset from UTC: they are counted as the log has them, whatever their time zone`,
    )
  }
  if (other > 0) {
    notes.push(
      `${other} lines are of other groups than the first ${plan.maxGroups}, and have no row. The rows are exact, but larger ones can be missing: use fewer keys, or a larger --max-groups (in a program: maxGroups)`,
    )
  }
  if (sampling > 1) {
    notes.push(
      `the distinct addresses are estimates from a sample, one address of ${sampling}. The standard error of a number n is the square root of ${sampling - 1} n: ${errorShare(sampling, 1e4)} of 10,000, ${errorShare(sampling, 1e6)} of 1,000,000`,
    )
  }
  return notes
}

function errorShare(sampling: number, of: number): string {
  return `${(100 * Math.sqrt((sampling - 1) / of)).toFixed(1)}%`
}
