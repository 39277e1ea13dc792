// The values of a line for each dimension of a count, as codes.

import { DistinctTexts, NONE } from '../../bytes/distinct-texts.ts'
import { extended, remember } from '../../bytes/tables.ts'
import { NO_SYSTEM } from '../../location/autonomous-systems.ts'
import type { Locale } from '../../location/locale.ts'
import type { Location } from '../../location/location-table.ts'
import type { SharedParts } from '../../location/shared-parts.ts'
import { timezoneOf } from '../../location/timezone.ts'
import { utf8Decoder } from '../../realm.ts'
import type { CountPlan, CountValue, Dimension, LocationColumn, TimeColumn } from '../count-plan.ts'
import { FAILURE_REASONS } from '../counting/counts.ts'
import type { FieldValues } from '../counting/field-values.ts'
import { WEEKDAYS } from '../counting/sorting.ts'
import { Networks, NO_CODE, type PartValues, Tuples } from '../counting/values.ts'
import { CachedView } from '../swar.ts'
import type { LineLocator } from './line-locator.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
/** Hours or days whose codes are cached. */
const MAX_SPANS = 65_536

/** Makes codes of the values that the columns of one dimension have in the last line. */
export interface Coder {
  /** @param mayAdd whether new values get a code. @returns the code of the values, or {@link NO_CODE} */
  code(mayAdd: boolean): number
  /** The values of all codes. */
  values(): PartValues
  /** Of a field of the log: whether no line had a value so far. */
  readonly isAbsent?: boolean
}

/** @param values of the fields of the log; `null` if it has none */
export function coderOf(
  dimension: Dimension,
  plan: CountPlan,
  locator: LineLocator,
  values: FieldValues | null,
  locale: Locale,
): Coder {
  switch (dimension.kind) {
    case 'location':
      return locationCoder(dimension.columns, locator, locale)
    case 'time':
      return timeCoder(dimension.columns, locator, plan.timeZone)
    case 'address':
      return addressCoder(new Networks(dimension), locator, isOfAddresses(dimension))
    case 'field':
      return fieldCoder(dimension.field, values)
    case 'local-hour':
      return localHourCoder(locator, dimension.columns.length)
    case 'asn':
      return systemCoder(locator)
    case 'reason':
      return {
        code: () => (locator.locationNumber >= 0 ? 0 : FAILURE_REASONS.indexOf(locator.reason) + 1),
        values: () => [null, ...FAILURE_REASONS].map((reason) => [reason]),
      }
  }
}

const WEEK_DAYS = 7
const DAY_HOURS = 24
/** The first of January 1970 was a Thursday. */
const FIRST_DAY = 3

/**
 * The hour at the place, of the day or of the week. Code 0 is for lines without one.
 *
 * @param columns 1: the hour of the day; 2: the day of the week before it
 */
function localHourCoder(locator: LineLocator, columns: number): Coder {
  const hours = columns === 1 ? DAY_HOURS : WEEK_DAYS * DAY_HOURS
  return {
    code() {
      const hour = locator.localHour
      return hour === null ? 0 : (((hour % hours) + hours) % hours) + 1
    },
    values() {
      const known = Array.from({ length: hours }, (_, hour) => [
        (Math.floor(hour / DAY_HOURS) + FIRST_DAY) % WEEK_DAYS,
        hour % DAY_HOURS,
      ])
      return [[null, null], ...known].map((values) => values.slice(-columns))
    },
  }
}

/** Whether the networks are whole addresses. */
export function isOfAddresses(dimension: Dimension): boolean {
  return dimension.kind === 'address' && dimension.ipv4Bits === 32 && dimension.ipv6Bits === 128
}

/** The value of a column, from the parts that locations share (`SHARED`) or from one location (`OWN`). */
type Shared = (shared: SharedParts, locale: Locale) => string | null
const SHARED: Readonly<Partial<Record<LocationColumn, Shared>>> = {
  country: (shared, locale) => shared.countryIn(locale).code,
  country_name: (shared, locale) => shared.countryIn(locale).name,
  region_code: (shared, locale) => shared.regionIn(locale).code,
  region_name: (shared, locale) => shared.regionIn(locale).name,
  timezone: ({ timezone }) => timezone.id,
}
const OWN: Readonly<Partial<Record<LocationColumn, (location: Location) => CountValue>>> = {
  city: ({ city }) => city,
  latitude: ({ coordinates }) => coordinates.latitude,
  longitude: ({ coordinates }) => coordinates.longitude,
}

/**
 * The English name of a country or region without a code. Two of them can have the same name in another language. The name comes
 * after the values of the columns, and no column shows it.
 */
const UNTRANSLATED: Readonly<Partial<Record<LocationColumn, Shared>>> = {
  country_name: ({ country }) => (country.code === null ? country.translations.english : null),
  region_name: ({ region }) => (region.code === null ? region.translations.english : null),
}

