import { BACKSLASH, BRACE_END, DELETE, QUOTE, SPACE } from '../../../enrich/ascii.ts'
import type { LocatedRecord } from '../../../enrich/writing/column-templates.ts'
import type { AutonomousSystem } from '../../../location/autonomous-systems.ts'
import { DistinctTexts, NONE } from '../rows/distinct-texts.ts'
import { jsonIn } from '../rows/json-values.ts'
import type { KnownValues } from '../rows/object-members.ts'

/** The start of a location. The text of its address needs no escapes. */
const HEAD = Buffer.from('{"ip":"')
/** The most objects that are known, about: many addresses have the same location. */
const MOST_KNOWN = 65_536

/**
 * Objects of one kind that many lines have: locations, or autonomous systems. Each is parsed once, and has a number until
 * `clear`.
 */
export class KnownObjects<Value> implements KnownValues {
  /** By number. */
  readonly values: Value[] = []
  readonly #isValue: (value: unknown) => value is Value
  /** The text from which on two objects are the same. */
  readonly #head: Uint8Array
  readonly #texts = new DistinctTexts()
  /** Where the address of the last location is, in its quotes. */
  ipStart = 0
  ipEnd = 0
  /** Where the last one that `endOfLast` found begins, and its number. */
  #foundAt = NONE
  #found = NONE

  private constructor(isValue: (value: unknown) => value is Value, head: Uint8Array) {
    this.#isValue = isValue
    this.#head = head
  }

  /** Locations, which are the same if they differ in their address only. */
  static locations(): KnownObjects<LocatedRecord> {
    return new KnownObjects(isLocation, HEAD)
  }

  static systems(): KnownObjects<AutonomousSystem> {
    return new KnownObjects(isSystem, new Uint8Array(0))
  }

  endOfLast(bytes: Uint8Array, view: DataView, start: number, end: number): number {
    this.#foundAt = NONE
    if (bytes[end - 1] !== BRACE_END || bytes[end - 2] !== BRACE_END) return NONE
    const from = this.#afterHead(bytes, start)
    if (from === NONE || from >= end) return NONE
    const number = this.#texts.find(bytes, view, from, end - 1)
    if (number === NONE) return NONE
    this.#foundAt = start
    this.#found = number
    return end - 1
  }

  /** The number of the valid JSON in `bytes[start, end)`; {@link NONE} if it is another value, such as `null`. */
  numberOf(bytes: Uint8Array, view: DataView, start: number, end: number): number {
    const from = this.#afterHead(bytes, start)
    if (start === this.#foundAt) {
      this.#foundAt = NONE
      return this.#found
    }
    if (from === NONE || from >= end) return NONE
    const known = this.#texts.find(bytes, view, from, end)
    if (known !== NONE) return known
    const value: unknown = JSON.parse(jsonIn(bytes, start, end))
    if (!this.#isValue(value)) return NONE
    this.values.push(value)
    return this.#texts.numberOf(bytes, view, from, end)
  }

  /** Whether there are so many that they should be forgotten. */
  get isFull(): boolean {
    return this.values.length >= MOST_KNOWN
  }

  /** Numbers become invalid. */
  clear(): void {
    this.#texts.clear()
    this.values.length = 0
  }

  #afterHead(bytes: Uint8Array, start: number): number {
    const head = this.#head
    for (let at = 0; at < head.length; at++) if (bytes[start + at] !== head[at]) return NONE
    if (head.length === 0) return start
    let at = start + head.length
    this.ipStart = at
    while (isPrinted(bytes[at])) at++
    this.ipEnd = at
    return bytes[at] === QUOTE ? at : NONE
  }
}

/** Whether a byte is ASCII that JSON need not escape. */
function isPrinted(byte: number | undefined): boolean {
  return byte !== undefined && byte >= SPACE && byte < DELETE && byte !== QUOTE && byte !== BACKSLASH
}

/** Whether a member is a location, and not one that the line had. */
function isLocation(value: unknown): value is LocatedRecord {
  return typeof value === 'object' && value !== null && 'timezone' in value && 'coordinates' in value
}

/** Whether a member is an autonomous system, and not another one that the line had. */
function isSystem(value: unknown): value is AutonomousSystem {
  return typeof value === 'object' && value !== null && 'number' in value && 'organization' in value
}
