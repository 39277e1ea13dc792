import { InvalidDatabaseError } from '../errors.ts'
import { isError } from '../realm.ts'
import { atOnce, type Steps } from './long-work.ts'

/** The size of the largest database: decoders use 32-bit offsets. */
export const MAX_DATABASE_BYTES = 2 ** 31 - 1

/** The default `maxBytes` of a source. Allows every database that can be read. */
export const DEFAULT_MAX_BYTES = 2 ** 31

/**
 * The value of the option `maxBytes`.
 *
 * @throws TypeError when it is not a whole number from 1 to {@link DEFAULT_MAX_BYTES}
 */
export function maxBytesOf(option: unknown): number {
  if (option === undefined) return DEFAULT_MAX_BYTES
  const isValid = typeof option === 'number' && Number.isSafeInteger(option) && option > 0
  if (isValid && option <= DEFAULT_MAX_BYTES) return option
  throw new TypeError(
    `maxBytes must be a whole number of bytes from 1 to ${DEFAULT_MAX_BYTES}: no readable database is larger`,
  )
}

/**
 * The value of the option `cacheBytes`.
 *
 * @throws TypeError when it is not a safe integer of at least 0
 */
export function cacheBytesOf(option: unknown): number | undefined {
  if (option === undefined) return undefined
  if (typeof option === 'number' && Number.isSafeInteger(option) && option >= 0) return option
  throw new TypeError('cacheBytes must be a whole number of bytes, at least 0')
}

/** @throws InvalidDatabaseError when a source, compressed or not, has more than `maxBytes` */
export function checkSize(size: number, maxBytes: number, path?: string): void {
  if (size > maxBytes) throw overLimit(maxBytes, path)
}

/** The error for a source with more than `maxBytes`. It has no size, because callers stop reading at the limit. */
function overLimit(maxBytes: number, path?: string): InvalidDatabaseError {
  const advice =
    maxBytes < MAX_DATABASE_BYTES
      ? 'the limit that maxBytes sets: use a larger maxBytes if the database is meant to be that large'
      : 'too many for one database: open files for IPv4 and IPv6 apart, [ipv4, ipv6], or an edition with fewer fields'
  return new InvalidDatabaseError(`it has more than ${maxBytes} bytes, ${advice}`, { path })
}

/**
 * Allocates memory of any kind.
 *
 * @param make allocates that many bytes
 * @throws InvalidDatabaseError when there is not enough memory
 */
export function allocate<Memory>(bytes: number, make: (bytes: number) => Memory, path?: string): Memory {
  try {
    return make(bytes)
  } catch (cause) {
    throw noMemory(cause, path)
  }
}

/** The error for a source that does not fit in memory. */
export function noMemory(cause: unknown, path?: string): InvalidDatabaseError {
  return new InvalidDatabaseError('there is not enough memory for it', { path, cause })
}

/** Whether an error means that memory could not be allocated. V8's error has no code; zlib's has this one. */
export function isOutOfMemory(error: unknown): boolean {
  if (!isError(error)) return false
  const code = 'code' in error ? error.code : undefined
  return code === undefined ? error.name === 'RangeError' : code === 'ERR_MEMORY_ALLOCATION_FAILED'
}

const BLOCK_BYTES = 2 ** 20

/**
 * Collects the chunks of a source of unknown size. Copies them into blocks, so that a source of many tiny chunks
 * needs no more memory than its bytes.
 */
export class ByteCollector {
  readonly #blocks: Uint8Array[] = []
  #length = 0

  /**
   * @param maxBytes that the source may have
   * @param path of the source, for messages
   */
  constructor(
    readonly maxBytes: number,
    readonly path?: string,
  ) {}

  /** @throws InvalidDatabaseError when there are more bytes than `maxBytes`, or not enough memory */
  add(chunk: Uint8Array): void {
    checkSize(this.#length + chunk.length, this.maxBytes, this.path)
    for (let taken = 0; taken < chunk.length; ) {
      const filled = this.#length % BLOCK_BYTES
      const part = chunk.subarray(taken, taken + BLOCK_BYTES - filled)
      if (filled === 0) this.#blocks.push(allocate(BLOCK_BYTES, newBytes, this.path))
      this.#blocks.at(-1)?.set(part, filled)
      taken += part.length
      this.#length += part.length
    }
  }

  /**
   * All collected bytes. Empties the collector.
   *
   * @throws InvalidDatabaseError when there is not enough memory
   */
  bytes(): Uint8Array {
    return atOnce(this.joined())
  }

  /** {@link bytes} in steps. @param make allocates the memory */
  *joined(make: (bytes: number) => Uint8Array = newBytes): Steps<Uint8Array> {
    const all = allocate(this.#length, make, this.path)
    let at = 0
    for (const block of this.#blocks.splice(0)) {
      all.set(block.subarray(0, this.#length - at), at)
      at += BLOCK_BYTES
      yield
    }
    this.#length = 0
    return all
  }
}

export const newBytes = (length: number): Uint8Array => new Uint8Array(length)

/** Allocates memory that workers can share without a copy, if the platform allows it. */
export function newShareableBytes(length: number): Uint8Array {
  return typeof SharedArrayBuffer === 'undefined'
    ? new Uint8Array(length)
    : new Uint8Array(new SharedArrayBuffer(length))
}
