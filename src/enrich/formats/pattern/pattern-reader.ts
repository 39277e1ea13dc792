import { BACKSLASH, DASH, QUOTE, SPACE } from '../../ascii.ts'
import { fieldIndex } from '../../counting/field-values.ts'
import { eventTime, NO_TIME } from '../../locating/event-time.ts'
import { type ReaderField, type RecordKind, RecordReader } from '../../reading/record-reader.ts'
import type { Pattern } from './directive.ts'

/** The member with the text after the last field of the pattern. */
export const REST = 'rest'

/** The field of a whole request, and the parts of it that can be counted. */
const REQUEST = 'request'
const PARTS = ['method', 'target', 'protocol']

const NOTHING = new Uint8Array(0)

/**
 * The names of the fields of a pattern, and of the parts of a request in it, such as `target`. The part is `request_target` if a
 * field is called `target`, as in logs of load balancers, where it is the server that got the request.
 */
export function fieldNamesOf({ fields }: Pattern): readonly string[] {
  const names = fields.map(({ name }) => name)
  const parts = PARTS.map((part) => (names.includes(part) ? `${REQUEST}_${part}` : part))
  return names.includes(REQUEST) ? [...names, ...parts] : names
}

/** The names of fields that are whole numbers. */
const NUMBERS =
  /^(?:status|\w+_status|\w+_status_code|status_code|(?:\w+_)?bytes(?:_\w+)?|object_size|request_length|port)$/

/** Whether a field has whole numbers, by its name. */
export function isNumberField(name: string): boolean {
  return NUMBERS.test(name)
}

/** The fields of a line that are wanted. */
export interface WantedFields {
  /** The index of the field of the address. */
  readonly address: number
  /** The index of the field of the time; `null` if there is none. */
  readonly time: number | null
  /** Names of fields, and of parts of a request. */
  readonly counted?: readonly string[] | undefined
}

/**
 * Reads lines that a server writes by a pattern. The value `-` is unknown. Values keep the escapes of the log. After the fields of
 * the pattern comes the rest of the line, and the parts of a request.
 */
export class PatternReader extends RecordReader {
  override readonly fields: readonly ReaderField[]
  override readonly counted: readonly number[]
  override readonly starts: Int32Array
  override readonly ends: Int32Array
  readonly #address: number
  readonly #time: number | null
  /** Where the text begins that follows the last field of the pattern; the end of the line if there is none. */
  #rest = 0
  readonly #pattern: Pattern
  /** The text before each field, and the one after the last, without the quotes around fields. */
  readonly #texts: readonly Uint8Array[]
  /** Whether each field stands in quotes, in which a backslash escapes. */
  readonly #isQuoted: readonly boolean[]
  /** The field of the request; -1 if there is none. */
  readonly #request: number

