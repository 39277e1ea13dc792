import { DataSection } from '../mmdb/data-section.ts'
import { DecoderBytes } from '../mmdb/record-decoder.ts'
import type { DataColumns } from './data-block.ts'

/** A decoded block of the data section, and where it starts in the original file. */
export type BlockAt = (offset: number) => readonly [columns: DataColumns, start: number]

/** The buffer of usual rows. Most have less than a hundred bytes. */
const USUAL_BYTES = 1024

/**
 * The data section of a packed file. Reads a buffer with a few rows, put together from the columns of their block.
 * Offsets are those of the original file.
 */
export class PackedData extends DataSection {
  readonly #blockAt: BlockAt
  readonly #usual = new Uint8Array(USUAL_BYTES)
  readonly #usualView = new DataView(this.#usual.buffer)
  /** Where the rows in the buffer end in the file. */
  #to = 0

  constructor(blockAt: BlockAt, base: number, end: number, path?: string) {
    super(new Uint8Array(0), base, end, path)
    this.#blockAt = blockAt
  }

  protected override reach(offset: number, length: number): void {
    const end = Math.min(offset + length, this.end)
    if (offset < this.from || end > this.#to) this.#readRows(offset, end)
  }

  /** A copy of some bytes of the section. */
  slice(offset: number, length: number): Uint8Array {
    this.reach(offset, length)
    return this.bytes.slice(offset - this.from, offset - this.from + length)
  }

  /** Reads the rows that have the bytes from `offset` to `end`. */
  #readRows(offset: number, end: number): void {
    // In one buffer: allocating one for each takes longer than filling it.
    let bytes = this.#usual
    let start = -1
    let to = offset
    // Damage in a block can end this early: until then, nothing can be read.
    this.#to = 0
    while (start < 0 || to < end) {
      const [columns, from] = this.#blockAt(to)
      const row = columns.rowAt(to - from)
      const rowStart = from + columns.startOf(row)
      to = from + columns.startOf(row + 1)
      if (start < 0) start = rowStart
      if (to - start > bytes.length) {
        const grown = new Uint8Array(2 * (to - start))
        grown.set(bytes)
        bytes = grown
      }
      columns.write(row, bytes, rowStart - start)
    }
    this.bytes = bytes
    this.view = bytes === this.#usual ? this.#usualView : new DataView(bytes.buffer)
    this.from = start
    this.#to = to
  }
}

/** The file for mmdb-lib's decoder, which reads numbers, texts and bytes at their offsets. */
export function decoderBytesOf(data: PackedData): DecoderBytes {
  const part = (offset: number, length: number): DecoderBytes =>
    new DecoderBytes(data.slice(offset, length).buffer)
  return new Proxy(new DecoderBytes(new ArrayBuffer(0)), {
    get: (target, key) => {
      const offset = typeof key === 'string' ? Number(key) : Number.NaN
      if (Number.isInteger(offset)) return part(offset, 1)[0]
      switch (key) {
        case 'readUInt8':
          return (at: number) => part(at, 1).readUInt8(0)
        case 'readUInt16BE':
          return (at: number) => part(at, 2).readUInt16BE(0)
        case 'readUInt32BE':
          return (at: number) => part(at, 4).readUInt32BE(0)
        case 'readInt32BE':
          return (at: number) => part(at, 4).readInt32BE(0)
        case 'readFloatBE':
          return (at: number) => part(at, 4).readFloatBE(0)
        case 'readDoubleBE':
          return (at: number) => part(at, 8).readDoubleBE(0)
        case 'readUIntBE':
          return (at: number, bytes: number) => part(at, bytes).readUIntBE(0, bytes)
        case 'toString':
          return (encoding: string, start: number, end: number) => part(start, end - start).toString(encoding)
        case 'subarray':
          return (start: number, end: number) => part(start, end - start).subarray(0, end - start)
        default:
          return Reflect.get(target, key)
      }
    },
  })
}
