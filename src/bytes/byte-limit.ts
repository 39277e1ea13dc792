import { InvalidDatabaseError } from '../errors.ts'
import { isError } from '../realm.ts'

/** Offsets beyond this are not exact in the 32-bit arithmetic of decoders: no database is larger. Bytes. */
export const MAX_DATABASE_BYTES = 2 ** 31 - 1

/** What a source may hold where nobody says otherwise: every database that can be read. Bytes. */
export const DEFAULT_MAX_BYTES = 2 ** 31

/** @throws TypeError when it is no positive safe integer */
export function maxBytesOf(option: unknown): number {
  if (option === undefined) return DEFAULT_MAX_BYTES
  if (typeof option === 'number' && Number.isSafeInteger(option) && option > 0) return option
  throw new TypeError('maxBytes is a number of bytes: a whole number, at least 1')
}

/** @throws InvalidDatabaseError when a source has more bytes than it may, packed or unpacked */
export function checkSize(size: number, maxBytes: number, path?: string): void {
  if (size > maxBytes) throw overLimit(maxBytes, path)
}

/** The error for a source with too many bytes, which need not all have come. */
export function overLimit(maxBytes: number, path?: string): InvalidDatabaseError {
  const advice =
    maxBytes < MAX_DATABASE_BYTES
      ? 'the limit that maxBytes sets: open it with a larger maxBytes if it is meant to be that large'
      : 'which no database has'
  return new InvalidDatabaseError(`it has more than ${maxBytes} bytes, ${advice}`, { path })
}

/**
 * Memory for bytes that are about to come, of any of the kinds there are.
 *
 * @throws InvalidDatabaseError when the system has not that much
 */
export function allocate<Memory>(bytes: number, make: (bytes: number) => Memory, path?: string): Memory {
  try {
    return make(bytes)
  } catch (cause) {
    throw noMemory(cause, path)
  }
}

/** The error for a source that the machine has no room for. */
export function noMemory(cause: unknown, path?: string): InvalidDatabaseError {
  return new InvalidDatabaseError('there is not enough memory for it', { path, cause })
}

/** Whether an error says that memory could not be had: V8's has no code, and zlib's has this one. */
export function isOutOfMemory(error: unknown): boolean {
  if (!isError(error)) return false
  const code = 'code' in error ? error.code : undefined
  return code === undefined ? error.name === 'RangeError' : code === 'ERR_MEMORY_ALLOCATION_FAILED'
}
