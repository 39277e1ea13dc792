// The values of a line for each dimension of a count, as codes.

import { DistinctTexts, NONE } from '../../bytes/distinct-texts.ts'
import { extended, remember } from '../../bytes/tables.ts'
import { NO_SYSTEM } from '../../location/autonomous-systems.ts'
import type { Locale } from '../../location/locale.ts'
import type { Location } from '../../location/location-table.ts'
import type { SharedParts } from '../../location/shared-parts.ts'
import { type Timezone, timezoneOf } from '../../location/timezone.ts'
import { utf8Decoder } from '../../realm.ts'
import type { Clock, CountPlan, CountValue, Dimension, LocationColumn, TimeColumn } from '../count-plan.ts'
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
      return new LocationCoder(dimension.columns, locator, locale)
    case 'time':
      return new TimeCoder(dimension.columns, locator, plan.timeZone)
    case 'address':
      return new AddressCoder(new Networks(dimension), locator, isOfAddresses(dimension))
    case 'field':
      return new FieldCoder(dimension.field, values)
    case 'local-hour':
      return new LocalHourCoder(dimension.columns.length, locator)
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

/** The hour at the place, of the day or of the week. Code 0 is for lines without one. */
class LocalHourCoder implements Coder {
  readonly #hours: number

  /** @param columns 1: the hour of the day; 2: the day of the week before it */
  constructor(
    private readonly columns: number,
    private readonly locator: LineLocator,
  ) {
    this.#hours = columns === 1 ? DAY_HOURS : WEEK_DAYS * DAY_HOURS
  }

  code(): number {
    const hour = this.locator.localHour
    const hours = this.#hours
    return hour === null ? 0 : (((hour % hours) + hours) % hours) + 1
  }

