// What lines are counted by: the keys of a count, and the columns that they become.

import { quoted } from '../errors.ts'
import type { OptionalValue } from '../location/schema.ts'
import { nearestName, wrongOption } from '../option-names.ts'

/** What the location of a line says. */
export type LocationColumn =
  | 'country'
  | 'country_name'
  | 'region_code'
  | 'region_name'
  | 'city'
  | 'timezone'
  | 'latitude'
  | 'longitude'

export const TIMES = ['hour', 'day', 'weekday', 'month'] as const
/** What the time of a line says. A report asks for the clock too. */
export type TimeColumn = (typeof TIMES)[number] | 'clock'
/** What a time says: UTC, or if its offset from UTC is unknown, the time that the log has. Neither is that of this process. */
export type Clock = 'UTC' | 'log time'

/** The value of a column; `null` if the line does not have it. */
export type CountValue = string | number | null

/**
 * Columns whose values are found together. Plain data.
 * - `location`: of the country, region, city and time zone
 * - `time`: of the time of the line, in UTC or in the time zone of the plan
 * - `local-hour`: the hour of the day at the place; with two columns, the day of the week too: 0 is Monday
 * - `address`: of the first bits of the address; an address has 32 or 128 of them
 * - `asn`: the autonomous system of the address
 * - `reason`: why the line has no location
 * - `field`: the value of the field with this index in the `counted` fields of the plan
 */
export type Dimension =
  | { readonly kind: 'location'; readonly columns: readonly LocationColumn[] }
  | { readonly kind: 'time'; readonly columns: readonly TimeColumn[] }
  | {
      readonly kind: 'address'
      readonly columns: readonly string[]
      readonly ipv4Bits: number
      readonly ipv6Bits: number
    }
  | { readonly kind: 'field'; readonly columns: readonly string[]; readonly field: number }
  | { readonly kind: 'local-hour' | 'asn' | 'reason'; readonly columns: readonly string[] }

/**
 * What a report counts, if the log has the fields.
 * - `places`: country, its name, region, its name, city, latitude, longitude
 * - `hours`: weekday and hour at the place
 * - `addresses`: a place, and the address
 * - `times`: clock, day and hour, and the country. The sums are those of the bytes of the answers
 * - `days`: clock and day, with distinct addresses
 * - `statuses`: clock, day and hour, and the status
 * - `methods`, `referrers`, `agents`: method, referrer, user agent
 * - `pages`: path, and the status. The sums are those of the bytes of the answers
 */
export type ReportQuery =
  | 'places'
  | 'hours'
  | 'addresses'
  | 'times'
  | 'days'
  | 'statuses'
  | 'methods'
  | 'pages'
  | 'referrers'
  | 'agents'

/** What is counted. Plain data, as plans are. */
export interface CountPlan {
  /** Absent if it is not for a report. */
  readonly name?: ReportQuery
  readonly dimensions: readonly Dimension[]
  /** All columns, in the order of the keys. */
  readonly columns: readonly string[]
  /** The fields of the log that are keys, by their names. */
  readonly fields: readonly string[]
  /** Whether distinct addresses are counted too. */
  readonly unique: boolean
  /** The IANA time zone of `time`; `null` for UTC. */
  readonly timeZone: string | null
  /** The most groups that are counted one by one. */
  readonly maxGroups: number
  /** The field of the log whose numbers are added up, by its index in the `counted` fields of the plan; `null` for none. */
  readonly summed: number | null
  /** Whether only lines with a location are counted. */
  readonly onlyLocated: boolean
}

/** The parts of a plan of lines that say what is counted. */
export interface CountedPlan {
  /** Whether more than countries is counted. */
  readonly details: boolean
  /** How lines are counted; absent if they are written. */
  readonly count?: CountPlan
  /** What is counted besides the countries, for a report; absent for {@link DETAILS}, if there are details; `null` for nothing. */
  readonly tallies?: readonly CountPlan[] | null
}

