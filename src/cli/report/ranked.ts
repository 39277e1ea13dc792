/** The rows of a table that can be opened. The other lines are counted together. */
export const MOST_ROWS = 250

/** A row of a table: lines that have one value, and the distinct addresses among them. */
export interface Tallied {
  readonly name: string
  readonly count: number
  /** `null` where addresses are not counted. */
  readonly addresses: number | null
  /** Where or what it is. */
  readonly within: string | null
}

/** The largest rows, and the lines of all others. */
export interface Ranked {
  readonly rows: readonly Tallied[]
  /** How many rows there are in all; at least, if `isExact` is `false`. */
  readonly all: number
  readonly otherLines: number
  readonly isExact: boolean
}

/** Sorted by lines, then by name: the report must not depend on the order of counting. */
export function largestOf(rows: readonly Tallied[]): Tallied[] {
  return [...rows].sort((a, b) => b.count - a.count || (a.name < b.name ? -1 : 1)).slice(0, MOST_ROWS)
}

/**
 * Ranks many rows, and makes only those that can be among the largest.
 *
 * @param counts the lines of each row
 * @param other lines that are in no row
 * @param rowOf makes a row by its index in `counts`
 */
export function rankedOf(counts: Float64Array, other: number, rowOf: (index: number) => Tallied): Ranked {
  const least = counts.slice().sort().at(-MOST_ROWS) ?? 0
  let rows: Tallied[] = []
  for (let index = 0; index < counts.length; index++) {
    if ((counts[index] ?? 0) < least) continue
    rows.push(rowOf(index))
    // Many rows can have the same count.
    if (rows.length >= 20 * MOST_ROWS) rows = largestOf(rows)
  }
  rows = largestOf(rows)
  const lines = counts.reduce((sum, count) => sum + count, 0)
  const shown = rows.reduce((sum, { count }) => sum + count, 0)
  return { rows, all: counts.length, otherLines: lines + other - shown, isExact: other === 0 }
}
