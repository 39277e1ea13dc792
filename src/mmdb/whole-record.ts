// The only importer of mmdb-lib. Its decoder is taken by itself because the package's main file needs
// Node's Buffer at import, which browsers and edge runtimes do not have. It is not a documented entry, so the
// dependency is pinned to one release.
import * as imported from 'mmdb-lib/lib/decoder.js'
import type { DataSection } from './data-section.ts'
import { checkRecord } from './record-check.ts'

/** A value as the MaxMind DB format has them: uint64 and uint128 are bigint, bytes are `Uint8Array`. */
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

type DecoderClass = typeof imported.default

/** Bundlers and Node differ in what the default export of a CommonJS module is. */
function classOf(module: { default: DecoderClass | { default: DecoderClass } }): DecoderClass {
  return 'default' in module.default ? module.default.default : module.default
}

/** The methods of Node's Buffer that mmdb-lib's decoder calls, on any platform. */
class DecoderBytes extends Uint8Array<ArrayBufferLike> {
  readonly #view = new DataView(this.buffer, this.byteOffset, this.byteLength)
  readonly #decoder = new TextDecoder('utf-8', { ignoreBOM: true })

  readUInt8 = (offset: number): number => this.#view.getUint8(offset)
  readUInt16BE = (offset: number): number => this.#view.getUint16(offset)
  readUInt32BE = (offset: number): number => this.#view.getUint32(offset)
  readInt32BE = (offset: number): number => this.#view.getInt32(offset)
  readFloatBE = (offset: number): number => this.#view.getFloat32(offset)
  readDoubleBE = (offset: number): number => this.#view.getFloat64(offset)

  readUIntBE = (offset: number, bytes: number): number => {
    let value = 0
    for (let i = 0; i < bytes; i++) value = value * 256 + this.#view.getUint8(offset + i)
    return value
  }

  override toString(_encoding?: string, start = 0, end = this.length): string {
    return this.#decoder.decode(this.subarray(start, end))
  }

  /** A copy: a caller who gets a byte string must not hold the database itself. */
  override subarray(start: number, end: number): Uint8Array<ArrayBuffer> {
    return new Uint8Array(this.buffer, this.byteOffset + start, end - start).slice()
  }
}

/** Decodes whole records of one section, each checked before mmdb-lib sees it. */
export class WholeRecords {
  readonly #data: DataSection
  readonly #decoder: InstanceType<DecoderClass>

  constructor(bytes: Uint8Array, data: DataSection) {
    this.#data = data
    const view = new DecoderBytes(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    // mmdb-lib asks for a Buffer by type and calls no method of it but those above.
    this.#decoder = new (classOf(imported))(view as Uint8Array as Buffer, data.base)
  }

  /**
   * @param offset of the record in the file
   * @throws InvalidDatabaseError when the record is damaged
   */
  at(offset: number): MmdbValue {
    checkRecord(this.#data, offset)
    return this.#decoder.decode(offset).value
  }
}
