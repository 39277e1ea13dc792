import { escapeLength, FAULT, numberEnd, skipBlanks, startsNumber, wordEnd } from './json-tokens.ts'
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
 * Checks that a line is a JSON object (RFC 8259) and finds members in it, on the bytes and without building
 * anything. It agrees with `JSON.parse` of the decoded text about what is valid and which member wins (the last of
 * those with the same name). Bytes over 0x7f stand for themselves inside strings, whether or not they are UTF-8:
 * what nobody reads is no reason to refuse a line. Depth costs a byte of memory a level and no stack.
 */
export class JsonScanner {
  /** After `scan`: the index of the object's closing brace. */
  brace = 0
  /** Whether the object has no member. */
  isEmpty = false
  /** After `scan` has said `false`: what is wrong. */
  fault = ''
  readonly #paths: readonly MemberPath[]
  /** The member that is to be added; found at the top only. */
  readonly #member: MemberPath
  /** What each level is, from the object of the line. */
  #kinds = new Uint8Array(64)
  #counts = new Uint32Array(64)
  /** Whether the string read last has an escape in it. */
  #isEscaped = false
  #faultAt = 0

  /** @param paths to the members wanted, whose places they hold after `scan` */
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
      this.fault = 'it is no JSON object'
      return false
    }
    this.#faultAt = first
    const last = this.#object(bytes, first, end)
    if (last !== FAULT && skipBlanks(bytes, last, end) === end) return true
    if (last !== FAULT) this.#faultAt = skipBlanks(bytes, last, end)
    this.fault =
      this.#faultAt >= end
        ? 'it is no valid JSON: it ends too early'
        : `it is no valid JSON: see its byte ${this.#faultAt - start + 1}`
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
      // A value has ended: so may what it is in, and what that is in.
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

  /** @param at behind the opening quote. @returns the index of the closing one, or {@link FAULT} */
  #string(bytes: Uint8Array, start: number, end: number): number {
    this.#isEscaped = false
    let at = start
    for (;;) {
      const byte = bytes[at] ?? 0
      if (byte === QUOTE) return at
      // The line end behind the last byte is a control character too.
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
