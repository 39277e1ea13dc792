// Locations as columns in the memory layout of Apache Arrow.
import { BACKSLASH, DASH, TAB } from '../ascii.ts'
import type { LocationField } from '../options.ts'
import { latin1, plainNumber } from '../swar.ts'
import type { RenderedLocations } from './rendered-locations.ts'

/** After a backslash, it stands for an unknown value. */
const UNKNOWN = 0x4e

/** What letters after a backslash stand for. Other characters stand for themselves. */
const UNESCAPED: Readonly<Record<number, number>> = { 116: TAB, 110: 0x0a, 114: 0x0d }

/** Arrow reads memory fastest if its parts begin at a multiple of this. Bytes. */
const ALIGNMENT = 8

const NUMBER_FIELDS: ReadonlySet<LocationField> = new Set(['latitude', 'longitude', 'asn_number'])

/** The bytes of a part of an answer, with the zeros that follow it. */
export function alignedSize(bytes: number): number {
  return Math.ceil(bytes / ALIGNMENT) * ALIGNMENT
}

/**
 * Takes locations as `escapedColumnsTemplate` writes them, and makes an array of Arrow of each column: a bit for each location
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
    for (const column of this.#columns) column.addUnknown(this.count)
    this.count++
  }

  /** Adds the location in `bytes[start, end)`. */
  add(bytes: Uint8Array, start: number, end: number): void {
    let at = start
    for (const column of this.#columns) {
      // A tab or the end is after the value.
      if (bytes[at] === BACKSLASH && bytes[at + 1] === UNKNOWN) {
        column.addUnknown(this.count)
        at += 3
      } else at = column.add(this.count, bytes, at, end) + 1
    }
    this.count++
  }

  /** The bytes that `takeInto` writes. */
  get size(): number {
    return this.#columns.reduce((sum, column) => sum + column.sizeOf(this.count), 0)
  }

  /** Writes the columns into memory that has zeros there, and removes all locations. */
  takeInto(memory: Uint8Array, start: number): void {
    let at = start
    for (const column of this.#columns) at = column.takeInto(memory, at, this.count)
    this.count = 0
  }
}

/** Stands for an unknown offset from UTC in minutes. */
const NO_MINUTES = 2 ** 15 - 1

/** Stands for the number of a location that has none. */
export const NO_PLACE = -1

/** The texts of locations, and a number that changes when locations get new numbers. */
interface LocationTexts {
  readonly epoch: number
  readonly texts: RenderedLocations
}

/** Gives the locations of a part of the output numbers, so that each text is written once. */
export class LocationPlaces {
  readonly #locator: LocationTexts
  /** The number of the next location without one. */
  #next = 0
  /** For each number of a location in the locator: {@link #base} plus the number that it got last. */
  #places = new Float64Array(1024)
  /** The offset from UTC that it has there, in minutes. */
  #minutes = new Int16Array(1024)
  /** The numbers in {@link #places} that are smaller are of earlier parts. */
  #base = 1
  /** The locations whose offsets differ from that in {@link #minutes}. */
  readonly #others = new Map<number, number>()
  #epoch = 0

  constructor(locator: LocationTexts) {
    this.#locator = locator
  }

  /** Numbers that locations have got. */
  get count(): number {
    return this.#next
  }

  /** Forgets all locations. @param next the number of the first one after it */
  restart(next: number): void {
    this.#forget()
    this.#next = next
  }

