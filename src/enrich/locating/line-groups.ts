// Counts lines by their groups: the values of the keys become codes, and lines with the same codes are one group.
import { NO_SYSTEM } from '../../location/autonomous-systems.ts'
import type { Locale } from '../../location/locale.ts'
import type { Location } from '../../location/location-table.ts'
import type { SharedParts } from '../../location/shared-parts.ts'
import { remember } from '../../location/tables.ts'
import { timezoneOf, ZoneOffsets } from '../../location/timezone.ts'
import type { CountPlan, CountValue, Dimension, LocationColumn, TimeColumn } from '../count-plan.ts'
import { FAILURE_REASONS } from '../counting/counts.ts'
import { FieldSum } from '../counting/field-sum.ts'
import type { FieldValues } from '../counting/field-values.ts'
import { GroupCounts, type GroupPart, NO_CODE, type PartValues } from '../counting/group-counts.ts'
import { isMapped, Networks } from '../counting/networks.ts'
import { TextCodes } from '../counting/text-codes.ts'
import type { LineLocator } from './line-locator.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
/** Hours or days whose codes are cached. */
const MAX_SPANS = 65_536

/** Makes codes of the values that the columns of one dimension have in the last line. */
interface Coder {
  /** @param mayAdd whether new values get a code. @returns the code of the values, or {@link NO_CODE} */
  code(mayAdd: boolean): number
  /** The values of all codes. */
  values(): PartValues
}

/** Counts the lines of one thread by their groups. */
export class LineGroups {
  readonly plan: CountPlan
  readonly #locator: LineLocator
  readonly #coders: readonly Coder[]
  readonly #fields: readonly FieldCoder[]
  readonly #hasTimes: boolean
  /** Whether addresses are counted one by one, so that a new address is in a new group. */
  readonly #hasAddresses: boolean
  readonly #sum: FieldSum | null
  #counts: GroupCounts
  #localTimes = 0

  /** @param values of the fields of the log; `null` if it has none */
  constructor(plan: CountPlan, locator: LineLocator, values: FieldValues | null, locale: Locale) {
    this.plan = plan
    this.#locator = locator
    this.#coders = plan.dimensions.map((dimension) => coderOf(dimension, plan, locator, values, locale))
    this.#fields = this.#coders.filter((coder) => coder instanceof FieldCoder)
    this.#hasTimes = plan.dimensions.some(({ kind }) => kind === 'time')
    this.#hasAddresses = plan.dimensions.some(isOfAddresses)
    this.#sum = plan.summed === null || values === null ? null : new FieldSum(plan.summed, values)
    this.#counts = new GroupCounts(plan)
  }

  /** Counts the line that the locator and the format have read last, or so many with its address. */
  count(lines = 1): void {
    const counts = this.#counts
    const { codes, distinct } = counts
    const mayAdd = !counts.isFull
    for (let i = 0; i < codes.length; i++) codes[i] = this.#coders[i]?.code(mayAdd) ?? NO_CODE
    const isNew = this.#hasAddresses && this.#locator.isNewAddress
    const group = isNew ? counts.append(lines) : counts.add(lines)
    if (distinct !== null && group !== NO_CODE && this.#locator.addressInto(counts.address)) {
      distinct.add(group, counts.address)
    }
    if (this.#hasTimes && this.#locator.isLocal) this.#localTimes++
    this.#sum?.add()
  }

  /** The groups since the last call. */
  take(): GroupPart {
    const { groups, counts, other, distinct } = this.#counts
    const part = {
      values: this.#coders.map((coder) => coder.values()),
      // Copies, so that a message to another thread does not take their spare memory with them.
      groups: groups.slice(),
      counts: counts.slice(),
      other,
      pairs: distinct?.pairs.slice() ?? null,
      halvings: distinct?.halvings ?? 0,
      absentFields: this.#fields.filter(({ isAbsent }) => isAbsent).map(({ field }) => field),
      localTimes: this.#localTimes,
      sum: this.#sum?.take() ?? null,
    }
    this.#counts = new GroupCounts(this.plan)
    this.#localTimes = 0
    return part
  }
}

function coderOf(
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
      return {
        code: () => {
          const hour = locator.localHour
          return hour === null ? 0 : (((hour % 24) + 24) % 24) + 1
        },
        values: () => [[null], ...Array.from({ length: 24 }, (_, hour) => [hour])],
      }
    case 'asn':
      return new SystemCoder(locator)
    case 'reason':
      return {
        code: () => (locator.locationNumber >= 0 ? 0 : FAILURE_REASONS.indexOf(locator.reason) + 1),
        values: () => [null, ...FAILURE_REASONS].map((reason) => [reason]),
      }
  }
}

