import { Address } from '../../address/address.ts'
import { formatIPv6 } from '../../address/ip-text.ts'
import { extended } from '../../bytes/tables.ts'
import { type AutonomousSystems, NO_SYSTEM } from '../../location/autonomous-systems.ts'
import { type DatabaseSet, type LocationTables, NarrowTables } from '../../location/database-set.ts'
import { localeOf } from '../../location/locale.ts'
import type { OptionalValue } from '../../location/schema.ts'
import { countsOnlyCountries, neededValues, needsLocations, queriesOf } from '../count-plan.ts'
import { FAILURE_REASONS, type FailureReason } from '../counting/counts.ts'
import { isMapped, MAPPED } from '../counting/values.ts'
import { type CommonPlan, type CountryChoice, isChosen } from '../options.ts'
import { latin1 } from '../swar.ts'
import { jsonTemplate } from '../writing/column-templates.ts'
import { LocatedSystems } from '../writing/located-systems.ts'
import type { LocationTemplate } from '../writing/location-template.ts'
import { RenderedLocations } from '../writing/rendered-locations.ts'
import { AddressCache, type AddressCounts, NOT_IPV4, UNKNOWN } from './address-cache.ts'
import { AddressFinder } from './address-finder.ts'
import { NO_TIME } from './event-time.ts'

const HOUR_MS = 3_600_000
/** The largest offsets from UTC that clocks have. */
const MOST_WEST_MS = 12 * HOUR_MS
const MOST_EAST_MS = 14 * HOUR_MS
/** Numbers below this are indexes of reasons. A location has its number in {@link RenderedLocations} plus this. */
export const FIRST_LOCATION = FAILURE_REASONS.length
const MISSING = FAILURE_REASONS.indexOf('missing')
const MALFORMED = FAILURE_REASONS.indexOf('malformed')
/** The reasons of lines in which no address could be found. */
const WITHOUT_ADDRESS: readonly FailureReason[] = ['missing', 'malformed', 'unidentified', 'trusted-proxy']
const HAS_ADDRESS = FAILURE_REASONS.map((reason) => !WITHOUT_ADDRESS.includes(reason))

const OPTIONAL: readonly OptionalValue[] = ['region', 'timezone', 'city', 'postalCode', 'coordinates']

/** The values of locations that a run does not need, if it writes no locations. */
function omittedValues(plan: CommonPlan): readonly OptionalValue[] {
  const needed = queriesOf(plan).flatMap(neededValues)
  return OPTIONAL.filter((value) => !needed.includes(value))
}

/** Finds the location of a line's address, and its text. One line at a time. */
export class LineLocator {
  /** `false` with `onlyFailed`: the run writes no locations. */
  readonly writesLocations: boolean
  /** `false` if lines are only counted: nothing is written. */
  readonly writesLines: boolean
  /** Changes when locations get new numbers. */
  epoch = 0
  readonly #finder: AddressFinder
  readonly cache = new AddressCache()
  /** Texts of locations. */
  readonly texts: RenderedLocations
  /** The locations, with the values that are needed. */
  readonly #locations: LocationTables
  /** The autonomous systems of the databases. */
  readonly systems: AutonomousSystems
  /** The autonomous systems; `null` if none are added. */
  readonly #systems: LocatedSystems | null
  /** The generation of the set in which the rendered locations got their numbers. */
  #generation: number
  readonly #countries: CountryChoice | null
  /** Whether the lines of a location are wanted, by its number: 1, or 2 if not. */
  #wanted = new Uint8Array(0)
  /** The lines of each address, if lines are counted by address: it takes the place of the cache. */
  #addresses: AddressCounts | null = null
  #beforeRenumbering: () => void = () => {}
  /** Whether no lines with the address that is counted now were counted before. */
  isNewAddress = false
  /** The address of the lines that are counted now; `null` if it is that of the last line. */
  #counted: Int32Array | null = null
  readonly #words = new Int32Array(4)
  readonly #address = new Address()
  readonly #otherwiseAt: number
  /** The number of this line's location, from {@link FIRST_LOCATION}, or the index of the reason why it has none. */
  number = MISSING
  /**
   * The instant of this line in milliseconds since 1970, or the plan's; {@link NO_TIME} without both. A local time is given as if it
   * were UTC.
   */
  time: number
  /** Whether this line has a time of its own. */
  hasTime = false
  /** Whether the offset from UTC of the line's own time is unknown. */
  isLocal = false

