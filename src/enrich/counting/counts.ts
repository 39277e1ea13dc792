import type { Locale } from '../../location/locale.ts'
import type { Location } from '../../location/location-table.ts'
import type { GroupPart } from './group-counts.ts'

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

/** Unreadable lines with the same text and the same fault. */
export interface BadLineGroup extends BadLine {
  /** The start of the line; `null` if the run does not show it. */
  readonly text: string | null
  count: number
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
  /** blank + bad + resolved + failed + excluded. CSV and TSV: records, without the header. */
  lines: number
  blank: number
  /** Lines with a location. */
  resolved: number
  /** Lines without a location, by reason. Omits reasons that did not occur. */
  failed: Partial<Record<FailureReason, number>>
  /** Lines in countries that `onlyCountries` or `notCountries` leaves out. Nothing else of them is counted. */
  excluded: number
  /** Lines that could not be read. */
  bad: number
  /** The first five of them. */
  badLines: BadLine[]
  /**
   * Lines that look unusual, counted above too: text follows a closing quote, or a record of a table has
   * more than ten lines. A quote that does not belong there may have joined rows.
   */
  doubtful: number
  /** The first five of them. */
  doubtfulLines: BadLine[]
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

/** Counts, with what is needed to add to them. */
export interface RunningCounts extends Counts {
  /** The groups of a plan that counts, of lines whose locations are counted now; absent otherwise. */
  groups?: GroupPart
  /** The groups of each of the tallies of a plan; absent without tallies. */
  tallies?: readonly GroupPart[]
  /** The first groups of bad lines, at most {@link MAX_BAD_LINE_GROUPS}; absent if the plan does not group them. */
  badLineGroups?: readonly BadLineGroup[]
  /** Estimated bytes of the rows of countries, regions and cities. */
  rowBytes: number
}

/** How many bad lines are kept for messages. */
export const BAD_LINES_SHOWN = 5

/** How many groups of bad lines are kept. */
const MAX_BAD_LINE_GROUPS = 20

/** Limit of the estimated bytes of the rows of a run. */
const MAX_ROW_BYTES = 2 ** 27
/**
 * Limit of the estimated bytes of the rows that are counted together. 131,072 cities with usual names, the most that a
 * thread caches, take two thirds of it.
 */
const MAX_DRAINED_ROW_BYTES = 2 ** 26
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
    excluded: 0,
    bad: 0,
    badLines: [],
    doubtful: 0,
    doubtfulLines: [],
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
export function finishedCounts({
  rowBytes: _,
  groups: __,
  tallies: ___,
  badLineGroups: ____,
  ...counts
}: RunningCounts): Counts {
  return counts
}

/** Adds a group to those that are known, if there is room. */
export function addBadLineGroup(counts: RunningCounts, group: BadLineGroup): void {
  const groups = counts.badLineGroups ?? []
  const known = groups.find(({ message, text }) => message === group.message && text === group.text)
  if (known !== undefined) known.count += group.count
  else if (groups.length < MAX_BAD_LINE_GROUPS) counts.badLineGroups = [...groups, { ...group }]
}

/**
 * Adds `other` to `into`. Until rows reach their limit, the order of additions does not matter.
 *
 * @param linesBefore what to add to the numbers of its bad lines
 */
export function mergeCounts(into: RunningCounts, other: RunningCounts, linesBefore = 0): void {
  into.lines += other.lines
  into.blank += other.blank
  into.resolved += other.resolved
  into.excluded += other.excluded
  into.bad += other.bad
  into.doubtful += other.doubtful
  into.withoutTime += other.withoutTime
  for (const reason of FAILURE_REASONS) {
    const count = other.failed[reason]
    if (count !== undefined) into.failed[reason] = (into.failed[reason] ?? 0) + count
  }
  // Most blocks have none of the following: a run counts locations once, and times only for a report. V8 does not compile
  // what is never called.
  if (other.badLines.length > 0) into.badLines = firstLines(into.badLines, other.badLines, linesBefore)
  if (other.doubtfulLines.length > 0)
    into.doubtfulLines = firstLines(into.doubtfulLines, other.doubtfulLines, linesBefore)
  for (const group of other.badLineGroups ?? [])
    addBadLineGroup(into, { ...group, line: group.line + linesBefore })
  if (other.firstInstant !== null) mergeTimes(into, other)
  // Each located line is counted in a row of its country, or as overflow.
  if (other.countries.size > 0 || other.overflow.countries > 0) mergeRows(into, other)
}

function firstLines(lines: readonly BadLine[], others: readonly BadLine[], linesBefore: number): BadLine[] {
  return [...lines, ...others.map(({ line, message }) => ({ line: line + linesBefore, message }))]
    .sort((a, b) => a.line - b.line)
    .slice(0, BAD_LINES_SHOWN)
}

function mergeTimes(into: RunningCounts, other: RunningCounts): void {
  for (const [hour, count] of other.hours.entries()) into.hours[hour] = (into.hours[hour] ?? 0) + count
  for (const instant of [other.firstInstant, other.lastInstant]) addInstant(into, instant)
}

function mergeRows(into: RunningCounts, other: RunningCounts): void {
  const addAll = <Row extends CellCount | CountryCount>(
    rows: Map<string, Row>,
    others: ReadonlyMap<string, Row>,
    kind: NamedRows | null,
  ): void => {
    for (const [key, row] of others) addRow(into, rows, kind, key, row, MAX_ROW_BYTES)
  }
  addAll(into.countries, other.countries, 'countries')
  addAll(into.regions, other.regions, 'regions')
  addAll(into.cities, other.cities, 'cities')
  addAll(into.cells, other.cells, null)
  for (const kind of ['countries', 'regions', 'cities'] as const) into.overflow[kind] += other.overflow[kind]
}

/** The reasons that occurred, with their counts, in the order of `FAILURE_REASONS`. */
export function failuresOf({ failed }: Counts): [reason: FailureReason, count: number][] {
  return FAILURE_REASONS.flatMap((reason) => {
    const count = failed[reason]
    return count === undefined ? [] : [[reason, count]]
  })
}

/** Records in which no address could be read. */
export function withoutAddress({ bad, failed }: Counts): number {
  return bad + (failed.missing ?? 0) + (failed.malformed ?? 0)
}

/** Separates the parts of a key. Names do not contain it. */
const SEPARATOR = '\u0000'

/**
 * Counts a location.
 *
 * @param count lines with this location
 * @param details whether to count regions, cities and cells too
 */
export function countLocation(
  counts: RunningCounts,
  { shared, city, coordinates }: Location,
  locale: Locale,
  count: number,
  details: boolean,
): void {
  const { code: country, name: countryName } = shared.countryIn(locale)
  const add = <Row extends CellCount | CountryCount>(
    rows: Map<string, Row>,
    kind: NamedRows | null,
    key: string,
    row: Row,
  ): void => addRow(counts, rows, kind, key, row, MAX_DRAINED_ROW_BYTES)
  add(counts.countries, 'countries', country ?? countryName ?? '', {
    code: country,
    name: countryName,
    count,
  })
  if (!details) return
  const { code, name } = shared.regionIn(locale)
  const regionKey = [country, code, name].join(SEPARATOR)
  if (code !== null || name !== null)
    add(counts.regions, 'regions', regionKey, { country, code, name, count })
  const { latitude, longitude } = coordinates
  const located = latitude !== null && longitude !== null ? count : 0
  const latitudes = (latitude ?? 0) * located
  const longitudes = (longitude ?? 0) * located
  if (city !== null) {
    const row = { country, region: name ?? code, name: city, latitudes, longitudes, located, count }
    add(counts.cities, 'cities', regionKey + SEPARATOR + city, row)
  }
  if (latitude !== null && longitude !== null) {
    const cell = `${Math.floor(latitude)},${Math.floor(longitude)}`
    add(counts.cells, null, cell, { latitudes, longitudes, count })
  }
}

/** Counts the time of a line. @param hour hours since 1970 in local time, or `null` if the time zone is unknown */
export function countInstant(counts: Counts, instant: number, hour: number | null): void {
  if (hour !== null) {
    const ofDay = ((hour % 24) + 24) % 24
    counts.hours[ofDay] = (counts.hours[ofDay] ?? 0) + 1
  }
  addInstant(counts, instant)
}

function addInstant(counts: Counts, instant: number | null): void {
  if (instant === null) return
  // Without an assignment where nothing changes: V8 makes an object of each number that is assigned here.
  if (counts.firstInstant === null || instant < counts.firstInstant) counts.firstInstant = instant
  if (counts.lastInstant === null || instant > counts.lastInstant) counts.lastInstant = instant
}

/**
 * Adds a row, or its sums to the row with the same key.
 *
 * @param kind `null` for cells, whose number needs no bound: there are at most 361 by 181
 * @param maxBytes bound of the estimated bytes of rows; the lines of a row beyond it are overflow
 */
function addRow<Row extends CellCount | CountryCount>(
  counts: RunningCounts,
  rows: Map<string, Row>,
  kind: NamedRows | null,
  key: string,
  row: Row,
  maxBytes: number,
): void {
  const known = rows.get(key)
  if (known !== undefined) {
    known.count += row.count
    if ('latitudes' in known && 'latitudes' in row) {
      known.latitudes += row.latitudes
      known.longitudes += row.longitudes
    }
    if (isCity(known) && isCity(row)) known.located += row.located
    return
  }
  const bytes = kind === null ? 0 : ROW_BYTES + KEY_CHAR_BYTES * key.length
  if (kind !== null && counts.rowBytes + bytes > maxBytes) {
    counts.overflow[kind] += row.count
    return
  }
  counts.rowBytes += bytes
  rows.set(key, { ...row })
}

function isCity(row: CellCount | CountryCount): row is CityCount {
  return 'located' in row
}
