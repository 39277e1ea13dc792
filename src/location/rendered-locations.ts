// Locations as text, each made once.
import { type ByteSink, WORDS_ROOM } from '../bytes/byte-sink.ts'
import type { Locale } from './locale.ts'
import type { Location } from './location-table.ts'
import { JSON_END, jsonAfterIp } from './record-json.ts'
import type { LocalizedCountry } from './shared-parts.ts'
import { ABSENT, NumberMap } from './tables.ts'
import type { Timezone } from './timezone.ts'
import { NO_OFFSET, type Offset, ZoneOffsets } from './zone-offsets.ts'

/** A location as text, without its time-zone offset, which depends on the time of the line. */
export interface LocationText {
  /** The text before the offset. */
  readonly before: string
  /** The text after the offset. */
  readonly after: string
}

/** How locations are written. */
export interface LocationTemplate {
  textOf(location: Location, locale: Locale): LocationText
  /** `null` if no offset is written: zones are then not asked for theirs. */
  readonly offsetText: ((offset: Offset) => string) | null
}

/** Only the offset depends on the instant, and the offset is written separately. */
export const NO_INSTANT = Number.NaN

/** The part of a record after its `ip`, as `JSON.stringify` writes it. */
export const JSON_TEMPLATE: LocationTemplate = {
  textOf: (location, locale) => ({
    before: jsonAfterIp(location.record('', locale, NO_INSTANT)),
    after: JSON_END,
  }),
  offsetText: ({ json }) => json,
}

/** The most locations that are cached. */
const MAX_LOCATIONS = 131_072
/** Limit of the memory for their texts. */
const MAX_SLAB_BYTES = 64 * 1024 * 1024
/** The most time zones that are cached: each can have 100 KB of windows. The IANA database has about 600 with links. */
const MAX_ZONES = 1024
/** Texts share slabs of this size, which cost less than one buffer for each text. */
const SLAB_BYTES = 256 * 1024
/** UTF-8 has at most three bytes for each UTF-16 code unit. */
const MAX_UNIT_BYTES = 3

/**
 * A location is a row of numbers, half of a cache line of the CPU: the slab of its text, where the text starts there, its
 * length, where the offset is there, the zone, the id of the offset (-1 before the first), the uses, and the length of the
 * offset. With objects, which are two to four places in memory, a log with 32,000 locations takes 10 % longer.
 */
const ROW = 8
const SLAB = 0
const START = 1
const LENGTH = 2
const OFFSET_START = 3
const ZONE = 4
const OFFSET = 5
const USES = 6
const OFFSET_LENGTH = 7
const NONE = -1
/** Rows of an empty cache. */
const FIRST_ROWS = 1024

const NO_TEXT = new ArrayBuffer(0)
const encoder = /* @__PURE__ */ new TextEncoder()

/** The lines that are counted together: those of one location, or of all locations of one country. */
interface Uses {
  readonly location: Location
  count: number
}

/** Caches the output text of locations by number. A text has the offset of the last line that it was written for. */
export class RenderedLocations {
  readonly #locale: Locale
  readonly #template: LocationTemplate
  readonly #countsLocations: boolean
  readonly #maxSlabBytes: number
  /** Numbers of the locations in this cache, by their numbers in the database set. */
  #numbers = new NumberMap()
  #locations: Location[] = []
  #rows = new Int32Array(FIRST_ROWS * ROW)
  #zones: ZoneOffsets[] = []
  readonly #zoneNumbers = new Map<Timezone, number>()
  #uses: Uses[] = []
  readonly #countryUses = new Map<LocalizedCountry, number>()
  /** Uses whose count is not 0. */
  #used: Uses[] = []
  readonly #slabs: DataView[] = []
  /** Bytes in use of the last slab, and the bytes of all slabs. */
  #slabUsed = 0
  #slabBytes = 0

  /**
   * @param countsLocations whether to count uses by location; otherwise by country, which is faster
   * @param maxSlabBytes limit of the memory for texts
   */
  constructor(
    locale: Locale,
    template: LocationTemplate,
    countsLocations: boolean,
    maxSlabBytes: number = MAX_SLAB_BYTES,
  ) {
    this.#locale = locale
    this.#template = template
    this.#countsLocations = countsLocations
    this.#maxSlabBytes = maxSlabBytes
  }

  /** Whether `clear` must be called before another location is added. */
  get isFull(): boolean {
    return (
      this.#locations.length >= MAX_LOCATIONS ||
      this.#slabBytes > this.#maxSlabBytes ||
      this.#zones.length >= MAX_ZONES
    )
  }

  /** Removes all locations; numbers start from 0 again. Call `drain` before. */
  clear(): void {
    this.#numbers = new NumberMap()
    this.#locations = []
    this.#zones = []
    this.#zoneNumbers.clear()
    this.#uses = []
    this.#countryUses.clear()
    this.#slabs.length = 0
    this.#slabUsed = 0
    this.#slabBytes = 0
  }