  constructor(pattern: Pattern, { address, time, counted = [] }: WantedFields = { address: 0, time: null }) {
    super()
    const encoder = new TextEncoder()
    this.#pattern = pattern
    this.#address = address
    this.#time = time
    const { fields } = pattern
    const texts = [...fields.map(({ before }) => before), pattern.after]
    const isQuoted = fields.map(({ before }, at) => {
      // One quote does not close a field and open the next one.
      const isShared = before === '"' && fields[at - 1]?.before.endsWith('"')
      return before.endsWith('"') && texts[at + 1]?.startsWith('"') === true && !isShared
    })
    this.#isQuoted = isQuoted
    this.#texts = texts.map((text, at) =>
      encoder.encode(text.slice(isQuoted[at - 1] ? 1 : 0, isQuoted[at] ? -1 : undefined)),
    )
    this.starts = new Int32Array(fields.length)
    this.ends = new Int32Array(fields.length)
    this.fields = [
      ...fields.map(({ name }): ReaderField => ({ name, kind: isNumberField(name) ? 'number' : 'text' })),
      { name: REST, kind: 'text' },
    ]
    this.#request = fields.findIndex(({ name }) => name === REQUEST)
    const names = fieldNamesOf(pattern)
    this.counted = counted.map((name) => {
      const field = fieldIndex(names, name)
      // The rest is between the fields and the parts of a request.
      return field < fields.length ? field : field + 1
    })
  }

  read(bytes: Uint8Array, start: number, end: number): RecordKind {
    this.useBytes(bytes, start, end)
    if (!this.#read(bytes, start, end)) return 'bad'
    this.addressStart = this.starts[this.#address] ?? 0
    this.addressEnd = this.ends[this.#address] ?? 0
    const time = this.#time
    this.instant = time === null ? NO_TIME : eventTime(bytes, this.starts[time] ?? 0, this.ends[time] ?? 0)
    return 'read'
  }

  override find(field: number): boolean {
    const { length: rest } = this.starts
    this.bytes = this.record
    if (field === rest) {
      // Leave out the space after the last field.
      this.start = this.#rest + 1
      this.end = this.recordEnd
      return this.#rest < this.end
    }
    const own = field > rest ? this.#request : field
    if (this.#isMissing(this.record, own)) return false
    this.start = this.starts[own] ?? 0
    this.end = this.ends[own] ?? 0
    return field < rest || this.#findWord(field - rest - 1)
  }

  override has(field: number): boolean {
    return field !== this.starts.length
  }

  /** Finds a word of a request that has three. The target can have spaces. AWS writes `- http://host:80- ` for a request that is none. */
  #findWord(word: number): boolean {
    const { bytes, start, end } = this
    const first = bytes.indexOf(SPACE, start)
    const last = bytes.lastIndexOf(SPACE, end - 1)
    if (first === -1 || first >= last || last >= end) return false
    if (first === start + 1 && bytes[start] === DASH) return false
    if (word === 0) this.end = first
    else if (word === 1) [this.start, this.end] = [first + 1, last]
    else this.start = last + 1
    return true
  }

  /** @returns whether `bytes[start, end)` is a line of the pattern */
  #read(bytes: Uint8Array, start: number, end: number): boolean {
    const count = this.starts.length
    let at = start
    for (let field = 0; field < count; field++) {
      const valueStart = this.#after(bytes, at, end, field)
      if (valueStart === -1) return this.#bad(field)
      const hasQuotes = this.#isQuoted[field] === true
      const isQuoted = hasQuotes && bytes[valueStart - 1] === QUOTE
      // A dash without its quotes.
      const isBare = hasQuotes && !isQuoted
      const valueEnd = isBare ? valueStart + 1 : this.#endOfValue(bytes, valueStart, end, field + 1, isQuoted)
      if (valueEnd === -1) return this.#bad(field + 1)
      this.starts[field] = valueStart
      this.ends[field] = valueEnd
      at = isQuoted ? valueEnd + 1 : valueEnd
    }
    const after = this.#after(bytes, at, end, count)
    this.#rest = after
    return after === end || (this.#pattern.grows && bytes[after] === SPACE) || this.#bad(count)
  }

  /** Whether a field is empty or `-`. */
  #isMissing(bytes: Uint8Array, field: number): boolean {
    const start = this.starts[field] ?? 0
    const size = (this.ends[field] ?? 0) - start
    return size === 0 || (size === 1 && bytes[start] === DASH)
  }

  /**
   * Finds the text number `text` at `at`, and the quote that opens the field after it. S3 writes no quotes around the dash of a
   * missing value.
   *
   * @returns the index after them, or -1
   */
  #after(bytes: Uint8Array, at: number, end: number, text: number): number {
    const { pads, grows } = this.#pattern
    let from = at
    const expected = this.#texts[text] ?? NOTHING
    for (let index = 0; index < expected.length; index++) {
      if (from >= end || bytes[from] !== expected[index]) return -1
      from++
      if (expected[index] === SPACE && pads) while (from < end && bytes[from] === SPACE) from++
    }
    if (this.#isQuoted[text] !== true) return from
    if (from < end && bytes[from] === QUOTE) return from + 1
    return grows && bytes[from] === DASH && (from + 1 === end || bytes[from + 1] === SPACE) ? from : -1
  }

  /** The end of the value at `start`, after which the text number `text` follows, or -1. */
  #endOfValue(bytes: Uint8Array, start: number, end: number, text: number, isQuoted: boolean): number {
    const mark = this.#isQuoted[text] ? QUOTE : undefined
    const first = isQuoted ? QUOTE : (this.#texts[text]?.[0] ?? mark)
    if (first === undefined) {
      // The last field is followed by nothing, or by a space and unknown fields.
      const space = this.#pattern.grows ? bytes.indexOf(SPACE, start) : -1
      return space === -1 || space > end ? end : space
    }
    for (let at = start; at < end; at++) {
      if (isQuoted && bytes[at] === BACKSLASH) at++
      else if (bytes[at] === first && this.#after(bytes, isQuoted ? at + 1 : at, end, text) !== -1) return at
    }
    return -1
  }

  #bad(text: number): false {
    const name = this.#pattern.fields[text - 1]?.name
    const expected = JSON.stringify(this.#pattern.fields[text]?.before ?? this.#pattern.after)
    const what =
      name === undefined ? `it does not begin with ${expected}` : `no ${expected} follows its field ${name}`
    this.fault = `it is not a line of the log format: ${what}`
    return false
  }
}