/** Whether it is that of whole addresses. */
function isOfAddresses(dimension: Dimension): boolean {
  return dimension.kind === 'address' && dimension.ipv4Bits === 32 && dimension.ipv6Bits === 128
}

/** Stands for `null` in a key: no name is this. */
const NOTHING = '\u0001'

/** Numbers distinct tuples of values. */
class Tuples {
  readonly list: (readonly CountValue[])[] = []
  readonly #codes = new Map<string, number>()

  code(values: readonly CountValue[], mayAdd: boolean): number {
    const key = values.map((value) => value ?? NOTHING).join('\0')
    const known = this.#codes.get(key)
    if (known !== undefined) return known
    if (!mayAdd) return NO_CODE
    this.#codes.set(key, this.list.length)
    return this.list.push(values) - 1
  }
}

/** What a column says of a location. */
const PARTS: Readonly<Record<LocationColumn, (location: Location, locale: Locale) => string | null>> = {
  country: ({ shared }, locale) => shared.countryIn(locale).code,
  country_name: ({ shared }, locale) => shared.countryIn(locale).name,
  region_code: ({ shared }, locale) => shared.regionIn(locale).code,
  region_name: ({ shared }, locale) => shared.regionIn(locale).name,
  city: ({ city }) => city,
  timezone: ({ shared }) => shared.timezone.id,
}

/**
 * What tells two countries or regions without codes apart, if their names in a language are the same. It follows the values of the
 * columns, and no column shows it.
 */
const UNTRANSLATED: Readonly<Partial<Record<LocationColumn, (location: Location) => string | null>>> = {
  country_name: ({ shared: { country } }) => (country.code === null ? country.translations.english : null),
  region_name: ({ shared: { region } }) => (region.code === null ? region.translations.english : null),
}

class LocationCoder implements Coder {
  readonly #parts: readonly ((location: Location, locale: Locale) => string | null)[]
  readonly #locator: LineLocator
  readonly #locale: Locale
  readonly #tuples = new Tuples()
  /** Codes by what many locations share, and the city if that is a column: to make a tuple takes longer. */
  readonly #known = new Map<SharedParts, Map<string | null, number>>()
  readonly #hasCities: boolean
  readonly #nowhere: readonly null[]
  /** Codes plus 2 by the number of a location: a location without a code has 1. */
  #codes = new Int32Array(1024)
  #epoch = 0

  constructor(columns: readonly LocationColumn[], locator: LineLocator, locale: Locale) {
    this.#parts = [
      ...columns.map((column) => PARTS[column]),
      ...columns.flatMap((column) => UNTRANSLATED[column] ?? []),
    ]
    this.#locator = locator
    this.#locale = locale
    this.#hasCities = columns.includes('city')
    this.#nowhere = this.#parts.map(() => null)
  }

  code(mayAdd: boolean): number {
    const { locationNumber: number, epoch } = this.#locator
    if (number < 0) return this.#tuples.code(this.#nowhere, mayAdd)
    if (epoch !== this.#epoch) {
      this.#codes.fill(0)
      this.#known.clear()
      this.#epoch = epoch
    }
    const known = this.#codes[number] ?? 0
    return known > 0 ? known - 2 : this.#find(number, mayAdd)
  }

  values(): (readonly CountValue[])[] {
    return this.#tuples.list
  }

  #find(number: number, mayAdd: boolean): number {
    if (number >= this.#codes.length) {
      const larger = new Int32Array(2 * number)
      larger.set(this.#codes)
      this.#codes = larger
    }
    const { location } = this.#locator
    const cities = this.#known.get(location.shared) ?? new Map<string | null, number>()
    const city = this.#hasCities ? location.city : null
    let code = cities.get(city)
    if (code === undefined) {
      code = this.#tuples.code(
        this.#parts.map((part) => part(location, this.#locale)),
        mayAdd,
      )
      if (code !== NO_CODE) cities.set(city, code)
      this.#known.set(location.shared, cities)
    }
    this.#codes[number] = code + 2
    return code
  }
}

