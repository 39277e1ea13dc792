import { Address } from '../address/address.ts'
import { MAX_ADDRESS_CHARS } from '../address/ipv6.ts'
import { ClientWalk, MAX_FIELD_CHARS } from '../client/client-address.ts'
import { isGeofixError } from '../errors.ts'
import type { DatabaseSet } from '../location/database-set.ts'
import { findLocation, isLocation } from '../location/find-location.ts'
import { localeOf } from '../location/locale.ts'
import type { Location } from '../location/location.ts'
import { AddressCache, MAX_TEXT_BYTES, UNKNOWN } from './address-cache.ts'
import type { ByteSink } from './byte-sink.ts'
import {
  countInstant,
  countLocation,
  emptyCounts,
  FAILURE_REASONS,
  type FailureReason,
  mergeCounts,
  type RunningCounts,
} from './counts.ts'
import { eventTime, eventTimeOf, NO_TIME } from './event-time.ts'
import type { CommonPlan, LocationField } from './options.ts'
import { JSON_HEAD, RenderedLocations } from './rendered-locations.ts'
import { viewOf } from './swar.ts'

const HOUR_MS = 3_600_000
/** Aliases are addresses that are not written canonically: the most that are kept, and the number of the first. */
const MAX_ALIASES = 65_536
const FIRST_ALIAS = 1 << 30
const NO_ANSWER = -1
const MISSING = FAILURE_REASONS.indexOf('missing')
const MALFORMED = FAILURE_REASONS.indexOf('malformed')

const encoder = /* @__PURE__ */ new TextEncoder()

/** The answer for an address that is not written in its canonical form. */
interface Alias {
  /** `FAILURE_REASONS.length` plus the number of the location. */
  readonly number: number
  /** Canonical text. */
  readonly ip: Uint8Array
}

/** Finds the location of a line's address, and writes it, for a {@link LineFormat}. One line at a time. */
export class LineLocator {
  /** Why the last address has no location. Valid after `locate` returns `false`. */
  reason: FailureReason = 'missing'
  readonly #question: AddressFinder
  /**
   * Values from 0: the index of a reason; from `FAILURE_REASONS.length`: that plus the number of a location; from
   * {@link FIRST_ALIAS}: that plus the index of an alias.
   */
  readonly #memo = new AddressCache()
  #aliases: Alias[] = []
  readonly #answers: RenderedLocations
  readonly #details: boolean
  readonly #otherwiseAt: number
  readonly #jsonHead = viewOf(encoder.encode(JSON_HEAD))
  #answer = NO_ANSWER
  /** The canonical text of the address, `#ip[#ipStart, #ipEnd)`: in the line itself if it is written canonically. */
  #ip: Uint8Array = new Uint8Array(0)
  #ipStart = 0
  #ipEnd = 0
  /** The instant of the line, or the plan's; {@link NO_TIME} without both. */
  #at: number
  /** Whether the line has its own instant. */
  #hasTime = false
  /** Counts since the last `drainTo`. */
  #counts = emptyCounts()

  /**
   * @throws InvalidDatabaseError when the databases hold no locations
   * @throws TypeError, InvalidLocaleError when the plan is wrong
   */
  constructor(set: DatabaseSet, plan: CommonPlan) {
    this.#question = new AddressFinder(set, plan)
    this.#answers = new RenderedLocations(localeOf(plan.locale), plan.details)
    this.#details = plan.details
    this.#otherwiseAt = plan.at ?? NO_TIME
    this.#at = this.#otherwiseAt
  }

  /** The instant of this line, in milliseconds since 1970. Set it, or call `time` or `noTime`, before writing. */
  set at(instant: number) {
    this.#at = instant
    this.#hasTime = true
  }

  /** Whether this line has a time of its own. */
  get hasTime(): boolean {
    return this.#hasTime
  }

  /** Takes the instant of this line from a text, as `eventTime` reads it, or the plan's if it cannot be read. */
  time(bytes: Uint8Array, start: number, end: number): void {
    this.#take(eventTime(bytes, start, end))
  }

  /** As `time`, for a string, such as an unescaped one. */
  timeText(text: string): void {
    this.#take(eventTimeOf(text))
  }

  /** This line has no time: takes the plan's. */
  noTime(): void {
    this.#take(NO_TIME)
  }

