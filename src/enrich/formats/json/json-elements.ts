import { utf8Encoder } from '../../../realm.ts'
import {
  BACKSLASH,
  BRACE,
  BRACE_END,
  BRACKET,
  BRACKET_END,
  COLON,
  COMMA,
  LINE_FEED,
  QUOTE,
  SPACE,
} from '../../ascii.ts'
import { lineEndIn, type RecordEnds } from '../../reading/layout.ts'
import { CachedView, latin1, textEnds } from '../../swar.ts'

/**
 * Where a byte of a record is:
 * - `start`: before the first byte that is not white space, which shows whether the record is in an array
 * - `outside`: between documents
 * - `around`: in a document, before or after its array
 * - `array`: in the array, between elements
 * - `element`: in an element that is an object, an array or a string
 * - `word`: in an element that is a number or a word
 * - `garbage`: in bytes that are not JSON
 * - `end`: at the end of a document that has no array
 */
type Place = 'start' | 'outside' | 'around' | 'array' | 'element' | 'word' | 'garbage' | 'end'

/** The places of a record at which its element can still follow. */
const SOUGHT_IN: ReadonlySet<Place> = /* @__PURE__ */ new Set(['start', 'outside', 'around', 'array'])

const encoder = /* @__PURE__ */ utf8Encoder()

/**
 * Finds the elements of JSON documents that follow one another: the elements of an array, those of the array at a path in
 * an object, or the documents themselves. A record is an element and what comes before it: commas, white space, and the
 * other parts of the documents. What comes after the last element is a record without an element.
 *
 * Brackets and strings tell where an element ends. Whether the element is valid JSON is not checked here. Bytes that cannot
 * be JSON are a record up to their line feed. A line feed in a string ends the element, because no string of JSON has one.
 */
export class JsonElements implements RecordEnds {
  readonly endWithLines = false
  readonly spansLines = true
  contentStart = 0
  /** The fault of the record after `elementIn` returns -1; `null` if the record is the end of a document. */
  fault: string | null = null
  /** The names on the path, as {@link DocumentWalk} has them. */
  readonly #path: readonly string[] | null
  readonly #walk = new DocumentWalk()
  readonly #words = new CachedView()
  #bytes: Uint8Array = new Uint8Array(0)
  #place: Place = 'start'
  #isInString = false
  #isEscaped = false
  /** Open objects and arrays of the element. */
  #depth = 0
  #hadArray = false

  /**
   * @param path names of members, from a document to its array. Empty if the documents are arrays. `null` if the documents
   *   are the elements
   */
  constructor(path: readonly string[] | null) {
    this.#path = path?.map(writtenName) ?? null
  }

  reset(bytes: Uint8Array): void {
    this.#bytes = bytes
  }

  /** The first bytes of a record tell where it is, so a reader can begin with any record. */
  mayCut(): boolean {
    return true
  }

  next(start: number, end: number, isLast: boolean): number {
    this.#begin(start)
    const after = this.#end(this.#bytes, start, end)
    return after !== -1 ? after - 1 : isLast ? end : -1
  }

  passOver(bytes: Uint8Array, from: number, until: number): number {
    return this.#end(bytes, from, until)
  }

  /** @returns where the element of the record `bytes[start, end)` begins; -1 if the record has none, see `fault` */
  elementIn(bytes: Uint8Array, start: number, end: number): number {
    this.#begin(start)
    const at = this.#seek(bytes, start, end)
    const place = this.#place
    this.fault = null
    if (place === 'element' || place === 'word') return at
    if (place === 'garbage') this.fault = 'it is not JSON'
    else if (place === 'end') this.fault = 'its document has no array of objects where the first one has it'
    else this.fault = place === 'around' || place === 'array' ? 'it ends too early' : null
    return -1
  }

