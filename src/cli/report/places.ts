// What a report counts of locations: countries, regions, cities, cells of the map, and the hours there.
import { type CountValue, plainPlan, type ReportQuery } from '../../enrich/count-plan.ts'
import type { RunningCounts } from '../../enrich/counting/counts.ts'
import { GroupTotals } from '../../enrich/counting/totals.ts'
import type { Tallied } from './ranked.ts'
import { clockOf, type TimeKinds } from './times.ts'

/** A country, a region, a city or a cell of the map. */
export interface Place extends Tallied {
  readonly key: string
  /** The code of a region. */
  readonly code: string | null
  /** The region of a city: its name, or else its code. */
  readonly region: string | null
  count: number
  addresses: number | null
  bytes: number | null
  /** Sums of degrees over the lines with coordinates. Divided by `located`, they are the mean position. */
  latitudes: number
  longitudes: number
  /** Lines with coordinates. */
  located: number
}

type Places = ReadonlyMap<string, Place>

/** Lines with a location. The keys of the maps are those of the places. */
export interface PlaceCounts extends TimeKinds {
  /** By code, or by name without a code; by '' without both. */
  readonly countries: Places
  /** Omits regions without both a code and a name. */
  readonly regions: Places
  readonly cities: Places
  /** A grid of one degree. */
  readonly cells: Places
  /** Lines whose places have no rows, because names have reached their memory limit. All real cities, some 400,000, fit. */
  readonly unlisted: number
  /** By hour of the local week, from Monday at 00:00: 168 numbers. Omits lines without a time or time zone. */
  readonly weekHours: readonly number[]
  /** The first and the last time in milliseconds since 1970, log time as if it were UTC; `null` without times of the clock. */
  readonly span: readonly [first: number, last: number] | null
}

/** The counts that a report is made of. */
export interface ReportCounts extends RunningCounts, PlaceCounts {}

/** The groups of a report. Groups of fields that the log lacks are absent. All are absent if no input has lines. */
export type ReportTotals = Readonly<Partial<Record<ReportQuery, GroupTotals>>>

/** The groups of a run whose plan is that of `withReport`. */
export function reportTotals(groups: readonly GroupTotals[]): ReportTotals {
  const totals: Partial<Record<ReportQuery, GroupTotals>> = {}
  for (const each of groups) if (each.plan.name !== undefined) totals[each.plan.name] = each
  return totals
}

const NOTHING = new GroupTotals(plainPlan([]))

/** Adds up lines, distinct addresses and the bytes of answers by place. */
export function placesOf({
  places = NOTHING,
  hours = NOTHING,
  addresses = NOTHING,
  times = NOTHING,
}: ReportTotals): PlaceCounts {
  const rows: Rows = { countries: new Map(), regions: new Map(), cities: new Map(), cells: new Map() }
  const { codes } = places
  for (const [group, count] of places.lines.entries()) {
    const values = places.valuesOf(0, codes[group] ?? 0)
    const [latitude, longitude] = [values[LATITUDE], values[LATITUDE + 1]]
    for (const row of rowsOf(rows, values, true)) {
      row.count += count
      if (typeof latitude !== 'number' || typeof longitude !== 'number') continue
      row.latitudes += latitude * count
      row.longitudes += longitude * count
      row.located += count
    }
  }
  // The code of lines without an address is 0.
  const pairs = addresses.codes
  const isAddress = addresses.lines.map((_, group) => Number((pairs[2 * group + 1] ?? 0) > 0))
  for (const [code, count] of addresses.sumsBy(0, isAddress).entries()) {
    if (count === 0) continue
    for (const row of rowsOf(rows, addresses.valuesOf(0, code), false))
      row.addresses = (row.addresses ?? 0) + count
  }
  for (const [code, bytes] of times.sumsBy(1, times.sums).entries()) {
    const row = rows.countries.get(countryKey(times.valuesOf(1, code)))
    if (row !== undefined) row.bytes = (row.bytes ?? 0) + bytes
  }
  const weekHours = new Array<number>(168).fill(0)
  for (const { values, count } of hours.groups()) {
    const [weekday, hour] = values
    if (typeof weekday === 'number' && typeof hour === 'number') weekHours[weekday * 24 + hour] = count
  }
  const kinds = clockOf(times)
  const { lines, first, last } = kinds.clock === 'UTC' ? hours.instants : hours.localTimes
  return { ...rows, unlisted: places.other, weekHours, span: lines === 0 ? null : [first, last], ...kinds }
}

type Rows = Readonly<Record<'countries' | 'regions' | 'cities' | 'cells', Map<string, Place>>>

/** Columns of the dimension `PLACE`. */
export const CITY = 4
const LATITUDE = 5
/** Separates the parts of a key. Names do not contain it. */
const SEPARATOR = '\u0000'

/** The rows that lines with these values are in. @param mayAdd whether rows are made that are not there yet */
function rowsOf(rows: Rows, values: readonly CountValue[], mayAdd: boolean): Place[] {
  const textAt = (column: number) => (typeof values[column] === 'string' ? values[column] : null)
  const [country, countryName, code, regionName] = [textAt(0), textAt(1), textAt(2), textAt(3)]
  const [city, latitude, longitude] = [textAt(CITY), values[LATITUDE], values[LATITUDE + 1]]
  const region = regionName ?? code
  const found: Place[] = []
  const add = (places: Map<string, Place>, key: string, name: string, within: string | null): void => {
    const known = places.get(key)
    if (known !== undefined) found.push(known)
    if (known !== undefined || !mayAdd) return
    const row: Place = {
      key,
      name,
      within,
      code,
      region,
      count: 0,
      addresses: null,
      bytes: null,
      latitudes: 0,
      longitudes: 0,
      located: 0,
    }
    places.set(key, row)
    found.push(row)
  }
  add(rows.countries, countryKey(values), countryName ?? country ?? '', countryName === null ? null : country)
  const regionKey = `${country ?? ''}${SEPARATOR}${code ?? ''}${SEPARATOR}${regionName ?? ''}`
  // A name such as United States would fill a line of its own in each row.
  if (region !== null) add(rows.regions, regionKey, region, country)
  if (city !== null) add(rows.cities, regionKey + SEPARATOR + city, city, country)
  if (typeof latitude === 'number' && typeof longitude === 'number') {
    const cell = cellKey(latitude, longitude)
    add(rows.cells, cell, cell, null)
  }
  return found
}

/** The key of a country, by the first values of a place. */
export function countryKey([code, name]: readonly CountValue[]): string {
  return String(code ?? name ?? '')
}

/** The key of the one-degree cell that a position is in. */
export function cellKey(latitude: number, longitude: number): string {
  return `${Math.floor(latitude)},${Math.floor(longitude)}`
}
