// Whole files, decompressed. Files and pipes are read in the same steps, with and without waiting for the system.
import { closeSync, fstatSync, openSync, readFileSync, readSync, type Stats } from 'node:fs'
import { open } from 'node:fs/promises'
import {
  allocate,
  ByteCollector,
  checkSize,
  DEFAULT_MAX_BYTES,
  newShareableBytes,
} from '../bytes/byte-limit.ts'
import { isGzip } from '../bytes/gzip-member.ts'
import { ReadFailure } from '../errors.ts'
import type { SignalLike } from '../platform-types.ts'
import { messageOf } from '../realm.ts'
import { nativeGunzip, nativeGunzipAsync } from './native-gunzip.ts'

/** How a file is read. */
export interface ReadingOptions {
  /** Limit for the file's size, compressed and decompressed. A larger file is not read. */
  readonly maxBytes?: number | undefined
  /** Stops reading soon after it is aborted. The caller discards what is thrown then. */
  readonly signal?: SignalLike | undefined
  /** Gets the number of bytes of each piece that is read. */
  readonly onRead?: ((bytes: number) => void) | undefined
}

/** How much of a file is read at a time. */
const CHUNK_BYTES = 2 ** 21

/** How much of a pipe is read at a time. */
const PIPE_CHUNK_BYTES = 2 ** 16

/**
 * Reads a file and decompresses it if it is gzip, on another thread. What is not compressed is in memory that threads can share.
 *
 * @throws InvalidDatabaseError when the file cannot be read, a gzip file is damaged, or a file is too large
 * @throws what `onRead` throws, and the reason of the signal
 */
export async function readUnpacked(path: string, options: ReadingOptions = {}): Promise<Uint8Array> {
  const bytes = await readWhole(path, options)
  return isGzip(bytes) ? await nativeGunzipAsync(bytes, path, options.maxBytes) : bytes
}

/** The synchronous form of {@link readUnpacked}. */
export function readUnpackedSync(path: string, options: ReadingOptions = {}): Uint8Array {
  const bytes = readWholeSync(path, options)
  return isGzip(bytes) ? nativeGunzip(bytes, path, options.maxBytes) : bytes
}

/** Runs a call of the system. @throws ReadFailure when it fails */
export function systemCall<Result>(path: string, call: () => Result): Result {
  try {
    return call()
  } catch (error) {
    throw unreadableFile(path, error)
  }
}

/** The error for a file that the operating system cannot read. */
export function unreadableFile(path: string, cause: unknown): ReadFailure {
  return new ReadFailure(`it cannot be read: ${messageOf(cause)}`, { path, cause })
}

async function readWhole(path: string, options: ReadingOptions): Promise<Uint8Array> {
  const failed = (error: unknown): never => {
    throw unreadableFile(path, error)
  }
  const file = await open(path).catch(() => null)
  // It says why the file cannot be opened.
  if (file === null) return readWholeSync(path, options)
  try {
    const steps = reading(await file.stat().catch(failed), path, options)
    let step = steps.next()
    while (step.done !== true) {
      options.signal?.throwIfAborted()
      const { into, position } = step.value
      const { bytesRead } = await file.read(into, 0, into.length, position).catch(failed)
      step = steps.next(bytesRead)
    }
    return step.value
  } finally {
    await file.close()
  }
}

function readWholeSync(path: string, options: ReadingOptions): Uint8Array {
  const file = openOrReadSync(path)
  if (typeof file !== 'number') {
    checkSize(file.length, options.maxBytes ?? DEFAULT_MAX_BYTES, path)
    options.onRead?.(file.length)
    return file
  }
  try {
    const stats = systemCall(path, () => fstatSync(file))
    const steps = reading(stats, path, options)
    let step = steps.next()
    while (step.done !== true) {
      const { into, position } = step.value
      step = steps.next(systemCall(path, () => readSync(file, into, 0, into.length, position)))
    }
    return step.value
  } finally {
    closeSync(file)
  }
}

/** The descriptor. The file system inside an executable of `bun build --compile` has none, and only reads a file whole. */
function openOrReadSync(path: string): number | Uint8Array {
  try {
    return openSync(path, 'r')
  } catch (error) {
    try {
      return readFileSync(path)
    } catch {
      // The error of `open` says more about the cause than that of `readFile`.
      throw unreadableFile(path, error)
    }
  }
}

/** A call of the system: fills bytes from a position, or with what comes next. */
interface Read {
  readonly into: Uint8Array
  readonly position: number | null
}

/**
 * Reads a file. Each step gets the number of bytes that a read gave.
 *
 * @throws InvalidDatabaseError when the file is too large, or becomes shorter
 */
function* reading(
  stats: Stats,
  path: string,
  { maxBytes = DEFAULT_MAX_BYTES, onRead }: ReadingOptions,
): Generator<Read, Uint8Array, number> {
  const { size } = stats
  if (!stats.isFile() || size === 0) {
    // A pipe or device, such as a shell's `<(…)`, has no size and cannot be read at a position.
    const collector = new ByteCollector(maxBytes, path)
    const into = new Uint8Array(PIPE_CHUNK_BYTES)
    for (;;) {
      const count = yield { into, position: null }
      if (count === 0) return collector.bytes()
      onRead?.(count)
      collector.add(into.subarray(0, count))
    }
  }
  checkSize(size, maxBytes, path)
  const bytes = allocate(size, newShareableBytes, path)
  for (let at = 0; at < size; ) {
    const count = yield { into: bytes.subarray(at, at + CHUNK_BYTES), position: at }
    if (count === 0) throw unreadableFile(path, new Error('the file was truncated while it was read'))
    onRead?.(count)
    at += count
  }
  return bytes
}