  /**
   * The number of a location in this cache, from 0.
   *
   * @param inSet its number in the database set, greater than 0
   * @param locationAt gives the location for that number
   */
  numberOf(inSet: number, locationAt: (inSet: number) => Location): number {
    const known = this.#numbers.get(inSet)
    if (known !== ABSENT) return known
    const location = locationAt(inSet)
    const number = this.#locations.length
    const row = number * ROW
    if (row === this.#rows.length) {
      const larger = new Int32Array(2 * row)
      larger.set(this.#rows)
      this.#rows = larger
    }
    this.#rows[row + LENGTH] = 0
    this.#rows[row + ZONE] = this.#zoneOf(location)
    this.#rows[row + OFFSET] = NONE
    this.#rows[row + USES] = this.#usesOf(location)
    this.#locations.push(location)
    this.#numbers.set(inSet, number)
    return number
  }

  /** The offset of a location's zone. @param at milliseconds since 1970; `NaN` if unknown */
  offsetOf(number: number, at: number): Offset {
    return this.#offsetAt(this.#row(number), at)
  }

  /** Counts one line with this location. */
  use(number: number): void {
    const uses = this.#uses[this.#rows[this.#row(number) + USES] ?? NONE]
    if (uses !== undefined && uses.count++ === 0) this.#used.push(uses)
  }

  /** Calls `count` for each location used since the last call, or for one location of each country. */
  drain(count: (location: Location, locale: Locale, uses: number) => void): void {
    for (const uses of this.#used) {
      count(uses.location, this.#locale, uses.count)
      uses.count = 0
    }
    this.#used = []
  }

  /** Writes a location as the template has it. @param at milliseconds since 1970; `NaN` if unknown */
  write(number: number, at: number, out: ByteSink): void {
    const row = this.#row(number)
    const rows = this.#rows
    const offset = this.#template.offsetText === null ? NO_OFFSET : this.#offsetAt(row, at)
    if (rows[row + OFFSET] !== offset.id) this.#render(number, row, offset)
    const slab = this.#slabs[rows[row + SLAB] ?? NONE]
    if (slab !== undefined) out.writeWords(slab, rows[row + START] ?? 0, rows[row + LENGTH] ?? 0)
  }

  #row(number: number): number {
    if (number >= this.#locations.length) throw new RangeError(`no location has the number ${number}`)
    return number * ROW
  }

  #offsetAt(row: number, at: number): Offset {
    return this.#zones[this.#rows[row + ZONE] ?? NONE]?.at(at) ?? NO_OFFSET
  }

  #zoneOf({ shared: { timezone } }: Location): number {
    const known = this.#zoneNumbers.get(timezone)
    if (known !== undefined) return known
    this.#zoneNumbers.set(timezone, this.#zones.length)
    return this.#zones.push(new ZoneOffsets(timezone)) - 1
  }

  #usesOf(location: Location): number {
    const { country } = location.shared
    const known = this.#countsLocations ? undefined : this.#countryUses.get(country)
    if (known !== undefined) return known
    this.#countryUses.set(country, this.#uses.length)
    return this.#uses.push({ location, count: 0 }) - 1
  }

  #render(number: number, row: number, offset: Offset): void {
    const rows = this.#rows
    const location = this.#locations[number]
    if (location === undefined) return
    const offsetText = this.#template.offsetText?.(offset) ?? ''
    const isFirst = rows[row + OFFSET] === NONE
    rows[row + OFFSET] = offset.id
    if (!isFirst && rows[row + OFFSET_LENGTH] === offsetText.length) {
      encoder.encodeInto(offsetText, this.#room(rows[row + SLAB] ?? NONE, rows[row + OFFSET_START] ?? 0))
      return
    }
    const { before, after } = this.#template.textOf(location, this.#locale)
    const rest = offsetText + after
    this.#reserve((before.length + rest.length) * MAX_UNIT_BYTES)
    const slab = this.#slabs.length - 1
    const start = this.#slabUsed
    const middle = start + encoder.encodeInto(before, this.#room(slab, start)).written
    const end = middle + encoder.encodeInto(rest, this.#room(slab, middle)).written
    this.#slabUsed = end
    rows.set([slab, start, end - start, middle], row)
    rows[row + OFFSET_LENGTH] = offsetText.length
  }

  /** Makes room for a text in the last slab. */
  #reserve(size: number): void {
    const needed = size + WORDS_ROOM
    if ((this.#slabs.at(-1)?.byteLength ?? 0) - this.#slabUsed >= needed) return
    const slab = new ArrayBuffer(Math.max(needed, SLAB_BYTES))
    this.#slabs.push(new DataView(slab))
    this.#slabUsed = 0
    this.#slabBytes += slab.byteLength
  }

  /** The bytes of a slab from `start`. */
  #room(slab: number, start: number): Uint8Array {
    return new Uint8Array(this.#slabs[slab]?.buffer ?? NO_TEXT, start)
  }
}