function locationCoder(columns: readonly LocationColumn[], locator: LineLocator, locale: Locale): Coder {
  const tuples = new Tuples()
  const hidden = columns.flatMap((column) => UNTRANSLATED[column] ?? [])
  const nowhere = [...columns, ...hidden].map(() => null)
  /** Codes plus 2 by the number of a location: a location without a code has 1. */
  let codes = new Int32Array(1024)
  let epoch = 0

  const find = (number: number, mayAdd: boolean): number => {
    if (number >= codes.length) codes = extended(codes, new Int32Array(2 * number))
    const { texts } = locator
    const parts = texts.partsOf(number)
    const values = columns.map((column): CountValue => {
      const shared = SHARED[column]
      return shared?.(parts, locale) ?? OWN[column]?.(texts.location(number)) ?? null
    })
    const code = tuples.code([...values, ...hidden.map((each) => each(parts, locale))], mayAdd)
    codes[number] = code + 2
    return code
  }

  return {
    code(mayAdd) {
      const number = locator.locationNumber
      if (number < 0) return tuples.code(nowhere, mayAdd)
      if (locator.epoch !== epoch) codes.fill(0)
      epoch = locator.epoch
      const known = codes[number] ?? 0
      return known > 0 ? known - 2 : find(number, mayAdd)
    },
    values: () => tuples.list,
  }
}

/** What a column says of an instant. The fields of the date are those of the time zone, though they are called UTC. */
const TIMES: Readonly<Record<TimeColumn, (date: Date) => CountValue>> = {
  hour: (date) => date.getUTCHours(),
  day: dayOf,
  weekday: (date) => WEEKDAYS[(date.getUTCDay() + 6) % WEEKDAYS.length] ?? null,
  month: (date) => dayOf(date).slice(0, -3),
}

function dayOf(date: Date): string {
  return date.toISOString().split('T')[0] ?? ''
}

function timeCoder(columns: readonly TimeColumn[], locator: LineLocator, timeZone: string | null): Coder {
  const tuples = new Tuples()
  const zone = timeZone === null ? null : timezoneOf(timeZone)
  /** The span of time in which all values are the same. Milliseconds. */
  const spanMs = columns.includes('hour') ? HOUR_MS : DAY_MS
  const codes = new Map<number, number>()
  /** The last span since 1970, and its code. */
  let last = Number.NaN
  let code = NO_CODE

  // A function of its own: a closure would take memory for each line.
  const find = (span: number, mayAdd: boolean): number =>
    remember(codes, MAX_SPANS, span, () => {
      const date = new Date(span * spanMs)
      return tuples.code(
        columns.map((column) => TIMES[column](date)),
        mayAdd,
      )
    })

  return {
    code(mayAdd) {
      const { hasTime, time, isLocal } = locator
      if (!hasTime)
        return tuples.code(
          columns.map(() => null),
          mayAdd,
        )
      // A local time whose offset is unknown is counted as the log has it.
      const minutes = zone === null || isLocal ? 0 : (zone.spanAt(time).offset.minutes ?? 0)
      const span = Math.floor((time + minutes * 60_000) / spanMs)
      if (span !== last || code === NO_CODE) code = find(span, mayAdd)
      last = span
      return code
    },
    values: () => tuples.list,
  }
}

/** The networks of addresses. Code 0 is for lines without an address. @param areAddresses whether the networks are addresses */
function addressCoder(networks: Networks, locator: LineLocator, areAddresses: boolean): Coder {
  const words = new Int32Array(4)
  return {
    code(mayAdd) {
      if (!locator.addressInto(words)) return 0
      if (mayAdd && areAddresses && locator.isNewAddress) return networks.append(words)
      return networks.code(words, 0, mayAdd)
    },
    values: () => networks.words,
  }
}

/** The autonomous systems of addresses. */
function systemCoder(locator: LineLocator): Coder {
  const tuples = new Tuples()
  /** Codes by the number of a system. */
  const codes = new Map<number, number>()
  let generation = 0

  const find = (number: number, mayAdd: boolean): number => {
    const { number: asn, organization } = number === NO_SYSTEM ? NO_AS : locator.systems.system(number)
    const code = tuples.code([asn, organization], mayAdd)
    if (code !== NO_CODE) codes.set(number, code)
    return code
  }

  return {
    code(mayAdd) {
      const number = locator.systemNumber
      if (locator.systems.generation !== generation) codes.clear()
      generation = locator.systems.generation
      return codes.get(number) ?? find(number, mayAdd)
    },
    values: () => tuples.list,
  }
}

const NO_AS = { number: null, organization: null }

/** Limit of the bytes of all values of a field. */
const MAX_TEXT_BYTES = 2 ** 26

const decoder = /* @__PURE__ */ utf8Decoder({ ignoreBOM: true })

/**
 * The values of a field of the log. Code 0 is for lines without one.
 *
 * @param source `null` if the log has no fields
 * @param maxBytes limit of the bytes of all values
 */
export function fieldCoder(field: number, source: FieldValues | null, maxBytes = MAX_TEXT_BYTES): Coder {
  const texts = new DistinctTexts()
  const views = new CachedView()
  let isAbsent = true
  return {
    get isAbsent() {
      return isAbsent
    },
    code(mayAdd) {
      if (source === null || !source.findCounted(field)) return 0
      isAbsent = false
      const { bytes, start, end } = source
      const known = texts.find(bytes, views.view(bytes), start, end)
      if (known !== NONE) return known + 1
      return mayAdd && texts.length + end - start <= maxBytes ? texts.add(bytes, start, end) + 1 : NO_CODE
    },
    values() {
      const known = Array.from({ length: texts.count }, (_, code) => [decoder.decode(texts.textOf(code))])
      return [[null], ...known]
    },
  }
}
