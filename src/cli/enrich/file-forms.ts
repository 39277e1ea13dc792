// What the first bytes of an input and the name of an output say: whether it is compressed, and its form.
import { basename, extname } from 'node:path'
import type { Transform } from 'node:stream'
import * as zlib from 'node:zlib'
import { CommandFailure, ExitStatus, UsageError } from '../terminal.ts'

/** The compressions that are read and written. */
export type Compression = 'gzip' | 'zstd'

/** What a decompressor gets. Each chunk is valid until the next one is asked for. */
export type ByteChunks = AsyncGenerator<Uint8Array, undefined, undefined>

/** How many first bytes {@link recogniseCompression} needs. */
export const MAGIC_BYTES = 4

/** The first bytes of a Parquet file, and its last. */
export const PARQUET_MAGIC = Buffer.from('PAR1')

/** Size of zlib's output chunks. Each chunk takes a turn of the event loop. Bytes. */
const CHUNK_BYTES = 256 * 1024

const ZSTD_NEEDS = 'Node 22.15, 23.8 or later'

/** Recognises the compression by the first bytes. @returns `null` for neither gzip nor Zstandard */
export function recogniseCompression(head: Uint8Array): Compression | null {
  if (startsWith(head, [0x1f, 0x8b, 0x08])) return 'gzip'
  // Parallel compressors begin with a skippable frame, 50 2A 4D 18 to 5F 2A 4D 18 (RFC 8878 section 3.1.2).
  const isSkippable = startsWith(head.subarray(1), [0x2a, 0x4d, 0x18]) && ((head[0] ?? 0) & 0xf0) === 0x50
  return isSkippable || startsWith(head, [0x28, 0xb5, 0x2f, 0xfd]) ? 'zstd' : null
}

/** The compression for an output by its extension, `.gz` or `.zst`. @returns `null` for other names */
export function compressionOf(path: string): Compression | null {
  if (/\.gz$/i.test(path)) return 'gzip'
  return /\.zst$/i.test(path) ? 'zstd' : null
}

/** @throws CommandFailure when this version of Node cannot read Zstandard */
export function decompressor(compression: Compression, name: string): ZlibTransform {
  // createGunzip also reads files of several members, which logrotate and cat create.
  return transform(compression === 'gzip' ? 'createGunzip' : 'createZstdDecompress', () => {
    const advice = `which needs ${ZSTD_NEEDS}: run zstd -dc FILE | geofix enrich`
    return new CommandFailure(`${name} is compressed with Zstandard, ${advice}`, ExitStatus.input)
  })
}

/** @throws CommandFailure when this version of Node cannot write Zstandard */
export function compressor(compression: Compression, name: string): Transform {
  return transform(compression === 'gzip' ? 'createGzip' : 'createZstdCompress', () => {
    const advice = `Zstandard needs ${ZSTD_NEEDS}; use .gz, or pipe the output into zstd`
    return new CommandFailure(`${name} cannot be written: ${advice}`, ExitStatus.output)
  })
}

/** `bytesWritten` counts what it has taken of its input. */
type ZlibTransform = Transform & { readonly bytesWritten: number }
type MakeTransform = (options: { chunkSize: number }) => ZlibTransform
type Name = `create${'Gunzip' | 'Gzip' | 'ZstdCompress' | 'ZstdDecompress'}`
/** Older supported versions of Node, and their type declarations, do not have all of them. */
const TRANSFORMS: { readonly [Each in Name]?: MakeTransform } = zlib

function transform(name: Name, missing: () => CommandFailure): ZlibTransform {
  const make = TRANSFORMS[name]
  if (make === undefined) throw missing()
  return make({ chunkSize: CHUNK_BYTES })
}

function startsWith(bytes: Uint8Array, magic: readonly number[]): boolean {
  return magic.every((byte, index) => bytes[index] === byte)
}

const ZSTD_MAGIC = 0xfd2fb528
/** Frames without content: 0x184D2A50 to 0x184D2A5F. */
const SKIPPABLE_MAGIC = 0x184d2a50

const RLE_BLOCK = 1
const RESERVED_BLOCK = 3

/** Bytes to read as a little-endian number, four at most, or to skip. */
type FramePart = { readonly size: number; readonly isSkipped: boolean }

const number = (size: number): FramePart => ({ size, isSkipped: false })
const skip = (size: number): FramePart => ({ size, isSkipped: true })
/** Begins a frame. */
const MAGIC = number(4)

