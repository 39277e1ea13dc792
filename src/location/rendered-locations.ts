// Locations as text, each made once.

import { Arena } from '../bytes/arena.ts'
import type { ByteSink } from '../bytes/byte-sink.ts'
import { utf8Encoder } from '../bytes/utf8.ts'
import { MAX_TEXT_BYTES as MAX_STORED_BYTES, NO_TEXT } from '../mmdb/field-reader.ts'
import type { Locale } from './locale.ts'
import { type Location, STORED_APART, type StoredLocation, UNIT_DECIMALS } from './location-table.ts'
import { JSON_END } from './record-json.ts'
import type { LocalizedCountry, SharedParts } from './shared-parts.ts'
import { ABSENT, NumberMap } from './tables.ts'
import { NO_OFFSET, type Offset, type Timezone, UTC_OFFSET, ZoneOffsets } from './timezone.ts'

/**
 * A part of the text of locations, and what it is made from. Parts from `shared` are made once for all locations with the
 * same country, region and time zone. One part at most is made from the offset, which depends on the time of the line.
 */
export type TextPart =
  | { readonly from: 'shared'; readonly text: (shared: SharedParts, locale: Locale) => string }
  | {
      readonly from: 'city' | 'postalCode'
      readonly text: (value: string | null) => string
      readonly plain?: PlainText
    }
  | {
      readonly from: 'latitude' | 'longitude'
      readonly text: (value: number | null) => string
      readonly plain?: PlainText
    }
  | { readonly from: 'offset'; readonly text: (offset: Offset) => string }
  | {
      readonly from: 'location'
      readonly hasOffset: boolean
      readonly text: (offset: Offset, location: Location, locale: Locale) => string
    }

/**
 * How nearly all values of a part are written: as they are, with a text before and after them. Their bytes are then copied
 * from the file, and no string is made. A value is written otherwise if it has another character than those of ASCII that
 * can be printed, or one of the special ones.
 */
export interface PlainText {
  /** Before and after the value. */
  readonly quote: string
  readonly special: string
}

/** Where locations come from. */
export interface LocationSource {
  /** The location with a number. */
  location(number: number): Location
  /** Where its values are in a file, valid until the next call; `null` if it is in none, or has other values. */
  stored(number: number): StoredLocation | null
}

/** How locations are written: the parts of their text, in order. */
export type LocationTemplate = readonly TextPart[]

/** Only the offset depends on the instant, and the offset is written separately. */
export const NO_INSTANT = Number.NaN

const stringify = (value: string | null): string => JSON.stringify(value)
/** A text in JSON. */
export const JSON_TEXT: PlainText = { quote: '"', special: '"\\' }
/** A number in JSON. */
export const JSON_NUMBER: PlainText = { quote: '', special: '' }

/** A text that is the same in all locations. */
export function fixedText(text: string): TextPart {
  return { from: 'shared', text: () => text }
}

/** The part of a record after its `ip`, as `JSON.stringify` writes it. */
export const JSON_TEMPLATE: LocationTemplate = [
  {
    from: 'shared',
    text: (shared, locale) =>
      `","country":${JSON.stringify(shared.countryIn(locale))},"region":${JSON.stringify(shared.regionIn(locale))},"city":`,
  },
  { from: 'city', text: stringify, plain: JSON_TEXT },
  fixedText(',"postal_code":'),
  { from: 'postalCode', text: stringify, plain: JSON_TEXT },
  fixedText(',"coordinates":{"latitude":'),
  { from: 'latitude', text: String, plain: JSON_NUMBER },
  fixedText(',"longitude":'),
  { from: 'longitude', text: String, plain: JSON_NUMBER },
  {
    from: 'shared',
    text: ({ timezone }) => `},"timezone":{"id":${stringify(timezone.id)},"offset":`,
  },
  { from: 'offset', text: ({ json }) => json },
  fixedText(JSON_END),
]

/** Adds the autonomous system as JSON after a location. @param before such as a comma, a name and a colon */
export function systemAfter(before: string): LocationTemplate {
  const text = (_: Offset, { system }: Location): string => JSON.stringify(system)
  return [fixedText(before), { from: 'location', hasOffset: false, text }]
}

/** The most locations that are cached. */
const MAX_LOCATIONS = 131_072
/** Limit of the memory for their texts. To make a text again takes less than a microsecond. */
const MAX_TEXT_BYTES = 32 * 1024 * 1024
/** The most time zones that are cached: each can have 100 KB of windows. The IANA database has about 600 with links. */
const MAX_ZONES = 1024
const FIRST_LOCATIONS = 1024

