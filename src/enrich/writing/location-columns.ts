// Locations as columns in the memory layout of Apache Arrow.
import { ByteSink } from '../../bytes/byte-sink.ts'
import { ABSENT, NumberMap } from '../../bytes/tables.ts'
import { DASH } from '../ascii.ts'
import type { LocationField } from '../options.ts'
import { latin1, plainNumber } from '../swar.ts'
import { endOfValue } from './column-templates.ts'
import type { RenderedLocations } from './rendered-locations.ts'

/** Arrow recommends that the parts begin at a multiple of this: Columnar Format, "Buffer Alignment and Padding". Bytes. */
const ALIGNMENT = 8

const NO_BYTES = new Uint8Array(0)

const NUMBER_FIELDS: ReadonlySet<LocationField> = new Set(['latitude', 'longitude', 'asn_number'])

/** The bytes of a part of an answer, with the zeros that follow it. */
export function alignedSize(bytes: number): number {
  return Math.ceil(bytes / ALIGNMENT) * ALIGNMENT
}

/**
 * Takes locations as `valuesTemplate` writes them, and makes an array of Arrow of each column: a bit for each location
 * that says whether its value is known, then
 * - of a text: the offsets of the values, one more than there are locations, and the bytes of all values in UTF-8
 * - of a number: doubles
 *
 * Zeros follow each of these parts, up to a multiple of 8 bytes.
 */
export class LocationColumns {
  /** Locations so far. */
  count = 0
  readonly #columns: readonly (TextColumn | NumberColumn)[]

  constructor(fields: readonly LocationField[]) {
    this.#columns = fields.map((field) => (NUMBER_FIELDS.has(field) ? new NumberColumn() : new TextColumn()))
  }

  /** Adds a location whose values are unknown. */
  addUnknown(): void {
    this.add(NO_BYTES, 0, 0)
  }

  /** Adds the location in `bytes[start, end)`. */
  add(bytes: Uint8Array, start: number, end: number): void {
    let at = start
    for (const column of this.#columns) {
      const valueEnd = endOfValue(bytes, at, end)
      column.add(bytes, at, valueEnd)
      at = valueEnd + 1
    }
    this.count++
  }

  /** The bytes that `takeInto` writes. */
  get size(): number {
    return this.#columns.reduce((sum, column) => sum + column.size, 0)
  }

  /** Writes the columns into memory that has zeros there, and removes all locations. */
  takeInto(memory: Uint8Array, start: number): void {
    let at = start
    for (const column of this.#columns) at = column.takeInto(memory, at)
    this.count = 0
  }
}

/** More than the minutes of any offset from UTC, east or west. */
const MOST_MINUTES = 1024
const OFFSETS = 2 * MOST_MINUTES
/** Stands for an unknown offset. */
const NO_MINUTES = MOST_MINUTES - 1

/** Stands for the number of a location, or of its text, that has none. */
export const NO_NUMBER = ABSENT

/** The texts of locations, and a number that changes when locations get new numbers. */
interface LocationTexts {
  readonly epoch: number
  readonly texts: RenderedLocations
}

/** Numbers the texts of locations in a part of the output, so that each is written once. */
export class TextNumbers {
  /** The number of the next text. */
  #next = 0
  /** The numbers of the texts, by {@link #keyOf}. */
  #numbers = new NumberMap()
  #epoch = 0

  constructor(private readonly locator: LocationTexts) {}

  /** Numbers that texts have got. */
  get count(): number {
    return this.#next
  }

  /** Forgets all texts. @param next the number of the first one after it */
  restart(next: number): void {
    this.#numbers = new NumberMap()
    this.#next = next
  }

  /** The number of the text of a location, at the instant of the texts of the locator; {@link NO_NUMBER} if it has none yet. */
  find(location: number): number {
    // The locator has given new numbers.
    if (this.locator.epoch !== this.#epoch) {
      this.#epoch = this.locator.epoch
      this.#numbers = new NumberMap()
    }
    return this.#numbers.get(this.#keyOf(location))
  }

  /** Gives a number to the text that `find` has just not found. */
  add(location: number): number {
    this.#numbers.set(this.#keyOf(location), this.#next)
    return this.#next++
  }

  #keyOf(location: number): number {
    const { texts } = this.locator
    const minutes = texts.hasOffsets ? (texts.offsetOf(location, texts.instant).minutes ?? NO_MINUTES) : 0
    return location * OFFSETS + minutes + MOST_MINUTES
  }
}

class TextColumn {
  readonly #texts = new ByteSink()
  /** The offsets of the texts; the last is the end of all. */
  #offsets = [0]

  add(bytes: Uint8Array, start: number, end: number): void {
    // A location without values has no bytes. Its `start` can then be after `end`.
    if (start < end) this.#texts.write(bytes, start, end)
    this.#offsets.push(this.#texts.length)
  }

  get size(): number {
    const { length } = this.#offsets
    return bitsSize(length - 1) + alignedSize(length * 4) + alignedSize(this.#texts.length)
  }

  takeInto(memory: Uint8Array, start: number): number {
    const end = start + this.size
    const offsets = new Int32Array(this.#offsets)
    for (let index = 1; index < offsets.length; index++)
      if (offsets[index] !== offsets[index - 1]) setBit(memory, start, index - 1)
    memory.set(new Uint8Array(offsets.buffer), start + bitsSize(offsets.length - 1))
    memory.set(this.#texts.bytes, end - alignedSize(this.#texts.length))
    this.#texts.length = 0
    this.#offsets = [0]
    return end
  }
}

class NumberColumn {
  /** `NaN` if unknown. */
  #values: number[] = []

  add(bytes: Uint8Array, start: number, end: number): void {
    this.#values.push(start < end ? numberIn(bytes, start, end) : Number.NaN)
  }

  get size(): number {
    return bitsSize(this.#values.length) + this.#values.length * 8
  }

  takeInto(memory: Uint8Array, start: number): number {
    const end = start + this.size
    const values = new Float64Array(this.#values)
    for (let index = 0; index < values.length; index++)
      if (Number.isNaN(values[index])) values[index] = 0
      else setBit(memory, start, index)
    memory.set(new Uint8Array(values.buffer), end - values.length * 8)
    this.#values = []
    return end
  }
}

/** Reads what `String` writes of a number. */
function numberIn(bytes: Uint8Array, start: number, end: number): number {
  const isNegative = bytes[start] === DASH
  const size = plainNumber(bytes, isNegative ? start + 1 : start, end)
  if (Number.isNaN(size)) return Number(latin1(bytes, start, end))
  return isNegative ? -size : size
}

/** The bytes of a bit for each location. */
function bitsSize(count: number): number {
  return alignedSize(Math.ceil(count / 8))
}

function setBit(memory: Uint8Array, start: number, index: number): void {
  const at = start + (index >> 3)
  memory[at] = (memory[at] ?? 0) | (1 << (index & 7))
}
