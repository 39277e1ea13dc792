import { viewOf } from '../../swar.ts'
import { isNumber, numberEnd, stringEnd, wordEnd } from './json-scanner.ts'
import { type MemberPath, NOWHERE } from './member-path.ts'

const QUOTE = 0x22
const BRACKET = 0x5b
const BRACE = 0x7b

/** No path leads to the value. */
const UNWANTED = -1

/**
 * The parts that lines of one program have in common, learned from one line: names, punctuation and white space. Between
 * them are values: strings, numbers and words. A line with the same fixed parts is valid JSON if its values are valid
 * tokens, so names are not parsed. On lines of 960 bytes this is eight times as fast as the scanner. To compare single
 * bytes instead of four at once takes half as long again.
 */
class LineTemplate {
  /**
   * The fixed parts, concatenated. A value follows each of them but the last. The quotes of a string belong to the
   * fixed parts around it.
   */
  readonly #fixed: DataView
  /** Where each fixed part ends in `#fixed`. */
  readonly #ends: Int32Array
  readonly #paths: readonly MemberPath[]
  /** For each value the index of the path that leads to it, or `UNWANTED`. */
  readonly #wanted: Int8Array

  /** Learns from the line in `bytes[start, end)`. @param scalars where a scanner found values in it */
  constructor(
    bytes: Uint8Array,
    start: number,
    end: number,
    scalars: readonly number[],
    paths: readonly MemberPath[],
  ) {
    const fixed: number[] = []
    const ends: number[] = []
    const wanted: number[] = []
    let from = start
    const addFixed = (to: number): void => {
      for (let at = from; at < to; at++) fixed.push(bytes[at] ?? 0)
      ends.push(fixed.length)
    }
    for (let index = 0; index < scalars.length; index += 2) {
      const [at = 0, after = 0] = [scalars[index], scalars[index + 1]]
      const isString = bytes[at] === QUOTE
      addFixed(isString ? at + 1 : at)
      wanted.push(paths.findIndex((path) => path.start === at))
      from = isString ? after - 1 : after
    }
    addFixed(end)
    this.#fixed = viewOf(Uint8Array.from(fixed))
    this.#ends = Int32Array.from(ends)
    this.#paths = paths
    this.#wanted = Int8Array.from(wanted)
  }

  /**
   * Whether the line in `bytes[start, end)` matches and is valid. If so, the paths hold where their values are.
   * If not, the line can still be valid.
   */
  match(bytes: Uint8Array, view: DataView, start: number, end: number): boolean {
    const values = this.#wanted.length
    for (const path of this.#paths) path.start = NOWHERE
    let from = 0
    let at = start
    for (let index = 0; ; index++) {
      const to = this.#ends[index] ?? 0
      if (at + to - from > end || !this.#isFixed(view, at, from, to)) return false
      at += to - from
      from = to
      if (index === values) return at === end
      const isString = this.#fixed.getUint8(to - 1) === QUOTE
      const after = isString
        ? stringEnd(bytes, view, at, end)
        : isNumber(bytes[at] ?? 0)
          ? numberEnd(bytes, at)
          : wordEnd(bytes, at)
      if (after < 0) return false
      const wanted = this.#wanted[index] ?? UNWANTED
      const path = wanted === UNWANTED ? undefined : this.#paths[wanted]
      if (path !== undefined) {
        path.start = isString ? at - 1 : at
        path.end = isString ? after + 1 : after
      }
      at = after
    }
  }

  #isFixed(view: DataView, start: number, from: number, to: number): boolean {
    const fixed = this.#fixed
    let at = start
    let part = from
    for (const words = to - 3; part < words; part += 4, at += 4) {
      if (view.getInt32(at, true) !== fixed.getInt32(part, true)) return false
    }
    for (; part < to; part++, at++) if (view.getUint8(at) !== fixed.getUint8(part)) return false
    return true
  }
}

/** Templates kept; the one that matched or was learned last comes first. */
const MAX_TEMPLATES = 8
/** When this many more lines are learned than matched, the scanner reads the next lines. */
const MAX_MISSES = 128
const LINES_TO_PAUSE = 4096

/** Templates of recent lines. When less than half of the lines match, it pauses for some lines. */
export class TemplateCache {
  readonly #paths: readonly MemberPath[]
  readonly #templates: LineTemplate[] = []
  #misses = 0
  #pause = 0

  /** @param paths to the wanted values; after `matches` returns `true` they hold where these are */
  constructor(paths: readonly MemberPath[]) {
    this.#paths = paths
  }

  /** Whether a line matches a template. If not, a scanner must read the line. @param view of all of `bytes` */
  matches(bytes: Uint8Array, view: DataView, start: number, end: number): boolean {
    if (this.#pause > 0) {
      this.#pause--
      return false
    }
    const templates = this.#templates
    for (let index = 0; index < templates.length; index++) {
      const template = templates[index]
      if (template?.match(bytes, view, start, end) !== true) continue
      if (this.#misses > 0) this.#misses--
      if (index > 0) {
        templates[index] = templates[0] ?? template
        templates[0] = template
      }
      return true
    }
    return false
  }

  /**
   * Keeps a template of a line in which a scanner has found the paths. Keeps none if no values are listed, if a path leads
   * to an object or an array, which are not values of a template, or if two paths lead to the same value.
   */
  learn(bytes: Uint8Array, start: number, end: number, scalars: readonly number[]): void {
    if (this.#pause > 0 || scalars.length === 0) return
    if (++this.#misses > MAX_MISSES) {
      this.#misses = 0
      this.#pause = LINES_TO_PAUSE
    }
    const starts = this.#paths.map((path) => path.start).filter((each) => each !== NOWHERE)
    const isContainer = (at: number): boolean => bytes[at] === BRACE || bytes[at] === BRACKET
    if (new Set(starts).size < starts.length || starts.some(isContainer)) return
    if (this.#templates.length === MAX_TEMPLATES) this.#templates.pop()
    this.#templates.unshift(new LineTemplate(bytes, start, end, scalars, this.#paths))
  }
}
