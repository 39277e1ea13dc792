// The counts of all lines of a run: the sums of what its threads have counted.
import { remember } from '../../bytes/tables.ts'
import { type CountedPlan, type CountPlan, type CountValue, queriesOf } from '../count-plan.ts'
import type { CellCount, Counts } from './counts.ts'
import { type GroupPart, Groups } from './groups.ts'
import type { Ranks } from './sorting.ts'
import {
  type DimensionValues,
  type Networks,
  NetworkValues,
  NO_CODE,
  type TextMask,
  valuesOf,
} from './values.ts'

/** A column of groups. */
export interface GroupColumn {
  readonly name: string
  /** How many codes there are. */
  readonly size: number
  /** The code of each group. */
  readonly codes: Int32Array
  value(code: number): CountValue
  /** The ranks of the codes by their values: by the first ranks, then by the next ones. */
  ranks(areDays: boolean): readonly Ranks[]
}

/** The groups of all lines of a run: the sum of parts. */
export class GroupTotals {
  readonly plan: CountPlan
  /** Fields of the log that no line has, by their index in the plan; `null` before the first part. */
  absentFields: readonly number[] | null = null
  localTimes = 0
  /** The sum of the `summed` field of the plan; `null` without one, or if a value is negative or not a number. */
  sum: number | null
  span: GroupPart['span'] = null
  readonly #groups: Groups
  readonly #values: readonly DimensionValues[]

  /** @param mask for addresses, networks and fields of the log; `null` if they are shown */
  constructor(plan: CountPlan, mask: TextMask | null = null) {
    this.plan = plan
    this.sum = plan.summed === null ? null : 0
    this.#groups = new Groups(plan)
    this.#values = plan.dimensions.map((each) => valuesOf(each, mask))
  }

  /** Lines of other groups than the first `maxGroups` of the plan. */
  get other(): number {
    return this.#groups.other
  }

