import { mayEndText, viewOf } from '../../byte-sink.ts'
import { escapeLength, FAULT, numberEnd, skipBlanks, startsNumber, wordEnd } from './json-scanner.ts'
import { type MemberPath, NOWHERE } from './member-path.ts'

const SPACE = 0x20
const QUOTE = 0x22
const COLON = 0x3a
const BRACKET = 0x5b
const BACKSLASH = 0x5c
const BRACE = 0x7b

const STRING = 1
const NUMBER = 2
const WORD = 3

/** No path leads to the value. */
const UNWANTED = -1

/**
 * What lines of one program have in common, learned from one of them: the same names, punctuation and white space,
 * and values of the same kinds between them. A line with these parts is valid JSON if its values are valid tokens, and
 * its members are in the same order. So no names are parsed. On lines of 960 bytes this is eight times as fast as the
 * scanner; without words of four bytes it takes half as long again.
 */
export class LineTemplate {
  /**
   * The fixed parts, concatenated. A value follows each of them but the last. The quotes of a string belong to the
   * fixed parts around it.
   */
  readonly #fixed: Uint8Array
  readonly #fixedView: DataView
  /** Where each fixed part ends in `#fixed`. */
  readonly #ends: Int32Array
  readonly #kinds: Uint8Array
  readonly #paths: readonly MemberPath[]
  /** For each value the index of the path that leads to it, or `UNWANTED`. */
  readonly #wanted: Int8Array
  /** Paths that lead to no value. */
  readonly #nowhere: readonly MemberPath[]
  /** Bytes from the closing brace to the end of the line. */
  readonly #tail: number

  /**
   * Learns from the line in `bytes[start, end)`, in which a scanner has found the paths.
   *
   * @param brace index of its closing brace
   */
  constructor(bytes: Uint8Array, start: number, end: number, brace: number, paths: readonly MemberPath[]) {
    const fixed: number[] = []
    const ends: number[] = []
    const kinds: number[] = []
    const wanted: number[] = []
    let from = start
    const take = (first: number, after: number, kind: number, isQuoted: boolean): void => {
      wanted.push(paths.findIndex((path) => path.start === (isQuoted ? first - 1 : first)))
      for (let at = from; at < first; at++) fixed.push(bytes[at] ?? 0)
      ends.push(fixed.length)
      kinds.push(kind)
      from = after
    }
    for (let at = start; at < end; ) {
      const byte = bytes[at] ?? 0
      if (byte === QUOTE) {
        const close = stringEnd(bytes, at + 1)
        // A name is fixed, a value is not.
        if (bytes[skipBlanks(bytes, close + 1, end)] !== COLON) take(at + 1, close, STRING, true)
        at = close + 1
      } else if (startsNumber(byte)) {
        const after = numberEnd(bytes, at)
        take(at, after, NUMBER, false)
        at = after
      } else if (byte >= 0x61 && byte <= 0x7a) {
        const after = wordEnd(bytes, at, end)
        take(at, after, WORD, false)
        at = after
      } else at++
    }
    for (let at = from; at < end; at++) fixed.push(bytes[at] ?? 0)
    ends.push(fixed.length)
    this.#fixed = Uint8Array.from(fixed)
    this.#fixedView = viewOf(this.#fixed)
    this.#ends = Int32Array.from(ends)
    this.#kinds = Uint8Array.from(kinds)
    this.#paths = paths
    this.#wanted = Int8Array.from(wanted)
    this.#nowhere = paths.filter(({ start }) => start === NOWHERE)
    this.#tail = end - brace
  }

  /**
   * Whether a template can be made from the line in which the paths were found. No path may lead to an object or an
   * array, because a template has only strings, numbers and words as values. No two paths may lead to the same value.
   */
  static fits(bytes: Uint8Array, paths: readonly MemberPath[]): boolean {
    const starts = paths.map(({ start }) => start).filter((start) => start !== NOWHERE)
    return (
      new Set(starts).size === starts.length &&
      starts.every((start) => bytes[start] !== BRACE && bytes[start] !== BRACKET)
    )
  }

