import { ByteSink } from '../bytes/byte-sink.ts'
import type { DatabaseSet } from '../location/database-set.ts'
import { asEventTime, eventTime, NO_TIME } from './locating/event-time.ts'
import { LineLocator } from './locating/line-locator.ts'
import type { LocationField, TimeKind } from './options.ts'
import { makeRowPlan, type RowOptions } from './row-writer.ts'
import { valuesTemplate } from './writing/column-templates.ts'
import { alignedSize, LocationColumns, NO_NUMBER, TextNumbers } from './writing/location-columns.ts'

export interface ColumnOptions extends Pick<RowOptions, 'at' | 'asn' | 'locale' | 'cityNames'> {
  readonly fields: readonly LocationField[]
  readonly times: TimeKind
}

/** `GFX1`, little-endian. */
const MAGIC = 0x31584647
const NUMBER_BYTES = 4
const HEADER_BYTES = 4 * NUMBER_BYTES
const ANSWER_HEADER_BYTES = 3 * NUMBER_BYTES
/** The largest request, in bytes. Spark sends 10,000 rows at a time. */
const MAX_REQUEST_BYTES = 2 ** 30

/** A request is not what {@link ColumnStream} reads. */
export class ColumnRequestError extends Error {
  override readonly name = 'ColumnRequestError'
}

/** A request: its rows, and where its parts are in the bytes. */
interface Request {
  readonly rows: number
  readonly offsets: number
  readonly times: number
  readonly addresses: number
  readonly timeTexts: number
  readonly end: number
}

/** Texts of rows: that of row `i` is `bytes[starts[i], ends[i])`. It is empty if there is none. */
export interface ColumnTexts {
  readonly bytes: Uint8Array
  readonly starts: Int32Array
  readonly ends: Int32Array
}

/** Locates the addresses of a column, and numbers the texts of their locations. */
export class ColumnLocator {
  readonly textNumbers: TextNumbers
  readonly #locator: LineLocator
  readonly #add: (bytes: Uint8Array, start: number, end: number) => void

  /** @param add gets the text that gets the next number */
  constructor(locator: LineLocator, add: (bytes: Uint8Array, start: number, end: number) => void) {
    this.textNumbers = new TextNumbers(locator)
    this.#locator = locator
    this.#add = add
  }

  /** The number of the text of a row's location, at an instant; {@link NO_NUMBER} without a location. */
  textNumber({ bytes, starts, ends }: ColumnTexts, row: number, instant: number): number {
    const [locator, { textNumbers }] = [this.#locator, this]
    if (!locator.locate(bytes, starts[row] ?? 0, ends[row] ?? 0)) return NO_NUMBER
    const { texts, locationNumber } = locator
    texts.instant = instant
    const known = textNumbers.find(locationNumber)
    if (known !== NO_NUMBER) return known
    const start = texts.startOf(locationNumber)
    this.#add(texts.arena.bytes, start, start + texts.sizeOf(locationNumber))
    return textNumbers.add(locationNumber)
  }
}

/**
 * Locates whole columns of addresses, as programs with Apache Arrow have them in memory. An answer has each location
 * once and a number for each row, so that few texts are written, copied and read.
 *
 * All numbers are little-endian and have 32 bits, but microseconds have 64. A request is:
 * - `GFX1`, the number of rows, the bytes of all addresses, and the bytes of all times that are texts, or 0
 * - offsets of the addresses: one more than there are rows, the first is 0
 * - the times: nothing, microseconds (-2 ** 63 is none, as every instant that {@link asEventTime} does not know), or offsets of texts
 * - the addresses without anything between them, and then the texts of the times
 *
 * An answer is:
 * - the number of rows, the number of locations, the bytes after these three numbers
 * - the number of each row's location, from 0, and zeros up to a multiple of 8 bytes
 * - the fields of the locations, as {@link LocationColumns} writes them. Location 0 has no values: rows without a location
 *   have this number
 */
export class ColumnStream {
  readonly #locator: LineLocator
  readonly #times: TimeKind
  readonly #unread = new ByteSink()
  #memory = this.#unread.room(0)
  #view = new DataView(this.#memory.buffer)
  readonly #column: ColumnLocator
  readonly #columns: LocationColumns

  /**
   * @throws TypeError, InvalidLocaleError when an option is wrong
   * @throws InvalidDatabaseError when the databases hold no locations
   */
  constructor(set: DatabaseSet, { times, ...options }: ColumnOptions) {
    const timeField = times === 'none' ? undefined : '2'
    const plan = makeRowPlan({ ...options, format: 'tsv', quoting: 'none', field: '1', timeField })
    this.#locator = new LineLocator(set, plan, valuesTemplate(options.fields))
    this.#times = times
    const columns = new LocationColumns(options.fields)
    this.#columns = columns
    this.#column = new ColumnLocator(this.#locator, columns.add.bind(columns))
  }