/** The characters of ASCII that can be printed. */
const FIRST_PRINTED = 0x20
const LAST_PRINTED = 0x7e
/** Coordinates from 0.000001 degrees on are written without an exponent. */
const MIN_UNITS = 10

const encoder = /* @__PURE__ */ utf8Encoder()

/**
 * The row of a location has 32 bytes, so that a line finds all that it needs in one cache line of the processor: two
 * doubles, from when and until before when its text is valid, and four integers.
 */
const ROW_BYTES = 32
const DOUBLES = ROW_BYTES / Float64Array.BYTES_PER_ELEMENT
const INTEGERS = ROW_BYTES / Int32Array.BYTES_PER_ELEMENT
const [START, SIZE, COUNTER, ZONE] = [4, 5, 6, 7] as const

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
  instant = Number.NaN
  readonly #locale: Locale
  readonly #template: readonly Part[]
  /** The part that depends on the offset. */
  readonly #variable: TextPart | null
  readonly #countsLocations: boolean
  readonly #keepsLocations: boolean
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
  /** Where the shared parts of texts are: start and end of each, in the order of the template. */
  readonly #shared = new Map<SharedParts, readonly number[]>()
  readonly #zoneNumbers = new Map<Timezone, number>()
  #zones: ZoneOffsets[] = []
  /** The lines that are counted together: those of one location, or of all locations of one country. */
  readonly #countries = new Map<LocalizedCountry, number>()
  #counted: Location[] = []
  #counts = new Int32Array(FIRST_LOCATIONS)
  /** Numbers of the counts that are not 0. */
  #used: number[] = []

  /**
   * @param countsLocations whether to count uses by location; otherwise by country, which is faster
   * @param maxTextBytes limit of the memory for texts
   */
  constructor(
    locale: Locale,
    template: LocationTemplate,
    countsLocations: boolean,
    maxTextBytes: number = MAX_TEXT_BYTES,
  ) {
    this.#locale = locale
    this.#template = joined(template).map((part) => new Part(part))
    this.#variable = template.find(isVariable) ?? null
    this.#keepsLocations = template.length === 0 || this.#variable?.from === 'location'
    this.#needsLocations =
      countsLocations || this.#keepsLocations || template.some(({ from }) => from === 'location')
    this.#countsLocations = countsLocations
    this.#maxTextBytes = maxTextBytes
  }

  /** Whether `clear` must be called before another location is added. */
  get isFull(): boolean {
    return (
      this.#size >= MAX_LOCATIONS ||
      this.arena.textBytes > this.#maxTextBytes ||
      this.#zones.length >= MAX_ZONES
    )
  }

  /** Removes all locations; numbers start from 0 again. Call `drain` before. */
  clear(): void {
    this.#numbers = new NumberMap()
    this.#size = 0
    this.#locations = []
    this.#shared.clear()
    this.#zoneNumbers.clear()
    this.#zones = []
    this.#countries.clear()
    this.#counted = []
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
    const location = stored === null ? source.location(inSet) : null
    const shared = stored?.shared ?? location?.shared ?? source.location(inSet).shared
    const number = this.#size
    if (number * INTEGERS >= this.#integers.length) this.#grow()
    const row = number * INTEGERS
    this.#integers[row + COUNTER] = this.#counterOf(inSet, source, location, shared.country)
    this.#integers[row + ZONE] = this.#zoneOf(shared.timezone)
    this.#doubles[number * DOUBLES] = Number.NaN
    if (this.#keepsLocations && location !== null) this.#locations.push(location)
    if (this.#template.length > 0) this.#render(number, inSet, source, shared, stored)
    this.#numbers.set(inSet, number)
    this.#size++
    return number
  }

  /** The location with a number. If uses are counted by country and texts are made, it can be another one of its country. */
  location(number: number): Location {
    const counter = this.#integers[number * INTEGERS + COUNTER] ?? ABSENT
    const location = this.#keepsLocations ? this.#locations[number] : this.#counted[counter]
    if (location === undefined) throw noLocation(number)
    return location
  }

  /** The offset of a location's zone. @param at milliseconds since 1970; `NaN` if unknown */
  offsetOf(number: number, at: number): Offset {
    this.#check(number)
    return this.#zones[this.#integers[number * INTEGERS + ZONE] ?? 0]?.at(at) ?? NO_OFFSET
  }

  /** Counts lines with this location. */
  use(number: number, lines = 1): void {
    const counter = this.#integers[number * INTEGERS + COUNTER] ?? 0
    const count = this.#counts[counter] ?? 0
    if (count === 0) this.#used.push(counter)
    this.#counts[counter] = count + lines
  }

  /** Calls `count` for each location used since the last call, or for one location of each country. */
  drain(count: (location: Location, locale: Locale, uses: number) => void): void {
    for (const counter of this.#used) {
      const location = this.#counted[counter]
      if (location !== undefined) count(location, this.#locale, this.#counts[counter] ?? 0)
      this.#counts[counter] = 0
    }
    this.#used = []
  }

  /** Writes a location as the template has it. @param at milliseconds since 1970; `NaN` if unknown */
  write(number: number, at: number, out: ByteSink): void {
    this.#check(number)
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

  #check(number: number): void {
    if (number >= this.#size) throw noLocation(number)
  }

  #grow(): void {
    const locations = Math.max(FIRST_LOCATIONS, 2 * this.#size)
    const rows = new ArrayBuffer(locations * ROW_BYTES)
    const doubles = new Float64Array(rows)
    doubles.set(this.#doubles)
    const offsetRows = new Int32Array(locations * OFFSET_ROW)
    offsetRows.set(this.#offsetRows)
    this.#doubles = doubles
    this.#integers = new Int32Array(rows)
    this.#offsetRows = offsetRows
  }

  #counterOf(
    inSet: number,
    source: LocationSource,
    location: Location | null,
    country: LocalizedCountry,
  ): number {
    const known = this.#countsLocations ? undefined : this.#countries.get(country)
    if (known !== undefined) return known
    const counter = this.#counted.push(location ?? source.location(inSet)) - 1
    if (!this.#countsLocations) this.#countries.set(country, counter)
    if (counter >= this.#counts.length) {
      const counts = new Int32Array(2 * counter)
      counts.set(this.#counts)
      this.#counts = counts
    }
    return counter
  }

  #zoneOf(timezone: Timezone): number {
    let zone = this.#zoneNumbers.get(timezone)
    if (zone === undefined) {
      zone = this.#zones.push(new ZoneOffsets(timezone)) - 1
      this.#zoneNumbers.set(timezone, zone)
    }
    return zone
  }

  /** Writes the text of a new location, with an offset that is as long as most others. */
  #render(
    number: number,
    inSet: number,
    source: LocationSource,
    shared: SharedParts,
    stored: StoredLocation | null,
  ): void {
    const { arena } = this
    const places = this.#shared.get(shared) ?? this.#renderShared(shared)
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
        arena.addText(textOf(part.text, source.location(inSet), this.#locale, offset))
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
    this.#shared.set(shared, places)
    return places
  }

  #setOffset(number: number, part: TextPart): void {
    const at = this.instant
    const zone = this.#zones[this.#integers[number * INTEGERS + ZONE] ?? 0]
    if (zone === undefined) return
    const offset = zone.at(at)
    const minutes = offset.minutes ?? NO_MINUTES
    if (this.#offsetRows[number * OFFSET_ROW + MINUTES] !== minutes) this.#replace(number, offset, part)
    this.#offsetRows[number * OFFSET_ROW + MINUTES] = minutes
    this.#doubles[number * DOUBLES] = Number.isNaN(at) ? at : zone.from
    this.#doubles[number * DOUBLES + 1] = zone.until
  }

  /** Writes a text with another offset, in its place unless it is longer than any text there before. */
  #replace(number: number, offset: Offset, part: TextPart): void {
    const { arena } = this
    const row = number * OFFSET_ROW
    const start = this.#integers[number * INTEGERS + START] ?? 0
    const end = start + (this.#integers[number * INTEGERS + SIZE] ?? 0)
    const partStart = start + (this.#offsetRows[row + OFFSET_START] ?? 0)
    const partEnd = partStart + (this.#offsetRows[row + OFFSET_SIZE] ?? 0)
    const added = arena.end
    const location = this.#locations[number]
    // V8 compiles textOf again wherever it is called, and it is long.
    if (part.from === 'offset') arena.addText(part.text(offset))
    else if (location !== undefined) arena.addText(textOf(part, location, this.#locale, offset))
    const partSize = arena.end - added
    const size = end - start - (partEnd - partStart) + partSize
    if (size <= (this.#offsetRows[row + CAPACITY] ?? 0)) {
      if (partStart + partSize !== partEnd) arena.bytes.copyWithin(partStart + partSize, partEnd, end)
      arena.bytes.copyWithin(partStart, added, arena.end)
      arena.end = added
      this.#integers[number * INTEGERS + SIZE] = size
    } else {
      const moved = arena.end
      arena.addCopy(start, partStart)
      arena.addCopy(added, added + partSize)
      arena.addCopy(partEnd, end)
      this.#setPlace(number, moved, size)
    }
    this.#offsetRows[row + OFFSET_SIZE] = partSize
  }
}

const NUMBER_CHARACTERS = /[-.0-9]/

/** A part of a template, with what it needs to copy values from a file. */
class Part {
  readonly isShared: boolean
  /** The member of a {@link StoredLocation} that it copies; `null` if it copies none. */
  readonly #copies: 'city' | 'postalCode' | 'latitude' | 'longitude' | null
  /** By byte: 1 if a text with it cannot be copied. */
  readonly #isExcluded = new Uint8Array(256)
  readonly #quote: Uint8Array
  readonly #nothing: Uint8Array

  constructor(readonly text: TextPart) {
    this.isShared = text.from === 'shared'
    const plain = 'plain' in text ? text.plain : undefined
    this.#quote = encoder.encode(plain?.quote ?? '')
    this.#nothing = encoder.encode('plain' in text ? text.text(null) : '')
    this.#copies = null
    if (plain === undefined || !('plain' in text)) return
    const isNumber = text.from === 'latitude' || text.from === 'longitude'
    if (!isNumber || !NUMBER_CHARACTERS.test(plain.special)) this.#copies = text.from
    this.#isExcluded.fill(1, 0, FIRST_PRINTED)
    this.#isExcluded.fill(1, LAST_PRINTED + 1)
    for (const byte of encoder.encode(plain.special)) this.#isExcluded[byte] = 1
  }

  /** Adds its value of a location. @returns `false` if the value cannot be copied */
  add(arena: Arena, stored: StoredLocation): boolean {
    switch (this.#copies) {
      case 'city':
        return this.#addText(arena, stored, stored.city)
      case 'postalCode':
        return this.#addText(arena, stored, stored.postalCode)
      case 'latitude':
        return stored.latitude !== STORED_APART && this.#addDegrees(arena, stored.latitude)
      case 'longitude':
        return stored.latitude !== STORED_APART && this.#addDegrees(arena, stored.longitude)
      default:
        return false
    }
  }

  #addText(arena: Arena, { data }: StoredLocation, offset: number): boolean {
    if (offset === NO_TEXT) {
      arena.addBytes(this.#nothing)
      return true
    }
    const before = arena.end
    arena.addBytes(this.#quote)
    arena.reserve(MAX_STORED_BYTES)
    const size = data.copyText(offset, this.#isExcluded, arena.bytes, arena.end)
    if (size === -1) {
      arena.end = before
      return false
    }
    arena.end += size
    arena.addBytes(this.#quote)
    return true
  }

  #addDegrees(arena: Arena, units: number): boolean {
    // JavaScript writes these with an exponent.
    if (units !== 0 && units > -MIN_UNITS && units < MIN_UNITS) return false
    arena.addBytes(this.#quote)
    arena.addDecimal(units, UNIT_DECIMALS)
    arena.addBytes(this.#quote)
    return true
  }
}

function noLocation(number: number): RangeError {
  return new RangeError(`no location has the number ${number}`)
}

function isVariable(part: TextPart): boolean {
  return part.from === 'offset' || (part.from === 'location' && part.hasOffset)
}

/** Joins neighbours that are made from the same shared parts. */
function joined(template: LocationTemplate): LocationTemplate {
  const parts: TextPart[] = []
  for (const part of template) {
    const last = parts.at(-1)
    if (part.from !== 'shared' || last?.from !== 'shared') parts.push(part)
    else parts[parts.length - 1] = { from: 'shared', text: (...of) => last.text(...of) + part.text(...of) }
  }
  return parts
}

function textOf(part: TextPart, location: Location, locale: Locale, offset: Offset): string {
  switch (part.from) {
    case 'offset':
      return part.text(offset)
    case 'shared':
      return part.text(location.shared, locale)
    case 'city':
    case 'postalCode':
      return part.text(location[part.from])
    case 'latitude':
    case 'longitude':
      return part.text(location.coordinates[part.from])
    case 'location':
      return part.text(offset, location, locale)
  }
}
