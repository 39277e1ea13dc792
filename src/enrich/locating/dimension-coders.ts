// The values of a line for each dimension of a count, as codes.

import { DistinctTexts, NONE } from '../../bytes/distinct-texts.ts'
import { extended, remember } from '../../bytes/tables.ts'
import { NO_SYSTEM } from '../../location/autonomous-systems.ts'
import type { Locale } from '../../location/locale.ts'
import type { Location } from '../../location/location-table.ts'
import type { SharedParts } from '../../location/shared-parts.ts'
import { type Timezone, timezoneOf } from '../../location/timezone.ts'
import { utf8Decoder } from '../../realm.ts'
import type { CountPlan, CountValue, Dimension, LocationColumn, TimeColumn } from '../count-plan.ts'
import { FAILURE_REASONS } from '../counting/counts.ts'
import type { FieldValues } from '../counting/field-values.ts'
import { WEEKDAYS } from '../counting/sorting.ts'
import { isMapped, Networks, NO_CODE, type PartValues, Tuples } from '../counting/values.ts'
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
      return new LocalHourCoder(locator, dimension.columns.length)
    case 'asn':
      return new SystemCoder(locator)
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
  readonly #locator: LineLocator
  readonly #columns: number
  readonly #hours: number

  /** @param columns 1: the hour of the day; 2: the day of the week before it */
  constructor(locator: LineLocator, columns: number) {
    this.#locator = locator
    this.#columns = columns
    this.#hours = columns === 1 ? DAY_HOURS : WEEK_DAYS * DAY_HOURS
  }

  code(): number {
    const hour = this.#locator.localHour
    const hours = this.#hours
    return hour === null ? 0 : (((hour % hours) + hours) % hours) + 1
  }

  values(): (readonly CountValue[])[] {
    const all = [null, ...Array(this.#hours).keys()].map((hour) => [
      hour === null ? null : (Math.floor(hour / DAY_HOURS) + FIRST_DAY) % WEEK_DAYS,
      hour === null ? null : hour % DAY_HOURS,
    ])
    return all.map((values) => values.slice(-this.#columns))
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

/** Coders of tuples of values. */
abstract class TupleCoder implements Coder {
  protected readonly tuples = new Tuples()

  abstract code(mayAdd: boolean): number

  values(): (readonly CountValue[])[] {
    return this.tuples.list
  }
}

class LocationCoder extends TupleCoder {
  readonly #columns: readonly LocationColumn[]
  readonly #hidden: readonly Shared[]
  readonly #locator: LineLocator
  readonly #locale: Locale
  readonly #nowhere: readonly null[]
  /** Codes plus 2 by the number of a location: a location without a code has 1. */
  #codes = new Int32Array(1024)
  #epoch = 0

  constructor(columns: readonly LocationColumn[], locator: LineLocator, locale: Locale) {
    super()
    this.#columns = columns
    this.#hidden = columns.flatMap((column) => UNTRANSLATED[column] ?? [])
    this.#locator = locator
    this.#locale = locale
    this.#nowhere = [...columns, ...this.#hidden].map(() => null)
  }

  code(mayAdd: boolean): number {
    const { locationNumber: number, epoch } = this.#locator
    if (number < 0) return this.tuples.code(this.#nowhere, mayAdd)
    if (epoch !== this.#epoch) {
      this.#codes.fill(0)
      this.#epoch = epoch
    }
    const known = this.#codes[number] ?? 0
    return known > 0 ? known - 2 : this.#find(number, mayAdd)
  }

  #find(number: number, mayAdd: boolean): number {
    if (number >= this.#codes.length) this.#codes = extended(this.#codes, new Int32Array(2 * number))
    const { texts } = this.#locator
    const parts = texts.partsOf(number)
    const values = this.#columns.map((column): CountValue => {
      const shared = SHARED[column]
      return shared?.(parts, this.#locale) ?? OWN[column]?.(texts.location(number)) ?? null
    })
    for (const hidden of this.#hidden) values.push(hidden(parts, this.#locale))
    const code = this.tuples.code(values, mayAdd)
    this.#codes[number] = code + 2
    return code
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

class TimeCoder extends TupleCoder {
  readonly #parts: readonly ((date: Date) => CountValue)[]
  readonly #locator: LineLocator
  readonly #zone: Timezone | null
  /** The span of time in which all values are the same. Milliseconds. */
  readonly #spanMs: number
  readonly #codes = new Map<number, number>()
  /** The last span since 1970, and its code. */
  #span = Number.NaN
  #code = NO_CODE

  constructor(columns: readonly TimeColumn[], locator: LineLocator, timeZone: string | null) {
    super()
    this.#parts = columns.map((column) => TIMES[column])
    this.#locator = locator
    this.#zone = timeZone === null ? null : timezoneOf(timeZone)
    this.#spanMs = columns.includes('hour') ? HOUR_MS : DAY_MS
  }

  code(mayAdd: boolean): number {
    const { hasTime, time, isLocal } = this.#locator
    if (!hasTime)
      return this.tuples.code(
        this.#parts.map(() => null),
        mayAdd,
      )
    // A local time whose offset is unknown is counted as the log has it.
    const minutes = this.#zone === null || isLocal ? 0 : (this.#zone.spanAt(time).offset.minutes ?? 0)
    const span = Math.floor((time + minutes * 60_000) / this.#spanMs)
    if (span !== this.#span || this.#code === NO_CODE) this.#code = this.#find(span, mayAdd)
    this.#span = span
    return this.#code
  }

  /** A function of its own: a closure would take memory for each line. */
  #find(span: number, mayAdd: boolean): number {
    return remember(this.#codes, MAX_SPANS, span, () => {
      const date = new Date(span * this.#spanMs)
      return this.tuples.code(
        this.#parts.map((part) => part(date)),
        mayAdd,
      )
    })
  }
}

/** The networks of addresses. Code 0 is for lines without an address. */
class AddressCoder implements Coder {
  readonly #locator: LineLocator
  readonly #words = new Int32Array(4)
  readonly #networks: Networks
  readonly #areAddresses: boolean

  /** @param areAddresses whether the networks are addresses */
  constructor(networks: Networks, locator: LineLocator, areAddresses: boolean) {
    this.#networks = networks
    this.#locator = locator
    this.#areAddresses = areAddresses
  }

  code(mayAdd: boolean): number {
    if (!this.#locator.addressInto(this.#words)) return 0
    if (mayAdd && this.#areAddresses && this.#locator.isNewAddress)
      return this.#networks.append(this.#words) + 1
    const known = this.#networks.code(this.#words, 0, mayAdd)
    return known === NO_CODE ? NO_CODE : known + 1
  }

  values(): Int32Array {
    return this.#networks.words
  }
}

/** Slots of the cache of addresses, two numbers each: the last word of an address, and its code plus 1. */
const SYSTEM_SLOTS = 2 ** 16

/** The autonomous systems of addresses. */
class SystemCoder extends TupleCoder {
  readonly #locator: LineLocator
  readonly #words = new Int32Array(4)
  /** The codes of recent IPv4 addresses. */
  readonly #recent = new Int32Array(2 * SYSTEM_SLOTS)
  /** Codes by the number of a system. */
  readonly #codes = new Map<number, number>()
  #generation = 0

  constructor(locator: LineLocator) {
    super()
    this.#locator = locator
  }

  code(mayAdd: boolean): number {
    const words = this.#words
    if (!this.#locator.addressInto(words)) return this.#codeOf(NO_SYSTEM, mayAdd)
    if (!isMapped(words, 0)) return this.#codeOf(this.#locator.systemNumber, mayAdd)
    const ipv4 = words[3] ?? 0
    const slot = 2 * ((Math.imul(ipv4, 0x9e3779b1) >>> 8) & (SYSTEM_SLOTS - 1))
    const known = this.#recent[slot + 1] ?? 0
    if (this.#recent[slot] === ipv4 && known > 0) return known - 1
    const code = this.#codeOf(this.#locator.systemNumber, mayAdd)
    this.#recent[slot] = ipv4
    this.#recent[slot + 1] = code + 1
    return code
  }

  #codeOf(number: number, mayAdd: boolean): number {
    const { systems } = this.#locator
    if (systems.generation !== this.#generation) {
      this.#codes.clear()
      this.#generation = systems.generation
    }
    const known = this.#codes.get(number)
    if (known !== undefined) return known
    const { number: asn, organization } = number === NO_SYSTEM ? NO_AS : systems.system(number)
    const code = this.tuples.code([asn, organization], mayAdd)
    if (code !== NO_CODE) this.#codes.set(number, code)
    return code
  }
}

const NO_AS = { number: null, organization: null }

/** Limit of the bytes of all values of a field. */
const MAX_TEXT_BYTES = 2 ** 26

const decoder = /* @__PURE__ */ utf8Decoder({ ignoreBOM: true })

/** The values of a field of the log. Code 0 is for lines without one. */
export class FieldCoder implements Coder {
  /** Whether no line had a value so far. */
  isAbsent = true
  readonly #texts = new DistinctTexts()
  readonly #views = new CachedView()

  /** @param maxBytes limit of the bytes of all values */
  constructor(
    readonly field: number,
    readonly source: FieldValues | null,
    readonly maxBytes = MAX_TEXT_BYTES,
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

  values(): (readonly CountValue[])[] {
    const texts = Array.from({ length: this.#texts.count }, (_, code) => [
      decoder.decode(this.#texts.textOf(code)),
    ])
    return [[null], ...texts]
  }
}
