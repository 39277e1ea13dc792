import { DistinctTexts, grown, NONE } from '../../../bytes/distinct-texts.ts'
import {
  BACKSLASH,
  BRACE,
  BRACE_END,
  BRACKET,
  COLON,
  COMMA,
  DELETE,
  QUOTE,
  SMALL_N,
} from '../../../enrich/ascii.ts'
import { JsonScanner, scalarEnd, skipBlanks, stringEnd } from '../../../enrich/formats/ndjson/json-scanner.ts'

/** The most names that get a number. */
const MOST_NAMES = 4000

/**
 * Finds the members of a line that is an object: where their values are in the bytes. Names have numbers, which stay the same
 * from line to line, so that no text is made of a name that was seen before.
 */
export class ObjectMembers {
  /** The names, by number. */
  readonly names: string[] = []
  /** The line last read, in `bytes[start, end)`. */
  bytes: Uint8Array = new Uint8Array(0)
  view = new DataView(this.bytes.buffer)
  start = 0
  end = 0
  /** The members of the object. A member that has a name a second time takes the place of the first. */
  count = 0
  /** For each of them: the number of its name or {@link NONE}, where its name with quotes begins, and its value. */
  numbers = new Int32Array(32)
  nameStarts = new Int32Array(32)
  starts = new Int32Array(32)
  ends = new Int32Array(32)
  readonly #scanner = new JsonScanner()
  /** Names as they are written: with escapes, one name can be written in several ways. */
  readonly #spellings = new DistinctTexts()
  /** The number of the name, by that of its spelling. */
  readonly #nameOf: number[] = []
  readonly #numberOf = new Map<string, number>()
  /** For each member the spelling of its name in the line before. */
  #expected = new Int32Array(32).fill(NONE)
  /** The line that had each name last, and which member it was there. */
  #lines = new Int32Array(32)
  #places = new Int32Array(32)
  #line = 0
  #areNamesFixed = false

  /** The number of a name, which gets one. */
  add(name: string): number {
    const known = this.#numberOf.get(name)
    if (known !== undefined) return known
    const number = this.names.push(name) - 1
    this.#numberOf.set(name, number)
    if (number >= this.#lines.length) {
      this.#lines = grown(this.#lines, 0)
      this.#places = grown(this.#places, 0)
    }
    return number
  }

  /** Names that come later get no number. */
  fixNames(): void {
    this.#areNamesFixed = true
  }

  /** Which member of the line has a name; {@link NONE} without one. */
  memberOf(number: number): number {
    return this.#lines[number] === this.#line ? (this.#places[number] ?? NONE) : NONE
  }

  /** The name of a member of the line. */
  nameOf(member: number): string {
    const name = this.names[this.numbers[member] ?? NONE]
    const start = this.nameStarts[member] ?? 0
    return name ?? textIn(this.bytes, start, stringEnd(this.bytes, this.view, start + 1, this.end) + 1)
  }

  /** A member of the line as it is written, its name and its value. */
  jsonOf(member: number): string {
    const value = jsonIn(this.bytes, this.starts[member] ?? 0, this.ends[member] ?? 0)
    return `${JSON.stringify(this.nameOf(member))}:${value}`
  }

  isNull(member: number): boolean {
    return this.bytes[this.starts[member] ?? 0] === SMALL_N
  }

  isText(member: number): boolean {
    return this.bytes[this.starts[member] ?? 0] === QUOTE
  }

