import { damagedFile, type InvalidDatabaseError } from '../errors.ts'
import { utf8Decoder } from '../realm.ts'
import { DataType, MAX_CONTENT_BYTES, MAX_VALUES } from './format.ts'

/** The size of text, bytes, maps and arrays, which may have any that fits in the section. */
const ANY = Number.POSITIVE_INFINITY
/** The largest payload of each type, by its number in {@link DataType}. 0 is an unknown type, as all greater numbers are. */
const MAX_PAYLOAD = Float64Array.of(0, 0, ANY, 8, ANY, 2, 4, ANY, 4, 8, 16, ANY, 0, 0, 1, 4)

/** Text up to this size is read byte by byte: 20,574 names of cities take 0.75 of the time of a TextDecoder. */
const SHORT_TEXT_BYTES = 24

/** Character codes of a short text, one array for each length. Reused, because readers are synchronous. */
const shortTexts: number[][] = []

let decoder: TextDecoder | undefined

/**
 * A cursor over the fields of a data section, or of the metadata, which has the same format. Whatever the
 * bytes are, a read stays inside the section and takes bounded time, or throws `InvalidDatabaseError`.
 *
 * {@link open} describes the field that it finds in `type`, `size`, `start` and `next`, so that reading a field
 * allocates nothing.
 */
export class DataSection {
  /** Type of the opened field, never a pointer. */
  type = 0
  /** Payload bytes of the opened field. For a map its pairs, for an array its elements, for a boolean its value. */
  size = 0
  /** Where the payload of the opened field starts. */
  start = 0
  /** Where the next field starts. For a map or an array that was not reached by a pointer: its first element. */
  next = 0
  /** Whether the opened field was reached by a pointer. */
  viaPointer = false
  /** Where the opened field starts: the pointer's target if there was a pointer. Identifies the field. */
  fieldOffset = 0

  /** Values counted since {@link beginRecord}, each time that a pointer leads to them. */
  values = 0
  /** Bytes of long text decoded since then. */
  #content = 0

  /** Single bytes are read from here: with a packed file, V8 calls `getUint8` of a DataView, which takes 2% of `count --by city`. */
  protected bytes: Uint8Array
  protected view: DataView
  /** Where `bytes` and `view` start in the file. */
  protected from = 0
  readonly #path: string | undefined

  /**
   * @param base where the section starts in the file; pointers count from here
   * @param end where the section ends
   */
  constructor(
    { buffer, byteOffset, byteLength }: Uint8Array,
    readonly base: number,
    readonly end: number,
    path?: string,
  ) {
    // Do not keep the given object: slice() of a Buffer does not copy.
    this.bytes = new Uint8Array(buffer, byteOffset, byteLength)
    this.view = new DataView(buffer, byteOffset, byteLength)
    this.#path = path
  }

  /**
   * Makes bytes of the file readable, in subclasses that load it by blocks. Call it directly before reading them. Here the
   * whole file is in memory, and V8 removes the call.
   *
   * @param _length may extend beyond the section
   */
  protected reach(_offset: number, _length: number): void {}

  /**
   * Starts a new record: resets the limits on what {@link skip} and {@link text} may read. The limits are needed
   * because pointers let a small file repeat the same values without end.
   */
  beginRecord(): void {
    this.values = 0
    this.#content = 0
  }

  /** Opens the field at an offset of the file. If it is a pointer, opens its target. */
  open(offset: number): void {
    this.peek(offset)
    if (!this.viaPointer) return
    const next = this.next
    this.openTarget(this.start)
    this.next = next
  }

  /** Opens the field that a pointer leads to. */
  openTarget(offset: number): void {
    this.#openHere(offset)
    if (this.type === DataType.pointer) throw this.fault('a pointer leads to another pointer', offset)
    this.viaPointer = true
    this.fieldOffset = offset
  }

  /** Opens the field at an offset. For a pointer, only finds `next` and `fieldOffset` and does not read the target. */
  peek(offset: number): void {
    this.#openHere(offset)
    this.viaPointer = this.type === DataType.pointer
    this.fieldOffset = this.viaPointer ? this.start : offset
  }

  /** Counts one value of a record. @throws InvalidDatabaseError when it has too many */
  countValue(offset: number): void {
    if (++this.values > MAX_VALUES) throw this.fault(`a record holds more than ${MAX_VALUES} values`, offset)
  }

  /** Where the field after the one at an offset starts. Does not follow pointers. */
  skip(offset: number): number {
    let at = offset
    for (let pending = 1; pending > 0; pending--) {
      this.countValue(offset)
      this.#openHere(at)
      at = this.next
      if (this.type === DataType.map) pending += 2 * this.size
      else if (this.type === DataType.array) pending += this.size
    }
    return at
  }

  /** The opened field as text, or `null` if it has another type. */
  text(): string | null {
    if (this.type !== DataType.utf8String) return null
    const { start, size } = this
    if (size <= SHORT_TEXT_BYTES) {
      this.reach(start, size)
      const codes = shortText(size)
      let i = 0
      for (const at = start - this.from; i < size; i++) {
        const code = this.bytes[at + i] ?? 0
        if (code > 0x7f) break
        codes[i] = code
      }
      // Make the text in one call: V8 keeps a concatenated string as a tree with 32 bytes for each part.
      if (i === size) return String.fromCharCode(...codes)
    }
    this.#content += size
    if (this.#content > MAX_CONTENT_BYTES) {
      throw this.fault(`a record holds more than ${MAX_CONTENT_BYTES} bytes of text`, start)
    }
    decoder ??= utf8Decoder({ ignoreBOM: true })
    return decoder.decode(this.content())
  }