  /** The number of a location, with its offset at the instant of the texts of the locator; {@link NO_PLACE} if it has none yet. */
  find(location: number): number {
    // The locator has given new numbers.
    if (this.#locator.epoch !== this.#epoch) {
      this.#epoch = this.#locator.epoch
      this.#forget()
    }
    const place = (this.#places[location] ?? 0) - this.#base
    if (!(place >= 0)) return NO_PLACE
    const minutes = this.#minutesOf(location)
    if (this.#minutes[location] === minutes) return place
    return this.#others.get(location * 2 ** 16 + minutes) ?? NO_PLACE
  }

  /** Gives the location that `find` has just not found a number. */
  add(location: number): number {
    if (location >= this.#places.length) this.#grow(location)
    const minutes = this.#minutesOf(location)
    if ((this.#places[location] ?? 0) >= this.#base)
      this.#others.set(location * 2 ** 16 + minutes, this.#next)
    else {
      this.#places[location] = this.#base + this.#next
      this.#minutes[location] = minutes
    }
    return this.#next++
  }

  #minutesOf(location: number): number {
    const { texts } = this.#locator
    return texts.hasOffsets ? (texts.offsetOf(location, texts.instant).minutes ?? NO_MINUTES) : NO_MINUTES
  }

  #forget(): void {
    this.#base += this.#next
    this.#others.clear()
  }

  #grow(location: number): void {
    const places = new Float64Array(2 * location)
    places.set(this.#places)
    this.#places = places
    const minutes = new Int16Array(2 * location)
    minutes.set(this.#minutes)
    this.#minutes = minutes
  }
}

/** Whether values are known, a bit each. */
class KnownBits {
  #bits = new Uint8Array(128)

  add(index: number, isKnown: boolean): void {
    const at = index >> 3
    if (at >= this.#bits.length) this.#bits = grown(this.#bits, at + 1)
    const before = (index & 7) === 0 ? 0 : (this.#bits[at] ?? 0)
    this.#bits[at] = before | (Number(isKnown) << (index & 7))
  }

  write(memory: Uint8Array, at: number, count: number): number {
    const size = bitBytes(count)
    memory.set(this.#bits.subarray(0, size), at)
    return at + alignedSize(size)
  }
}

class TextColumn {
  readonly #known = new KnownBits()
  /** The offsets of the texts; the last is the end of all. */
  #offsets = new Int32Array(1024)
  #texts = new Uint8Array(16_384)

  addUnknown(index: number): void {
    this.#known.add(index, false)
    this.#setEnd(index, this.#offsets[index] ?? 0)
  }

  /** Adds the value that begins at `start`. @returns the index after it */
  add(index: number, bytes: Uint8Array, start: number, end: number): number {
    let length = this.#offsets[index] ?? 0
    if (length + end - start > this.#texts.length) this.#texts = grown(this.#texts, length + end - start)
    const texts = this.#texts
    let at = start
    for (; at < end; at++) {
      let byte = bytes[at] ?? 0
      if (byte === TAB) break
      if (byte === BACKSLASH) {
        byte = bytes[++at] ?? 0
        byte = UNESCAPED[byte] ?? byte
      }
      texts[length++] = byte
    }
    this.#known.add(index, true)
    this.#setEnd(index, length)
    return at
  }

  sizeOf(count: number): number {
    return (
      alignedSize(bitBytes(count)) + alignedSize((count + 1) * 4) + alignedSize(this.#offsets[count] ?? 0)
    )
  }

  takeInto(memory: Uint8Array, start: number, count: number): number {
    const at = this.#known.write(memory, start, count)
    const textStart = at + alignedSize((count + 1) * 4)
    const length = this.#offsets[count] ?? 0
    memory.set(bytesOf(this.#offsets, count + 1), at)
    memory.set(this.#texts.subarray(0, length), textStart)
    return textStart + alignedSize(length)
  }

  #setEnd(index: number, end: number): void {
    if (index + 1 >= this.#offsets.length) {
      const larger = new Int32Array(2 * this.#offsets.length)
      larger.set(this.#offsets)
      this.#offsets = larger
    }
    this.#offsets[index + 1] = end
  }
}

class NumberColumn {
  readonly #known = new KnownBits()
  #values = new Float64Array(1024)

  addUnknown(index: number): void {
    this.#known.add(index, false)
    this.#set(index, 0)
  }

  /** Adds the value that begins at `start`. @returns the index after it */
  add(index: number, bytes: Uint8Array, start: number, end: number): number {
    let at = start
    while (at < end && bytes[at] !== TAB) at++
    this.#known.add(index, true)
    this.#set(index, numberIn(bytes, start, at))
    return at
  }

  sizeOf(count: number): number {
    return alignedSize(bitBytes(count)) + count * 8
  }

  takeInto(memory: Uint8Array, start: number, count: number): number {
    const at = this.#known.write(memory, start, count)
    memory.set(bytesOf(this.#values, count), at)
    return at + count * 8
  }

  #set(index: number, value: number): void {
    if (index >= this.#values.length) {
      const larger = new Float64Array(2 * this.#values.length)
      larger.set(this.#values)
      this.#values = larger
    }
    this.#values[index] = value
  }
}

/** Reads what `String` writes of a number. */
function numberIn(bytes: Uint8Array, start: number, end: number): number {
  const isNegative = bytes[start] === DASH
  const size = plainNumber(bytes, isNegative ? start + 1 : start, end)
  if (Number.isNaN(size)) return Number(latin1(bytes, start, end))
  return isNegative ? -size : size
}

function bitBytes(count: number): number {
  return Math.ceil(count / 8)
}

function bytesOf(numbers: Int32Array | Float64Array, count: number): Uint8Array {
  return new Uint8Array(numbers.buffer, 0, count * numbers.BYTES_PER_ELEMENT)
}

function grown(bytes: Uint8Array, length: number): Uint8Array<ArrayBuffer> {
  const larger = new Uint8Array(Math.max(length, 2 * bytes.length))
  larger.set(bytes)
  return larger
}