  values(): PartValues {
    const known = Array.from({ length: this.#hours }, (_, hour) => [
      (Math.floor(hour / DAY_HOURS) + FIRST_DAY) % WEEK_DAYS,
      hour % DAY_HOURS,
    ])
    return [[null, null], ...known].map((values) => values.slice(-this.columns))
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

class LocationCoder implements Coder {
  readonly #tuples = new Tuples()
  readonly #hidden: readonly Shared[]
  readonly #nowhere: readonly null[]
  /** Codes plus 2 by the number of a location: a location without a code has 1. */
  #codes = new Int32Array(1024)
  #epoch = 0

  constructor(
    private readonly columns: readonly LocationColumn[],
    private readonly locator: LineLocator,
    private readonly locale: Locale,
  ) {
    this.#hidden = columns.flatMap((column) => UNTRANSLATED[column] ?? [])
    this.#nowhere = [...columns, ...this.#hidden].map(() => null)
  }

  code(mayAdd: boolean): number {
    const { locationNumber: number, epoch } = this.locator
    if (number < 0) return this.#tuples.code(this.#nowhere, mayAdd)
    if (epoch !== this.#epoch) this.#codes.fill(0)
    this.#epoch = epoch
    const known = this.#codes[number] ?? 0
    return known > 0 ? known - 2 : this.#find(number, mayAdd)
  }

  values(): PartValues {
    return this.#tuples.list
  }

  #find(number: number, mayAdd: boolean): number {
    if (number >= this.#codes.length) this.#codes = extended(this.#codes, new Int32Array(2 * number))
    const { locale } = this
    const { texts } = this.locator
    const parts = texts.partsOf(number)
    const values = this.columns.map((column): CountValue => {
      const shared = SHARED[column]
      return shared?.(parts, locale) ?? OWN[column]?.(texts.location(number)) ?? null
    })
    const code = this.#tuples.code([...values, ...this.#hidden.map((each) => each(parts, locale))], mayAdd)
    this.#codes[number] = code + 2
    return code
  }
}

/** What a column says of a time. The fields of the date are those of the time zone, though they are called UTC. */
const TIMES: Readonly<Record<TimeColumn, (date: Date, clock: Clock) => CountValue>> = {
  clock: (_, clock) => clock,
  hour: (date) => date.getUTCHours(),
  day: dayOf,
  weekday: (date) => WEEKDAYS[(date.getUTCDay() + 6) % WEEKDAYS.length] ?? null,
  month: (date) => dayOf(date).slice(0, -3),
}

function dayOf(date: Date): string {
  return date.toISOString().split('T')[0] ?? ''
}

class TimeCoder implements Coder {
  readonly #tuples = new Tuples()
  readonly #zone: Timezone | null
  /** The span of time in which all values are the same. Milliseconds. */
  readonly #spanMs: number
  readonly #codes = new Map<number, number>()
  /** The last span: its number since 1970, twice, plus 1 in log time. And its code. */
  #span = Number.NaN
  #code = NO_CODE

  constructor(
    private readonly columns: readonly TimeColumn[],
    private readonly locator: LineLocator,
    timeZone: string | null,
  ) {
    this.#zone = timeZone === null ? null : timezoneOf(timeZone)
    this.#spanMs = columns.includes('hour') ? HOUR_MS : DAY_MS
  }

  code(mayAdd: boolean): number {
    const { hasTime, time, isLocal } = this.locator
    if (!hasTime)
      return this.#tuples.code(
        this.columns.map(() => null),
        mayAdd,
      )
    // A local time whose offset is unknown is counted as the log has it.
    const minutes = this.#zone === null || isLocal ? 0 : (this.#zone.spanAt(time).offset.minutes ?? 0)
    const span = 2 * Math.floor((time + minutes * 60_000) / this.#spanMs) + (isLocal ? 1 : 0)
    if (span !== this.#span || this.#code === NO_CODE) this.#code = this.#find(span, mayAdd)
    this.#span = span
    return this.#code
  }

  values(): PartValues {
    return this.#tuples.list
  }

  /** A function of its own: a closure would take memory for each line. */
  #find(span: number, mayAdd: boolean): number {
    return remember(this.#codes, MAX_SPANS, span, () => {
      const date = new Date(Math.floor(span / 2) * this.#spanMs)
      const clock = span % 2 === 0 ? 'UTC' : 'log time'
      return this.#tuples.code(
        this.columns.map((column) => TIMES[column](date, clock)),
        mayAdd,
      )
    })
  }
}

/** The networks of addresses. Code 0 is for lines without an address. */
class AddressCoder implements Coder {
  readonly #words = new Int32Array(4)

  /** @param areAddresses whether the networks are addresses */
  constructor(
    private readonly networks: Networks,
    private readonly locator: LineLocator,
    private readonly areAddresses: boolean,
  ) {}

  code(mayAdd: boolean): number {
    if (!this.locator.addressInto(this.#words)) return 0
    if (mayAdd && this.areAddresses && this.locator.isNewAddress) return this.networks.append(this.#words)
    return this.networks.code(this.#words, 0, mayAdd)
  }

  values(): PartValues {
    return this.networks.words
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

/** The values of a field of the log. Code 0 is for lines without one. */
export class FieldCoder implements Coder {
  isAbsent = true
  readonly #texts = new DistinctTexts()
  readonly #views = new CachedView()

  /**
   * @param source `null` if the log has no fields
   * @param maxBytes limit of the bytes of all values
   */
  constructor(
    private readonly field: number,
    private readonly source: FieldValues | null,
    private readonly maxBytes = MAX_TEXT_BYTES,
  ) {}

  code(mayAdd: boolean): number {
    const { source } = this
    if (source === null || !source.findCounted(this.field)) return 0
    this.isAbsent = false
    const texts = this.#texts
    const { bytes, start, end } = source
    const known = texts.find(bytes, this.#views.view(bytes), start, end)
    if (known !== NONE) return known + 1
    return mayAdd && texts.length + end - start <= this.maxBytes ? texts.add(bytes, start, end) + 1 : NO_CODE
  }

  values(): PartValues {
    const texts = this.#texts
    const known = Array.from({ length: texts.count }, (_, code) => [decoder.decode(texts.textOf(code))])
    return [[null], ...known]
  }
}