  /** Makes the opened field readable to its end, which can be in a damaged block of a packed file. */
  reachEnd(): void {
    this.reach(this.start, this.size)
  }

  /** A copy of the opened field's bytes: platforms refuse to decode shared memory in place. */
  content(): Uint8Array {
    this.reachEnd()
    const at = this.start - this.from
    return this.bytes.slice(at, at + this.size)
  }

  /** How many bytes the opened field itself has: without its elements, and without a pointer that led to it. */
  get fieldBytes(): number {
    const { type, size, start, fieldOffset } = this
    const hasContent = type !== DataType.map && type !== DataType.array && type !== DataType.boolean
    return start - fieldOffset + (hasContent ? size : 0)
  }

  /** Copies the {@link fieldBytes} of the opened field. */
  copyField(output: Uint8Array, at: number): void {
    const length = this.fieldBytes
    this.reach(this.fieldOffset, length)
    // Copy byte by byte, because most fields are short.
    const start = this.fieldOffset - this.from
    for (let i = 0; i < length; i++) output[at + i] = this.bytes[start + i] ?? 0
  }

  /** The opened field as a number, or `null` if its type is not one that a double holds exactly. */
  number(): number | null {
    const { start, size } = this
    switch (this.type) {
      case DataType.double:
        this.reach(start, size)
        return this.view.getFloat64(start - this.from)
      case DataType.float:
        this.reach(start, size)
        return this.view.getFloat32(start - this.from)
      case DataType.uint16:
      case DataType.uint32:
        return this.#unsigned(start, size)
      case DataType.int32:
        return size === 4 ? this.#unsigned(start, size) | 0 : this.#unsigned(start, size)
      default:
        return null
    }
  }

  /** The error for damage in this file. */
  fault(fault: string, offset?: number): InvalidDatabaseError {
    return damagedFile(fault, { offset, path: this.#path })
  }

  #openHere(offset: number): void {
    if (offset < this.base || offset >= this.end) throw this.fault('a field is outside its section', offset)
    this.reach(offset, 1)
    const control = this.bytes[offset - this.from] ?? 0
    let at = offset + 1
    this.type = control >>> 5
    if (this.type === DataType.pointer) {
      this.#openPointer(control, at)
      return
    }
    if (this.type === 0) {
      this.#need(at, 1)
      this.reach(at, 1)
      this.type = 7 + (this.bytes[at++ - this.from] ?? 0)
      // Extended type 0 would be a map, which is not an extended type. Other decoders refuse it too.
      if (this.type === DataType.map) throw this.fault('a field has the unknown type 0', offset)
    }
    let size = control & 0x1f
    if (size >= 29) {
      const extra = size - 28
      this.#need(at, extra)
      size = (SIZE_BASES[extra] ?? 0) + this.#unsigned(at, extra)
      at += extra
    }
    this.#checkSize(offset, at, size)
    this.size = size
    this.start = at
    this.next =
      this.type === DataType.map || this.type === DataType.array || this.type === DataType.boolean
        ? at
        : at + size
  }

  #openPointer(control: number, at: number): void {
    const bytes = ((control >>> 3) & 3) + 1
    this.#need(at, bytes)
    const high = bytes === 4 ? 0 : (control & 7) << (8 * bytes)
    this.start = this.base + high + this.#unsigned(at, bytes) + (POINTER_BASES[bytes] ?? 0)
    this.next = at + bytes
  }

  #checkSize(offset: number, at: number, size: number): void {
    const { type } = this
    const most = MAX_PAYLOAD[type] ?? 0
    if (most === 0) throw this.fault(`a field has the unknown type ${type}`, offset)
    if (size > most || (size < most && (type === DataType.double || type === DataType.float))) {
      throw this.fault(`a field of type ${type} has ${size} bytes`, offset)
    }
    // Elements of maps and arrays take at least one byte each.
    if ((type === DataType.map ? 2 * size : type === DataType.boolean ? 0 : size) > this.end - at) {
      throw this.fault('a field is larger than the rest of its section', offset)
    }
  }

  #need(at: number, bytes: number): void {
    if (at + bytes > this.end) throw this.fault('a field is cut short', at)
  }

  #unsigned(at: number, bytes: number): number {
    this.reach(at, bytes)
    const start = at - this.from
    let value = 0
    for (let i = 0; i < bytes; i++) value = value * 256 + (this.bytes[start + i] ?? 0)
    return value
  }
}

/** Added to a size that is stored in 1, 2 or 3 extra bytes. */
const SIZE_BASES = [0, 29, 285, 65_821]
/** Added to a pointer of 1, 2, 3 or 4 bytes. */
const POINTER_BASES = [0, 0, 2048, 526_336, 0]

function shortText(size: number): number[] {
  for (let length = shortTexts.length; length <= size; length++) shortTexts.push(new Array(length).fill(0))
  return shortTexts[size] ?? []
}
