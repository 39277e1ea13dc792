import { deflateRawSync } from 'node:zlib'
import { crc32 } from '../../src/bytes/extract.ts'
import { type Deflate, inflate, PORTABLE_CODEC } from '../../src/bytes/gunzip.ts'
import { type Directory, encodeDirectory, type Family, readDirectory } from '../../src/packed/directory.ts'
import { openPackedBytes } from '../../src/packed/open-bytes.ts'
import type { PackedOptions } from '../../src/packed/packed-database.ts'

/** Faster than that of the project. */
const deflate: Deflate = (bytes) => deflateRawSync(bytes)

/** Opens a packed file in memory, as the core does. */
export const openPacked = (bytes: Uint8Array, path?: string, options?: PackedOptions) =>
  openPackedBytes(bytes, PORTABLE_CODEC, path, options)

/** A block before it is compressed. */
interface Block {
  readonly stream: ArrayLike<number>
  readonly plain: ArrayLike<number>
}

/** A packed file without compression and checksums, so that a test can change any of its contents. */
export interface Parts extends Omit<Directory, 'blocks'> {
  readonly blocks: readonly Block[]
  /** Where each block starts in the packed file. */
  readonly positions: Float64Array
}

export function partsOf(packed: Uint8Array): Parts {
  const read = (at: number, length: number): Uint8Array => packed.subarray(at, at + length)
  const { blocks: rows, ...directory } = readDirectory(packed.length, read, PORTABLE_CODEC, 2 ** 31)
  const blocks = Array.from(directory.positions, (start, row) => {
    const [deflated = 0, plain = 0] = [rows.deflated[row], rows.plain[row]]
    return {
      stream: inflate(read(start, deflated), rows.inflated[row] ?? 0),
      plain: read(start + deflated, plain),
    }
  })
  return { ...directory, blocks }
}

/** Makes a packed file with right sizes and checksums. */
export function packedOf(parts: Parts): Uint8Array {
  const streams = parts.blocks.map(({ stream }) => deflate(Uint8Array.from(stream)))
  const bytes = parts.blocks.map(({ plain }, i) =>
    Buffer.concat([streams[i] ?? new Uint8Array(0), Uint8Array.from(plain)]),
  )
  const blocks = {
    inflated: parts.blocks.map(({ stream }) => stream.length),
    deflated: streams.map(({ length }) => length),
    plain: parts.blocks.map(({ plain }) => plain.length),
    crc: bytes.map((block) => crc32(block)),
  }
  return new Uint8Array(Buffer.concat([encodeDirectory({ ...parts, blocks }, deflate), ...bytes]))
}

/** The families with another one in the place of one. */
export function withFamily(parts: Parts, number: number, change: Partial<Family>): readonly Family[] {
  return parts.families.map((family, i) => (i === number ? { ...family, ...change } : family))
}
