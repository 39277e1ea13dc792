import { BRACE, BRACKET, LINE_FEED, QUOTE } from '../../ascii.ts'
import { viewOf } from '../../swar.ts'
import { isNumber, isText, numberEnd, stringEnd, wordEnd } from './json-scanner.ts'
import { type MemberPath, NOWHERE } from './member-path.ts'

/** No path leads to the value. */
const UNWANTED = -1
/** No path leads to the value, and it was the same in all lines. Such values are compared, and not parsed. */
const SAME = -2

/**
 * The parts that lines of one program have in common, learned from a few of them: names, punctuation, white space, and the
 * values that were the same in all of these lines. Between them are other values: strings, numbers and words. A line with
 * the same fixed parts is valid JSON if its values are valid tokens, so the rest is not parsed.
 */
class LineTemplate {
  /** The first line, and where a scanner found values in it. */
  readonly #line: Uint8Array
  readonly #scalars: readonly number[]
  readonly #paths: readonly MemberPath[]
  /** For each value of the first line, the index of the path that leads to it, `UNWANTED`, or `SAME` in all lines so far. */
  readonly #kinds: Int8Array
  /** The fixed parts, concatenated. A value follows each but the last. The quotes of a string are fixed. */
  #fixed: DataView = viewOf(new Uint8Array(0))
  /** Where each fixed part ends in `#fixed`. */
  #ends = new Int32Array(0)
  /** For each value between them, the index of the path that leads to it, or `UNWANTED`. */
  #wanted = new Int32Array(0)

  /** Learns from the line in `bytes[start, end)`. @param scalars where a scanner found values in it */
  constructor(
    bytes: Uint8Array,
    start: number,
    end: number,
    scalars: readonly number[],
    paths: readonly MemberPath[],
  ) {
    this.#line = bytes.slice(start, end)
    this.#scalars = scalars.map((at) => at - start)
    this.#paths = paths
    this.#kinds = new Int8Array(scalars.length / 2).fill(SAME)
    paths.forEach((path, index) => {
      const value = scalars.indexOf(path.start) / 2
      if (value >= 0) this.#kinds[value] = index
    })
    this.#build()
  }

  /**
   * Learns from another line that has no match yet. If it differs from the first line only in its values, the template then
   * matches it, and lines with any values in these places.
   *
   * @returns whether it does
   */
  learn(bytes: Uint8Array, start: number, end: number, scalars: readonly number[]): boolean {
    const line = this.#line
    const known = this.#scalars
    if (scalars.length !== known.length) return false
    const others: number[] = []
    for (let index = 0, from = 0, at = start; index <= known.length; index += 2) {
      const [to = line.length, after = 0] = [known[index], known[index + 1]]
      const [until = end, next = 0] = [scalars[index], scalars[index + 1]]
      if ((line[to] === QUOTE) !== (bytes[until] === QUOTE)) return false
      if (!isText(bytes, at, until, line.subarray(from, to))) return false
      const isSame = index === known.length || isText(bytes, until, next, line.subarray(to, after))
      if (!isSame && this.#kinds[index / 2] === SAME) others.push(index / 2)
      from = after
      at = next
    }
    if (others.length === 0) return false
    for (const value of others) this.#kinds[value] = UNWANTED
    this.#build()
    return true
  }

  #build(): void {
    const line = this.#line
    const fixed: number[] = []
    const ends: number[] = []
    let from = 0
    this.#kinds.forEach((kind, value) => {
      if (kind === SAME) return
      const [at = 0, after = 0] = [this.#scalars[2 * value], this.#scalars[2 * value + 1]]
      const quote = line[at] === QUOTE ? 1 : 0
      fixed.push(...line.subarray(from, at + quote))
      ends.push(fixed.length)
      from = after - quote
    })
    fixed.push(...line.subarray(from))
    this.#fixed = viewOf(Uint8Array.from(fixed))
    this.#ends = Int32Array.of(...ends, fixed.length)
    this.#wanted = Int32Array.from(this.#kinds.filter((kind) => kind !== SAME))
  }

  /**
   * Whether the line that starts at `start` matches and is valid. If so, the paths hold where their values are. If not, the
   * line can still be valid.
   *
   * @param limit where the line ends at the latest
   * @returns where it ends, or -1
   */
  match(bytes: Uint8Array, view: DataView, start: number, limit: number): number {
    const [fixed, ends, wanted, paths] = [this.#fixed, this.#ends, this.#wanted, this.#paths]
    for (const path of paths) path.start = NOWHERE
    let from = 0
    let at = start
    for (let index = 0; ; index++) {
      const to = ends[index] ?? 0
      if (at + to - from > limit || !isFixed(view, at, fixed, from, to)) return -1
      at += to - from
      from = to
      if (index === wanted.length) return at
      const isString = fixed.getUint8(to - 1) === QUOTE
      const after = isString
        ? stringEnd(bytes, view, at, limit)
        : isNumber(bytes[at] ?? 0)
          ? numberEnd(bytes, at)
          : wordEnd(bytes, at)
      if (after < 0) return -1
      const kind = wanted[index] ?? UNWANTED
      const path = kind === UNWANTED ? undefined : paths[kind]
      if (path !== undefined) {
        path.start = isString ? at - 1 : at
        path.end = isString ? after + 1 : after
      }
      at = after
    }
  }
}