/** How lines are counted. */
export interface CountPlanOptions {
  /**
   * What lines are counted by: `country`, `region`, `city`, `timezone`, `asn`, `network` (also `network/16`, or
   * `network/16/48` for both families), `ip`, `hour`, `day`, `weekday`, `month`, `local_hour`, `reason`, or fields of the log
   * by their names. `asn` needs a resolver that was opened with the option `asn`. A field with the name of a key, or of
   * another column, is written with a slash: `/country`. One text has commas between the keys.
   */
  readonly by: string | readonly string[]
  /** Count the distinct addresses of each row too. Default: false. */
  readonly unique?: boolean | undefined
  /** The IANA time zone of `hour`, `day`, `weekday` and `month`, such as `Europe/Berlin`. Default: UTC. */
  readonly timeZone?: string | undefined
  /** The most groups that are counted, which bounds memory. Lines of later groups are `other`. 1 to 10,000,000. Default: 1,000,000. */
  readonly maxGroups?: number | undefined
}

export const DEFAULT_MAX_GROUPS = 1_000_000
/** Each group takes 8 bytes for its count, 4 for each dimension, and its values. */
export const MOST_GROUPS = 10_000_000
/** More keys are probably a mistake. */
const MAX_KEYS = 16

/** The columns of counts. A field of the log with such a name is written with a slash. */
export const COUNT_COLUMNS = ['count', 'unique'] as const

/** What all plans have in common. */
const EACH = { fields: [], unique: false, timeZone: null, summed: null, onlyLocated: false } as const

/** A plan for what Geofix counts by itself, and not by the keys of a user. */
export function plainPlan(
  dimensions: readonly Dimension[],
  more: Partial<Omit<CountPlan, 'dimensions' | 'columns'>> = {},
): CountPlan {
  const columns = dimensions.flatMap((each): readonly string[] => each.columns)
  return { ...EACH, dimensions, columns, maxGroups: DEFAULT_MAX_GROUPS, ...more }
}

export const COUNTRY: Dimension = { kind: 'location', columns: ['country', 'country_name'] }
/** The dimension of a location, with all its parts. */
export const PLACE: Dimension = {
  kind: 'location',
  columns: ['country', 'country_name', 'region_code', 'region_name', 'city', 'latitude', 'longitude'],
}

/** Networks of `network`: the size that one customer of a provider usually has. */
const IPV4_BITS = 24
const IPV6_BITS = 48
const NETWORK = /^network\/(\d{1,3})(?:\/(\d{1,3}))?$/

/**
 * The keys that do not depend on the log. Any other name is that of a field of the log. A code comes with its name. A city comes
 * with its country and region, because several countries have a city of the same name.
 */
const KEYS: ReadonlyMap<string, Dimension> = /* @__PURE__ */ new Map<string, Dimension>([
  ['country', COUNTRY],
  ['region', { kind: 'location', columns: ['country', 'region_code', 'region_name'] }],
  ['city', { kind: 'location', columns: ['country', 'region_code', 'region_name', 'city'] }],
  ['timezone', { kind: 'location', columns: ['timezone'] }],
  ['asn', { kind: 'asn', columns: ['asn', 'asn_organization'] }],
  ['network', { kind: 'address', columns: ['network'], ipv4Bits: IPV4_BITS, ipv6Bits: IPV6_BITS }],
  ['ip', { kind: 'address', columns: ['ip'], ipv4Bits: 32, ipv6Bits: 128 }],
  ...TIMES.map((time): [string, Dimension] => [time, { kind: 'time', columns: [time] }]),
  ['local_hour', { kind: 'local-hour', columns: ['local_hour'] }],
  ['reason', { kind: 'reason', columns: ['reason'] }],
])

export const COUNT_KEYS: readonly string[] = /* @__PURE__ */ Array.from(KEYS.keys())