  /**
   * Finds the location of an address. The text is a bare ASCII address or, with `trustedProxies`, a list of hops. An
   * empty text and `-` are `missing`. The bytes must not change until the line is written.
   *
   * @returns whether there is a location
   */
  locate(bytes: Uint8Array, start: number, end: number): boolean {
    let number = this.#memo.get(bytes, start, end)
    if (number === UNKNOWN) {
      // Lines can be long, and a string takes many times the memory of its bytes.
      if (end - start > this.#question.longest) return this.#settle(MALFORMED, bytes, start, end)
      const text = latin1(bytes, start, end)
      number = this.#ask(text)
      const { ip } = this.#question
      if (number >= FAILURE_REASONS.length && ip !== text) {
        // Too long for the cache, so do not spend one of the limited aliases.
        if (end - start > MAX_TEXT_BYTES) return this.#settle(number, encoder.encode(ip), 0, ip.length)
        number = this.#aliasOf(number, ip)
      }
      this.#memo.set(bytes, start, end, number)
    }
    if (number < FIRST_ALIAS) return this.#settle(number, bytes, start, end)
    const alias = this.#aliases[number - FIRST_ALIAS]
    if (alias === undefined) throw new RangeError('an alias was forgotten that the memo knows')
    return this.#settle(alias.number, alias.ip, 0, alias.ip.length)
  }

  /** As `locate`, for a string, such as an unescaped one. */
  locateText(text: string): boolean {
    if (text.length > this.#question.longest) return this.#settle(MALFORMED, this.#ip, 0, 0)
    const bytes = encoder.encode(text)
    return this.locate(bytes, 0, bytes.length)
  }

  /** This line has no address. @returns false */
  missing(): boolean {
    return this.#settle(MISSING, this.#ip, 0, 0)
  }

  /**
   * Writes the LocationRecord as `JSON.stringify` would. Call it after `locate` returns `true`.
   *
   * @param head text to write before the address; it ends with {@link JSON_HEAD}
   */
  writeJson(out: ByteSink, head: DataView = this.#jsonHead): void {
    out.writeView(head, 0, head.byteLength)
    out.writeRange(this.#ip, this.#ipStart, this.#ipEnd)
    this.#answers.writeJson(this.#answer, this.#at, out)
  }

  /**
   * Writes columns with delimiters between them, quoted where RFC 4180 requires it. Call it after `locate` returns
   * `true`, with the same columns and delimiter each time.
   */
  writeColumns(out: ByteSink, columns: readonly LocationField[], delimiter: number): void {
    this.#answers.writeColumns(this.#answer, this.#at, columns, delimiter, out)
  }

  /** Counts the last line, which has a location. For the enricher. */
  countResolved(): void {
    this.#answers.use(this.#answer)
    if (this.#details && this.#hasTime) {
      const { minutes } = this.#answers.offsetOf(this.#answer, this.#at)
      const hour = minutes === null ? null : Math.floor((this.#at + minutes * 60_000) / HOUR_MS)
      countInstant(this.#counts, this.#at, hour)
    }
  }

  /** Adds the counts since the last call to `counts`. For the enricher. */
  drainTo(counts: RunningCounts): void {
    this.#countPlaces()
    mergeCounts(counts, this.#counts)
    this.#counts = emptyCounts()
  }

  #countPlaces(): void {
    this.#answers.drain((place, locale, uses) =>
      countLocation(this.#counts, place, locale, uses, this.#details),
    )
  }

  #take(instant: number): void {
    this.#hasTime = !Number.isNaN(instant)
    this.#at = this.#hasTime ? instant : this.#otherwiseAt
  }

  /** @returns the index of a reason, or `FAILURE_REASONS.length` plus the number of a location */
  #ask(text: string): number {
    if (this.#answers.isFull || this.#aliases.length >= MAX_ALIASES) this.#forget()
    const place = this.#question.ask(text)
    if (typeof place === 'string') return FAILURE_REASONS.indexOf(place)
    return FAILURE_REASONS.length + this.#answers.numberOf(place)
  }

  #aliasOf(number: number, ip: string): number {
    this.#aliases.push({ number, ip: encoder.encode(ip) })
    return FIRST_ALIAS + this.#aliases.length - 1
  }

  #forget(): void {
    this.#countPlaces()
    this.#answers.clear()
    this.#aliases = []
    this.#memo.clear()
  }

  #settle(number: number, ip: Uint8Array, start: number, end: number): boolean {
    this.#ip = ip
    this.#ipStart = start
    this.#ipEnd = end
    const isAnswer = number >= FAILURE_REASONS.length
    this.#answer = isAnswer ? number - FAILURE_REASONS.length : NO_ANSWER
    if (!isAnswer) this.reason = FAILURE_REASONS[number] ?? 'missing'
    return isAnswer
  }
}

function latin1(bytes: Uint8Array, start: number, end: number): string {
  let text = ''
  for (let at = start; at < end; at++) text += String.fromCharCode(bytes[at] ?? 0)
  return text
}

/** Looks up the address in a text. */
export class AddressFinder {
  /** Canonical text of the last address; '' if the last text had none. */
  ip = ''
  /** Longer texts are malformed. A list of hops may be longer than an address. Characters. */
  readonly longest: number
  readonly #set: DatabaseSet
  readonly #clients: ClientWalk | null
  readonly #address = new Address()

  /**
   * @throws InvalidDatabaseError when the databases hold no locations
   * @throws TypeError when `trustedProxies` is invalid
   */
  constructor(set: DatabaseSet, { trustedProxies }: CommonPlan) {
    if (set.noLocationsError !== null) throw set.noLocationsError
    this.#set = set
    // The writer of the log is the peer: trust its list like that of a local proxy on a Unix socket.
    this.#clients =
      trustedProxies === null ? null : new ClientWalk({ trustedProxies: [...trustedProxies, 'unix:'] })
    this.longest = this.#clients === null ? MAX_ADDRESS_CHARS : MAX_FIELD_CHARS
  }

  /** @returns the location of the address, or why it has none */
  ask(text: string): Location | FailureReason {
    this.ip = ''
    if (text === '' || text === '-') return 'missing'
    const address = this.#address
    const failure = this.#clients === null ? this.#parse(text) : this.#walk(this.#clients, text)
    if (failure !== null) return failure
    this.ip = address.text
    const found = findLocation(this.#set, address)
    return typeof found === 'string' || isLocation(found) ? found : 'invalid-database'
  }

  #parse(text: string): FailureReason | null {
    return this.#address.parse(text) ? null : 'malformed'
  }

  #walk(clients: ClientWalk, text: string): FailureReason | null {
    try {
      clients.find({ headers: { [clients.field]: text }, remoteAddress: 'unix:' }, undefined, this.#address)
      return null
    } catch (error) {
      if (!isGeofixError(error)) throw error
      return 'reason' in error && (error.reason === 'unidentified' || error.reason === 'trusted-proxy')
        ? error.reason
        : 'malformed'
    }
  }
}
