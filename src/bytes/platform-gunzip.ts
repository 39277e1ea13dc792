// Decompression outside Node that does not block: by the platform's DecompressionStream where that is as strict as ours, or else with
// fflate. The core loads this file when it meets gzip.
//
// - DecompressionStream takes less processor time than fflate, which edge platforms limit.
// - Node has zlib: src/node/native-gunzip.ts. The DecompressionStream of Node 20 accepts bytes after the end.
import { damagedFile } from '../errors.ts'
import type { SignalLike } from '../platform-types.ts'
import { DEFAULT_MAX_BYTES, isOutOfMemory, newBytes, noMemory } from './byte-limit.ts'
import { Content, gunzipSteps } from './gunzip.ts'
import { readGzipMember } from './gzip-member.ts'
import { Pacer, withPauses } from './long-work.ts'

/** How much compressed data the platform gets at a time. It decompresses each piece without a pause. */
const PIECE_BYTES = 2 ** 15

/** A gzip file without content. */
const EMPTY_FILE = Uint8Array.of(0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0)

/**
 * Decompresses and checks a gzip file with pauses for other work.
 *
 * @param make allocates the memory of the result, such as shared memory
 * @throws InvalidDatabaseError when the file is damaged or too large
 * @throws the reason of the signal
 */
export async function gunzipInPieces(
  bytes: Uint8Array,
  maxBytes = DEFAULT_MAX_BYTES,
  signal?: SignalLike,
  make: (bytes: number) => Uint8Array = newBytes,
): Promise<Uint8Array> {
  if (!(await isPlatformStrict())) return withPauses(gunzipSteps(bytes, undefined, maxBytes, make), signal)
  const { length } = readGzipMember(bytes, undefined, maxBytes)
  const content = new Content(length, make)
  const pacer = new Pacer(signal)
  try {
    await inflateByPlatform(pieces(bytes), content.add, () => pacer.pause())
  } catch (cause) {
    signal?.throwIfAborted()
    if (isOutOfMemory(cause)) throw noMemory(cause)
    throw damagedFile('its compressed data cannot be read, or does not match its checksum', { cause })
  }
  if (content.filled !== length) {
    throw damagedFile('its content does not match the length in its gzip trailer')
  }
  return content.bytes
}

/** Passes data through a DecompressionStream. @throws Error when it is damaged, or `take` or `pause` throws */
async function inflateByPlatform(
  input: Iterable<Uint8Array<ArrayBuffer>>,
  take: (inflated: Uint8Array) => void,
  pause: () => Promise<void>,
): Promise<void> {
  const { readable, writable } = new DecompressionStream('gzip')
  const reader = readable.getReader()
  const writer = writable.getWriter()
  const write = async (): Promise<void> => {
    for (const piece of input) {
      await writer.write(piece)
      await pause()
    }
    await writer.close()
  }
  const read = async (): Promise<void> => {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return
      take(value)
    }
  }
  try {
    await Promise.all([write(), read()])
  } catch (error) {
    // Stop the other direction, and ignore the errors that follow from this one.
    await Promise.allSettled([reader.cancel(error), writer.abort(error), writer.closed])
    throw error
  }
}

/** Copies of the parts of a file: DecompressionStream does not take shared memory. */
function* pieces(bytes: Uint8Array): Generator<Uint8Array<ArrayBuffer>> {
  for (let at = 0; at < bytes.length; at += PIECE_BYTES)
    yield new Uint8Array(bytes.subarray(at, at + PIECE_BYTES))
}

let isStrict: Promise<boolean> | undefined

/**
 * Whether the platform has a DecompressionStream that refuses bytes after the only member of a file, as the Compression
 * standard says. That of Node 20 does not.
 */
export function isPlatformStrict(): Promise<boolean> {
  isStrict ??= findStrictness()
  return isStrict
}

async function findStrictness(): Promise<boolean> {
  if (typeof DecompressionStream === 'undefined') return false
  const zero = new Uint8Array(1)
  const joined = new Uint8Array([...EMPTY_FILE, ...EMPTY_FILE])
  const damaged = [[EMPTY_FILE, zero], [new Uint8Array([...EMPTY_FILE, 0])], [joined]]
  for (const input of damaged) if (await isReadable(input)) return false
  return isReadable([EMPTY_FILE])
}

function isReadable(input: readonly Uint8Array<ArrayBuffer>[]): Promise<boolean> {
  const nothing = (): void => {}
  return inflateByPlatform(input, nothing, async () => {}).then(
    () => true,
    () => false,
  )
}
