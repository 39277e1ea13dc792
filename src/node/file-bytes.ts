// Whole files, decompressed. Files and pipes are read in the same steps, with and without waiting for the system.

import { closeSync, fstatSync, openSync, promises, readFileSync, readSync, type Stats } from 'node:fs'
import { promisify } from 'node:util'
import * as zlib from 'node:zlib'
import {
  allocate,
  ByteCollector,
  checkSize,
  DEFAULT_MAX_BYTES,
  isOutOfMemory,
  newShareableBytes,
  noMemory,
} from '../bytes/byte-limit.ts'
import type { ReadingOptions } from '../bytes/byte-source.ts'
import { crc32, readGzipMember } from '../bytes/extract.ts'
import { isGzip } from '../bytes/file-kind.ts'
import type { BlockCodec, Inflate } from '../bytes/gunzip.ts'
import { damagedFile, type InvalidDatabaseError, ReadFailure } from '../errors.ts'
import { reasonOf } from './file-state.ts'

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
  return new ReadFailure(`it cannot be read: ${reasonOf(cause)}`, { path, cause })
}

async function readWhole(path: string, options: ReadingOptions): Promise<Uint8Array> {
  const failed = (error: unknown): never => {
    throw unreadableFile(path, error)
  }
  const file = await promises.open(path).catch(() => null)
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

/** The smallest `chunkSize` of zlib. */
const MIN_CHUNK_BYTES = 64

/**
 * Decompresses a gzip file of one member.
 *
 * @param maxBytes limit for the file's size, compressed and decompressed
 * @throws InvalidDatabaseError when the file is damaged or too large
 */
export function nativeGunzip(bytes: Uint8Array, path?: string, maxBytes = DEFAULT_MAX_BYTES): Uint8Array {
  const length = lengthOf(bytes, path, maxBytes)
  let inflated: object
  try {
    inflated = zlib.gunzipSync(bytes, optionsFor(length))
  } catch (cause) {
    throw unreadableGzip(cause, path)
  }
  return checked(inflated, bytes, length, path)
}

const gunzip = promisify(zlib.gunzip)

/** {@link nativeGunzip} on another thread. */
export async function nativeGunzipAsync(
  bytes: Uint8Array,
  path?: string,
  maxBytes = DEFAULT_MAX_BYTES,
): Promise<Uint8Array> {
  // Tests of the program can have replaced `process.nextTick`, as sinon does. Node's streams then wait without end.
  if ('clock' in process.nextTick) return nativeGunzip(bytes, path, maxBytes)
  const length = lengthOf(bytes, path, maxBytes)
  const inflated: object = await gunzip(bytes, optionsFor(length)).catch((cause) => {
    throw unreadableGzip(cause, path)
  })
  return checked(inflated, bytes, length, path)
}

/** Checks all but the compressed data. @returns the length of the content */
function lengthOf(bytes: Uint8Array, path: string | undefined, maxBytes: number): number {
  const { deflate, length } = readGzipMember(bytes, path, maxBytes)
  if (isEmptyMemberFirst(deflate)) throw trailingBytes(path)
  return length
}

/**
 * Makes zlib give one chunk, because it would copy several chunks into one buffer at the end. The chunk has room for one byte more, to
 * detect a file that is longer than its trailer says without decompressing all of it.
 */
function optionsFor(length: number, info = true): zlib.ZlibOptions {
  return { info, chunkSize: Math.max(length + 1, MIN_CHUNK_BYTES), maxOutputLength: length + 1 }
}

/** zlib checks CRC-32 and length, but ignores bytes after the end and joins several members. */
function checked(inflated: object, bytes: Uint8Array, length: number, path: string | undefined): Uint8Array {
  const { buffer, engine } = withInfo(inflated)
  if (engine.bytesWritten !== bytes.length || buffer.length !== length) throw trailingBytes(path)
  return buffer
}

/** What the functions of zlib use themselves, and Node's types do not have. npm uses it too, by its package minizlib. */
interface Inflater {
  readonly _handle: { reset(): void; writeSync(flush: number, ...inputAndOutput: [...Part, ...Part]): void }
  /** How many bytes the last call left of the output and of the input. */
  readonly _writeState: Uint32Array
  readonly errored: Error | null
}

type Part = [bytes: Uint8Array, start: number, length: number]

/** `null` where the platform has none. */
let inflater: Inflater | null | undefined

/** Where blocks are inflated to. */
const inflatedBlock = new Uint8Array(2 ** 16)

/**
 * Does the same as the portable `inflate`, with zlib. To make an inflater takes as long as to inflate a block: in a new process, 898
 * blocks of networks take 60 ms with `inflateRawSync`, and 31 ms with one inflater.
 */
const nativeInflate: Inflate = (stream, length) => {
  inflater ??= newInflater()
  const bytes =
    inflater === null
      ? zlib.inflateRawSync(stream, optionsFor(length, false))
      : inflateWith(inflater, stream, length + 1)
  if (bytes.length !== length) throw new Error(`a stream does not have ${length} bytes`)
  return bytes
}

function inflateWith(made: Inflater, stream: Uint8Array, room: number): Uint8Array {
  const output = room <= inflatedBlock.length ? inflatedBlock : new Uint8Array(room)
  const { _handle: handle, _writeState: left } = made
  // It stays as it is if the stream is damaged.
  left[0] = room
  handle.reset()
  handle.writeSync(zlib.constants.Z_FINISH, stream, 0, stream.length, output, 0, room)
  if (made.errored !== null) {
    inflater = undefined
    throw made.errored
  }
  return output.subarray(0, room - (left[0] ?? 0))
}

/** The letter "a" as a stream: shows that the members of an inflater do what {@link inflateWith} expects. */
const ONE_LETTER = Uint8Array.of(0x4b, 0x04, 0x00)

function newInflater(): Inflater | null {
  const made = zlib.createInflateRaw({ chunkSize: MIN_CHUNK_BYTES })
  // Without a listener, a damaged stream would end the process.
  made.on('error', () => {})
  try {
    return isInflater(made) && String.fromCharCode(...inflateWith(made, ONE_LETTER, 2)) === 'a' ? made : null
  } catch {
    return null
  }
}

function isInflater(stream: object): stream is Inflater {
  if (!('_handle' in stream && '_writeState' in stream && stream._handle instanceof Object)) return false
  return (
    'reset' in stream._handle && 'writeSync' in stream._handle && stream._writeState instanceof Uint32Array
  )
}

/** Node has a CRC-32 since 20.15, which takes a fifth of the time of the portable one. */
export const NATIVE_CODEC: BlockCodec = { inflate: nativeInflate, crc32: zlib.crc32 ?? crc32 }

/**
 * Whether the file starts with an empty member and more bytes follow. zlib joins members. The
 * check of the total length finds all members but an empty one.
 *
 * @param deflate the bytes after the header
 */
function isEmptyMemberFirst(deflate: Uint8Array): boolean {
  // maxOutputLength stops it at the first decompressed bytes.
  const options = { info: true, chunkSize: MIN_CHUNK_BYTES, maxOutputLength: 1 }
  let inflated: object
  try {
    inflated = zlib.inflateRawSync(deflate, { ...options, finishFlush: zlib.constants.Z_SYNC_FLUSH })
  } catch {
    return false
  }
  const { buffer, engine } = withInfo(inflated)
  return buffer.length === 0 && engine.bytesWritten < deflate.length
}

/** The result of zlib with the option `info`, which is missing in Node's types. */
interface Inflated {
  readonly buffer: Uint8Array
  readonly engine: { readonly bytesWritten: number }
}

function withInfo(result: object): Inflated {
  if (isInflated(result)) return result
  throw new TypeError('zlib ignored the option "info"')
}

function isInflated(value: object): value is Inflated {
  return 'buffer' in value && 'engine' in value
}

function unreadableGzip(cause: unknown, path?: string): InvalidDatabaseError {
  if (isOutOfMemory(cause)) return noMemory(cause, path)
  return damagedFile('its compressed data cannot be read, or does not match its checksum', { path, cause })
}

function trailingBytes(path?: string): InvalidDatabaseError {
  return damagedFile('there are extra bytes after its compressed data', { path })
}
