import type { MemberPath } from './member-path.ts'

const SPACE = 0x20
const QUOTE = 0x22
const COMMA = 0x2c
const COLON = 0x3a
const BRACKET = 0x5b
const BACKSLASH = 0x5c
const BRACKET_END = 0x5d
const BRACE = 0x7b
const BRACE_END = 0x7d

const OBJECT = 1
const ARRAY = 2

/**
 * Checks that a line is a JSON object (RFC 8259) and finds members in it. It works on the bytes and builds no values.
 * It agrees with `JSON.parse` of the decoded text on what is valid and on which member wins: the last one with a name.
 * Bytes over 0x7f in strings need not be UTF-8, because a line is not refused for text that is not used. Each level of
 * depth takes five bytes of memory and no stack.
 */
export class JsonScanner {
  /** After `scan`: the index of the object's closing brace. */
  brace = 0
  /** Whether the object has no member. */
  isEmpty = false
  /** After `scan` returns `false`: what is wrong with the line. */
  fault = ''
  readonly #paths: readonly MemberPath[]
  /** Path of the member that is to be added. It is looked for in the outermost object only. */
  readonly #member: MemberPath
  /** `OBJECT` or `ARRAY` for each level, from the object of the line. */
  #kinds = new Uint8Array(64)
  #counts = new Uint32Array(64)
  /** Whether the string read last has an escape in it. */
  #isEscaped = false
  #faultAt = 0

  /**
   * @param paths to the wanted members; after `scan` they hold where these are
   * @param member path of the member that is to be added, of one name
   */
  constructor(paths: readonly MemberPath[], member: MemberPath) {
    this.#paths = paths
    this.#member = member
  }

  /** @returns whether `bytes[start, end)` is one JSON object; `bytes[end]` must be a line end */
  scan(bytes: Uint8Array, start: number, end: number): boolean {
    this.#member.begin()
    for (const path of this.#paths) path.begin()
    const first = skipBlanks(bytes, start, end)
    if (bytes[first] !== BRACE) {
      this.fault = 'it is not a JSON object'
      return false
    }
    this.#faultAt = first
    const last = this.#object(bytes, first, end)
    if (last !== FAULT && skipBlanks(bytes, last, end) === end) return true
    if (last !== FAULT) this.#faultAt = skipBlanks(bytes, last, end)
    this.fault =
      this.#faultAt >= end
        ? 'it is not valid JSON: it ends too early'
        : `it is not valid JSON: see its byte ${this.#faultAt - start + 1}`
    return false
  }

  /** Reads the object that begins at `first`. @returns where it ends, or {@link FAULT} */
  #object(bytes: Uint8Array, first: number, end: number): number {
    this.#kinds[0] = OBJECT
    let depth = 0
    let isObject = true
    let at = skipBlanks(bytes, first + 1, end)
    this.isEmpty = bytes[at] === BRACE_END
    if (this.isEmpty) {
      this.brace = at
      return at + 1
    }
    for (;;) {
      // A member or an element begins here.
      if (isObject) {
        if (bytes[at] !== QUOTE) return this.#failAt(at)
        const keyEnd = this.#string(bytes, at + 1, end)
        if (keyEnd === FAULT) return FAULT
        this.#meetKey(bytes, at + 1, keyEnd, depth)
        at = skipBlanks(bytes, keyEnd + 1, end)
        if (bytes[at] !== COLON) return this.#failAt(at)
        at = skipBlanks(bytes, at + 1, end)
      } else this.#meetElement(depth)
      const opening = bytes[at] ?? 0
      this.#meetValue(at, depth)
      if (opening === QUOTE) {
        at = this.#string(bytes, at + 1, end)
        if (at === FAULT) return FAULT
        at++
        this.#leaveString(at, depth)
      } else if (opening === BRACE || opening === BRACKET) {
        const isInnerObject = opening === BRACE
        const inner = skipBlanks(bytes, at + 1, end)
        if (bytes[inner] !== (isInnerObject ? BRACE_END : BRACKET_END)) {
          depth++
          this.#enter(depth, isInnerObject ? OBJECT : ARRAY)
          isObject = isInnerObject
          at = inner
          continue
        }
        at = inner + 1
        this.#leaveValue(at, depth)
      } else {
        at = this.#scalar(bytes, at, end)
        if (at === FAULT) return FAULT
        this.#leaveValue(at, depth)
      }
      // A value has ended. The containers around it can end here too.
      for (;;) {
        at = skipBlanks(bytes, at, end)
        const byte = bytes[at] ?? 0
        if (byte === COMMA) {
          at = skipBlanks(bytes, at + 1, end)
          break
        }
        if (byte !== (isObject ? BRACE_END : BRACKET_END) || at >= end) return this.#failAt(at)
        at++
        if (depth === 0) {
          this.brace = at - 1
          return at
        }
        depth--
        isObject = this.#kinds[depth] === OBJECT
        for (const path of this.#paths) path.leave(depth)
        this.#leaveValue(at, depth)
      }
    }
  }

  /** @param start after the opening quote. @returns the index of the closing quote, or {@link FAULT} */
  #string(bytes: Uint8Array, start: number, end: number): number {
    this.#isEscaped = false
    let at = start
    for (;;) {
      const byte = bytes[at] ?? 0
      if (byte === QUOTE) return at
      // The line end after the last byte is a control character too: the string is not closed.
      if (byte < SPACE) return this.#failAt(at)
      at++
      if (byte === BACKSLASH) {
        this.#isEscaped = true
        const length = escapeLength(bytes, at)
        if (length === 0 || at + length > end) return this.#failAt(at)
        at += length
      }
    }
  }