  /** One of this many addresses is in the sample that distinct addresses are estimated from; 1 if they are exact. */
  get sampling(): number {
    return 2 ** (this.#groups.distinct?.halvings ?? 0)
  }

  /** How many groups there are. */
  get size(): number {
    return this.#groups.size
  }

  /** The codes of all groups, group after group: one for each dimension of the plan. */
  get codes(): Int32Array {
    return this.#groups.rows
  }

  /** The lines of each group. */
  get lines(): Float64Array {
    return this.#groups.counts
  }

  /** The sum of each group; `null` if {@link sum} is `null`. */
  get sums(): Float64Array | null {
    return this.sum === null ? null : this.#groups.sums
  }

  add(part: GroupPart): void {
    const all = this.#groups
    const { codes } = all
    const width = codes.length
    const lines = part.counts.length
    const own = part.values.map((values, dimension) => this.#values[dimension]?.codesOf(values, !all.isFull))
    if (lines > 0 && all.size === 0 && all.other === 0 && own.every((each) => each === null)) all.adopt(part)
    else {
      const groups = new Int32Array(lines)
      for (let group = 0; group < lines; group++) {
        for (let dimension = 0; dimension < width; dimension++) {
          const code = part.groups[group * width + dimension] ?? NO_CODE
          const codesOf = own[dimension]
          codes[dimension] = codesOf === null ? code : (codesOf?.[code] ?? NO_CODE)
        }
        groups[group] = all.add(part.counts[group] ?? 0)
        if (part.sums !== null) all.addSum(groups[group] ?? NO_CODE, part.sums[group] ?? 0)
      }
      if (part.pairs !== null) all.distinct?.merge(part.pairs, part.halvings, groups)
    }
    all.other += part.other
    this.localTimes += part.localTimes
    this.sum = this.sum === null || part.sum === null ? null : this.sum + part.sum
    if (part.span !== null) {
      const [first, last] = this.span ?? part.span
      this.span = [Math.min(first, part.span[0]), Math.max(last, part.span[1])]
    }
    this.absentFields =
      this.absentFields?.filter((field) => part.absentFields.includes(field)) ?? part.absentFields
  }

  /** The values of a dimension's columns. */
  valuesOf(dimension: number, code: number): readonly CountValue[] {
    return this.#values[dimension]?.at(code) ?? []
  }

  /** The results of a function for the values of each code of a dimension. */
  mapValues<Made>(dimension: number, make: (values: readonly CountValue[]) => Made): Made[] {
    const values = this.#values[dimension]
    return Array.from({ length: values?.size ?? 0 }, (_, code) => make(values?.at(code) ?? []))
  }

  /** The networks of a dimension that is an address; the code of one is its number and 1. @throws RangeError for another one */
  networksOf(dimension: number): Networks {
    const values = this.#values[dimension]
    if (values instanceof NetworkValues) return values.networks
    throw new RangeError('this dimension is not an address')
  }

  /** The distinct addresses of each group; `null` if they are not counted. */
  uniques(): Float64Array | null {
    return this.#groups.distinct?.counts(this.size) ?? null
  }

  /** The columns of the plan. */
  get columns(): GroupColumn[] {
    const { dimensions, columns } = this.plan
    const { codes } = this
    const names = dimensions.map((each): readonly string[] => each.columns)
    const ofDimensions = names.map((_, dimension) => {
      const own = new Int32Array(this.size)
      for (let group = 0; group < own.length; group++)
        own[group] = codes[group * names.length + dimension] ?? NO_CODE
      return own
    })
    return columns.map((name) => {
      const dimension = names.findIndex((each) => each.includes(name))
      const at = names[dimension]?.indexOf(name) ?? 0
      const values = this.#values[dimension]
      return {
        name,
        size: values?.size ?? 0,
        codes: ofDimensions[dimension] ?? codes,
        value: (code) => values?.at(code)[at] ?? null,
        ranks: (areDays) => values?.ranks(at, areDays) ?? [],
      }
    })
  }

  /** Each group: its values, by column of the plan, and its lines. */
  *groups(): Generator<{ values: CountValue[]; count: number }> {
    const { columns } = this
    for (const [group, count] of this.lines.entries())
      yield { values: columns.map(({ codes, value }) => value(codes[group] ?? NO_CODE)), count }
  }
}

/** Separates the parts of a key. Names do not contain it. */
const SEPARATOR = '\u0000'

/**
 * What is shown of a location, and its keys in the counts of a run; `null` for what it does not have.
 *
 * @param values of the dimension `PLACE`, or the first ones of it
 */
export function placeOf(values: readonly CountValue[]) {
  const textAt = (column: number) => (typeof values[column] === 'string' ? values[column] : null)
  const numberAt = (column: number) => (typeof values[column] === 'number' ? values[column] : null)
  const [country, countryName, regionCode, regionName] = [textAt(0), textAt(1), textAt(2), textAt(3)]
  const city = textAt(4)
  const regionKey = [country, regionCode, regionName].join(SEPARATOR)
  return {
    country,
    countryName,
    regionCode,
    regionName,
    /** The name, or else the code. */
    region: regionName ?? regionCode,
    city,
    latitude: numberAt(5),
    longitude: numberAt(6),
    countryKey: country ?? countryName ?? '',
    regionKey,
    cityKey: regionKey + SEPARATOR + city,
  }
}

/** The groups of all that a run counts. */
export class RunTotals {
  readonly #all: readonly GroupTotals[]
  readonly #details: boolean

  /** @param mask as for {@link GroupTotals} */
  constructor(plan: CountedPlan, mask: TextMask | null = null) {
    this.#all = queriesOf(plan).map((each) => new GroupTotals(each, mask))
    this.#details = plan.details
  }

  /** Adds the counts of a thread. @param parts of the queries of the plan */
  add(parts: readonly GroupPart[] | undefined): void {
    for (const [index, part] of parts?.entries() ?? []) this.#all[index]?.add(part)
  }

  /** The groups of what the plan counts beside the locations. */
  get own(): readonly GroupTotals[] {
    return this.#all.slice(this.#details ? 2 : 1)
  }

  /** Adds the locations to the counts of a run. Call it once. */
  addTo(counts: Counts): void {
    const [places, hours] = this.#all
    if (places !== undefined) addPlaces(places, counts)
    if (hours !== undefined && this.#details) addHours(hours, counts)
  }
}

/** Adds countries, and what else of the places is counted. */
function addPlaces(totals: GroupTotals, { countries, regions, cities, cells, overflow }: Counts): void {
  const { codes, lines, plan } = totals
  for (let group = 0; group < lines.length; group++) {
    const count = lines[group] ?? 0
    const place = placeOf(totals.valuesOf(0, codes[group] ?? NO_CODE).slice(0, plan.columns.length))
    const { country, region, regionCode, regionName, city, latitude, longitude } = place
    rowOf(countries, place.countryKey, { code: country, name: place.countryName, count: 0 }).count += count
    if (region !== null)
      rowOf(regions, place.regionKey, { country, code: regionCode, name: regionName, count: 0 }).count +=
        count
    const isLocated = latitude !== null && longitude !== null
    const add = (row: CellCount): void => {
      row.count += count
      if (!isLocated) return
      row.latitudes += latitude * count
      row.longitudes += longitude * count
    }
    const sums = { latitudes: 0, longitudes: 0, count: 0 }
    if (city !== null) {
      const row = rowOf(cities, place.cityKey, { country, region, name: city, located: 0, ...sums })
      if (isLocated) row.located += count
      add(row)
    }
    if (isLocated) add(rowOf(cells, cellKey(latitude, longitude), sums))
  }
  overflow.countries = overflow.regions = overflow.cities = totals.other
}

/** The key of the one-degree cell that a position is in. */
export function cellKey(latitude: number, longitude: number): string {
  return `${Math.floor(latitude)},${Math.floor(longitude)}`
}

function addHours(totals: GroupTotals, counts: Counts): void {
  for (const { values, count } of totals.groups()) {
    const [weekday, hour] = values
    if (typeof weekday !== 'number' || typeof hour !== 'number') continue
    counts.hours[hour] = (counts.hours[hour] ?? 0) + count
    counts.weekHours[weekday * 24 + hour] = count
  }
  ;[counts.firstInstant, counts.lastInstant] = totals.span ?? [null, null]
}

/** The row of a key, which is added if it is absent. */
function rowOf<Row>(rows: Map<string, Row>, key: string, row: Row): Row {
  return remember(rows, Number.POSITIVE_INFINITY, key, () => row)
}