/** Whether the bytes from `start` are the part `[from, to)` of `fixed`. */
function isFixed(view: DataView, start: number, fixed: DataView, from: number, to: number): boolean {
  let at = start
  let part = from
  // Compares eight bytes at once, as a number. Bytes that are not a number equal nothing, so such a line
  // is scanned. 0 and -0 need zero bytes, which no JSON has.
  const last = to - 8
  for (; part < last; part += 8, at += 8)
    if (view.getFloat64(at, true) !== fixed.getFloat64(part, true)) return false
  // The last word overlaps the one before.
  if (last >= from) return view.getFloat64(at + last - part, true) === fixed.getFloat64(last, true)
  for (; part < to; part++, at++) if (view.getUint8(at) !== fixed.getUint8(part)) return false
  return true
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

  /** @param paths to the wanted values; after a match they hold where these are */
  constructor(paths: readonly MemberPath[]) {
    this.#paths = paths
  }

  /**
   * Finds a template that a line matches. If there is none, a scanner must read the line.
   *
   * @param view of all of `bytes`
   * @param limit where the line ends at the latest
   * @param end of the line; -1 if it is the first line feed before `limit`
   * @returns where the line ends; -1 without a match
   */
  match(bytes: Uint8Array, view: DataView, start: number, limit: number, end = -1): number {
    if (this.#pause > 0) {
      this.#pause--
      return -1
    }
    const templates = this.#templates
    for (let index = 0; index < templates.length; index++) {
      const template = templates[index]
      // No match goes beyond a line feed, since no value and no fixed part of a line has one.
      const after = template?.match(bytes, view, start, limit) ?? -1
      if (template === undefined || after === -1) continue
      if (end === -1 ? bytes[after] !== LINE_FEED : after !== end) continue
      if (this.#misses > 0) this.#misses--
      if (index > 0) {
        templates[index] = templates[0] ?? template
        templates[0] = template
      }
      return after
    }
    return -1
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
    if (this.#templates.some((template) => template.learn(bytes, start, end, scalars))) return
    const starts = this.#paths.map((path) => path.start).filter((each) => each !== NOWHERE)
    const isContainer = (at: number): boolean => bytes[at] === BRACE || bytes[at] === BRACKET
    if (new Set(starts).size < starts.length || starts.some(isContainer)) return
    if (this.#templates.length === MAX_TEMPLATES) this.#templates.pop()
    this.#templates.unshift(new LineTemplate(bytes, start, end, scalars, this.#paths))
  }
}