  /**
   * Whether the line in `bytes[start, end)` matches and is valid. If so, the paths hold where their values are.
   * If not, the line can still be valid.
   *
   * @param view of all of `bytes`
   */
  match(bytes: Uint8Array, view: DataView, start: number, end: number): boolean {
    const kinds = this.#kinds
    const values = kinds.length
    let from = 0
    let at = start
    for (let index = 0; ; index++) {
      const to = this.#ends[index] ?? 0
      if (at + to - from > end || !this.#isFixed(view, at, from, to)) return false
      at += to - from
      from = to
      if (index === values) break
      const kind = kinds[index]
      const wanted = this.#wanted[index] ?? UNWANTED
      const after =
        kind === STRING
          ? plainEnd(bytes, view, at, end, wanted === UNWANTED)
          : kind === NUMBER
            ? numberEnd(bytes, at)
            : wordEnd(bytes, at, end)
      if (after === FAULT) return false
      if (wanted !== UNWANTED) this.#found(wanted, at, after, kind === STRING)
      at = after
    }
    if (at !== end) return false
    for (const path of this.#nowhere) path.start = NOWHERE
    return true
  }

  /** @returns the index of the closing brace of a line that matches and ends at `end` */
  braceOf(end: number): number {
    return end - this.#tail
  }

  #found(wanted: number, start: number, end: number, isString: boolean): void {
    const path = this.#paths[wanted]
    if (path === undefined) return
    path.start = isString ? start - 1 : start
    path.end = isString ? end + 1 : end
    path.isEscaped = false
  }

  #isFixed(view: DataView, start: number, from: number, to: number): boolean {
    const fixed = this.#fixedView
    let at = start
    let part = from
    for (const words = to - 3; part < words; part += 4, at += 4) {
      if (view.getInt32(at, true) !== fixed.getInt32(part, true)) return false
    }
    for (; part < to; part++, at++) if (view.getUint8(at) !== fixed.getUint8(part)) return false
    return true
  }
}

/** @param start after the opening quote of a valid string. @returns the index of its closing quote */
function stringEnd(bytes: Uint8Array, start: number): number {
  let at = start
  while (bytes[at] !== QUOTE) at += bytes[at] === BACKSLASH ? 2 : 1
  return at
}

/**
 * Finds the end of a string whose text begins at `start`.
 *
 * @param mayEscape whether escapes are allowed
 * @returns the index of its closing quote, or {@link FAULT}
 */
function plainEnd(bytes: Uint8Array, view: DataView, start: number, end: number, mayEscape: boolean): number {
  let at = start
  for (;;) {
    for (const last = end - 4; at <= last; at += 4) if (mayEndText(view.getInt32(at, true))) break
    // Check these bytes, or the last one to three, one at a time.
    for (;;) {
      const byte = bytes[at] ?? 0
      if (byte === QUOTE) return at < end ? at : FAULT
      if (byte < SPACE || at >= end) return FAULT
      at++
      if (byte !== BACKSLASH) continue
      const length = escapeLength(bytes, at)
      if (length === 0 || !mayEscape) return FAULT
      at += length
      break
    }
  }
}

/** Longer lines are not learned. Bytes. */
const MAX_LINE_BYTES = 16_384
/** Templates kept; the one that matched or was learned last comes first. */
const MAX_TEMPLATES = 8
/** Lines after which the share of lines that matched is checked. */
const LINES_TO_JUDGE = 256
/** Lines that are left to the scanner when too few matched. */
const LINES_TO_PAUSE = 4096

/** Templates of recent lines. When less than half of the lines match, it pauses for some lines. */
export class TemplateCache {
  readonly #paths: readonly MemberPath[]
  readonly #templates: LineTemplate[] = []
  #tries = 0
  #hits = 0
  #rest = 0

  /** @param paths to the wanted values; after `find` returns a template they hold where these are */
  constructor(paths: readonly MemberPath[]) {
    this.#paths = paths
  }

  /** @returns the template that a line matches, or `null` when a scanner must read the line */
  find(bytes: Uint8Array, view: DataView, start: number, end: number): LineTemplate | null {
    if (this.#rest > 0) {
      this.#rest--
      return null
    }
    if (++this.#tries === LINES_TO_JUDGE) this.#judge()
    const templates = this.#templates
    for (let index = 0; index < templates.length; index++) {
      const template = templates[index]
      if (template?.match(bytes, view, start, end) !== true) continue
      this.#hits++
      if (index > 0) {
        templates.splice(index, 1)
        templates.unshift(template)
      }
      return template
    }
    return null
  }

  /** Keeps a template of a line that a scanner has read, unless the line is too long or no template can be made. */
  learn(bytes: Uint8Array, start: number, end: number, brace: number): void {
    if (this.#rest > 0 || end - start > MAX_LINE_BYTES || !LineTemplate.fits(bytes, this.#paths)) return
    if (this.#templates.length === MAX_TEMPLATES) this.#templates.pop()
    this.#templates.unshift(new LineTemplate(bytes, start, end, brace, this.#paths))
  }

  #judge(): void {
    if (this.#hits * 2 < this.#tries) this.#rest = LINES_TO_PAUSE
    this.#tries = 0
    this.#hits = 0
  }
}