/** What every run counts that writes lines. */
const COUNTRIES = /* @__PURE__ */ plainPlan([COUNTRY], { onlyLocated: true })
/** What a run with details counts too: places and local hours. */
export const DETAILS = [
  /* @__PURE__ */ plainPlan([PLACE], { name: 'places', onlyLocated: true }),
  /* @__PURE__ */ plainPlan([{ kind: 'local-hour', columns: ['local_weekday', 'local_hour'] }], {
    name: 'hours',
    onlyLocated: true,
  }),
] as const

/** What a plan of lines counts: its count, or else the countries and its tallies or details. Nothing if `tallies` is `null`. */
export function queriesOf({
  details,
  count,
  tallies = details ? DETAILS : [],
}: CountedPlan): readonly CountPlan[] {
  if (count !== undefined) return [count]
  return tallies === null ? [] : [COUNTRIES, ...tallies]
}

/** @throws TypeError when an option is wrong */
export function countPlan(options: CountPlanOptions): CountPlan {
  const { unique = false, timeZone, maxGroups = DEFAULT_MAX_GROUPS } = options
  const by = typeof options.by === 'string' ? options.by.split(',').map((key) => key.trim()) : options.by
  const isList =
    Array.isArray(by) && by.length > 0 && by.every((key) => typeof key === 'string' && key !== '')
  if (!isList) throw wrongOption`<by> must be some of ${COUNT_KEYS.join(', ')}, or fields of the log`
  if (by.length > MAX_KEYS) throw wrongOption`<by> has ${by.length} keys: ${MAX_KEYS} are the most`
  if (new Set(by).size < by.length) throw wrongOption`<by> names a key twice`
  if (timeZone !== undefined) checkTimeZone(timeZone)
  const fields: string[] = []
  const parts = by.map(
    (key): Dimension =>
      KEYS.get(key) ?? networkOf(key) ?? { kind: 'field', columns: [key], field: fields.push(key) - 1 },
  )
  const known = parts.flatMap(({ kind, columns }): readonly string[] => (kind === 'field' ? [] : columns))
  const taken = fields.find((field) => known.includes(field) || COUNT_COLUMNS.some((each) => each === field))
  if (taken !== undefined) {
    throw new TypeError(
      `the result has a column ${quoted(taken)}: leave it out, or name a field of the log as ${quoted(`/${taken}`)}`,
    )
  }
  const places = new Set(parts.flatMap((each) => (each.kind === 'location' ? each.columns : [])))
  const times = parts.flatMap((each) => (each.kind === 'time' ? each.columns : []))
  const dimensions: Dimension[] = [
    ...(places.size > 0 ? [{ kind: 'location', columns: [...places] } as const] : []),
    ...(times.length > 0 ? [{ kind: 'time', columns: times } as const] : []),
    ...parts.filter(({ kind }) => kind !== 'location' && kind !== 'time'),
  ]
  const columns = [...new Set(parts.flatMap((each): readonly string[] => each.columns))]
  return { ...EACH, dimensions, columns, fields, unique, timeZone: timeZone ?? null, maxGroups }
}

/** The networks of `network/24`, `network/48` or `network/24/48`; `undefined` for another key. @throws TypeError */
function networkOf(key: string): Dimension | undefined {
  const [found, first, second] = NETWORK.exec(key) ?? []
  if (found === undefined) return undefined
  const isIPv6 = second === undefined && Number(first) > 32
  const ipv4Bits = isIPv6 ? IPV4_BITS : Number(first)
  const ipv6Bits = isIPv6 ? Number(first) : Number(second ?? IPV6_BITS)
  if (ipv4Bits < 1 || ipv4Bits > 32 || ipv6Bits < 1 || ipv6Bits > 128) {
    throw new TypeError(
      `the key ${quoted(key)} must have 1 to 32 bits for IPv4 and 1 to 128 for IPv6, as in network/24 or network/24/48`,
    )
  }
  return { kind: 'address', columns: [key], ipv4Bits, ipv6Bits }
}