  /**
   * Takes a chunk of the input, and yields the answers to all requests that end in it.
   *
   * @throws ColumnRequestError when a request is wrong
   */
  *push(chunk: Uint8Array): Generator<Uint8Array> {
    const unread = this.#unread
    unread.write(chunk)
    this.#memory = unread.room(0)
    this.#view = new DataView(this.#memory.buffer)
    let start = 0
    for (;;) {
      const request = this.#requestAt(start)
      if (request === null || request.end > unread.length) break
      yield this.#answerTo(request)
      start = request.end
    }
    unread.drop(start)
  }

  /** There is nothing left to answer. @throws ColumnRequestError when the input ends within a request */
  end(): readonly Uint8Array[] {
    if (this.#unread.length > 0) throw new ColumnRequestError('the input ends within a request')
    return []
  }

  /** The request that begins there; `null` until its header is complete. */
  #requestAt(start: number): Request | null {
    if (start + HEADER_BYTES > this.#unread.length) return null
    const numberAt = (index: number): number => this.#view.getUint32(start + index * NUMBER_BYTES, true)
    if (numberAt(0) !== MAGIC) throw new ColumnRequestError('a request does not begin with GFX1')
    const [rows, addressBytes, timeBytes] = [numberAt(1), numberAt(2), numberAt(3)]
    const offsets = start + HEADER_BYTES
    const times = offsets + (rows + 1) * NUMBER_BYTES
    const timeNumbers = { none: 0, microseconds: 2 * rows, text: rows + 1 }[this.#times]
    const addresses = times + timeNumbers * NUMBER_BYTES
    const timeTexts = addresses + addressBytes
    const end = timeTexts + timeBytes
    if (end - start > MAX_REQUEST_BYTES)
      throw new ColumnRequestError(`a request has more than ${MAX_REQUEST_BYTES} bytes`)
    return { rows, offsets, times, addresses, timeTexts, end }
  }

  #answerTo(request: Request): Uint8Array {
    const { rows, offsets, addresses, timeTexts } = request
    const [columns, column] = [this.#columns, this.#column]
    columns.addUnknown()
    column.textNumbers.restart(columns.count)
    const bounds = new Int32Array(rows + 1)
    let last = 0
    for (let row = 0; row <= rows; row++) {
      const bound = this.#offsetAt(offsets, row, addresses, timeTexts)
      if (bound < last) throw new ColumnRequestError('the offsets of a request are not in order')
      bounds[row] = last = bound
    }
    const texts = { bytes: this.#memory, starts: bounds, ends: bounds.subarray(1) }
    const numbers = new Int32Array(rows)
    for (let row = 0; row < rows; row++) {
      const number = column.textNumber(texts, row, this.#instantOf(request, row))
      if (number !== NO_NUMBER) numbers[row] = number
    }
    const size = alignedSize(rows * NUMBER_BYTES) + columns.size
    const answer = new Uint8Array(ANSWER_HEADER_BYTES + size)
    const header = new DataView(answer.buffer)
    header.setUint32(0, rows, true)
    header.setUint32(NUMBER_BYTES, columns.count, true)
    header.setUint32(2 * NUMBER_BYTES, size, true)
    answer.set(new Uint8Array(numbers.buffer), ANSWER_HEADER_BYTES)
    columns.takeInto(answer, answer.length - columns.size)
    return answer
  }

  /** Where a text begins in the bytes. */
  #offsetAt(offsets: number, index: number, from: number, to: number): number {
    const offset = from + this.#view.getUint32(offsets + index * NUMBER_BYTES, true)
    if (offset > to) throw new ColumnRequestError('an offset of a request is after its texts')
    return offset
  }

  /** Milliseconds since 1970, or {@link NO_TIME} without any. */
  #instantOf({ times, timeTexts, end }: Request, row: number): number {
    let instant = NO_TIME
    if (this.#times === 'microseconds') {
      const high = this.#view.getInt32(times + (2 * row + 1) * NUMBER_BYTES, true)
      const low = this.#view.getUint32(times + 2 * row * NUMBER_BYTES, true)
      instant = asEventTime(Math.floor((high * 2 ** 32 + low) / 1000))
    } else if (this.#times === 'text') {
      const start = this.#offsetAt(times, row, timeTexts, end)
      instant = eventTime(this.#memory, start, this.#offsetAt(times, row + 1, timeTexts, end))
    }
    return this.#locator.instantOr(instant)
  }
}