  /**
   * @throws InvalidDatabaseError when the databases hold no locations
   * @throws TypeError, InvalidLocaleError when the plan is wrong
   */
  constructor(set: DatabaseSet, plan: CommonPlan, template: LocationTemplate = jsonTemplate(plan)) {
    this.writesLines = plan.count === undefined
    this.writesLocations = !plan.onlyFailed && this.writesLines
    const omitted = this.writesLocations || plan.asn !== undefined ? [] : omittedValues(plan)
    this.#locations = omitted.length === 0 ? set : new NarrowTables(set, omitted)
    this.systems = set.systems
    this.#systems = plan.asn === undefined ? null : new LocatedSystems(set)
    this.#generation = this.#currentGeneration
    this.#finder = new AddressFinder(this.#locations, plan, this.#systems && set.systems)
    const written = this.writesLocations ? template : []
    const queries = queriesOf(plan)
    const apart = queries.some(needsLocations)
      ? 'locations'
      : queries.every(countsOnlyCountries)
        ? 'countries'
        : 'parts'
    this.texts = new RenderedLocations(localeOf(plan.locale, plan.cityNames), written, apart)
    this.#countries = plan.countries ?? null
    this.#otherwiseAt = plan.at ?? NO_TIME
    this.time = this.#otherwiseAt
  }

  /** Why the last address has no location. Valid after `locate` returns `false`. */
  get reason(): FailureReason {
    return FAILURE_REASONS[this.number] ?? 'missing'
  }

  /**
   * The instant of this line, in milliseconds since 1970. With {@link NO_TIME} the plan's instant is used. Set it before
   * writing.
   */
  set instant(instant: number) {
    this.hasTime = !Number.isNaN(instant)
    this.time = this.hasTime ? instant : this.#otherwiseAt
    this.isLocal = false
  }

  /**
   * Sets the time of the line to a local time whose offset from UTC is unknown. Pass it as if it were UTC. The offset of a location is
   * written if it is the same at all instants that the time can mean. Local hours are not counted.
   */
  set localInstant(instant: number) {
    this.instant = instant
    this.isLocal = this.hasTime
  }

  /** The hour of this line at its place, in hours since 1970; `null` if the time or the time zone is unknown. */
  get localHour(): number | null {
    const number = this.locationNumber
    if (number < 0 || !this.hasTime || this.isLocal) return null
    const { minutes } = this.texts.offsetOf(number, this.time)
    return minutes === null ? null : Math.floor((this.time + minutes * 60_000) / HOUR_MS)
  }

  /** Whether an address was found in this line. */
  get hasAddress(): boolean {
    return HAS_ADDRESS[this.number] !== false
  }

  /** The number of this line's location, from 0; negative if it has none. See {@link epoch}. */
  get locationNumber(): number {
    return this.number - FIRST_LOCATION
  }

  /** Whether the plan wants lines with this number of a location, by their country, or of a reason. */
  wants(number: number): boolean {
    return this.#countries === null || this.#isChosen(this.#countries, number - FIRST_LOCATION)
  }

