// What every format has: a reader, which finds where the parts of a record are.
import { BACKSLASH, COMMA, DELETE, QUOTE, SPACE } from '../ascii.ts'
import type { FieldValues } from '../counting/field-values.ts'
import { ipv4End, NOT_IPV4 } from '../locating/address-cache.ts'
import { NO_TIME } from '../locating/event-time.ts'

/** The start of a field that the record does not have. */
export const ABSENT = -1
/** The start of a field whose value is unknown. */
export const UNKNOWN = -2

const NO_POSITIONS = new Int32Array(0)
const NO_BYTES = new Uint8Array(0)

/** What the value of a field is in JSON: a text; digits, which are a number; or a number if it looks like one, else a text. */
export type ValueKind = 'text' | 'digits' | 'number'

/** A field of the records of a format. */
export interface ReaderField {
  readonly name: string
  readonly kind: ValueKind
}

/**
 * What was found:
 * - `read`: a record. The reader holds where its parts are
 * - `bad`: it is not a record of the format; `fault` says why
 * - `blank`: it has no content
 */
export type RecordKind = 'read' | 'bad' | 'blank'

/** How the location is joined to the object that a record is; see {@link RecordReader.insertStart}. */
export type Joint = 'next' | 'only' | 'value' | 'indented'

/**
 * Reads the records of one format, one at a time, and holds the positions of its parts: the address, the instant, and the
 * fields. It knows nothing of locations and outputs; the engine locates the address and writes the record in any form.
 *
 * A reader has two ways that find the same: {@link usual} for the common shape of a record, which is fast, and {@link read}
 * for any record. Tests compare them. After `usual` found a record, or `read` returned `read`, all that is documented here is
 * valid until the next call, if the bytes do not change.
 */
export abstract class RecordReader<State = unknown> implements FieldValues {
  /** Whether {@link usual} reads records. */
  readonly hasUsual: boolean = false
  /** The bytes of the record, `record[recordStart, recordEnd)`: those of the input, or the reader's own, such as joined parts. */
  record: Uint8Array = NO_BYTES
  recordStart = 0
  recordEnd = 0
  /** The text of the address is `addressBytes[addressStart, addressEnd)`. It is empty if the record has none. */
  addressBytes: Uint8Array = NO_BYTES
  addressStart = 0
  addressEnd = 0
  /** The address after `usual`, as a signed 32-bit number if it is an IPv4 address in its usual spelling, else `NOT_IPV4`. */
  ipv4: number = NOT_IPV4
  /** The record's own time in milliseconds since 1970, or `NO_TIME`. */
  instant: number = NO_TIME
  /** Whether `instant` is a local time whose offset from UTC is unknown, given as if it were UTC. */
  isLocal = false
  /** What is wrong with the record, after `bad`, as text that can follow "line 7: ". */
  fault = ''
  /** Why a user should look at the record, as such a text; '' if nothing is unusual. */
  doubt = ''
  /**
   * Whether `usual` has found {@link starts} and {@link ends}, no byte of the record needs an escape in JSON, and no field is a `number`.
   * The values of fields then need not be asked for one by one.
   */
  isPlain = false
  /**
   * Where each field is in the record, with its quotes. If the record {@link isPlain}, where its value is, or {@link UNKNOWN} or
   * {@link ABSENT} in `starts`.
   */
  starts: Int32Array = NO_POSITIONS
  ends: Int32Array = NO_POSITIONS
  /** Where a record that is an object has the location, in place of `record[insertStart, insertEnd)`, and how it is joined. */
  insertStart = 0
  insertEnd = 0
  joint: Joint = 'next'
  /** Where the brace of an `indented` object is. */
  objectStart = 0
  /** After {@link find}: the value is `bytes[start, end)`, in UTF-8, without the quotes and escapes of CSV and JSON. */
  bytes: Uint8Array = NO_BYTES
  start = 0
  end = 0
  /** Only for text: four numbers for each address in the record, the start and the end of its word, and its own start and end. */
  readonly places: number[] = []
  /** The fields of records, in their order. A directive that changes them sets another array. Empty if a record can have any. */
  fields: readonly ReaderField[] = []
  /** The `counted` fields of the plan, as indexes for {@link find}; -1 for those that no record has. */
  counted: readonly number[] = []