  /** Whether `bytes[start, end)` is an object, whose members are then known. @param view of all of `bytes` */
  read(bytes: Uint8Array, view: DataView, start: number, end: number): boolean {
    this.bytes = bytes
    this.view = view
    this.start = skipBlanks(bytes, start, end)
    this.end = end
    this.count = 0
    this.#line = (this.#line + 1) | 0
    if (bytes[this.start] !== BRACE || this.start === end) return false
    let at = skipBlanks(bytes, this.start + 1, end)
    if (bytes[at] === BRACE_END) return this.#isEnd(at + 1)
    for (;;) {
      if (bytes[at] !== QUOTE || at >= end) return false
      const name = at
      const spelling = this.#expected[this.count] ?? NONE
      const expectedEnd = name + 1 + (spelling === NONE ? 0 : this.#spellings.sizeOf(spelling))
      const isExpected =
        spelling !== NONE &&
        bytes[expectedEnd] === QUOTE &&
        this.#spellings.isAt(spelling, bytes, view, name + 1)
      const nameEnd = isExpected ? expectedEnd : stringEnd(bytes, view, name + 1, end)
      if (nameEnd < 0 || nameEnd >= end) return false
      at = skipBlanks(bytes, nameEnd + 1, end)
      if (bytes[at] !== COLON) return false
      const number = isExpected ? (this.#nameOf[spelling] ?? NONE) : this.#numberAt(name, nameEnd)
      const value = skipBlanks(bytes, at + 1, end)
      const isNested = bytes[value] === BRACE || bytes[value] === BRACKET
      const valueEnd = isNested
        ? this.#scanner.endOf(bytes, view, value, end)
        : scalarEnd(bytes, view, value, end)
      if (valueEnd < 0 || valueEnd > end) return false
      this.#put(number, name, value, valueEnd)
      at = skipBlanks(bytes, valueEnd, end)
      if (bytes[at] === BRACE_END) return this.#isEnd(at + 1)
      if (bytes[at] !== COMMA) return false
      at = skipBlanks(bytes, at + 1, end)
    }
  }

  /** Only white space may follow the object. */
  #isEnd(after: number): boolean {
    const last = skipBlanks(this.bytes, after, this.end)
    if (last !== this.end) return false
    this.end = after
    return true
  }

  #put(number: number, name: number, start: number, end: number): void {
    let member = number === NONE ? NONE : this.memberOf(number)
    if (member === NONE) {
      member = this.count++
      if (member >= this.numbers.length) this.#grow()
      this.numbers[member] = number
      if (number !== NONE) {
        this.#lines[number] = this.#line
        this.#places[number] = member
      }
    }
    this.nameStarts[member] = name
    this.starts[member] = start
    this.ends[member] = end
  }

  #grow(): void {
    this.numbers = grown(this.numbers, 0)
    this.nameStarts = grown(this.nameStarts, 0)
    this.starts = grown(this.starts, 0)
    this.ends = grown(this.ends, 0)
    this.#expected = grown(this.#expected, NONE)
  }

  /** The number of the name between two quotes. */
  #numberAt(start: number, end: number): number {
    const { bytes, view } = this
    let spelling = this.#spellings.find(bytes, view, start + 1, end)
    if (spelling === NONE) {
      const name = textIn(bytes, start, end + 1)
      const isFull = this.#spellings.count >= MOST_NAMES
      const number = isFull || this.#areNamesFixed ? (this.#numberOf.get(name) ?? NONE) : this.add(name)
      // Names without a number take no memory: any line can have new ones.
      if (isFull || number === NONE) return number
      spelling = this.#spellings.numberOf(bytes, view, start + 1, end)
      this.#nameOf[spelling] = number
    }
    if (this.count < this.#expected.length) this.#expected[this.count] = spelling
    return this.#nameOf[spelling] ?? NONE
  }
}

const TOKEN = /"(?:[^"\\]|\\.)*"|\s+/g

/** Whether a string with its quotes, `bytes[start, end)`, is ASCII without escapes: its bytes are then its value. */
export function isPlainString(bytes: Uint8Array, start: number, end: number): boolean {
  for (let at = start; at < end; at++) {
    const byte = bytes[at] ?? 0
    if (byte === BACKSLASH || byte > DELETE) return false
  }
  return true
}

/** The value of a string with its quotes. Ill-formed UTF-8 becomes U+FFFD. */
export function textIn(bytes: Uint8Array, start: number, end: number): string {
  const text = decodedIn(bytes, start, end)
  if (!text.includes('\\')) return text.slice(1, -1)
  const value: unknown = JSON.parse(text)
  return String(value)
}

/** A value as JSON, without white space between its tokens. Ill-formed UTF-8 becomes U+FFFD. */
export function jsonIn(bytes: Uint8Array, start: number, end: number): string {
  const text = decodedIn(bytes, start, end)
  const mayHaveSpaces = bytes[start] !== QUOTE && /\s/.test(text)
  return mayHaveSpaces ? text.replace(TOKEN, (token) => (token.startsWith('"') ? token : '')) : text
}

/** A text. Ill-formed UTF-8 becomes U+FFFD. */
export function decodedIn(bytes: Uint8Array, start: number, end: number): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start).toString()
}
