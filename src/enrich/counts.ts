/**
 * Why a line has no location: a reason of `UnresolvableAddressError`, or
 * - `missing`: the line has no address, because the field is absent, empty, `-` or `null`
 * - `malformed`: the value of the field is not an address
 * - `invalid-database`: the database is damaged at the entry of the address
 */
export type FailureReason = (typeof FAILURE_REASONS)[number]

/** All reasons. A test compares them with `UnresolvableReason`. */
export const FAILURE_REASONS = [
  'missing',
  'malformed',
  'unspecified',
  'loopback',
  'private',
  'shared',
  'link-local',
  'multicast',
  'documentation',
  'benchmarking',
  'reserved',
  'not-found',
  'unidentified',
  'trusted-proxy',
  'invalid-database',
] as const

/** A line that could not be read. */
export interface BadLine {
  /** From 1. */
  readonly line: number
  readonly message: string
}

export interface CountryCount {
  /** ISO 3166-1 alpha-2, or `null`. */
  readonly code: string | null
  /** In the language of the run. */
  readonly name: string | null
  count: number
}

/** Country, code and name identify a region. */
export interface RegionCount {
  readonly country: string | null
  readonly code: string | null
  readonly name: string | null
  count: number
}

/** Country, region code, region name and city name identify a city. */
export interface CityCount {
  readonly country: string | null
  readonly region: string | null
  readonly name: string
  /** Sums of degrees over the lines with coordinates. Divided by `located`, they are the mean position. */
  latitudes: number
  longitudes: number
  /** Lines with coordinates. */
  located: number
  count: number
}

/** Lines in one cell of a one-degree grid. */
export interface CellCount {
  /** Sums of degrees. Divided by `count`, they are the mean position. */
  latitudes: number
  longitudes: number
  count: number
}

/** Kinds of rows whose number depends on the database, so their memory must be bounded. */
export type NamedRows = 'countries' | 'regions' | 'cities'

/** The counts of some lines. Plain data that survives `structuredClone`. */
export interface Counts {
  /** blank + bad + resolved + failed. CSV and TSV: records, without the header. */
  lines: number
  blank: number
  resolved: number
  failed: Partial<Record<FailureReason, number>>
  bad: number
  /** The first five. */
  badLines: BadLine[]
  /**
   * Lines, resolved or failed, without a readable time. Their offset is the one at the option `at`, or `null`
   * without that option.
   */
  withoutTime: number
  /** Resolved lines by country. The key is the code, or the name without a code, or '' without both. */
  countries: Map<string, CountryCount>
  /** Empty without the option `details`, as are `cities` and `cells`. Omits regions without both a code and a name. */
  regions: Map<string, RegionCount>
  cities: Map<string, CityCount>
  cells: Map<string, CellCount>
  /**
   * Resolved lines whose country, region or city has no row, because the rows have reached their memory limit. All
   * real cities, some 400,000, fit.
   */
  overflow: Record<NamedRows, number>
  /** Resolved lines by local hour, 24 numbers. All 0 without `details`. Omits lines without a time or time zone. */
  hours: number[]
  /** The first and the last time of resolved lines, in milliseconds since 1970; `null` without times or `details`. */
  firstInstant: number | null
  lastInstant: number | null
}

/** Counts that can be added to. */
export interface RunningCounts extends Counts {
  /** Estimated bytes of the rows of countries, regions and cities. */
  rowBytes: number
}

/** How many bad lines are kept for messages. */
export const BAD_LINES_SHOWN = 5

/** Limit of the estimated bytes of the rows of a run. */
const MAX_ROW_BYTES = 2 ** 27
/**
 * Limit of the estimated bytes of the rows of one output. Several outputs are in memory at a time. A block whose lines
 * are all from different cities with usual names takes a third of it.
 */
export const MAX_BLOCK_ROW_BYTES = 2 ** 25
/** Estimated bytes of a row without its texts: an object, a map entry and string headers. */
const ROW_BYTES = 200
/** Two bytes for a character of the key, and two for it in the row's texts. */
const KEY_CHAR_BYTES = 4