  /**
   * Reads the record that begins at `start` if it is usual.
   *
   * @param view of all of `bytes`
   * @param limit the end of the bytes, which is after a line feed. The 64 bytes after it can be read and written: a reader puts
   *   values there that the record has in another form
   * @returns where the line feed of the record is; -1 if `read` must read the record
   */
  usual(_bytes: Uint8Array, _view: DataView, _start: number, _limit: number): number {
    return -1
  }

  /**
   * Reads the record in `bytes[start, end)`, which has no line end and no byte order mark, and is not empty. `bytes[end]` can
   * be read, and is a line end if records are lines.
   */
  abstract read(bytes: Uint8Array, start: number, end: number): RecordKind

  /**
   * Finds the value of a field: `bytes`, `start` and `end` are then set.
   *
   * @param field index in {@link fields}, or one of {@link counted}
   * @returns whether there is a value: `false` too if the format writes that it is unknown, as `-` or `null`
   */
  abstract find(field: number): boolean

  findCounted(counted: number): boolean {
    const field = this.counted[counted] ?? -1
    return field !== -1 && this.find(field)
  }

  /** Whether the record has a field, if its value was not found. An object has no member for a field that it has not. */
  has(_field: number): boolean {
    return true
  }

  /**
   * Reads what `read` has left for later. Called before the fields of a record are written, and for a record without an
   * address that can be read.
   *
   * @returns whether it is a whole record. One that is not, and has no address, is bad; see `fault`
   */
  complete(): boolean {
    return true
  }

  /** Whether {@link readAgain} can find another address. */
  readonly rereads: boolean = false

  /** Called if no address could be read: reads the record in another way. @returns whether it has then another address */
  readAgain(): boolean {
    return false
  }

  /**
   * Whether a row that is not read goes on in the next one, so that nothing can follow it. Such a row can come in parts.
   *
   * @param isFirst whether `bytes[start, end)` begins the row
   */
  isOpenAfter(_bytes: Uint8Array, _start: number, _end: number, _isFirst: boolean): boolean {
    return false
  }

  /** Sets the state for the next records, at the start of a block and after each directive. */
  use(_state: State): void {}

  /** What is written after a directive if columns are added to the records. */
  addedTo(_directive: string): string {
    return ''
  }

  /** Takes what another reader has found, whose record is within this one. */
  protected take(inner: RecordReader): void {
    this.addressBytes = inner.addressBytes
    this.addressStart = inner.addressStart
    this.addressEnd = inner.addressEnd
    this.instant = inner.instant
    this.isLocal = inner.isLocal
    this.fault = inner.fault
    this.doubt = inner.doubt
  }

  /** Finds the value of a field with another reader, and takes it over. */
  protected findIn(inner: RecordReader, field: number): boolean {
    const isFound = inner.find(field)
    this.bytes = inner.bytes
    this.start = inner.start
    this.end = inner.end
    return isFound
  }

  /** The record, and its address as far as it is known, are in these bytes. */
  protected useBytes(bytes: Uint8Array, start: number, end: number): void {
    this.record = this.addressBytes = bytes
    this.recordStart = start
    this.recordEnd = end
  }

  /** Takes the address that is `bytes[start, end)`, for `usual`. */
  protected useAddress(bytes: Uint8Array, start: number, end: number): void {
    this.addressStart = start
    this.addressEnd = end
    if (ipv4End(bytes, start, this) !== end) this.ipv4 = NOT_IPV4
  }

  /**
   * Takes the address that is a plain word before a separator, for `usual`.
   *
   * @returns where the separator is; -1 if the text before it is not a plain word
   */
  protected addressBefore(bytes: Uint8Array, start: number, separator: number): number {
    let end = ipv4End(bytes, start, this)
    if (end === -1 || bytes[end] !== separator) {
      this.ipv4 = NOT_IPV4
      for (end = start; bytes[end] !== separator; end++) {
        const byte = bytes[end] ?? 0
        if (byte <= SPACE || byte >= DELETE || byte === QUOTE || byte === BACKSLASH) return -1
      }
      // A space after a comma does not end a list.
      if (end === start || bytes[end - 1] === COMMA) return -1
    }
    this.addressStart = start
    this.addressEnd = end
    return end
  }
}