  #begin(start: number): void {
    this.contentStart = start
    this.#place = 'start'
    this.#isInString = false
    this.#isEscaped = false
  }

  /** Reads on in a record. @returns the index after its last byte; -1 if it does not end before `end` */
  #end(bytes: Uint8Array, from: number, end: number): number {
    const at = this.#seek(bytes, from, end)
    switch (this.#place) {
      case 'element':
        return this.#endOfElement(bytes, at, end)
      case 'word':
        return endOfWord(bytes, at, end)
      case 'garbage':
        return lineEndIn(bytes, at, end)
      case 'end':
        return at + 1
      default:
        return -1
    }
  }

  /** Reads on to the element. @returns the index of its first byte, or of the byte that shows that there is none; `end` */
  #seek(bytes: Uint8Array, from: number, end: number): number {
    if (!SOUGHT_IN.has(this.#place)) return from
    for (let at = from; at < end; at++) {
      const byte = bytes[at] ?? 0
      if (this.#place === 'around') this.#around(byte)
      // Control characters are skipped too: documents of a JSON text sequence (RFC 7464) begin with one.
      else if (byte > SPACE) this.#between(byte)
      if (SOUGHT_IN.has(this.#place)) continue
      this.contentStart = at
      this.#depth = 0
      return at
    }
    return end
  }

  /** Takes a byte that is not white space, between elements or between documents. */
  #between(byte: number): void {
    const path = this.#path
    if (path === null) this.#place = byte === BRACE || byte === BRACKET ? 'element' : 'garbage'
    else if (this.#place !== 'outside' && byte === COMMA) this.#place = 'array'
    else if (this.#place !== 'outside' && byte === BRACKET_END) this.#leaveArray(path)
    else if (this.#place === 'array') this.#place = placeOfElement(byte)
    else if (path.length === 0) {
      this.#place = byte === BRACKET ? 'array' : byte === BRACE ? 'element' : 'garbage'
    } else if (byte === BRACE) {
      this.#place = 'around'
      this.#walk.start([null])
      this.#hadArray = false
    } else this.#place = 'garbage'
  }

  #leaveArray(path: readonly string[]): void {
    this.#place = path.length === 0 ? 'outside' : 'around'
    this.#walk.start([null, ...path.slice(0, -1)])
    this.#hadArray = true
  }

  /** Takes a byte of a document outside its array. */
  #around(byte: number): void {
    const [walk, path] = [this.#walk, this.#path ?? []]
    const before = walk.depth
    walk.take(byte)
    const { depth, names } = walk
    if (depth === 0) this.#place = this.#hadArray ? 'outside' : 'end'
    else if (byte === BRACKET && depth > before && depth === path.length + 1)
      if (path.every((name, index) => name === names[index + 1])) this.#place = 'array'
  }

  /** Reads on in an element. @returns the index after its last byte; -1 if it does not end before `end` */
  #endOfElement(bytes: Uint8Array, from: number, end: number): number {
    const view = this.#words.view(bytes)
    let depth = this.#depth
    let isInString = this.#isInString
    let isEscaped = this.#isEscaped
    for (let at = from; at < end; at++) {
      if (isInString && !isEscaped) {
        while (at + 4 <= end && textEnds(view.getInt32(at, true)) === 0) at += 4
        if (at === end) break
      }
      const byte = bytes[at] ?? 0
      if (isInString) {
        if (byte === LINE_FEED) return at + 1
        if (isEscaped) isEscaped = false
        else if (byte === BACKSLASH) isEscaped = true
        else if (byte === QUOTE) {
          isInString = false
          if (depth === 0) return at + 1
        }
      } else if (byte === QUOTE) isInString = true
      else if (byte === BRACE || byte === BRACKET) depth++
      else if ((byte === BRACE_END || byte === BRACKET_END) && --depth <= 0) return at + 1
    }
    this.#isEscaped = isEscaped
    this.#depth = depth
    this.#isInString = isInString
    return -1
  }
}

/** Deeper arrays are not considered. */
export const MAX_DEPTH = 6

/** Longer names are not kept. Bytes. */
const MAX_NAME = 4096

/** A name as it is written, each byte a character. */
function writtenName(name: string): string {
  const bytes = encoder.encode(name)
  return latin1(bytes, 0, bytes.length)
}

/** Follows which objects and arrays of a document are open, byte by byte. */
export class DocumentWalk {
  /** How many are open. */
  depth = 0
  /**
   * The names of the open objects and arrays in their objects, as they are written, down to {@link MAX_DEPTH}. `null` for one
   * without a name, and for a name that has an escape or is long.
   */
  names: (string | null)[] = []
  #name: string | null = null
  #text = ''
  #isInString = false
  #isEscaped = false

  /** Starts at a place outside of strings, where objects and arrays with these names are open. */
  start(names: (string | null)[]): void {
    this.names = names
    this.depth = names.length
    this.#name = null
    this.#isInString = false
  }

  /** The names on the way from the document to the innermost object or array; `null` if one has no name. */
  get path(): string[] | null {
    const decoder = new TextDecoder()
    const path = this.names.slice(1, this.depth).filter((name) => name !== null)
    const isNamed = path.length === this.depth - 1
    return isNamed
      ? path.map((name) => decoder.decode(Uint8Array.from(name, (byte) => byte.charCodeAt(0))))
      : null
  }

  take(byte: number): void {
    if (this.#isInString) {
      this.#isInString = byte !== QUOTE || this.#isEscaped
      this.#isEscaped = byte === BACKSLASH && !this.#isEscaped
      if (this.#isInString && this.#text.length <= MAX_NAME) this.#text += String.fromCharCode(byte)
    } else if (byte === QUOTE) {
      this.#isInString = true
      this.#text = ''
    } else if (byte === COLON) {
      this.#name = this.#text.includes('\\') || this.#text.length > MAX_NAME ? null : this.#text
    } else if (byte === COMMA) this.#name = null
    else if (byte === BRACE || byte === BRACKET) {
      if (this.depth <= MAX_DEPTH) this.names[this.depth] = this.#name
      this.depth++
      this.#name = null
    } else if (byte === BRACE_END || byte === BRACKET_END) {
      this.depth = Math.max(this.depth - 1, 0)
      this.#name = null
    }
  }
}

/** An array can also hold elements that are not objects. The format reports these as bad. */
function placeOfElement(byte: number): Place {
  if (byte === BRACE || byte === BRACKET || byte === QUOTE) return 'element'
  return isWord(byte) ? 'word' : 'garbage'
}

/** Whether a number, `true`, `false` or `null` can have this byte. */
function isWord(byte: number): boolean {
  return (
    (byte >= 0x30 && byte <= 0x39) || ((byte | 0x20) >= 0x61 && (byte | 0x20) <= 0x7a) || WORD_SIGNS.has(byte)
  )
}

/** `+`, `-` and `.`. */
const WORD_SIGNS: ReadonlySet<number> = /* @__PURE__ */ new Set([0x2b, 0x2d, 0x2e])

/** The index after the last byte of a number or a word; -1 if it does not end before `end`. */
function endOfWord(bytes: Uint8Array, from: number, end: number): number {
  for (let at = from; at < end; at++) if (!isWord(bytes[at] ?? 0)) return at
  return -1
}