  /**
   * Gives the address of this line as four words. An IPv4 address is mapped to IPv6.
   *
   * @returns whether the line has an address
   */
  addressInto(words: Int32Array): boolean {
    if (this.#counted !== null) {
      words.set(this.#counted)
      return true
    }
    if (!this.hasAddress) return false
    const { cache } = this
    const address = this.#address
    const isText = cache.ipv4 === NOT_IPV4
    if (isText) {
      if (cache.wordsInto(words)) return true
      if (!address.parse(latin1(cache.ip, cache.ipStart, cache.ipEnd))) return false
    }
    if (isText && address.version === 6) words.set(address.words)
    else {
      words[0] = words[1] = 0
      words[2] = MAPPED
      words[3] = isText ? address.ipv4 : cache.ipv4
    }
    if (isText) cache.keepWords(words)
    return true
  }

  /** The number of the autonomous system of this line's address; {@link NO_SYSTEM} without one. */
  get systemNumber(): number {
    const words = this.#words
    if (!this.addressInto(words)) return NO_SYSTEM
    const address = this.#address
    if (isMapped(words, 0)) address.setIPv4((words[3] ?? 0) >>> 0, '')
    else if (!address.parse(formatIPv6(Uint32Array.from(words)))) return NO_SYSTEM
    return this.systems.find(address)
  }

  /**
   * Finds the location of an address. The text is an ASCII address, also with a port (`192.0.2.1:80`,
   * `[2001:db8::1]:80`), or, with `trustedProxies`, a list of hops. An empty text and `-` are `missing`. The bytes must not
   * change until the line is written.
   *
   * @returns whether there is a location
   */
  locate(bytes: Uint8Array, start: number, end: number): boolean {
    this.number = this.numberOf(bytes, start, end)
    return this.number >= FIRST_LOCATION
  }

  /**
   * The number of the location of an address, for the loop of usual lines.
   *
   * @returns the number of a location, from {@link FIRST_LOCATION}, or the index of a reason
   */
  numberOf(bytes: Uint8Array, start: number, end: number): number {
    const cached = this.cache.get(bytes, start, end)
    return cached === UNKNOWN ? this.#lookUp(bytes, start, end) : cached
  }

  /** `numberOf` for an IPv4 address, given as a signed 32-bit number. Call it only if {@link isPlain}. */
  numberOfIPv4(ipv4: number): number {
    const cached = this.#addresses === null ? this.cache.getIPv4(ipv4) : this.#addresses.numberOfIPv4(ipv4)
    return cached === UNKNOWN ? this.#lookUpIPv4(ipv4) : cached
  }

  /**
   * Takes a line from the loop of usual lines, so that it can be counted.
   *
   * @param number of the address that was asked for last
   * @param instant the line's own time
   * @param ipv4 the address as a signed 32-bit number, or {@link NOT_IPV4}
   */
  take(number: number, instant: number, ipv4: number): void {
    this.number = number
    this.instant = instant
    this.cache.ipv4 = ipv4
  }

  /**
   * Prepares for counting.
   *
   * @param addresses has the numbers of the addresses of the lines so far; `null` if lines are not counted by address
   * @param beforeRenumbering called before locations get new numbers
   */
  countWith(addresses: AddressCounts | null, beforeRenumbering: () => void): void {
    // Addresses that are not wanted are not counted, and so not known there.
    this.#addresses = this.#countries === null ? addresses : null
    this.#beforeRenumbering = beforeRenumbering
  }

  /**
   * Sets this line to lines that were read before, so that they can be counted together.
   *
   * @param number of their location or reason
   * @param words their address; `null` for that of this line
   * @param isNewAddress whether no lines with this address were counted before
   */
  countAgain(number: number, words: Int32Array | null, isNewAddress: boolean): void {
    this.number = number
    this.#counted = words
    this.isNewAddress = isNewAddress
  }

  /** Whether addresses are texts of their own, and not lists of hops. */
  get isPlain(): boolean {
    return this.#finder.isPlain
  }

  /** Whether a number is that of an address, with or without a location. */
  isAddress(number: number): boolean {
    return HAS_ADDRESS[number] !== false
  }

  /** The instant for the text of the location. Call it after `locate` returns `true`. */
  get textInstant(): number {
    const number = this.locationNumber
    const isUnclear =
      this.isLocal && this.#offsetAt(number, -MOST_EAST_MS) !== this.#offsetAt(number, MOST_WEST_MS)
    return isUnclear ? NO_TIME : this.time
  }

  /** The instant of a line's own time, or the plan's if that is `NaN`. */
  instantOr(instant: number): number {
    return Number.isNaN(instant) ? this.#otherwiseAt : instant
  }

  /** The offset from UTC of a location, in minutes, some milliseconds after the time of the line. */
  #offsetAt(number: number, milliseconds: number): number | null {
    return this.texts.offsetOf(number, this.time + milliseconds).minutes
  }

  #isChosen(choice: CountryChoice, number: number): boolean {
    if (number < 0) return isChosen(choice, null)
    if (number >= this.#wanted.length)
      this.#wanted = extended(this.#wanted, new Uint8Array(2 * number + 1024))
    if (this.#wanted[number] === 0)
      this.#wanted[number] = isChosen(choice, this.texts.partsOf(number).country.code) ? 1 : 2
    return this.#wanted[number] === 1
  }

  /** @returns the number of a text that is not in the cache */
  #lookUp(bytes: Uint8Array, start: number, end: number): number {
    const { ipv4 } = this.cache
    if (ipv4 !== NOT_IPV4 && this.#finder.isPlain) return this.numberOfIPv4(ipv4)
    // Lines can be long, and a string takes many times the memory of its bytes.
    if (end - start > this.#finder.longest) return MALFORMED
    const text = latin1(bytes, start, end)
    const number = this.#numberOf(this.#finder.find(text))
    const { ip } = this.#finder
    this.cache.set(bytes, start, end, number, ip === text ? '' : ip)
    return number
  }

  #lookUpIPv4(ipv4: number): number {
    const number = this.#numberOf(this.#finder.findIPv4(ipv4 >>> 0))
    if (this.#addresses === null) this.cache.setIPv4(ipv4, number)
    return number
  }

  #numberOf(found: number | FailureReason): number {
    if (typeof found === 'string') return FAILURE_REASONS.indexOf(found)
    const generation = this.#currentGeneration
    if (this.texts.isFull || generation !== this.#generation) {
      this.#beforeRenumbering()
      this.texts.clear()
      this.cache.clear()
      this.#wanted.fill(0)
      this.epoch++
      this.#systems?.clear()
      this.#generation = generation
    }
    const inSource = this.#systems?.pairOf(found, this.#finder.system) ?? found
    return FIRST_LOCATION + this.texts.numberOf(inSource, this.#systems ?? this.#locations)
  }

  get #currentGeneration(): number {
    return (this.#systems ?? this.#locations).generation
  }
}
