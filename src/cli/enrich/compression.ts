import type { Transform } from 'node:stream'
import * as zlib from 'node:zlib'
import { CommandFailure, ExitStatus } from '../terminal.ts'

/** The compressions that are read and written. */
export type Compression = 'gzip' | 'zstd'

/** As many first bytes are needed to tell. */
export const MAGIC_BYTES = 4

/** Pieces that zlib gives out. Bytes; larger ones cost fewer turns of the event loop. */
const CHUNK = 256 * 1024

const NEEDS = 'Node 22.15, 23.8 or later'

/** Tells what is decompressed here by the first bytes; `null` for all else, which the plan looks at. */
export function recogniseCompression(head: Uint8Array): Compression | null {
  if (startsWith(head, [0x1f, 0x8b, 0x08])) return 'gzip'
  // Parallel compressors begin with a skippable frame, 50 2A 4D 18 to 5F 2A 4D 18 (RFC 8878 section 3.1.2).
  const isSkippable = startsWith(head.subarray(1), [0x2a, 0x4d, 0x18]) && ((head[0] ?? 0) & 0xf0) === 0x50
  return isSkippable || startsWith(head, [0x28, 0xb5, 0x2f, 0xfd]) ? 'zstd' : null
}

/** What the name of an output asks for: `.gz` or `.zst`. */
export function compressionOf(path: string): Compression | null {
  if (/\.gz$/i.test(path)) return 'gzip'
  return /\.zst$/i.test(path) ? 'zstd' : null
}

/** @throws CommandFailure when this version of Node cannot */
export function decompressor(compression: Compression, name: string): Transform {
  // Reads files of several members too, as logrotate and cat make them.
  if (compression === 'gzip') return zlib.createGunzip({ chunkSize: CHUNK })
  const make = zstd('createZstdDecompress')
  if (make !== null) return make({ chunkSize: CHUNK })
  throw new CommandFailure(
    `${name} is compressed with Zstandard, which needs ${NEEDS}: write zstd -dc FILE | geofix enrich`,
    ExitStatus.input,
  )
}

/** @throws CommandFailure when this version of Node cannot */
export function compressor(compression: Compression, name: string): Transform {
  if (compression === 'gzip') return zlib.createGzip({ chunkSize: CHUNK })
  const make = zstd('createZstdCompress')
  if (make !== null) return make({ chunkSize: CHUNK })
  throw new CommandFailure(
    `${name} cannot be written: Zstandard needs ${NEEDS}; use .gz, or pipe into zstd`,
    ExitStatus.output,
  )
}

type MakeTransform = (options: { chunkSize: number }) => Transform

/** Later versions of Node have it; the types are those of the first version that is supported. */
function zstd(name: 'createZstdCompress' | 'createZstdDecompress'): MakeTransform | null {
  const member: unknown = Reflect.get(zlib, name)
  return isMaker(member) ? member : null
}

function isMaker(value: unknown): value is MakeTransform {
  return typeof value === 'function'
}

function startsWith(bytes: Uint8Array, magic: readonly number[]): boolean {
  return magic.every((byte, index) => bytes[index] === byte)
}