function checkTimeZone(timeZone: string): void {
  try {
    new Intl.DateTimeFormat('en', { timeZone })
  } catch {
    throw wrongOption`<timeZone> must be an IANA time zone such as Europe/Berlin, not ${quoted(timeZone)}`
  }
}

/** Whether lines are counted by the autonomous systems of their addresses, which needs a database of these. */
export function countsSystems({ dimensions }: CountPlan): boolean {
  return dimensions.some(({ kind }) => kind === 'asn')
}

/** Whether nothing is counted of a location but its country. */
export function countsOnlyCountries(plan: CountPlan): boolean {
  return neededValues(plan).length === 0
}

/** What the lines that have the same values have in common. */
export type CountedOnce = 'location' | 'address' | 'line'

/** What decides the group of a line. Lines with the same location, or with the same address, can then be counted together. */
export function countedOnce({ dimensions, unique, summed }: CountPlan): CountedOnce {
  const kinds = dimensions.map(({ kind }) => kind)
  const are = (...some: Dimension['kind'][]): boolean => kinds.every((kind) => some.includes(kind))
  if (summed !== null || !are('location', 'reason', 'address', 'asn')) return 'line'
  return unique || !are('location', 'reason') ? 'address' : 'location'
}

/** The values of a location that lines are counted by, besides its country. */
export function neededValues({ dimensions }: CountPlan): readonly OptionalValue[] {
  return dimensions.flatMap((each) => {
    if (each.kind === 'local-hour') return ['timezone']
    return each.kind === 'location' ? each.columns.flatMap((column) => OPTIONAL_VALUES[column] ?? []) : []
  })
}

/** Whether the count needs a value that belongs to one location, such as its city. Many locations share the other values. */
export function needsLocations(plan: CountPlan): boolean {
  return neededValues(plan).some((value) => value === 'city' || value === 'coordinates')
}

const OPTIONAL_VALUES: { readonly [Column in LocationColumn]?: OptionalValue } = {
  region_code: 'region',
  region_name: 'region',
  city: 'city',
  timezone: 'timezone',
  latitude: 'coordinates',
  longitude: 'coordinates',
}

/** Other words for keys and for fields of logs. */
const OTHER_WORDS = {
  asn: 'owner org organization isp provider',
  ip: 'address client',
  day: 'date',
  city: 'place',
  region: 'state',
  network: 'subnet',
  target: 'url path page',
  user_agent: 'browser agent',
}

/** The known key or field that has this name as another word for it; `undefined` if there is none. */
export function byOtherWord(name: string, known: readonly string[]): string | undefined {
  const isMeant = ([, words]: [string, string]): boolean => words.split(' ').includes(name.toLowerCase())
  const [meant = ''] = Object.entries(OTHER_WORDS).find(isMeant) ?? []
  return known.includes(meant) ? meant : undefined
}

/** What is wrong with a name that is neither a key nor one of these fields, for a message. */
export function unknownKey(key: string, fields: readonly string[]): string {
  const known = [...COUNT_KEYS, ...fields]
  const near = byOtherWord(key, known) ?? nearestName(key, known)
  const meant = near === undefined ? '.' : `: did you mean ${near}?`
  const has = fields.length === 0 ? 'and its lines have no fields' : `and its fields are ${shown(fields)}`
  return `there is no key ${quoted(key)}${meant} The keys are ${COUNT_KEYS.join(', ')}, ${has}`
}

const MAX_SHOWN = 20

function shown(names: readonly string[]): string {
  const first = names.slice(0, MAX_SHOWN).map((name) => quoted(name))
  return names.length > MAX_SHOWN
    ? `${first.join(', ')} and ${names.length - MAX_SHOWN} more`
    : first.join(', ')
}
