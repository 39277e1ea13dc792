// Decimal numbers with marks between them, as in an IPv4 address.

import { DOT, ZERO } from '../ascii.ts'
import { isDigit } from '../swar.ts'

/** Numbers of a run that are kept. A run with more is not an address. */
const MOST = 6
/** Larger numbers count as this. */
export const TOO_LARGE = 65_536

/** A run of numbers with the same mark between them: `81.2.69.142`. */
export class Numbers {
  start = 0
  end = 0
  count = 0
  separator = DOT
  /** The first numbers, and where each of them starts and ends. */
  readonly values = new Int32Array(MOST)
  readonly starts = new Int32Array(MOST)
  readonly ends = new Int32Array(MOST)

  /** Reads the run that a mark between two digits belongs to. Most have two numbers, of which only the end is read. */
  read(bytes: Uint8Array, from: number, mark: number, end: number): void {
    const { values, starts, ends } = this
    const separator = bytes[mark] ?? 0
    let at = mark + 1
    while (at < end && isDigit(bytes[at])) at++
    this.end = at
    this.count = 2
    const goesOn = at + 1 < end && bytes[at] === separator && isDigit(bytes[at + 1])
    at = mark - 1
    while (at > from && isDigit(bytes[at - 1])) at--
    if (!goesOn && (at === from || bytes[at - 1] !== separator)) return
    while (at > from && (isDigit(bytes[at - 1]) || (bytes[at - 1] === separator && isDigit(bytes[at])))) at--
    if (bytes[at] === separator) at++
    this.separator = separator
    this.start = at
    let count = 0
    for (;;) {
      const start = at
      let value = 0
      for (let digit = (bytes[at] ?? 0) - ZERO; digit >= 0 && digit <= 9; digit = (bytes[at] ?? 0) - ZERO) {
        value = value * 10 + digit
        if (value > TOO_LARGE) value = TOO_LARGE
        if (++at === end) break
      }
      if (count < MOST) {
        values[count] = value
        starts[count] = start
        ends[count] = at
      }
      count++
      if (at + 1 >= end || bytes[at] !== separator || !isDigit(bytes[at + 1])) break
      at++
    }
    this.count = count
    this.end = at
  }

  /** Whether a number has leading zeros. */
  hasZeros(bytes: Uint8Array, index: number): boolean {
    const start = this.starts[index] ?? 0
    return bytes[start] === ZERO && (this.ends[index] ?? 0) > start + 1
  }
}

const HEX = /* @__PURE__ */ Uint8Array.from({ length: 256 }, (_, byte) =>
  /[\da-f]/i.test(String.fromCharCode(byte)) ? 1 : 0,
)

export function isHex(byte: number | undefined): boolean {
  return HEX[byte ?? 0] === 1
}

export function latin1(bytes: Uint8Array, start: number, end: number): string {
  return String.fromCharCode(...bytes.subarray(start, end))
}
