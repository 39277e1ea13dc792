import type { Locale } from '../location/locale.ts'
import type { Location } from '../location/location-table.ts'
import {
  LOCALIZED_PART_BYTES,
  type LocalizedCountry,
  type LocalizedRegion,
  longTextBytes,
  SHARED_PARTS_BYTES,
} from '../location/shared-parts.ts'
import type { Timezone } from '../location/timezone.ts'
import type { ByteSink } from './byte-sink.ts'
import type { LocationTemplate } from './location-text.ts'
import { type Offset, ZoneOffsets } from './zone-offsets.ts'

/** The most locations that are kept, and the limit of the bytes of their texts. */
const MAX_LOCATIONS = 131_072
const MAX_TEXT_BYTES = 64 * 1024 * 1024
/** Limit of what the locations keep alive, as {@link RetainedBytes} counts it: the same as in `location-table.ts`. */
const MAX_RETAINED_BYTES = 2 ** 25
/** The most time zones that are kept: each can have some 100 KB of windows. The IANA database has some 600 with links. */
const MAX_ZONES = 1024
/** Room to reserve for each text, to grow the array rarely. Only a hostile database has longer texts. Bytes. */
const TEXT_ROOM = 65_536

/** Numbers in the row of each location. */
const ROW = 8
/** Positions in the texts: start of the location, start and end of the time-zone offset in it, and its end. */
const START = 0
const OFFSET_START = 1
const OFFSET_END = 2
const END = 3
const ZONE = 4
/** The location whose uses include those of this one: itself, or the first of its country. */
const COUNTED = 5
const USES = 6
/** At {@link START}, until the location is first written. At {@link OFFSET_END}, if the offset is not written. */
const NONE = -1

const encoder = /* @__PURE__ */ new TextEncoder()

/**
 * Caches the output text of locations by number, each with the offset of the first line that it is written for. All
 * texts are in one array and all numbers in another, so that a line touches few lines of the processor's cache.
 */
export class RenderedLocations {
  readonly #locale: Locale
  readonly #template: LocationTemplate
  readonly #countsLocations: boolean
  readonly #retained = new RetainedBytes()
  /** The number of the first location in each country. */
  readonly #countries = new Map<LocalizedCountry, number>()
  #locations: Location[] = []
  /** The offset in the text of each location, by number. */
  #offsets: (Offset | undefined)[] = []
  #rows = new Int32Array(ROW * 1024)
  #texts = new Uint8Array(1024 * 1024)
  #textEnd = 0
  readonly #zoneNumbers = new Map<Timezone, number>()
  #zones: ZoneOffsets[] = []
  /** The numbers of locations used since the last `drain`. */
  #used: number[] = []

  /** @param countsLocations whether to count uses by location; otherwise by country, which is faster */
  constructor(locale: Locale, template: LocationTemplate, countsLocations: boolean) {
    this.#locale = locale
    this.#template = template
    this.#countsLocations = countsLocations
  }

  /** Whether `clear` must be called before another location is added. */
  get isFull(): boolean {
    return (
      this.#locations.length >= MAX_LOCATIONS ||
      this.#textEnd > MAX_TEXT_BYTES ||
      this.#retained.bytes > MAX_RETAINED_BYTES ||
      this.#zones.length >= MAX_ZONES
    )
  }

  /** Removes all locations; numbers start from 0 again. Call `drain` before. */
  clear(): void {
    this.#retained.clear()
    this.#countries.clear()
    this.#locations = []
    this.#offsets = []
    this.#textEnd = 0
    this.#zoneNumbers.clear()
    this.#zones = []
  }

