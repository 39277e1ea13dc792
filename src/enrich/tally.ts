/**
 * Why a line that was read has no location: the reasons of `UnresolvableAddressError`, and
 * - `missing`: the line has no address: no such field, or it is empty, `-` or `null`
 * - `malformed`: what stands there is not an address
 * - `invalid-database`: the database is damaged where the address leads
 */
export type FailureReason = (typeof FAILURE_REASONS)[number]

/** All reasons; a test holds them to `UnresolvableReason`. */
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

/** Regions are told apart by country, code and name; cities also by their region. */
export interface RegionCount {
  readonly country: string | null
  readonly code: string | null
  readonly name: string | null
  count: number
}

export interface CityCount {
  readonly country: string | null
  readonly region: string | null
  readonly name: string
  /** Sums of the degrees of its lines that have coordinates, and how many those are. */
  latitudes: number
  longitudes: number
  located: number
  count: number
}

/** Lines in one cell of a grid of one degree. */
export interface CellCount {
  /** Sum of the degrees of each line: divided by `count`, the mean place. */
  latitudes: number
  longitudes: number
  count: number
}

/** What has rows by name, of which a database can have any number. */
export type Listed = 'countries' | 'regions' | 'cities'

/** What was counted over some lines. Plain data: it survives `structuredClone`. */
export interface Tally {
  /** All of them: blank + bad + resolved + failed. CSV: records, the header not counted. */
  lines: number
  blank: number
  resolved: number
  failed: Partial<Record<FailureReason, number>>
  bad: number
  /** The first five. */
  badLines: BadLine[]
  /**
   * Lines that were read and have no time of their own, or one that cannot be read: their offset is that of `at`,
   * or `null` where `at` is not given.
   */
  withoutTime: number
  /** Resolved lines by country; the key is the code, or the name where there is none, or ''. */
  countries: Map<string, CountryCount>
  /** The rest is empty unless the plan asks for `sums`. Regions without a code and a name are not counted. */
  regions: Map<string, RegionCount>
  cities: Map<string, CityCount>
  cells: Map<string, CellCount>
  /**
   * Resolved lines whose country, region or city has no row above, because the rows take too much memory already:
   * those of all real places fit, some 400,000 cities.
   */
  unlisted: Record<Listed, number>
  /** About as many bytes as those rows take. */
  weight: number
  /** Resolved lines by the local hour of the event at its place, 24 numbers; without a known zone not counted. */
  hours: number[]
  /** Of the resolved lines that have a time of their own; milliseconds since 1970, or `null`. */
  firstInstant: number | null
  lastInstant: number | null
}

/** How many bad lines are shown. */
export const BAD_LINES_SHOWN = 5

/** What the rows by name of a whole run may take, about. Bytes. */
const MAX_WEIGHT = 2 ** 27
/** One of them, but for its texts: an object, an entry of a map, headers of strings. Bytes. */
const ROW_WEIGHT = 200
/** Of a character of its key, which its texts have again, in two bytes each. */
const KEY_WEIGHT = 4

export function emptyTally(): Tally {
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
    unlisted: { countries: 0, regions: 0, cities: 0 },
    weight: 0,
    hours: new Array<number>(24).fill(0),
    firstInstant: null,
    lastInstant: null,
  }
}

/** Adds one tally to another, in any order. */
export function mergeTally(into: Tally, other: Tally): void {
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
    (what: Listed) =>
    (key: string, { count }: { readonly count: number }): boolean =>
      takeRoom(into, what, key, count, MAX_WEIGHT)
  mergeCounts(into.countries, other.countries, listed('countries'))
  mergeCounts(into.regions, other.regions, listed('regions'))
  mergeCounts(into.cities, other.cities, listed('cities'), (known, city) => {
    known.located += city.located
    addDegrees(known, city)
  })
  for (const what of ['countries', 'regions', 'cities'] as const) into.unlisted[what] += other.unlisted[what]
  // Degrees of the globe: their number is bounded.
  mergeCounts(into.cells, other.cells, () => true, addDegrees)
  for (const [hour, count] of other.hours.entries()) into.hours[hour] = (into.hours[hour] ?? 0) + count
  into.firstInstant = extreme(Math.min, into.firstInstant, other.firstInstant)
  into.lastInstant = extreme(Math.max, into.lastInstant, other.lastInstant)
}

/**
 * Asks for room for a new row, of some lines; where there is none, counts them as unlisted.
 *
 * @param most that the rows of the tally may weigh
 */
export function takeRoom(tally: Tally, what: Listed, key: string, lines: number, most: number): boolean {
  const weight = ROW_WEIGHT + KEY_WEIGHT * key.length
  if (tally.weight + weight > most) {
    tally.unlisted[what] += lines
    return false
  }
  tally.weight += weight
  return true
}

/** The reasons that were met, with their counts. */
export function failuresOf({ failed }: Tally): [reason: FailureReason, count: number][] {
  return FAILURE_REASONS.filter((reason) => failed[reason] !== undefined).map((reason) => [
    reason,
    failed[reason] ?? 0,
  ])
}

/** Records in which no address could be read. */
export function unaddressed({ bad, failed }: Tally): number {
  return bad + (failed.missing ?? 0) + (failed.malformed ?? 0)
}

function mergeCounts<Count extends { count: number }>(
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
