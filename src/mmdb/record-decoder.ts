// The only importer of mmdb-lib. Imports its decoder alone, because the package's main file needs Node's Buffer at
// import, which browsers and edge runtimes do not have. The decoder is not a documented entry, so the dependency
// is pinned to one release.

import * as imported from 'mmdb-lib/lib/decoder.js'
import { extended } from '../bytes/tables.ts'
import { utf8Decoder } from '../realm.ts'
import type { DataSection } from './data-section.ts'
import { DataType, MAX_CONTENT_BYTES, MAX_DEPTH, MAX_KEY_BYTES } from './format.ts'

/** A value of the MaxMind DB format: uint64 and uint128 are `bigint`, bytes are `Uint8Array`. */
export type MmdbValue =
  | string
  | number
  | bigint
  | boolean
  | Uint8Array
  | MmdbValue[]
  | { [key: string]: MmdbValue }

/** Whether a decoded value is a map. */
export function isMap(value: MmdbValue): value is { [key: string]: MmdbValue } {
  return typeof value === 'object' && !Array.isArray(value) && !(value instanceof Uint8Array)
}

/**
 * Decodes a whole record.
 *
 * @param offset of the record in the file
 * @throws InvalidDatabaseError when the record is damaged
 */
export function decodeRecord(data: DataSection, offset: number): MmdbValue {
  const copy = new RecordCopy(data, offset)
  copy.run()
  // mmdb-lib's type is Buffer, but it calls only the methods of DecoderBytes.
  return new (classOf(imported))(new DecoderBytes(copy.bytes) as Uint8Array as Buffer).decode(0).value
}

/** A key that would change an object's prototype. */
const PROTO = '__proto__'

/**
 * Walks a whole record without decoding it: every pointer has a valid target, nesting and repetition are within
 * the limits, every key is text of limited length, and no key is `__proto__`.
 */
export class RecordCheck {
  #contentBytes = 0

  constructor(
    readonly data: DataSection,
    readonly record: number,
  ) {}

  /** @throws InvalidDatabaseError at the first fault */
  run(): void {
    this.data.beginRecord()
    this.#value(this.record, 0)
  }

  /** Called with each field of the record that `data` has opened and that is within the limits. */
  protected visit(): void {}

  /** @returns where the next field starts */
  #value(offset: number, depth: number): number {
    const { data, record } = this
    if (depth > MAX_DEPTH) throw data.fault(`a record is nested deeper than ${MAX_DEPTH} levels`, record)
    data.countValue(record)
    data.open(offset)
    const { type, size, start, next, viaPointer } = data
    if (type === DataType.map || type === DataType.array) {
      this.visit()
      let at = start
      if (type === DataType.map) at = this.#pairs(start, size, depth)
      else for (let i = 0; i < size; i++) at = this.#value(at, depth + 1)
      return viaPointer ? next : at
    }
    if (type !== DataType.boolean) this.#countContent(size)
    this.visit()
    return next
  }

  #countContent(bytes: number): void {
    this.#contentBytes += bytes
    if (this.#contentBytes > MAX_CONTENT_BYTES) {
      throw this.data.fault(`a record holds more than ${MAX_CONTENT_BYTES} bytes of text`, this.record)
    }
  }

  #pairs(start: number, size: number, depth: number): number {
    let at = start
    for (let i = 0; i < size; i++) {
      this.data.countValue(this.record)
      this.data.open(at)
      if (this.data.type !== DataType.utf8String) throw this.data.fault('the key of a map is not text', at)
      if (this.data.size > MAX_KEY_BYTES) {
        throw this.data.fault(`the key of a map is longer than ${MAX_KEY_BYTES} bytes`, at)
      }
      // Keys of other lengths need no decoding.
      if (this.data.size === PROTO.length && this.data.text() === PROTO) {
        throw this.data.fault('a map has the key "__proto__"', at)
      }
      this.#countContent(this.data.size)
      this.visit()
      at = this.#value(this.data.next, depth + 1)
    }
    return at
  }
}

/** Bytes that the first copy has room for. Most records have fewer. */
const USUAL_RECORD_BYTES = 4096

/**
 * Checks a record and copies it without its pointers, because mmdb-lib has no limits and reads bytes that follow one
 * another, which those of a packed file do not.
 */
class RecordCopy extends RecordCheck {
  #bytes = new Uint8Array(USUAL_RECORD_BYTES)
  #length = 0

  /** The copy, after {@link run}. */
  get bytes(): Uint8Array<ArrayBuffer> {
    return this.#bytes.subarray(0, this.#length)
  }

  protected override visit(): void {
    const length = this.#length + this.data.fieldBytes
    if (length > this.#bytes.length) this.#bytes = extended(this.#bytes, new Uint8Array(2 * length))
    this.data.copyField(this.#bytes, this.#length)
    this.#length = length
  }
}

type DecoderClass = typeof imported.default

/** The default export of a CommonJS module is nested in some bundlers and in Node. */
function classOf(module: { default: DecoderClass | { default: DecoderClass } }): DecoderClass {
  return 'default' in module.default ? module.default.default : module.default
}

let decoder: TextDecoder | undefined

/** The methods of Node's Buffer that mmdb-lib's decoder calls, for any platform. */
class DecoderBytes extends Uint8Array<ArrayBuffer> {
  readonly #view: DataView

  /** @param bytes not shared: platforms refuse to decode text in shared memory */
  constructor({ buffer, byteOffset, byteLength }: Uint8Array<ArrayBuffer>) {
    super(buffer, byteOffset, byteLength)
    this.#view = new DataView(buffer, byteOffset, byteLength)
  }

  readUInt8(offset: number): number {
    return this.readUIntBE(offset, 1)
  }

  readUInt16BE(offset: number): number {
    return this.readUIntBE(offset, 2)
  }

  readInt32BE(offset: number): number {
    return this.readUIntBE(offset, 4) | 0
  }

  readFloatBE(offset: number): number {
    return this.#view.getFloat32(offset)
  }

  readDoubleBE(offset: number): number {
    return this.#view.getFloat64(offset)
  }

  readUIntBE(offset: number, bytes: number): number {
    let value = 0
    for (let i = 0; i < bytes; i++) value = value * 256 + (this[offset + i] ?? 0)
    return value
  }

  override toString(_encoding?: string, start = 0, end = this.length): string {
    decoder ??= utf8Decoder({ ignoreBOM: true })
    return decoder.decode(new Uint8Array(this.buffer, this.byteOffset + start, end - start))
  }

  /** A copy: a caller that gets a byte string must not hold the whole record. */
  override subarray(start: number, end: number): Uint8Array<ArrayBuffer> {
    return new Uint8Array(this.buffer, this.byteOffset + start, end - start).slice()
  }
}
