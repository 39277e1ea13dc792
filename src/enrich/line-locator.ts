import type { DatabaseSet } from '../location/database-set.ts'
import { localeOf } from '../location/locale.ts'
import { ABSENT, NumberMap } from '../location/number-tables.ts'
import { AddressCache, MAX_TEXT_BYTES, NOT_IPV4, UNKNOWN } from './address-cache.ts'
import { AddressFinder } from './address-finder.ts'
import type { ByteSink } from './byte-sink.ts'
import { countInstant, countLocation } from './count-location.ts'
import { emptyCounts, FAILURE_REASONS, type FailureReason, type RunningCounts } from './counts.ts'
import { NO_TIME } from './event-time.ts'
import { JSON_HEAD, JSON_TEMPLATE, type LocationTemplate } from './location-text.ts'
import type { CommonPlan } from './options.ts'
import { RenderedLocations } from './rendered-locations.ts'

const HOUR_MS = 3_600_000
/** Aliases are addresses that are not written canonically: the most that are kept, and the number of the first. */
const MAX_ALIASES = 65_536
const FIRST_ALIAS = 1 << 30
const NO_LOCATION = -1
const MISSING = FAILURE_REASONS.indexOf('missing')
const MALFORMED = FAILURE_REASONS.indexOf('malformed')
const EMPTY = new Uint8Array(0)

const encoder = /* @__PURE__ */ new TextEncoder()
const HEAD = /* @__PURE__ */ encoder.encode(JSON_HEAD)
const NULL = /* @__PURE__ */ encoder.encode('null')

/** The result for an address that is not written in its canonical form. */
interface Alias {
  /** `FAILURE_REASONS.length` plus the number of the location. */
  readonly number: number
  /** Canonical text. */
  readonly ip: Uint8Array
}

/** Finds the location of a line's address, and writes it, for a `LineFormat`. One line at a time. */
export class LineLocator {
  /** Why the last address has no location. Valid after `locate` returns `false`. */
  reason: FailureReason = 'missing'
  readonly #finder: AddressFinder
  /**
   * Values from 0: the index of a reason; from `FAILURE_REASONS.length`: that plus the number of a location; from
   * {@link FIRST_ALIAS}: that plus the index of an alias.
   */
  readonly #cache = new AddressCache()
  #aliases: Alias[] = []
  readonly #set: DatabaseSet
  readonly #rendered: RenderedLocations
  /** Numbers of rendered locations, by those of the set's locations, and the generation that these are of. */
  #numbers = new NumberMap()
  #generation: number
  readonly #details: boolean
  readonly #otherwiseAt: number
  /** Number of the line's location, or {@link NO_LOCATION}. */
  #location = NO_LOCATION
  /** The canonical text of the address, `#ip[#ipStart, #ipEnd)`: in the line itself if it is written canonically. */
  #ip: Uint8Array = EMPTY
  #ipStart = 0
  #ipEnd = 0
  /** The instant of the line, or the plan's; {@link NO_TIME} without both. */
  #at: number
  #hasTime = false
  #counts = emptyCounts()

  /**
   * @throws InvalidDatabaseError when the databases hold no locations
   * @throws TypeError, InvalidLocaleError when the plan is wrong
   */
  constructor(set: DatabaseSet, plan: CommonPlan, template: LocationTemplate = JSON_TEMPLATE) {
    this.#set = set
    this.#generation = set.generation
    this.#finder = new AddressFinder(set, plan)
    this.#rendered = new RenderedLocations(localeOf(plan.locale), template, plan.details)
    this.#details = plan.details
    this.#otherwiseAt = plan.at ?? NO_TIME
    this.#at = this.#otherwiseAt
  }

  /**
   * The instant of this line, in milliseconds since 1970, or {@link NO_TIME}: the plan's instant is then used. Set it
   * before writing.
   */
  set instant(instant: number) {
    this.#hasTime = !Number.isNaN(instant)
    this.#at = this.#hasTime ? instant : this.#otherwiseAt
  }

  /** Whether this line has a time of its own. */
  get hasTime(): boolean {
    return this.#hasTime
  }

