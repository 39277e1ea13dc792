import { COUNT_COLUMNS, type CountValue, TIMES } from '../count-plan.ts'
import type { GroupTotals } from './group-counts.ts'

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
   * The rows, the largest first. Rows of times are in the order of the times. If other keys are there too, rows with the same
   * values of these stand together, those with most lines first.
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

interface Group {
  readonly values: readonly CountValue[]
  readonly count: number
  readonly unique: number | null
}

/** Columns whose values have an order of their own. */
const ORDERED: readonly string[] = [...TIMES, 'local_hour']
const WEEKDAY = 'weekday'
const WEEKDAYS: readonly CountValue[] = [
  ...['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday'],
]

/**
 * The rows of all groups.
 *
 * @param top how many rows; of rows with times and other keys, how many values of the other keys
 */
export function countTable(totals: GroupTotals, top: number = Number.POSITIVE_INFINITY): CountTable {
  const { columns } = totals.plan
  const all = [...totals.groups()]
  const kept = ordered(all, columns, top)
  const lines = (groups: readonly Group[]): number => groups.reduce((sum, { count }) => sum + count, 0)
  const shown = lines(kept)
  return {
    columns,
    rows: kept.map(({ values, count, unique }) => rowOf(columns, values, count, unique)),
    shown,
    hidden: { rows: all.length - kept.length, lines: lines(all) - shown },
    other: totals.other,
    sampling: totals.sampling,
  }
}

function rowOf(
  columns: readonly string[],
  values: readonly CountValue[],
  count: number,
  unique: number | null,
): CountRow {
  const own = Object.fromEntries(columns.map((column, index) => [column, values[index] ?? null]))
  const [counted, distinct] = COUNT_COLUMNS
  return { ...own, [counted]: count, ...(unique !== null && { [distinct]: unique }) }
}

function ordered(groups: Group[], columns: readonly string[], top: number): Group[] {
  const at = (isTime: boolean): number[] =>
    [...columns.keys()].filter((index) => ORDERED.includes(columns[index] ?? '') === isTime)
  const [times, others] = [at(true), at(false)]
  const byValues = (indexes: readonly number[]) => (a: Group, b: Group) => {
    for (const index of indexes) {
      const by = columns[index] === WEEKDAY ? compareDays : compare
      const order = by(a.values[index] ?? null, b.values[index] ?? null)
      if (order !== 0) return order
    }
    return 0
  }
  const byAllValues = byValues([...columns.keys()])
  const bySize = (a: Group, b: Group): number => b.count - a.count || byAllValues(a, b)
  if (times.length === 0) return groups.sort(bySize).slice(0, top)
  if (others.length === 0) return groups.sort(bySize).slice(0, top).sort(byValues(times))
  const keyOf = ({ values }: Group): string => JSON.stringify(others.map((index) => values[index]))
  const families = new Map<string, { groups: Group[]; count: number }>()
  for (const group of groups) {
    const key = keyOf(group)
    const family = families.get(key) ?? { groups: [], count: 0 }
    family.groups.push(group)
    family.count += group.count
    families.set(key, family)
  }
  const byOthers = byValues(others)
  return [...families.values()]
    .sort((a, b) => {
      const [first, second] = [a.groups[0], b.groups[0]]
      return b.count - a.count || (first && second ? byOthers(first, second) : 0)
    })
    .slice(0, top)
    .flatMap((family) => family.groups.sort(byValues(times)))
}

/** Missing values come last, and numbers before texts. */
function compare(a: CountValue, b: CountValue): number {
  if (a === b) return 0
  if (a === null || b === null) return a === null ? 1 : -1
  if (typeof a === 'number' && typeof b === 'number') return a - b
  return a < b ? -1 : 1
}

function compareDays(a: CountValue, b: CountValue): number {
  const days = a === null || b === null ? 0 : WEEKDAYS.indexOf(a) - WEEKDAYS.indexOf(b)
  return days || compare(a, b)
}

/** What a user must know of a count, as notes: what is not exact, and what is not as it seems. */
export function countNotes(totals: GroupTotals): string[] {
  const { plan, other, sampling, localTimes, absentFields } = totals
  const notes: string[] = []
  for (const field of absentFields ?? []) {
    const name = String(plan.fields[field])
    // Many loggers nest what people know by one word.
    const hint = /[./]/.test(name) ? '' : `; within another member of JSON it is written as parent.${name}`
    notes.push(`no line has a value in the field ${name}${hint}`)
  }
  if (localTimes > 0) {
    notes.push(
      `the times of ${localTimes} lines have no offset from UTC: they are counted as the log has them, whatever their time zone`,
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
