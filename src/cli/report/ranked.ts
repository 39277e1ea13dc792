import type { CountValue } from '../../enrich/count-plan.ts'

/** The rows of a table that can be opened. The other lines are counted together. */
export const MOST_ROWS = 250

/** Values of one row that are shown, such as the countries of a network. */
const MOST_VALUES = 3

/** A row of a table: lines that have one value, and the distinct addresses among them. */
export interface Tallied {
  readonly name: string
  /** Tells rows with one name apart, such as two cities. */
  readonly key?: string
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
  /** The number of lines that is 100% of a share. Default: the lines of all rows. */
  readonly lines?: number | undefined
}

/** The tables of a report in their order, with the words for one value and for several. */
export const TABLES = {
  countries: ['country', 'countries'],
  regions: ['region', 'regions'],
  cities: ['city', 'cities'],
  callers: ['address', 'addresses'],
  networks: ['network', 'networks'],
  systems: ['owner', 'owners'],
  pages: ['page', 'pages'],
  assets: ['file', 'files'],
  notFound: ['path', 'paths'],
  referrers: ['site', 'sites'],
  browsers: ['browser', 'browsers'],
  operatingSystems: ['system', 'systems'],
  crawlers: ['crawler', 'crawlers'],
} as const

export type TableName = keyof typeof TABLES

/** The tables besides those of places that the log, the databases and the options allow. */
export type Tables = Readonly<Partial<Record<TableName, Ranked>>>

export function sumOf(numbers: readonly number[]): number {
  return numbers.reduce((sum, each) => sum + each, 0)
}

/** The lines of some rows. */
export function linesOf(rows: readonly { readonly count: number }[]): number {
  return rows.reduce((sum, { count }) => sum + count, 0)
}

/** Sorts by count, then by name and key: the report must not depend on the order of counting. */
export function ranked<Counted extends Pick<Tallied, 'count' | 'name' | 'key'>>(
  rows: readonly Counted[],
): Counted[] {
  return [...rows].sort(
    (a, b) => b.count - a.count || order(a.name, b.name) || order(a.key ?? '', b.key ?? ''),
  )
}

function order(a: string, b: string): number {
  return a < b ? -1 : Number(a > b)
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
  rowOf: (index: number) => Omit<Tallied, 'count'> | undefined,
): Ranked {
  const least = Float64Array.from(counts).sort().at(-MOST_ROWS) ?? 0
  let rows: Tallied[] = []
  let lines = other
  for (let index = 0; index < counts.length; index++) {
    const count = counts[index] ?? 0
    lines += count
    if (count < least) continue
    const row = rowOf(index)
    if (row !== undefined) rows.push({ ...row, count })
    // Many rows can have the same count.
    if (rows.length >= 20 * MOST_ROWS) rows = ranked(rows).slice(0, MOST_ROWS)
  }
  rows = ranked(rows).slice(0, MOST_ROWS)
  return { rows, all: counts.length, otherLines: lines - linesOf(rows), isExact: other === 0 }
}

/** Ranks rows by their lines. See {@link rankedOf}. */
export function rankedRows(rows: readonly Tallied[], other: number): Ranked {
  const counts = rows.map(({ count }) => count)
  return rankedOf(counts, other, (index) => rows[index])
}

/**
 * Ranks what addresses have in common, such as their networks.
 *
 * @param keys the key of each address, from 0; -1 if it is in no row
 * @param counts the lines of each address
 * @param other lines of no address
 * @param withinOf where or what an address is
 */
export function rankedKeys(
  keys: Int32Array,
  counts: Float64Array,
  other: number,
  nameOf: (key: number) => string,
  withinOf: (address: number) => string | null,
): Ranked {
  const size = keys.reduce((most, key) => Math.max(most, key + 1), 0)
  const [lines, addresses] = [new Float64Array(size), new Int32Array(size)]
  let rest = other
  keys.forEach((key, address) => {
    const count = counts[address] ?? 0
    if (key === -1) rest += count
    else {
      lines[key] = (lines[key] ?? 0) + count
      addresses[key] = (addresses[key] ?? 0) + 1
    }
  })
  const all = rankedOf(lines, rest, (key) => {
    return { name: nameOf(key), key: String(key), addresses: addresses[key] ?? 0, bytes: null, within: null }
  })
  const places = new Map(all.rows.map(({ key }) => [Number(key), new Tally()]))
  keys.forEach((key, address) => {
    places.get(key)?.add(withinOf(address) ?? NOTHING, counts[address] ?? 0)
  })
  const rows = all.rows.map((row) => {
    const names =
      places
        .get(Number(row.key))
        ?.ranked()
        .rows.map(({ name }) => name) ?? []
    const first = names.slice(0, MOST_VALUES).join(', ')
    return { ...row, within: names.length > MOST_VALUES ? `${first}, …` : first === NOTHING ? null : first }
  })
  return { ...all, rows, isExact: other === 0 }
}

/** Sums of lines by key. */
export class Tally {
  readonly #rows = new Map<string, Tallied & { count: number; bytes: number | null }>()

  /** Adds lines of a key. @param bytes of their answers; `null` if they are not known */
  add(key: string, count: number, bytes: number | null = null): void {
    const row = this.#rows.get(key) ?? { name: key, count: 0, addresses: null, bytes: null, within: null }
    row.count += count
    if (bytes !== null) row.bytes = (row.bytes ?? 0) + bytes
    this.#rows.set(key, row)
  }

  /** Adds lines of a value, unless it is absent. */
  addValue(value: CountValue | undefined, count: number, bytes?: number | null): void {
    if (value !== null && value !== undefined) this.add(String(value), count, bytes)
  }

  /** @param other lines that are in no row */
  ranked(other = 0): Ranked {
    return rankedRows([...this.#rows.values()], other)
  }
}

const NOTHING = '–'