/** The parts of Zstandard frames. Takes the number that each part is, and ends where the data cannot be frames. */
function* frameParts(): Generator<FramePart, void, number> {
  for (;;) {
    const magic = yield MAGIC
    if (magic - (magic % 16) === SKIPPABLE_MAGIC) {
      yield skip(yield number(4))
      continue
    }
    if (magic !== ZSTD_MAGIC) return
    const descriptor = yield number(1)
    yield skip(headerBytes(descriptor))
    for (let isLast = false; !isLast; ) {
      const block = yield number(3)
      const type = (block >> 1) & 3
      if (type === RESERVED_BLOCK) return
      // An RLE block has one byte; its size is the number of repetitions.
      yield skip(type === RLE_BLOCK ? 1 : block >> 3)
      isLast = (block & 1) === 1
    }
    yield skip((descriptor & 4) === 0 ? 0 : 4)
  }
}

/**
 * Passes on Zstandard data (RFC 8878 section 3.1) in chunks that never have parts of two frames, because Node's decompressor ignores
 * what follows a frame in the same write. Follows the frames by their lengths, without decompressing them. Fails if the data ends
 * inside a frame, which Node's decompressor accepts until Node 24.0.
 *
 * @param failure makes the error that is thrown for data that is truncated, or damaged
 */
export async function* zstdFrames(stored: ByteChunks, failure: (isTruncated: boolean) => Error): ByteChunks {
  const parts = frameParts()
  let part = parts.next().value ?? MAGIC
  /** Bytes of the part that are still missing. */
  let left = part.size
  let value = 0
  for await (const bytes of stored) {
    let from = 0
    for (let at = 0; at < bytes.length; ) {
      const end = part.isSkipped ? Math.min(at + left, bytes.length) : at + 1
      // Multiply instead of shifting: 32 bits do not fit a signed integer.
      if (!part.isSkipped) value += (bytes[at] ?? 0) * 256 ** (part.size - left)
      left -= end - at
      at = end
      // A part can be empty.
      while (left === 0) {
        const next = parts.next(value)
        if (next.done) throw failure(false)
        part = next.value
        left = part.size
        value = 0
        if (part !== MAGIC) continue
        yield bytes.subarray(from, at)
        from = at
      }
    }
    if (from < bytes.length) yield bytes.subarray(from)
  }
  if (part !== MAGIC || left < MAGIC.size) throw failure(true)
}

/** Bytes of a frame header after its descriptor (section 3.1.1.1). */
function headerBytes(descriptor: number): number {
  const isSingleSegment = (descriptor & 0x20) !== 0
  const window = isSingleSegment ? 0 : 1
  const dictionary = [0, 1, 2, 4][descriptor & 3] ?? 0
  const contentSize = [isSingleSegment ? 1 : 0, 2, 4, 8][descriptor >> 6] ?? 0
  return window + dictionary + contentSize
}

/** The endings of names that ask for a form. */
const ENDINGS: ReadonlyMap<string, string> = new Map([
  ['.csv', 'csv'],
  ['.tsv', 'tsv'],
  ['.json', 'json'],
  ['.ndjson', 'ndjson'],
  ['.jsonl', 'ndjson'],
  ['.parquet', 'parquet'],
  ['.md', 'md'],
  ['.markdown', 'md'],
])

/** Endings that ask for no form: those of text, and the numbers and dates of rotated logs. */
const TEXT = /^(?:\.(?:txt|text|log|out|[\d-]+))?$/

/**
 * The form that the name of an output asks for; `undefined` if it asks for none.
 *
 * @param path `undefined` for standard output
 * @param forms those that the command writes
 * @param own names whose endings ask for no form either
 * @throws UsageError when the ending is another one, which would promise a form that is not written
 */
export function formOfName<Form extends string>(
  path: string | undefined,
  forms: readonly Form[],
  own: readonly string[] = [],
): Form | undefined {
  if (path === undefined) return undefined
  const ending = endingOf(path)
  const found = forms.find((form) => form === ENDINGS.get(ending))
  if (found === 'parquet' && compressionOf(path) !== null)
    throw new UsageError(`-o ${path}: the pages of Parquet are compressed already: leave out .gz or .zst.`)
  if (found !== undefined || TEXT.test(ending) || own.some((name) => endingOf(name) === ending)) return found
  const known = [...ENDINGS].filter(([, form]) => forms.some((each) => each === form)).map(([each]) => each)
  throw new UsageError(
    `-o ${path}: no form has the ending ${ending}. Write ${known.join(', ')}, or .txt for text; or choose the form with --to ${forms.join(', ')}.`,
  )
}

/** The ending of a name without that of its compression, in lower case; `''` if it has none. */
function endingOf(path: string): string {
  const name = basename(path)
  return extname(compressionOf(name) === null ? name : name.slice(0, -extname(name).length)).toLowerCase()
}
