import { Timestamp } from './timestamp.ts'

/** Returned by {@link eventTime} for a text that is not an instant. `NaN`, so it is not equal to itself. */
export const NO_TIME = Number.NaN

const DASH = 0x2d
/**
 * Numbers from here on are milliseconds, and from a thousand times this on microseconds. In seconds this is the year
 * 5138, in milliseconds 1973.
 */
const MOST_SECONDS = 1e11
/** Longer texts are not parsed: no usual spelling of an instant is longer. Bytes. */
const MAX_LENGTH = 40
const NUMBER = /^-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?$/

const timestamp = /* @__PURE__ */ new Timestamp()

/**
 * Reads the instant of an event from `bytes[start, end)`: ISO 8601 with an offset or `Z`, as {@link Timestamp} reads
 * it, or a number since 1970. The size of a number decides whether it is in seconds, milliseconds, microseconds or
 * nanoseconds. Local times without an offset are not instants.
 *
 * @returns milliseconds since 1970, or {@link NO_TIME}
 */
export function eventTime(bytes: Uint8Array, start: number, end: number): number {
  if (end - start > MAX_LENGTH || start >= end) return NO_TIME
  if (bytes[start + 4] === DASH && timestamp.read(bytes, start, end) === end) return timestamp.instant
  let text = ''
  for (let at = start; at < end; at++) text += String.fromCharCode(bytes[at] ?? 0)
  return NUMBER.test(text) ? sinceEpoch(Number(text)) : NO_TIME
}

/** As {@link eventTime}, for a text. */
export function eventTimeOf(text: string): number {
  if (text.length > MAX_LENGTH) return NO_TIME
  const bytes = new TextEncoder().encode(text)
  return eventTime(bytes, 0, bytes.length)
}

function sinceEpoch(value: number): number {
  const size = Math.abs(value)
  if (size < MOST_SECONDS) return Math.round(value * 1000)
  if (size < MOST_SECONDS * 1e3) return Math.round(value)
  if (size < MOST_SECONDS * 1e6) return Math.round(value / 1e3)
  return size < MOST_SECONDS * 1e9 ? Math.round(value / 1e6) : NO_TIME
}
