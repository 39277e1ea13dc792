import type { SchemaElement } from 'hyparquet'
import { COLON, DASH, DOT, NINE, PLUS, QUOTE } from '../../../enrich/ascii.ts'
import { Timestamp } from '../../../enrich/locating/event-time.ts'
import { viewOf } from '../../../enrich/swar.ts'
import { DistinctTexts, grown, NONE } from '../rows/distinct-texts.ts'
import { isPlainString, jsonIn, textIn } from '../rows/json-values.ts'
import type { Leaf, ParquetValue } from './column-writer.ts'
import type { ColumnType } from './columns.ts'

const SIX = 0x36
const UPPER_T = 0x54
const UPPER_Z = 0x5a
const SMALL_F = 0x66
const SMALL_T = 0x74

const MOST_INT64 = 2n ** 63n - 1n
/** The types of columns whose values have one, in the order in which they are tried. JSON holds any value. */
const TYPES = ['BOOLEAN', 'INT64', 'DOUBLE', 'TIMESTAMP', 'STRING'] as const

const encoder = new TextEncoder()

/** The values of a member in a row group, as JSON. Each is read once, whatever the number of rows that have it. */
export class ValueColumn {
  /** `null` until {@link decide}. */
  #type: ColumnType | null
  readonly #texts = new DistinctTexts()
  /** The values of {@link #texts} in the type of the column. */
  readonly #values: ParquetValue[] = []
  /** Rows with a value, and the number of its text. */
  #rows = new Int32Array(32)
  #codes = new Int32Array(32)
  #count = 0

  constructor(type: ColumnType | null = null) {
    this.#type = type
  }

  /**
   * Adds the value `bytes[start, end)` of a row, which is valid JSON and not `null`. @param view of all of `bytes`
   *
   * @returns whether the type of the column can hold it
   */
  add(row: number, bytes: Uint8Array, view: DataView, start: number, end: number): boolean {
    const type = this.#type
    let code = this.#texts.find(bytes, view, start, end)
    if (code === NONE) {
      if (type !== null) {
        const value = valueAs(type, bytes, start, end)
        if (value === undefined) return false
        this.#values.push(value)
      }
      code = this.#texts.add(bytes, start, end)
    }
    if (this.#count === this.#rows.length) {
      this.#rows = grown(this.#rows, 0)
      this.#codes = grown(this.#codes, 0)
    }
    this.#rows[this.#count] = row
    this.#codes[this.#count++] = code
    return true
  }

  addText(row: number, text: string): void {
    const bytes = encoder.encode(text)
    this.add(row, bytes, viewOf(bytes), 0, bytes.length)
  }

  /** Decides on the type by the values so far, if it has none: the first that can hold all of them. */
  decide(): ColumnType {
    if (this.#type !== null) return this.#type
    const texts = Array.from({ length: this.#texts.count }, (_, number) => this.#texts.textOf(number))
    const valuesAs = (type: ColumnType): ParquetValue[] | null => {
      const values: ParquetValue[] = []
      for (const text of texts) {
        const value = valueAs(type, text, 0, text.length)
        if (value === undefined) return null
        values.push(value)
      }
      return values
    }
    // Most columns whose first values are missing are text, such as the user of a request.
    const type = texts.length === 0 ? 'STRING' : (TYPES.find((each) => valuesAs(each) !== null) ?? 'JSON')
    this.#type = type
    this.#values.push(...(valuesAs(type) ?? []))
    return type
  }

  /** The values of a row group, which the column forgets. */
  take(element: SchemaElement, rows: number): Leaf {
    const codes = new Int32Array(rows).fill(NONE)
    for (let index = 0; index < this.#count; index++)
      codes[this.#rows[index] ?? 0] = this.#codes[index] ?? NONE
    const values = this.#values.splice(0)
    this.#texts.clear()
    this.#count = 0
    return { path: [element], values, codes }
  }
}

/** A value of JSON as a column of a type holds it; `undefined` if it cannot. */
function valueAs(type: ColumnType, bytes: Uint8Array, start: number, end: number): ParquetValue | undefined {
  const first = bytes[start] ?? 0
  switch (type) {
    case 'BOOLEAN':
      return first === SMALL_T ? true : first === SMALL_F ? false : undefined
    case 'INT64':
      return isNumber(first) ? integerOf(jsonIn(bytes, start, end)) : undefined
    case 'DOUBLE':
      return isNumber(first) ? numberOf(jsonIn(bytes, start, end)) : undefined
    case 'TIMESTAMP':
      return first === QUOTE ? instantOf(bytes, start + 1, end - 1) : undefined
    case 'STRING':
      if (first !== QUOTE) return undefined
      return isPlainString(bytes, start, end)
        ? bytes.slice(start + 1, end - 1)
        : encoder.encode(textIn(bytes, start, end))
    case 'JSON':
      return encoder.encode(jsonIn(bytes, start, end))
  }
}

function isNumber(first: number): boolean {
  return first === DASH || (first > DOT && first <= NINE)
}

function integerOf(text: string): bigint | undefined {
  const value = Number(text)
  if (Number.isSafeInteger(value)) return Object.is(value, -0) ? undefined : BigInt(value)
  const integer = /^-?\d+$/.test(text) ? BigInt(text) : undefined
  return integer !== undefined && integer <= MOST_INT64 && integer >= -MOST_INT64 - 1n ? integer : undefined
}

/** Large integers are numbers only if they keep all digits. */
function numberOf(text: string): number | undefined {
  const value = Number(text)
  return Number.isSafeInteger(value) || !/^-?\d{16,}$/.test(text) || BigInt(value) === BigInt(text)
    ? value
    : undefined
}

const timestamp = new Timestamp()

/**
 * Microseconds since 1970 of an instant in the form of RFC 3339, with an offset: `2026-07-01T12:00:00Z`. A fraction with more
 * digits than microseconds stays text.
 */
function instantOf(bytes: Uint8Array, start: number, end: number): bigint | undefined {
  const isUtc = bytes[end - 1] === UPPER_Z
  const offset = isUtc ? end - 1 : end - 6
  const sign = bytes[offset]
  if (!isUtc && !((sign === DASH || sign === PLUS) && bytes[end - 3] === COLON)) return undefined
  const fraction = start + 19
  const digits = offset - fraction - 1
  const hasFraction = bytes[fraction] === DOT
  if (hasFraction ? digits < 1 || digits > 6 : digits !== -1) return undefined
  const hasForm =
    bytes[start + 4] === DASH &&
    bytes[start + 10] === UPPER_T &&
    bytes[start + 16] === COLON &&
    (bytes[start + 17] ?? 0) < SIX
  if (!hasForm || timestamp.read(bytes, start, end) !== end) return undefined
  let microseconds = 0
  for (let digit = 3; digit < 6; digit++)
    microseconds = microseconds * 10 + (digit < digits ? (bytes[fraction + 1 + digit] ?? 0) - 0x30 : 0)
  return BigInt(timestamp.instant) * 1000n + BigInt(microseconds)
}
