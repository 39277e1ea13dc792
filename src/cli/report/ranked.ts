import type { CountValue } from '../../enrich/count-plan.ts'

/** The rows of a table that can be opened. The other lines are counted together. */
export const MOST_ROWS = 250

/** Values of one row that are shown, such as the countries of a network. */
const MOST_VALUES = 3

/** A row of a table: lines that have one value, and the distinct addresses among them. */
export interface Tallied {
  readonly name: string
  readonly count: number
  /** `null` where addresses are not counted. */
  readonly addresses: number | null
  /** The place or the kind of the row. */
  readonly within: string | null
  /** Bytes of the answers; `null` where they are not added up. */
  readonly bytes: number | null
}

/** The largest rows, and the lines of all others. */
export interface Ranked {
  readonly rows: readonly Tallied[]
  /** Number of all rows; a lower limit if `isExact` is `false`. */
  readonly all: number
  readonly otherLines: number
  readonly isExact: boolean
}

export function sumOf(numbers: readonly number[]): number {
  return numbers.reduce((sum, each) => sum + each, 0)
}

/** The lines of some rows. */
export function linesOf(rows: readonly { readonly count: number }[]): number {
  return rows.reduce((sum, { count }) => sum + count, 0)
}

/** Sorts by count, then by name: the report must not depend on the order of counting. */
export function ranked<Counted extends { readonly count: number; readonly name: string }>(
  rows: readonly Counted[],
): Counted[] {
  return [...rows].sort((a, b) => b.count - a.count || (a.name < b.name ? -1 : a.name > b.name ? 1 : 0))
}

/**
 * Ranks many rows, and makes only those that can be among the largest.
 *
 * @param counts the lines of each row
 * @param other lines that are in no row
 * @param rowOf makes a row by its index in `counts`
 */
export function rankedOf(
  counts: ArrayLike<number>,
  other: number,
  rowOf: (index: number) => Omit<Tallied, 'count'>,
): Ranked {
  const least = Float64Array.from(counts).sort().at(-MOST_ROWS) ?? 0
  let rows: Tallied[] = []
  let lines = other
  for (let index = 0; index < counts.length; index++) {
    const count = counts[index] ?? 0
    lines += count
    if (count < least) continue
    rows.push({ count, ...rowOf(index) })
    // Many rows can have the same count.
    if (rows.length >= 20 * MOST_ROWS) rows = ranked(rows).slice(0, MOST_ROWS)
  }
  rows = ranked(rows).slice(0, MOST_ROWS)
  return { rows, all: counts.length, otherLines: lines - linesOf(rows), isExact: other === 0 }
}

interface Row {
  count: number
  /** `null` if addresses are not counted. */
  addresses: number | null
  /** `null` if they are not known. */
  bytes: number | null
  within: string | null
  /** The lines of each value of `within`, if there are several. */
  mixed: Tally<string> | null
}

/** Sums of lines and distinct addresses by key. */
export class Tally<Key extends string | number> {
  readonly #rows = new Map<Key, Row>()

  /** Adds lines of a key. @param bytes of their answers; `null` if they are not known */
  add(key: Key, count: number, bytes: number | null = null): void {
    const row = this.#rowOf(key, null)
    row.count += count
    if (bytes !== null) row.bytes = (row.bytes ?? 0) + bytes
  }

  /** Adds lines of a value, unless it is absent. */
  addValue(this: Tally<string>, value: CountValue | undefined, count: number, bytes?: number | null): void {
    if (value !== null && value !== undefined) this.add(String(value), count, bytes)
  }

  /** Adds the lines of one address. @param within where or what it is */
  addAddress(key: Key, count: number, within: string | null): void {
    const row = this.#rowOf(key, within)
    if (row.mixed === null && within !== row.within) {
      row.mixed = new Tally()
      row.mixed.add(row.within ?? NOTHING, row.count)
    }
    row.mixed?.add(within ?? NOTHING, count)
    row.count += count
    row.addresses = (row.addresses ?? 0) + 1
  }

  /** @param other lines that are in no row */
  ranked(other = 0, nameOf: (key: Key) => string = String): Ranked {
    const all = [...this.#rows]
    return rankedOf(
      all.map(([, { count }]) => count),
      other,
      (index) => {
        const [key, row] = all[index] ?? []
        const { addresses = null, bytes = null, within = null, mixed = null } = row ?? {}
        const values = mixed?.ranked().rows.map(({ name }) => name) ?? []
        return {
          name: key === undefined ? '' : nameOf(key),
          addresses,
          bytes,
          within:
            mixed === null
              ? within
              : values.slice(0, MOST_VALUES).join(', ') + (values.length > MOST_VALUES ? ', …' : ''),
        }
      },
    )
  }

  #rowOf(key: Key, within: string | null): Row {
    const row = this.#rows.get(key) ?? { count: 0, addresses: null, bytes: null, within, mixed: null }
    this.#rows.set(key, row)
    return row
  }
}

const NOTHING = '–'