const WEEKDAYS = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday']

/** What a column says of an instant. The fields of the date are those of the time zone, though they are called UTC. */
const TIMES: Readonly<Record<TimeColumn, (date: Date) => CountValue>> = {
  hour: (date) => date.getUTCHours(),
  day: dayOf,
  weekday: (date) => WEEKDAYS[date.getUTCDay()] ?? null,
  month: (date) => dayOf(date).slice(0, -3),
}

function dayOf(date: Date): string {
  return date.toISOString().split('T')[0] ?? ''
}

class TimeCoder implements Coder {
  readonly #parts: readonly ((date: Date) => CountValue)[]
  readonly #locator: LineLocator
  readonly #zone: ZoneOffsets | null
  /** The span of time in which all values are the same. Milliseconds. */
  readonly #spanMs: number
  readonly #tuples = new Tuples()
  readonly #codes = new Map<number, number>()
  /** The last span since 1970, and its code. */
  #span = Number.NaN
  #code = NO_CODE

  constructor(columns: readonly TimeColumn[], locator: LineLocator, timeZone: string | null) {
    this.#parts = columns.map((column) => TIMES[column])
    this.#locator = locator
    this.#zone = timeZone === null ? null : new ZoneOffsets(timezoneOf(timeZone))
    this.#spanMs = columns.includes('hour') ? HOUR_MS : DAY_MS
  }

  code(mayAdd: boolean): number {
    const { hasTime, time, isLocal } = this.#locator
    if (!hasTime)
      return this.#tuples.code(
        this.#parts.map(() => null),
        mayAdd,
      )
    // A local time whose offset is unknown is counted as the log has it.
    const minutes = this.#zone === null || isLocal ? 0 : (this.#zone.at(time).minutes ?? 0)
    const span = Math.floor((time + minutes * 60_000) / this.#spanMs)
    if (span === this.#span && this.#code !== NO_CODE) return this.#code
    this.#span = span
    this.#code = remember(this.#codes, MAX_SPANS, span, () => this.#find(span, mayAdd))
    return this.#code
  }

  values(): (readonly CountValue[])[] {
    return this.#tuples.list
  }

  #find(span: number, mayAdd: boolean): number {
    const date = new Date(span * this.#spanMs)
    return this.#tuples.code(
      this.#parts.map((part) => part(date)),
      mayAdd,
    )
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
    return this.#networks.words.slice()
  }
}

/** Slots of the cache of addresses, two numbers each: the last word of an address, and its code plus 1. */
const SYSTEM_SLOTS = 2 ** 16

/** The autonomous systems of addresses. */
class SystemCoder implements Coder {
  readonly #locator: LineLocator
  readonly #words = new Int32Array(4)
  readonly #tuples = new Tuples()
  /** The codes of recent IPv4 addresses. */
  readonly #recent = new Int32Array(2 * SYSTEM_SLOTS)
  /** Codes by the number of a system. */
  readonly #codes = new Map<number, number>()
  #generation = 0

  constructor(locator: LineLocator) {
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

  values(): (readonly CountValue[])[] {
    return this.#tuples.list
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
    const code = this.#tuples.code([asn, organization], mayAdd)
    if (code !== NO_CODE) this.#codes.set(number, code)
    return code
  }
}

const NO_AS = { number: null, organization: null }

/** The values of a field of the log. Code 0 is for lines without one. */
class FieldCoder implements Coder {
  /** Whether no line had a value so far. */
  isAbsent = true
  readonly #values: FieldValues | null
  readonly #texts = new TextCodes()

  constructor(
    readonly field: number,
    values: FieldValues | null,
  ) {
    this.#values = values
  }

  code(mayAdd: boolean): number {
    const values = this.#values
    if (values === null || !values.find(this.field)) return 0
    this.isAbsent = false
    const code = this.#texts.code(values.bytes, values.start, values.end, mayAdd)
    return code === NO_CODE ? NO_CODE : code + 1
  }

  values(): (readonly CountValue[])[] {
    return [[null], ...Array.from({ length: this.#texts.size }, (_, code) => [this.#texts.text(code)])]
  }
}
