import { BRACKET_END, COLON, SLASH } from '../../ascii.ts'
import { TIMESTAMP_ROOM, Timestamp, twoDigits } from '../../locating/event-time.ts'
import { viewOf } from '../../swar.ts'

/** Bytes of `10/Oct/2000:13:55:36 -0700]`. */
export const LOG_TIME_BYTES = 27
/** Where the time of day begins in it. */
const CLOCK = 12

/** `2000-10-10T13:55:36-07:00`, and where the time of day begins in it. */
export const ISO_BYTES = 25
const ISO_CLOCK = 11

/**
 * Reads the times of access logs that are written as most servers do, `10/Oct/2000:13:55:36 -0700]`. Compares day and offset
 * with those of the line before as words, since nearly all lines have the same.
 */
export class LogTime {
  /** The time that was read last, in milliseconds since 1970. */
  instant = Number.NaN
  /** The parsed time of the last line whose day or offset was new. */
  readonly #timestamp = new Timestamp()
  /** The time of that line in ISO 8601. */
  readonly #iso = new Uint8Array(TIMESTAMP_ROOM)
  readonly #isoView = viewOf(this.#iso)
  /** Midnight of the day in its offset. */
  #midnight = Number.NaN
  #day0 = 0
  #day1 = 0
  #day2 = 0
  #offset0 = 0
  #offset1 = 0

  /** Reads the time at `at`. @returns whether it is one, in this form */
  read(bytes: Uint8Array, view: DataView, at: number): boolean {
    const isSame =
      view.getInt32(at, true) === this.#day0 &&
      view.getInt32(at + 4, true) === this.#day1 &&
      view.getInt32(at + 8, true) === this.#day2 &&
      view.getInt32(at + 20, true) === this.#offset0 &&
      view.getInt32(at + 23, true) === this.#offset1
    if (!isSame) return this.#readDay(bytes, view, at)
    const hour = twoDigits(bytes, at + CLOCK)
    const minute = twoDigits(bytes, at + CLOCK + 3)
    const second = twoDigits(bytes, at + CLOCK + 6)
    this.instant = this.#midnight + ((hour * 60 + minute) * 60 + second) * 1000
    const isSpelt = bytes[at + CLOCK + 2] === COLON && bytes[at + CLOCK + 5] === COLON
    return isSpelt && hour <= 23 && minute <= 59 && second <= 60
  }

  /** Writes the time last read, which is at `from`, in ISO 8601: {@link ISO_BYTES}, and seven more. */
  put(view: DataView, from: number, to: number): void {
    const iso = this.#isoView
    for (let at = 0; at < ISO_BYTES; at += 8) view.setFloat64(to + at, iso.getFloat64(at, true), true)
    view.setInt32(to + ISO_CLOCK, view.getInt32(from + CLOCK))
    view.setInt32(to + ISO_CLOCK + 4, view.getInt32(from + CLOCK + 4))
  }

  #readDay(bytes: Uint8Array, view: DataView, at: number): boolean {
    this.#day0 = 0
    const end = at + LOG_TIME_BYTES - 1
    if (bytes[at + 2] !== SLASH || bytes[end] !== BRACKET_END || this.#timestamp.read(bytes, at, end) !== end)
      return false
    const clock = at + CLOCK
    const seconds =
      (twoDigits(bytes, clock) * 60 + twoDigits(bytes, clock + 3)) * 60 + twoDigits(bytes, clock + 6)
    this.instant = this.#timestamp.instant
    this.#midnight = this.instant - seconds * 1000
    this.#timestamp.put(bytes, this.#iso, 0)
    this.#day0 = view.getInt32(at, true)
    this.#day1 = view.getInt32(at + 4, true)
    this.#day2 = view.getInt32(at + 8, true)
    this.#offset0 = view.getInt32(at + 20, true)
    this.#offset1 = view.getInt32(at + 23, true)
    return true
  }
}
