import type { Locale } from '../location/locale.ts'
import {
  LOCALIZED_PART_BYTES,
  type Location,
  longTextBytes,
  SHARED_PARTS_BYTES,
} from '../location/location.ts'
import type { Country, LocationRecord, Region } from '../location/location-record.ts'
import type { LocalizedCountry, LocalizedRegion } from '../location/shared-parts.ts'
import type { Timezone } from '../location/timezone.ts'
import type { ByteSink } from './byte-sink.ts'
import type { LocationField } from './options.ts'
import { viewOf } from './swar.ts'
import { DAY_MS, type Offset, ZoneOffsets } from './zone-offsets.ts'

/** The most locations that are kept, and the limit of the bytes of their texts. */
const MAX_LOCATIONS = 131_072
const MAX_TEXT_BYTES = 64 * 1024 * 1024
/** Limit of what the locations keep alive, as {@link RetainedBytes} counts it: the same as in `location-table.ts`. */
const MAX_RETAINED_BYTES = 2 ** 25
/** The most time zones that are kept: each can have some 30 KB of days. The IANA database has some 600 with links. */
const MAX_ZONES = 1024
/** Room to reserve for each text, to grow the array rarely. Only a hostile database has longer texts. Bytes. */
const TEXT_ROOM = 65_536

/** Numbers in the row of each location: 64 bytes, a line of the processor's cache. */
const ROW = 8
/** Positions in the texts: the start of the JSON, the time-zone offset in it, and its end. */
const JSON_START = 0
const JSON_OFFSET = 1
const JSON_END = 2
/** The offset in the JSON is known to hold from `FROM` until before `UNTIL`. Milliseconds since 1970. */
const FROM = 3
const UNTIL = 4
const ZONE = 5
/** The location whose uses include those of this one: itself, or the first of its country. */
const COUNTED = 6
const USES = 7
const NOT_MADE = -1

/**
 * Numbers in the row of a location's columns: start plus 1 (0 if not made yet) and end of the columns before the
 * offset, then the end of the columns after it, or {@link NOT_MADE} if the offset is not among the columns.
 */
const COLUMNS_ROW = 3

const encoder = /* @__PURE__ */ new TextEncoder()

/**
 * Caches the output text of locations by number. The parts that are the same on every line are encoded once. All
 * bytes are in one array and all numbers in another, so that a line touches few lines of the processor's cache: with
 * tens of thousands of locations, waiting for memory takes longer than anything else.
 */
export class RenderedLocations {
  readonly #locale: Locale
  readonly #countsPlaces: boolean
  readonly #numbers = new Map<Location, number>()
  readonly #weight = new RetainedBytes()
  /** The number of the first location in each country. */
  readonly #countries = new Map<LocalizedCountry, number>()
  #places: Location[] = []
  /** The offset in the JSON of each location, by number. */
  #offsets: (Offset | undefined)[] = []
  #rows = new Float64Array(ROW * 1024)
  #columnRows = new Int32Array(0)
  #texts = new Uint8Array(1024 * 1024)
  #textView = viewOf(this.#texts)
  #textEnd = 0
  readonly #zoneNumbers = new Map<Timezone, number>()
  #zones: ZoneOffsets[] = []
  /** The numbers of locations used since the last `drain`. */
  #used: number[] = []

  /** @param countsPlaces whether to count uses by location; otherwise by country, which is faster */
  constructor(locale: Locale, countsPlaces: boolean) {
    this.#locale = locale
    this.#countsPlaces = countsPlaces
  }

  /** Whether `clear` must be called before another location is added. */
  get isFull(): boolean {
    return (
      this.#places.length >= MAX_LOCATIONS ||
      this.#textEnd > MAX_TEXT_BYTES ||
      this.#weight.bytes > MAX_RETAINED_BYTES ||
      this.#zones.length >= MAX_ZONES
    )
  }

  /** Removes all locations; numbers start from 0 again. Call `drain` before. */
  clear(): void {
    this.#numbers.clear()
    this.#weight.clear()
    this.#countries.clear()
    this.#places = []
    this.#offsets = []
    this.#columnRows.fill(0)
    this.#textEnd = 0
    this.#zoneNumbers.clear()
    this.#zones = []
  }