export function emptyCounts(): RunningCounts {
  return {
    lines: 0,
    blank: 0,
    resolved: 0,
    failed: {},
    bad: 0,
    badLines: [],
    withoutTime: 0,
    countries: new Map(),
    regions: new Map(),
    cities: new Map(),
    cells: new Map(),
    overflow: { countries: 0, regions: 0, cities: 0 },
    rowBytes: 0,
    hours: new Array<number>(24).fill(0),
    firstInstant: null,
    lastInstant: null,
  }
}

/** The counts without the members that only adding needs. */
export function finishedCounts({ rowBytes: _, ...counts }: RunningCounts): Counts {
  return counts
}

/** Adds `other` to `into`. Until rows reach their limit, the order of additions does not matter. */
export function mergeCounts(into: RunningCounts, other: Counts): void {
  into.lines += other.lines
  into.blank += other.blank
  into.resolved += other.resolved
  into.bad += other.bad
  into.withoutTime += other.withoutTime
  for (const [reason, count] of failuresOf(other)) into.failed[reason] = (into.failed[reason] ?? 0) + count
  into.badLines = [...into.badLines, ...other.badLines]
    .sort((a, b) => a.line - b.line)
    .slice(0, BAD_LINES_SHOWN)
  const listed =
    (what: NamedRows) =>
    (key: string, { count }: { readonly count: number }): boolean =>
      takeRoom(into, what, key, count, MAX_ROW_BYTES)
  mergeRows(into.countries, other.countries, listed('countries'))
  mergeRows(into.regions, other.regions, listed('regions'))
  mergeRows(into.cities, other.cities, listed('cities'), (known, city) => {
    known.located += city.located
    addDegrees(known, city)
  })
  for (const what of ['countries', 'regions', 'cities'] as const) into.overflow[what] += other.overflow[what]
  // No memory limit: there are at most 361 by 181 cells.
  mergeRows(into.cells, other.cells, () => true, addDegrees)
  for (const [hour, count] of other.hours.entries()) into.hours[hour] = (into.hours[hour] ?? 0) + count
  into.firstInstant = extreme(Math.min, into.firstInstant, other.firstInstant)
  into.lastInstant = extreme(Math.max, into.lastInstant, other.lastInstant)
}

/**
 * Reserves bytes for a new row, or counts its lines as overflow.
 *
 * @param maxBytes limit of the rows of these counts
 * @returns whether the row fits
 */
export function takeRoom(
  counts: RunningCounts,
  what: NamedRows,
  key: string,
  lines: number,
  maxBytes: number,
): boolean {
  const bytes = ROW_BYTES + KEY_CHAR_BYTES * key.length
  if (counts.rowBytes + bytes > maxBytes) {
    counts.overflow[what] += lines
    return false
  }
  counts.rowBytes += bytes
  return true
}

/** The reasons that occurred, with their counts, in the order of `FAILURE_REASONS`. */
export function failuresOf({ failed }: Counts): [reason: FailureReason, count: number][] {
  return FAILURE_REASONS.filter((reason) => failed[reason] !== undefined).map((reason) => [
    reason,
    failed[reason] ?? 0,
  ])
}

/** Records in which no address could be read. */
export function withoutAddress({ bad, failed }: Counts): number {
  return bad + (failed.missing ?? 0) + (failed.malformed ?? 0)
}

function mergeRows<Count extends { count: number }>(
  into: Map<string, Count>,
  other: ReadonlyMap<string, Count>,
  hasRoom: (key: string, count: Count) => boolean,
  mergeMore?: (known: Count, other: Count) => void,
): void {
  for (const [key, each] of other) {
    const known = into.get(key)
    if (known === undefined) {
      if (hasRoom(key, each)) into.set(key, { ...each })
    } else {
      known.count += each.count
      mergeMore?.(known, each)
    }
  }
}

type Degrees = Pick<CellCount, 'latitudes' | 'longitudes'>

function addDegrees(into: Degrees, other: Degrees): void {
  into.latitudes += other.latitudes
  into.longitudes += other.longitudes
}

function extreme(choose: (...values: number[]) => number, a: number | null, b: number | null): number | null {
  if (a === null || b === null) return a ?? b
  return choose(a, b)
}
