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

/** Places kept, at most, and bytes of their texts. */
const MAX_LOCATIONS = 131_072
const MAX_TEXT_BYTES = 64 * 1024 * 1024
/** What the places may keep alive, as a {@link RetainedBytes} counts it: as much as the table that they come from. */
const MAX_RETAINED_BYTES = 2 ** 25
/** Time zones kept, at most: each can have some 30 KB of days. The IANA database has some 600, links included. */
const MAX_ZONES = 1024
/** Longer names than this in one place would be a hostile database's; the table is then just emptied sooner. */
const TEXT_ROOM = 65_536

/** One row of numbers for each answer, as long as a line of the processor's cache. */
const ROW = 8
/** Where its JSON begins; where the time-zone offset begins in it; where it ends. */
const JSON_START = 0
const JSON_OFFSET = 1
const JSON_END = 2
/** From which instant on and until when that offset is known to hold. */
const FROM = 3
const UNTIL = 4
const ZONE = 5
/** The answer that stands for this one in counting. */
const COUNTED = 6
const USES = 7
const NOT_MADE = -1

/** Where the columns of an answer are: before the offset, behind it. A second start of -1: there is none. */
const COLUMNS_ROW = 3

const encoder = /* @__PURE__ */ new TextEncoder()

/**
 * Places as they are written, by number. What does not change from line to line is made into bytes once. The bytes
 * lie in one array and all numbers in another, so that a line reads few lines of the processor's cache: with tens
 * of thousands of places waiting for memory takes longer than anything else.
 */
export class RenderedLocations {
  readonly #locale: Locale
  readonly #countsPlaces: boolean
  readonly #numbers = new Map<Location, number>()
  readonly #weight = new RetainedBytes()
  /** The first answer in each country. */
  readonly #countries = new Map<LocalizedCountry, number>()
  #places: Location[] = []
  /** The offset in the JSON of each. */
  #offsets: (Offset | undefined)[] = []
  #rows = new Float64Array(ROW * 1024)
  #columnRows = new Int32Array(0)
  #texts = new Uint8Array(1024 * 1024)
  #textView = viewOf(this.#texts)
  #textEnd = 0
  readonly #zoneNumbers = new Map<Timezone, number>()
  #zones: ZoneOffsets[] = []
  /** Answers with uses that were not counted yet. */
  #used: number[] = []

  /** @param countsPlaces whether uses are counted by place; otherwise by country, which takes less time */
  constructor(locale: Locale, countsPlaces: boolean) {
    this.#locale = locale
    this.#countsPlaces = countsPlaces
  }

  /** Whether it wants to be emptied before another place is added. */
  get isFull(): boolean {
    return (
      this.#places.length >= MAX_LOCATIONS ||
      this.#textEnd > MAX_TEXT_BYTES ||
      this.#weight.bytes > MAX_RETAINED_BYTES ||
      this.#zones.length >= MAX_ZONES
    )
  }

  /** Forgets all places; their numbers are given anew. Uses are to be counted before. */
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

  /** The number of a place, from 0. */
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

  /** The offset of a place's zone at an instant; `NaN` when that is not known. */
  offsetOf(number: number, at: number): Offset {
    const zone = this.#zones[this.#rows[number * ROW + ZONE] ?? 0]
    if (zone === undefined) throw new RangeError(`no answer has the number ${number}`)
    return zone.at(at)
  }

  /** Notes that a line was answered so. */
  use(number: number): void {
    const counted = this.#rows[number * ROW + COUNTED] ?? 0
    const uses = this.#rows[counted * ROW + USES] ?? 0
    if (uses === 0) this.#used.push(counted)
    this.#rows[counted * ROW + USES] = uses + 1
  }

  /** Hands out the places, or one of each country, used since the last call, with how often they were. */
  drain(count: (place: Location, locale: Locale, uses: number) => void): void {
    for (const number of this.#used) {
      const place = this.#places[number]
      if (place !== undefined) count(place, this.#locale, this.#rows[number * ROW + USES] ?? 0)
      this.#rows[number * ROW + USES] = 0
    }
    this.#used = []
  }

  /** Writes a record's JSON from behind the text of its `ip`. */
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

  /** Writes columns with delimiters between them; both are the same at every call. */
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
    // Starts are one more than they are, since 0 says that there is none yet.
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

  /** The offset in the JSON of an answer holds at an instant: on all of that day, if its zone has one offset then. */
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
    // UTF-8 has at most three bytes for a unit of UTF-16.
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

/** A record's JSON begins so, and its `ip` follows. */
export const JSON_HEAD = '{"ip":"'

/** Of the frozen parts that records share. */
const jsons = /* @__PURE__ */ new WeakMap<Country | Region, string>()

/** Of the texts here none depends on it: the offset, which does, is written apart. */
const ANY_INSTANT = 0

/**
 * The record's JSON from behind the text of `ip` to the value of `timezone.offset`, which is the last. Put together
 * from what is remembered of its shared parts: twice as fast as `JSON.stringify` of all, to the same bytes.
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

/** Columns of a record before and behind `timezone_offset`; all are before, and `behind` is `null`, without it. */
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

/** In quotes where RFC 4180 section 2 wants them. */
function quotedFor(delimiter: string, text: string): string {
  return text.includes(delimiter) || /["\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

/**
 * What some places keep alive beyond themselves: areas with their names, of which a hostile database can have as many
 * megabytes as places, and long texts. What they share counts once.
 */
export class RetainedBytes {
  /** Areas, their parts and the names of these. */
  readonly #counted = new Set<object>()
  #bytes = 0

  /** About as many bytes as it takes in memory. */
  get bytes(): number {
    return this.#bytes
  }

  /** Counts a place that was not counted yet. */
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
