// Locations as text, each made once.

import { Arena } from '../../bytes/arena.ts'
import type { ByteSink } from '../../bytes/byte-sink.ts'
import { ABSENT, extended, NumberMap } from '../../bytes/tables.ts'
import type { Locale } from '../../location/locale.ts'
import type { Location, StoredLocation } from '../../location/location-table.ts'
import type { LocalizedCountry, SharedParts } from '../../location/shared-parts.ts'
import { NO_INSTANT, NO_OFFSET, type Offset, type Timezone, UTC_OFFSET } from '../../location/timezone.ts'
import {
  CopiedPart,
  isVariable,
  joined,
  type LocationTemplate,
  type TextPart,
  textOf,
} from './location-template.ts'

/** What locations with the same country, region and time zone have in common. */
interface Common {
  readonly group: number
  readonly zone: number
  /** Where the shared parts of texts are: start and end of each, in the order of the template. */
  readonly places: readonly number[]
}

/** Where locations come from. */
export interface LocationSource {
  /** The location with a number. Its city is in the language of the locale if that is for cities. */
  location(number: number, locale: Locale): Location
  /** Where its values are in a file, valid until the next call; `null` if it is in none, or has other values. */
  stored(number: number): StoredLocation | null
}

/** The most locations that are cached. */
export const MAX_LOCATIONS = 131_072
/** Limit of the memory for their texts. To make a text again takes less than a microsecond. */
const MAX_TEXT_BYTES = 32 * 1024 * 1024
/** The most time zones that are cached: each can have 100 KB of windows. The IANA database has about 600 with links. */
const MAX_ZONES = 1024
const FIRST_LOCATIONS = 1024

/**
 * The row of a location has 32 bytes, so that a line finds all that it needs in one cache line of the processor: two
 * doubles, from when and until before when its text is valid, and four integers.
 */
const ROW_BYTES = 32
const DOUBLES = ROW_BYTES / Float64Array.BYTES_PER_ELEMENT
const INTEGERS = ROW_BYTES / Int32Array.BYTES_PER_ELEMENT
const [START, SIZE, GROUP, ZONE] = [4, 5, 6, 7] as const

/** A second row has what is needed only if the offset changes: the bytes that are free for the text, and the offset in it. */
const OFFSET_ROW = 4
const [CAPACITY, OFFSET_START, OFFSET_SIZE, MINUTES] = [0, 1, 2, 3] as const
const NO_MINUTES = 2 ** 31 - 1

/**
 * The texts of locations, by number, in an {@link Arena}. A location has rows in typed arrays and no object of its own: a
 * log has tens of thousands of them.
 */
export class RenderedLocations {
  /** Where the texts are. */
  readonly arena = new Arena()
  /** The instant for {@link startOf}, in milliseconds since 1970; `NaN` if unknown. */
  instant = NO_INSTANT
  readonly #locale: Locale
  readonly #template: readonly CopiedPart[]
  /** The part that depends on the offset. */
  readonly #variable: TextPart | null
  readonly #keepsLocations: boolean
  readonly #areCountries: boolean
  /** Whether the object of each location is needed. */
  readonly #needsLocations: boolean
  readonly #maxTextBytes: number
  /** Numbers of the locations in this cache, by their numbers in the database set. */
  #numbers = new NumberMap()
  #size = 0
  #doubles = new Float64Array(0)
  #integers = new Int32Array(0)
  #offsetRows = new Int32Array(0)
  /** Locations, where texts are made from them; otherwise empty. */
  #locations: Location[] = []
  readonly #common = new Map<SharedParts, Common>()
  /** The numbers of the groups of locations. By that number: the parts of the first location of a group, and its number. */
  readonly #groups = new Map<SharedParts | LocalizedCountry, number>()
  #parts: SharedParts[] = []
  #firsts: number[] = []
  readonly #zoneNumbers = new Map<Timezone, number>()
  #zones: Timezone[] = []

  /**
   * @param apart what gets a number of its own even if the text is the same: each location, each set of parts, or each country
   * @param maxTextBytes limit of the memory for texts
   */
  constructor(
    locale: Locale,
    template: LocationTemplate,
    apart: 'locations' | 'parts' | 'countries',
    maxTextBytes: number = MAX_TEXT_BYTES,
  ) {
    this.#locale = locale
    this.#template = joined(template).map((part) => new CopiedPart(part))
    this.#variable = template.find(isVariable) ?? null
    this.#areCountries = apart === 'countries'
    this.#keepsLocations = apart === 'locations' || this.#variable?.from === 'location'
    this.#needsLocations =
      this.#keepsLocations ||
      // What is stored is the English name.
      (locale.hasCities && template.length > 0) ||
      template.some(({ from }) => from === 'location')
    this.#maxTextBytes = maxTextBytes
  }

