import { utf8Decoder } from '../../realm.ts'
import { ZERO } from '../ascii.ts'

/** Finds the values of the `counted` fields of a plan in the last line that a format has read. */
export interface FieldValues {
  /** The value, after `findCounted` returns `true`: `bytes[start, end)`, as UTF-8, without quotes and escapes of CSV and JSON. */
  readonly bytes: Uint8Array
  readonly start: number
  readonly end: number
  /**
   * Finds a value. The line was `resolved` or `unresolved`, and its bytes have not changed.
   *
   * @param field index in `counted`
   * @returns whether the line has a value there: `false` too if its format writes that it is unknown, as `-` or `null`
   */
  findCounted(field: number): boolean
}

/** The index of a field by its name, or after a slash, which tells the name from a key of a count; -1 if there is none. */
export function fieldIndex(names: readonly string[], field: string): number {
  const index = names.indexOf(field)
  return index === -1 && field.startsWith('/') ? names.indexOf(field.slice(1)) : index
}

/** A double holds every number of this many digits exactly. */
const EXACT_DIGITS = 15

const decoder = /* @__PURE__ */ utf8Decoder({ ignoreBOM: true })

/** The numbers of a field of the log, such as the bytes of all answers. */
export class FieldNumber {
  /** The number in the last line that {@link read} has read: 0 if it has none, `NaN` for what is not a number from 0. */
  value = 0

  constructor(
    private readonly field: number,
    private readonly values: FieldValues,
  ) {}

  /** Reads the value of the line that was read last. */
  read(): void {
    this.value = this.values.findCounted(this.field) ? this.#number() : 0
  }

  #number(): number {
    const { bytes, start, end } = this.values
    let number = 0
    let at = start
    for (; at < end && at < start + EXACT_DIGITS; at++) {
      const digit = (bytes[at] ?? 0) - ZERO
      if (digit < 0 || digit > 9) break
      number = number * 10 + digit
    }
    if (at < end) number = Number(decoder.decode(bytes.slice(start, end)))
    return number >= 0 ? number : Number.NaN
  }
}