  /** Adds a location. @returns its number, from 0 */
  add(location: Location): number {
    const number = this.#locations.length
    this.#locations.push(location)
    this.#retained.add(location)
    const row = number * ROW
    if (row === this.#rows.length) {
      const larger = new Int32Array(row * 2)
      larger.set(this.#rows)
      this.#rows = larger
    }
    this.#rows[row + START] = NONE
    this.#rows[row + ZONE] = this.#zoneOf(location.shared.timezone)
    this.#rows[row + COUNTED] = this.#countsLocations
      ? number
      : this.#firstIn(location.shared.country, number)
    this.#rows[row + USES] = 0
    return number
  }

  /** The offset of a location's zone. @param at milliseconds since 1970; `NaN` if unknown */
  offsetOf(number: number, at: number): Offset {
    const zone = this.#zones[this.#rows[number * ROW + ZONE] ?? 0]
    if (zone === undefined) throw new RangeError(`no location has the number ${number}`)
    return zone.at(at)
  }

  /** Counts one line with this location. */
  use(number: number): void {
    const counted = this.#rows[number * ROW + COUNTED] ?? 0
    const uses = this.#rows[counted * ROW + USES] ?? 0
    if (uses === 0) this.#used.push(counted)
    this.#rows[counted * ROW + USES] = uses + 1
  }

  /** Calls `count` for each location used since the last call, or for one location of each country. */
  drain(count: (location: Location, locale: Locale, uses: number) => void): void {
    for (const number of this.#used) {
      const location = this.#locations[number]
      if (location !== undefined) count(location, this.#locale, this.#rows[number * ROW + USES] ?? 0)
      this.#rows[number * ROW + USES] = 0
    }
    this.#used = []
  }

  /** Writes a location as the template has it. @param at milliseconds since 1970; `NaN` if unknown */
  write(number: number, at: number, out: ByteSink): void {
    const row = number * ROW
    const offset = this.offsetOf(number, at)
    if (this.#rows[row + START] === NONE) this.#render(number, offset)
    const start = this.#rows[row + START] ?? 0
    const end = this.#rows[row + END] ?? 0
    const offsetEnd = this.#rows[row + OFFSET_END] ?? 0
    if (this.#offsets[number] === offset || offsetEnd === NONE) out.write(this.#texts, start, end)
    else {
      out.write(this.#texts, start, this.#rows[row + OFFSET_START])
      out.writeAscii(this.#template.offsetText(offset))
      out.write(this.#texts, offsetEnd, end)
    }
  }

  #render(number: number, offset: Offset): void {
    const location = this.#locations[number]
    if (location === undefined) throw new RangeError(`no location has the number ${number}`)
    const { before, after } = this.#template.textOf(location, this.#locale)
    const row = number * ROW
    this.#rows[row + START] = this.#textEnd
    this.#rows[row + OFFSET_START] = this.#add(before)
    this.#rows[row + OFFSET_END] = after === null ? NONE : this.#add(this.#template.offsetText(offset))
    this.#rows[row + END] = this.#add(after ?? '')
    this.#offsets[number] = offset
  }

  /** @returns where the text ends */
  #add(text: string): number {
    // UTF-8 has at most three bytes for each UTF-16 code unit.
    const needed = this.#textEnd + Math.max(text.length * 3, TEXT_ROOM)
    if (needed > this.#texts.length) {
      const larger = new Uint8Array(Math.max(needed, this.#texts.length * 2))
      larger.set(this.#texts.subarray(0, this.#textEnd))
      this.#texts = larger
    }
    this.#textEnd += encoder.encodeInto(text, this.#texts.subarray(this.#textEnd)).written
    return this.#textEnd
  }

  #firstIn(country: LocalizedCountry, number: number): number {
    const first = this.#countries.get(country)
    if (first !== undefined) return first
    this.#countries.set(country, number)
    return number
  }

  #zoneOf(timezone: Timezone): number {
    let number = this.#zoneNumbers.get(timezone)
    if (number === undefined) {
      number = this.#zones.length
      this.#zones.push(new ZoneOffsets(timezone))
      this.#zoneNumbers.set(timezone, number)
    }
    return number
  }
}

/**
 * Counts the memory that locations keep alive beyond themselves: their countries and regions with names, and long
 * texts. In a hostile database each location can have a megabyte of names. Shared parts count once.
 */
class RetainedBytes {
  /** Shared parts, countries, regions and translations that have been counted. */
  readonly #counted = new Set<object>()
  #bytes = 0

  /** Estimated memory. Bytes. */
  get bytes(): number {
    return this.#bytes
  }

  /** Counts a location. Call it once for each. */
  add({ shared, city, postalCode }: Location): void {
    this.#bytes += longTextBytes(city) + longTextBytes(postalCode)
    if (!this.#isNew(shared)) return
    this.#bytes += SHARED_PARTS_BYTES
    this.#addPart(shared.country)
    this.#addPart(shared.region)
  }

  clear(): void {
    this.#counted.clear()
    this.#bytes = 0
  }

  #addPart(part: LocalizedCountry | LocalizedRegion): void {
    if (!this.#isNew(part)) return
    this.#bytes += LOCALIZED_PART_BYTES
    if (this.#isNew(part.translations)) this.#bytes += part.translations.retainedBytes
  }

  #isNew(thing: object): boolean {
    if (this.#counted.has(thing)) return false
    this.#counted.add(thing)
    return true
  }
}