  /** Whether texts depend on the instant. */
  get hasOffsets(): boolean {
    return this.#variable !== null
  }

  /** Whether `clear` must be called before another location is added. */
  get isFull(): boolean {
    return (
      this.#size >= MAX_LOCATIONS ||
      this.arena.textBytes > this.#maxTextBytes ||
      this.#zones.length >= MAX_ZONES
    )
  }

  /** Removes all locations; numbers start from 0 again. */
  clear(): void {
    this.#numbers = new NumberMap()
    this.#size = 0
    this.#locations = []
    this.#parts = []
    this.#firsts = []
    this.#groups.clear()
    this.#common.clear()
    this.#zoneNumbers.clear()
    this.#zones = []
    this.arena.clear()
  }

  /**
   * The number of a location in this cache, from 0.
   *
   * @param inSet its number in the database set, greater than 0
   * @param source gives the location for that number
   */
  numberOf(inSet: number, source: LocationSource): number {
    const known = this.#numbers.get(inSet)
    return known === ABSENT ? this.#add(inSet, source) : known
  }

  #add(inSet: number, source: LocationSource): number {
    const stored = this.#needsLocations ? null : source.stored(inSet)
    const location = stored === null ? source.location(inSet, this.#locale) : null
    const shared = stored?.shared ?? location?.shared ?? source.location(inSet, this.#locale).shared
    const number = this.#size
    if (number * INTEGERS >= this.#integers.length) this.#grow()
    const row = number * INTEGERS
    const common = this.#common.get(shared) ?? this.#addCommon(shared, number)
    this.#integers[row + GROUP] = common.group
    this.#integers[row + ZONE] = common.zone
    this.#doubles[number * DOUBLES] = NO_INSTANT
    if (this.#keepsLocations && location !== null) this.#locations.push(location)
    if (this.#template.length > 0) this.#render(number, inSet, source, shared, stored, common.places)
    this.#numbers.set(inSet, number)
    this.#size++
    return number
  }

  /** The location with a number. Only if they are told apart. */
  location(number: number): Location {
    const location = this.#locations[number]
    if (location === undefined) throw noLocation(number)
    return location
  }

  /** The country, region and time zone of a location; of a location in its country, if only countries are told apart. */
  partsOf(number: number): SharedParts {
    const parts = this.#parts[this.groupOf(number)]
    if (parts === undefined) throw noLocation(number)
    return parts
  }

  /** The number, from 0, of all locations with the same parts or in the same country. */
  groupOf(number: number): number {
    return this.#integers[number * INTEGERS + GROUP] ?? ABSENT
  }

  /** The first location of a group. */
  firstOf(group: number): number {
    return this.#firsts[group] ?? ABSENT
  }

  /** The offset of a location's zone. @param at milliseconds since 1970; `NaN` if unknown */
  offsetOf(number: number, at: number): Offset {
    const zone = this.#zones[this.#integers[number * INTEGERS + ZONE] ?? ABSENT]
    if (number >= this.#size || zone === undefined) throw noLocation(number)
    return zone.spanAt(at).offset
  }

  /** Writes a location as the template has it. @param at milliseconds since 1970; `NaN` if unknown */
  write(number: number, at: number, out: ByteSink): void {
    if (number >= this.#size) throw noLocation(number)
    this.instant = at
    const start = this.startOf(number)
    out.write(this.arena.bytes, start, start + this.sizeOf(number))
  }

  /**
   * Where the text of a location is in the arena, which may grow for it, with the offset at {@link instant}.
   *
   * @param number of a location; not checked
   */
  startOf(number: number): number {
    const row = number * DOUBLES
    const { instant } = this
    const isValid = instant >= (this.#doubles[row] ?? 0) && instant < (this.#doubles[row + 1] ?? 0)
    if (!isValid && this.#variable !== null) this.#setOffset(number, this.#variable)
    return this.#integers[number * INTEGERS + START] ?? 0
  }

  /** The bytes of the text of a location. Ask {@link startOf} first. */
  sizeOf(number: number): number {
    return this.#integers[number * INTEGERS + SIZE] ?? 0
  }

  #grow(): void {
    const locations = Math.max(FIRST_LOCATIONS, 2 * this.#size)
    const rows = new ArrayBuffer(locations * ROW_BYTES)
    this.#doubles = extended(this.#doubles, new Float64Array(rows))
    this.#integers = new Int32Array(rows)
    this.#offsetRows = extended(this.#offsetRows, new Int32Array(locations * OFFSET_ROW))
  }

  #addCommon(shared: SharedParts, number: number): Common {
    const part = this.#areCountries ? shared.country : shared
    const group = this.#groups.get(part) ?? this.#parts.push(shared) - 1
    if (group === this.#firsts.length) this.#firsts.push(number)
    this.#groups.set(part, group)
    const { timezone } = shared
    const zone = this.#zoneNumbers.get(timezone) ?? this.#zones.push(timezone) - 1
    this.#zoneNumbers.set(timezone, zone)
    const common = { group, zone, places: this.#renderShared(shared) }
    this.#common.set(shared, common)
    return common
  }

  /** Writes the text of a new location, with an offset that is as long as most others. */
  #render(
    number: number,
    inSet: number,
    source: LocationSource,
    shared: SharedParts,
    stored: StoredLocation | null,
    places: readonly number[],
  ): void {
    const { arena } = this
    const offset = shared.timezone.id === null ? NO_OFFSET : UTC_OFFSET
    const start = arena.end
    let place = 0
    for (let index = 0; index < this.#template.length; index++) {
      const part = this.#template[index]
      if (part === undefined) break
      const partStart = arena.end
      if (part.isShared) {
        arena.addCopy(places[place] ?? 0, places[place + 1] ?? 0)
        place += 2
      } else if (part.text.from === 'offset') arena.addText(part.text.text(offset))
      else if (stored === null || !part.add(arena, stored))
        arena.addText(textOf(part.text, source.location(inSet, this.#locale), this.#locale, offset))
      if (part.text === this.#variable) {
        const row = number * OFFSET_ROW
        this.#offsetRows[row + OFFSET_START] = partStart - start
        this.#offsetRows[row + OFFSET_SIZE] = arena.end - partStart
        this.#offsetRows[row + MINUTES] = offset.minutes ?? NO_MINUTES
      }
    }
    this.#setPlace(number, start, arena.end - start)
  }

  #setPlace(number: number, start: number, size: number): void {
    this.#integers[number * INTEGERS + START] = start
    this.#integers[number * INTEGERS + SIZE] = size
    this.#offsetRows[number * OFFSET_ROW + CAPACITY] = size
  }

  #renderShared(shared: SharedParts): readonly number[] {
    const { arena } = this
    const places: number[] = []
    for (const { text } of this.#template) {
      if (text.from !== 'shared') continue
      places.push(arena.end)
      arena.addText(text.text(shared, this.#locale))
      places.push(arena.end)
    }
    return places
  }

  #setOffset(number: number, part: TextPart): void {
    const at = this.instant
    const zone = this.#zones[this.#integers[number * INTEGERS + ZONE] ?? 0]
    if (zone === undefined) return
    const { offset, from, until } = zone.spanAt(at)
    const minutes = offset.minutes ?? NO_MINUTES
    if (this.#offsetRows[number * OFFSET_ROW + MINUTES] !== minutes) this.#replace(number, offset, part)
    this.#offsetRows[number * OFFSET_ROW + MINUTES] = minutes
    this.#doubles[number * DOUBLES] = from
    this.#doubles[number * DOUBLES + 1] = until
  }

  /** Writes a text with another offset, in its place unless it is longer than any text there before. */
  #replace(number: number, offset: Offset, part: TextPart): void {
    const { arena } = this
    const row = number * OFFSET_ROW
    const start = this.#integers[number * INTEGERS + START] ?? 0
    const end = start + (this.#integers[number * INTEGERS + SIZE] ?? 0)
    const partStart = start + (this.#offsetRows[row + OFFSET_START] ?? 0)
    const partEnd = partStart + (this.#offsetRows[row + OFFSET_SIZE] ?? 0)
    const moved = arena.end
    arena.addCopy(start, partStart)
    const added = arena.end
    const location = this.#locations[number]
    if (part.from === 'offset') arena.addText(part.text(offset))
    else if (location !== undefined) arena.addText(textOf(part, location, this.#locale, offset))
    this.#offsetRows[row + OFFSET_SIZE] = arena.end - added
    arena.addCopy(partEnd, end)
    const size = arena.end - moved
    if (size > (this.#offsetRows[row + CAPACITY] ?? 0)) this.#setPlace(number, moved, size)
    else {
      arena.bytes.copyWithin(start, moved, arena.end)
      arena.end = moved
      this.#integers[number * INTEGERS + SIZE] = size
    }
  }
}

function noLocation(number: number): RangeError {
  return new RangeError(`no location has the number ${number}`)
}
