// Locations as text, each made once.

import type { ByteSink } from '../bytes/byte-sink.ts'
import { utf8Encoder } from '../bytes/utf8.ts'
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
  readonly offsetText: ((offset: Offset, location: Location, locale: Locale) => string) | null
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

const NO_TEXT = new Uint8Array(0)
const encoder = /* @__PURE__ */ utf8Encoder()

/** The lines that are counted together: those of one location, or of all locations of one country. */
interface Uses {
  readonly location: Location
  count: number
}

/** A location, and its text with the offset of the last line that it was written for. */
interface Rendered {
  readonly location: Location
  readonly zone: ZoneOffsets
  readonly uses: Uses
  text: Uint8Array
  offset: Offset | null
  /** Where the offset is in the text. */
  offsetStart: number
}

/** Caches the output text of locations by number. */
export class RenderedLocations {
  readonly #locale: Locale
  readonly #template: LocationTemplate
  readonly #countsLocations: boolean
  readonly #maxSlabBytes: number
  /** Numbers of the locations in this cache, by their numbers in the database set. */
  #numbers = new NumberMap()
  #rendered: Rendered[] = []
  readonly #countries = new Map<LocalizedCountry, Uses>()
  readonly #zones = new Map<Timezone, ZoneOffsets>()
  /** Uses whose count is not 0. */
  #used: Uses[] = []
  /** The slab for the next texts, the bytes of it that are in use, and the bytes of all slabs. */
  #slab = NO_TEXT
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
      this.#rendered.length >= MAX_LOCATIONS ||
      this.#slabBytes > this.#maxSlabBytes ||
      this.#zones.size >= MAX_ZONES
    )
  }

  /** Removes all locations; numbers start from 0 again. Call `drain` before. */
  clear(): void {
    this.#numbers = new NumberMap()
    this.#rendered = []
    this.#countries.clear()
    this.#zones.clear()
    this.#slab = NO_TEXT
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
    const { country, timezone } = location.shared
    const ofCountry = this.#countsLocations ? undefined : this.#countries.get(country)
    const uses = ofCountry ?? { location, count: 0 }
    if (uses !== ofCountry) this.#countries.set(country, uses)
    let zone = this.#zones.get(timezone)
    if (zone === undefined) {
      zone = new ZoneOffsets(timezone)
      this.#zones.set(timezone, zone)
    }
    const number = this.#rendered.length
    this.#rendered.push({ location, zone, uses, text: NO_TEXT, offset: null, offsetStart: 0 })
    this.#numbers.set(inSet, number)
    return number
  }

  /** The location with a number. */
  location(number: number): Location {
    return this.#at(number).location
  }

  /** The offset of a location's zone. @param at milliseconds since 1970; `NaN` if unknown */
  offsetOf(number: number, at: number): Offset {
    return this.#at(number).zone.at(at)
  }

  /** Counts one line with this location. */
  use(number: number): void {
    const { uses } = this.#at(number)
    if (uses.count++ === 0) this.#used.push(uses)
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
    const rendered = this.#at(number)
    const offset = this.#template.offsetText === null ? NO_OFFSET : rendered.zone.at(at)
    if (rendered.offset !== offset) this.#render(rendered, offset)
    out.write(rendered.text)
  }

  #at(number: number): Rendered {
    const rendered = this.#rendered[number]
    if (rendered === undefined) throw new RangeError(`no location has the number ${number}`)
    return rendered
  }

  #render(rendered: Rendered, offset: Offset): void {
    const { text, offsetStart, offset: last, location } = rendered
    rendered.offset = offset
    const textOf = (each: Offset): string => this.#template.offsetText?.(each, location, this.#locale) ?? ''
    const offsetText = textOf(offset)
    if (last !== null && textOf(last).length === offsetText.length) {
      encoder.encodeInto(offsetText, text.subarray(offsetStart))
      return
    }
    const { before, after } = this.#template.textOf(location, this.#locale)
    const rest = offsetText + after
    const most = (before.length + rest.length) * MAX_UNIT_BYTES
    if (this.#slab.length - this.#slabUsed < most) {
      this.#slab = new Uint8Array(Math.max(most, SLAB_BYTES))
      this.#slabUsed = 0
      this.#slabBytes += this.#slab.length
    }
    const room = this.#slab.subarray(this.#slabUsed)
    const start = encoder.encodeInto(before, room).written
    const size = start + encoder.encodeInto(rest, room.subarray(start)).written
    rendered.offsetStart = start
    rendered.text = room.subarray(0, size)
    this.#slabUsed += size
  }
}