  #scalar(bytes: Uint8Array, at: number, end: number): number {
    const after = startsNumber(bytes[at] ?? 0) ? numberEnd(bytes, at) : wordEnd(bytes, at, end)
    return after === FAULT ? this.#failAt(at) : after
  }

  #enter(depth: number, kind: number): void {
    if (depth >= this.#kinds.length) {
      this.#kinds = doubled(this.#kinds, Uint8Array)
      this.#counts = doubled(this.#counts, Uint32Array)
    }
    this.#kinds[depth] = kind
    this.#counts[depth] = 0
    for (const path of this.#paths) path.enter(depth)
  }

  #meetKey(bytes: Uint8Array, start: number, end: number, depth: number): void {
    if (depth === 0) this.#member.meetKey(bytes, start, end, this.#isEscaped, 0)
    for (const path of this.#paths) path.meetKey(bytes, start, end, this.#isEscaped, depth)
  }

  #meetElement(depth: number): void {
    const index = this.#counts[depth] ?? 0
    this.#counts[depth] = index + 1
    for (const path of this.#paths) path.meetElement(index, depth)
  }

  #meetValue(at: number, depth: number): void {
    if (depth === 0) this.#member.meetValue(at, 0)
    for (const path of this.#paths) path.meetValue(at, depth)
  }

  #leaveString(at: number, depth: number): void {
    if (depth === 0) this.#member.leaveValue(at, 0, this.#isEscaped)
    for (const path of this.#paths) path.leaveValue(at, depth, this.#isEscaped)
  }

  #leaveValue(at: number, depth: number): void {
    if (depth === 0) this.#member.leaveValue(at, 0, false)
    for (const path of this.#paths) path.leaveValue(at, depth, false)
  }

  #failAt(at: number): number {
    this.#faultAt = at
    return FAULT
  }
}

function doubled<List extends Uint8Array | Uint32Array>(list: List, Kind: new (size: number) => List): List {
  const larger = new Kind(list.length * 2)
  larger.set(list)
  return larger
}

const MINUS = 0x2d
const DOT = 0x2e
const ZERO = 0x30
const NINE = 0x39

/** Returned for a token that is not valid by RFC 8259. */
export const FAULT = -1

const TRUE = /* @__PURE__ */ new TextEncoder().encode('true')
const FALSE = /* @__PURE__ */ new TextEncoder().encode('false')
const NULL = /* @__PURE__ */ new TextEncoder().encode('null')

/** Skips white space (RFC 8259 section 2). @returns the index of the byte after it, or `end` */
export function skipBlanks(bytes: Uint8Array, start: number, end: number): number {
  let at = start
  while (at < end) {
    const byte = bytes[at] ?? 0
    if (byte > 0x20 || (byte !== 0x20 && byte !== 0x09 && byte !== 0x0a && byte !== 0x0d)) break
    at++
  }
  return at
}

/** @param at after the backslash. @returns the length of the escape from there; 0 when it is not valid */
export function escapeLength(bytes: Uint8Array, at: number): number {
  switch (bytes[at]) {
    case QUOTE:
    case BACKSLASH:
    case 0x2f: // solidus
    case 0x62: // b
    case 0x66: // f
    case 0x6e: // n
    case 0x72: // r
    case 0x74: // t
      return 1
    case 0x75: // u
      for (let i = 1; i <= 4; i++) if (!isHex(bytes[at + i] ?? 0)) return 0
      return 5
    default:
      return 0
  }
}

/** Whether a number can begin with this byte. */
export function startsNumber(byte: number): boolean {
  return byte === MINUS || isDigit(byte)
}

/**
 * Reads a number (RFC 8259 section 6). `end` is not needed: the line end after the last byte ends a number too.
 *
 * @returns where the number ends, or {@link FAULT}
 */
export function numberEnd(bytes: Uint8Array, start: number): number {
  let at = bytes[start] === MINUS ? start + 1 : start
  if (bytes[at] === ZERO) at++
  else {
    if (!isDigit(bytes[at] ?? 0)) return FAULT
    while (isDigit(bytes[at] ?? 0)) at++
  }
  if (bytes[at] === DOT) {
    at++
    if (!isDigit(bytes[at] ?? 0)) return FAULT
    while (isDigit(bytes[at] ?? 0)) at++
  }
  if (bytes[at] === 0x65 || bytes[at] === 0x45) {
    at++
    if (bytes[at] === MINUS || bytes[at] === 0x2b) at++
    if (!isDigit(bytes[at] ?? 0)) return FAULT
    while (isDigit(bytes[at] ?? 0)) at++
  }
  return at
}

/** Reads `true`, `false` or `null`. @returns where it ends, or {@link FAULT} */
export function wordEnd(bytes: Uint8Array, start: number, end: number): number {
  const first = bytes[start]
  const word = first === 0x74 ? TRUE : first === 0x66 ? FALSE : NULL
  if (start + word.length > end) return FAULT
  for (let i = 0; i < word.length; i++) if (bytes[start + i] !== word[i]) return FAULT
  return start + word.length
}

function isHex(byte: number): boolean {
  return isDigit(byte) || (byte >= 0x41 && byte <= 0x46) || (byte >= 0x61 && byte <= 0x66)
}

function isDigit(byte: number): boolean {
  return byte >= ZERO && byte <= NINE
}