  /**
   * Finds the location of an address. The text is a bare ASCII address or, with `trustedProxies`, a list of hops. An
   * empty text and `-` are `missing`. The bytes must not change until the line is written.
   *
   * @returns whether there is a location
   */
  locate(bytes: Uint8Array, start: number, end: number): boolean {
    let number = this.#cache.get(bytes, start, end)
    if (number === UNKNOWN && this.#cache.ipv4 !== NOT_IPV4 && this.#finder.isPlain) {
      const { ipv4 } = this.#cache
      this.#makeRoom()
      number = this.#numberOf(this.#finder.findIPv4(ipv4))
      this.#cache.set(bytes, start, end, number)
    } else if (number === UNKNOWN) {
      // Lines can be long, and a string takes many times the memory of its bytes.
      if (end - start > this.#finder.longest) return this.#settle(MALFORMED, EMPTY, 0, 0)
      const text = latin1(bytes, start, end)
      this.#makeRoom()
      number = this.#numberOf(this.#finder.find(text))
      const { ip } = this.#finder
      if (number >= FAILURE_REASONS.length && ip !== text) {
        // Too long for the cache, so do not spend one of the limited aliases.
        if (end - start > MAX_TEXT_BYTES) return this.#settle(number, encoder.encode(ip), 0, ip.length)
        number = this.#aliasOf(number, ip)
      }
      this.#cache.set(bytes, start, end, number)
    }
    if (number < FIRST_ALIAS) return this.#settle(number, bytes, start, end)
    const alias = this.#aliases[number - FIRST_ALIAS]
    if (alias === undefined) throw new RangeError('the cache has an alias that is not kept')
    return this.#settle(alias.number, alias.ip, 0, alias.ip.length)
  }

  /** As `locate`, for a string, such as an unescaped one. */
  locateText(text: string): boolean {
    if (text.length > this.#finder.longest) return this.#settle(MALFORMED, EMPTY, 0, 0)
    const bytes = encoder.encode(text)
    return this.locate(bytes, 0, bytes.length)
  }

  /** This line has no address. @returns false */
  missing(): boolean {
    return this.#settle(MISSING, EMPTY, 0, 0)
  }

  /** Writes the LocationRecord as `JSON.stringify` would, or `null` if there is no location. */
  writeJson(out: ByteSink): void {
    if (this.#location === NO_LOCATION) {
      out.write(NULL)
      return
    }
    out.write(HEAD)
    out.write(this.#ip, this.#ipStart, this.#ipEnd)
    this.writeRendered(out)
  }

  /** Writes the location as the template has it, without the address. Call it after `locate` returns `true`. */
  writeRendered(out: ByteSink): void {
    this.#rendered.write(this.#location, this.#at, out)
  }

  /** Counts the last line, which has a location. For the enricher. */
  countResolved(): void {
    this.#rendered.use(this.#location)
    if (this.#details && this.#hasTime) {
      const { minutes } = this.#rendered.offsetOf(this.#location, this.#at)
      const hour = minutes === null ? null : Math.floor((this.#at + minutes * 60_000) / HOUR_MS)
      countInstant(this.#counts, this.#at, hour)
    }
  }

  /** Counts the locations of the lines from here on, and of those not yet counted, in `counts`. For the enricher. */
  countIn(counts: RunningCounts): void {
    this.#counts = counts
  }

  /** Completes the counts of the lines so far. For the enricher. */
  countLocations(): void {
    this.#rendered.drain((location, locale, uses) =>
      countLocation(this.#counts, location, locale, uses, this.#details),
    )
  }

  /**
   * @param found the number of a location in the set, or why there is none
   * @returns the index of a reason, or `FAILURE_REASONS.length` plus the number of a rendered location
   */
  #numberOf(found: number | FailureReason): number {
    if (typeof found === 'string') return FAILURE_REASONS.indexOf(found)
    const { generation } = this.#set
    if (generation !== this.#generation) {
      this.#numbers = new NumberMap()
      this.#generation = generation
    }
    let number = this.#numbers.get(found)
    if (number === ABSENT) {
      number = this.#rendered.add(this.#set.location(found))
      this.#numbers.set(found, number)
    }
    return FAILURE_REASONS.length + number
  }

  #aliasOf(number: number, ip: string): number {
    this.#aliases.push({ number, ip: encoder.encode(ip) })
    return FIRST_ALIAS + this.#aliases.length - 1
  }

  #makeRoom(): void {
    if (!this.#rendered.isFull && this.#aliases.length < MAX_ALIASES) return
    this.countLocations()
    this.#rendered.clear()
    this.#numbers = new NumberMap()
    this.#aliases = []
    this.#cache.clear()
  }

  #settle(number: number, ip: Uint8Array, start: number, end: number): boolean {
    this.#ip = ip
    this.#ipStart = start
    this.#ipEnd = end
    const isLocated = number >= FAILURE_REASONS.length
    this.#location = isLocated ? number - FAILURE_REASONS.length : NO_LOCATION
    if (!isLocated) this.reason = FAILURE_REASONS[number] ?? 'missing'
    return isLocated
  }
}

function latin1(bytes: Uint8Array, start: number, end: number): string {
  let text = ''
  for (let at = start; at < end; at++) text += String.fromCharCode(bytes[at] ?? 0)
  return text
}