  /** The number of a location, from 0. Adds the location if it is new. */
  numberOf(place: Location): number {
    const known = this.#numbers.get(place)
    if (known !== undefined) return known
    const number = this.#places.length
    this.#places.push(place)
    this.#numbers.set(place, number)
    this.#weight.add(place)
    if ((number + 1) * ROW > this.#rows.length) {
      const larger = new Float64Array(this.#rows.length * 2)
      larger.set(this.#rows)
      this.#rows = larger
    }
    const row = number * ROW
    this.#rows[row + JSON_START] = NOT_MADE
    this.#rows[row + FROM] = Number.POSITIVE_INFINITY
    this.#rows[row + ZONE] = this.#zoneOf(place.shared.timezone)
    this.#rows[row + COUNTED] = this.#countsPlaces ? number : this.#firstIn(place.shared.country, number)
    this.#rows[row + USES] = 0
    return number
  }

  /** The offset of a location's zone. @param at milliseconds since 1970; `NaN` if unknown */
  offsetOf(number: number, at: number): Offset {
    const zone = this.#zones[this.#rows[number * ROW + ZONE] ?? 0]
    if (zone === undefined) throw new RangeError(`no answer has the number ${number}`)
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
  drain(count: (place: Location, locale: Locale, uses: number) => void): void {
    for (const number of this.#used) {
      const place = this.#places[number]
      if (place !== undefined) count(place, this.#locale, this.#rows[number * ROW + USES] ?? 0)
      this.#rows[number * ROW + USES] = 0
    }
    this.#used = []
  }

  /** Writes the JSON of a record after the text of its `ip`. @param at milliseconds since 1970; `NaN` if unknown */
  writeJson(number: number, at: number, out: ByteSink): void {
    const rows = this.#rows
    const row = number * ROW
    if (!(at >= (rows[row + FROM] ?? 0) && at < (rows[row + UNTIL] ?? 0))) {
      const offset = this.offsetOf(number, at)
      if (rows[row + JSON_START] === NOT_MADE) this.#makeJson(number, offset)
      else if (this.#offsets[number] !== offset) {
        out.writeView(this.#textView, rows[row + JSON_START] ?? 0, rows[row + JSON_OFFSET] ?? 0)
        out.writeAscii(offset.jsonTail)
        return
      }
      this.#noteDay(row, number, at)
    }
    out.writeView(this.#textView, rows[row + JSON_START] ?? 0, rows[row + JSON_END] ?? 0)
  }

  /** Writes columns with delimiters between them. Pass the same columns and delimiter each time. */
  writeColumns(
    number: number,
    at: number,
    columns: readonly LocationField[],
    delimiter: number,
    out: ByteSink,
  ): void {
    const row = number * COLUMNS_ROW
    if (row + COLUMNS_ROW > this.#columnRows.length || (this.#columnRows[row] ?? 0) === 0) {
      this.#makeColumns(number, columns, String.fromCharCode(delimiter))
    }
    // Starts are stored plus 1, since 0 means that the columns are not made yet.
    const start = (this.#columnRows[row] ?? 0) - 1
    const middle = this.#columnRows[row + 1] ?? 0
    const end = this.#columnRows[row + 2] ?? 0
    out.writeView(this.#textView, start, middle)
    if (end === NOT_MADE) return
    out.writeAscii(this.offsetOf(number, at).text ?? '')
    out.writeView(this.#textView, middle, end)
  }

  #makeJson(number: number, offset: Offset): void {
    const place = this.#places[number]
    if (place === undefined) throw new RangeError(`no answer has the number ${number}`)
    const row = number * ROW
    this.#rows[row + JSON_START] = this.#textEnd
    this.#addText(jsonBody(place, this.#locale))
    this.#rows[row + JSON_OFFSET] = this.#textEnd
    this.#addText(offset.jsonTail)
    this.#rows[row + JSON_END] = this.#textEnd
    this.#offsets[number] = offset
  }

  /** Notes that the offset in the JSON holds at `at`, and on that whole day of UTC if the zone has one offset then. */
  #noteDay(row: number, number: number, at: number): void {
    const start = Math.floor(at / DAY_MS) * DAY_MS
    const end = start + DAY_MS
    const holds = this.offsetOf(number, start) === this.offsetOf(number, end - 1)
    this.#rows[row + FROM] = holds ? start : at
    this.#rows[row + UNTIL] = holds ? end : at
  }

  #firstIn(country: LocalizedCountry, number: number): number {
    const first = this.#countries.get(country)
    if (first !== undefined) return first
    this.#countries.set(country, number)
    return number
  }

  #makeColumns(number: number, columns: readonly LocationField[], delimiter: string): void {
    const place = this.#places[number]
    if (place === undefined) throw new RangeError(`no answer has the number ${number}`)
    const { before, behind } = columnTexts(place, this.#locale, columns, delimiter)
    const row = number * COLUMNS_ROW
    while (row + COLUMNS_ROW > this.#columnRows.length) this.#columnRows = grown(this.#columnRows)
    this.#columnRows[row] = this.#textEnd + 1
    this.#addText(before)
    this.#columnRows[row + 1] = this.#textEnd
    if (behind !== null) this.#addText(behind)
    this.#columnRows[row + 2] = behind === null ? NOT_MADE : this.#textEnd
  }

  #addText(text: string): void {
    // UTF-8 has at most three bytes for each UTF-16 code unit.
    const needed = this.#textEnd + Math.max(text.length * 3, TEXT_ROOM)
    if (needed > this.#texts.length) {
      const larger = new Uint8Array(Math.max(needed, this.#texts.length * 2))
      larger.set(this.#texts.subarray(0, this.#textEnd))
      this.#texts = larger
      this.#textView = viewOf(larger)
    }
    this.#textEnd += encoder.encodeInto(text, this.#texts.subarray(this.#textEnd)).written
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

function grown(rows: Int32Array<ArrayBuffer>): Int32Array<ArrayBuffer> {
  const larger = new Int32Array(Math.max(rows.length * 2, COLUMNS_ROW * 1024))
  larger.set(rows)
  return larger
}

/** The start of a record's JSON, before its `ip`. */
export const JSON_HEAD = '{"ip":"'

/** JSON of the frozen countries and regions that records share. */
const jsons = /* @__PURE__ */ new WeakMap<Country | Region, string>()

/** Any instant will do: only the offset depends on it, and the offset is written separately. */
const ANY_INSTANT = 0

/**
 * The record's JSON from after the text of `ip` to before the value of `timezone.offset`, which is last. Reuses the
 * JSON of shared parts: twice as fast as `JSON.stringify` of the record, with the same result.
 */
export function jsonBody(place: Location, locale: Locale): string {
  const { country, region, city, postal_code, coordinates, timezone } = place.record('', locale, ANY_INSTANT)
  const { latitude, longitude } = coordinates
  const head = `","country":${jsonOf(country)},"region":${jsonOf(region)},"city":${JSON.stringify(city)}`
  const middle = `,"postal_code":${JSON.stringify(postal_code)},"coordinates":{"latitude":${latitude}`
  return `${head}${middle},"longitude":${longitude}},"timezone":{"id":${JSON.stringify(timezone.id)},"offset":`
}

function jsonOf(part: Country | Region): string {
  let json = jsons.get(part)
  if (json === undefined) {
    json = JSON.stringify(part)
    jsons.set(part, json)
  }
  return json
}

/** Columns of a record before and after `timezone_offset`. Without it, all are in `before`, and `behind` is `null`. */
export interface ColumnTexts {
  readonly before: string
  readonly behind: string | null
}

export function columnTexts(
  place: Location,
  locale: Locale,
  columns: readonly LocationField[],
  delimiter: string,
): ColumnTexts {
  const record = place.record('', locale, ANY_INSTANT)
  const texts = columns.map((column) => quotedFor(delimiter, columnOf(record, column)))
  const offset = columns.indexOf('timezone_offset')
  if (offset === -1) return { before: texts.join(delimiter), behind: null }
  return {
    before: texts
      .slice(0, offset)
      .map((text) => text + delimiter)
      .join(''),
    behind: texts
      .slice(offset + 1)
      .map((text) => delimiter + text)
      .join(''),
  }
}

function columnOf(record: LocationRecord, column: LocationField): string {
  switch (column) {
    case 'country_code':
      return record.country.code ?? ''
    case 'country_name':
      return record.country.name ?? ''
    case 'region_code':
      return record.region.code ?? ''
    case 'region_name':
      return record.region.name ?? ''
    case 'city':
      return record.city ?? ''
    case 'postal_code':
      return record.postal_code ?? ''
    case 'latitude':
      return String(record.coordinates.latitude ?? '')
    case 'longitude':
      return String(record.coordinates.longitude ?? '')
    case 'timezone_id':
      return record.timezone.id ?? ''
    case 'timezone_offset':
      return record.timezone.offset ?? ''
  }
}

/** The text, in quotes where RFC 4180 section 2 requires them. */
function quotedFor(delimiter: string, text: string): string {
  return text.includes(delimiter) || /["\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

/**
 * Counts the memory that locations keep alive beyond themselves: their countries and regions with names, and long
 * texts. In a hostile database each location can have a megabyte of names. Shared parts count once.
 */
export class RetainedBytes {
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
