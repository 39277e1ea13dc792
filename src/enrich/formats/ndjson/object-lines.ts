import type { ByteSink } from '../../../bytes/byte-sink.ts'
import { quoted } from '../../../errors.ts'
import { eventTime, eventTimeOf, NO_TIME } from '../../locating/event-time.ts'
import type { LineLocator } from '../../locating/line-locator.ts'
import { CachedView } from '../../swar.ts'
import type { LineFormat, LineResult } from '../format-definition.ts'
import { braceBefore, JsonScanner, skipBlanks } from './json-scanner.ts'
import { TemplateCache } from './line-template.ts'
import { findMembers, hasEscape, MemberPath, NOWHERE, unescaped } from './member-path.ts'
import type { ObjectPlan } from './plan.ts'

const QUOTE = 0x22
/** `n` of `null`. */
const NULL_START = 0x6e
const SPACE = 0x20
const COMMA = 0x2c
const NO_NAME = new Uint8Array(0)

/**
 * Enriches JSON objects. An object keeps its bytes and gets one more member. With `overwrite`, a member that is there already
 * gets a new value.
 */
export class ObjectLines implements LineFormat {
  readonly rewrites = false
  fault = ''
  readonly #isIndented: boolean
  readonly #plan: ObjectPlan
  readonly #locator: LineLocator
  readonly #address: MemberPath
  readonly #time: MemberPath | null
  readonly #dottedAddress: MemberPath | null
  readonly #dottedTime: MemberPath | null
  /** Finds the member to be added if it exists already. */
  readonly #member: MemberPath
  readonly #scanner = new JsonScanner()
  /** All of these paths. */
  readonly #paths: readonly MemberPath[]
  readonly #templates: TemplateCache
  readonly #words = new CachedView()
  /** The name and the colon of the added member; in `#nextName` after a comma. */
  readonly #onlyName: Uint8Array
  readonly #nextName: Uint8Array

  /** @param isIndented whether the added member is laid out as the members before it. Lines must begin with their brace then */
  constructor(plan: ObjectPlan, locator: LineLocator, isIndented = false) {
    this.#isIndented = isIndented
    this.#plan = plan
    this.#locator = locator
    this.#address = new MemberPath(plan.path)
    const pathTo = (names: readonly string[] | null) => (names === null ? null : new MemberPath(names))
    this.#time = pathTo(plan.timePath)
    this.#dottedAddress = pathTo(plan.dottedPath)
    this.#dottedTime = pathTo(plan.dottedTimePath)
    this.#member = new MemberPath([plan.into])
    const all = [this.#address, this.#time, this.#dottedAddress, this.#dottedTime]
    const wanted = all.filter((path) => path !== null)
    this.#paths = [...wanted, this.#member]
    this.#templates = new TemplateCache(wanted)
    this.#nextName = new TextEncoder().encode(`,${JSON.stringify(plan.into)}:`)
    this.#onlyName = this.#nextName.subarray(1)
  }

  line(bytes: Uint8Array, start: number, end: number, out: ByteSink): LineResult {
    const view = this.#words.view(bytes)
    // The name and the location are written in place of `bytes[until, from)`.
    let name = this.#nextName
    let until = NOWHERE
    let from = NOWHERE
    if (!this.#templates.matches(bytes, view, start, end)) {
      if (!this.#scanner.scan(bytes, view, start, end)) {
        this.fault = this.#scanner.fault
        return isBlank(bytes, start, end) ? 'blank' : 'bad'
      }
      findMembers(this.#paths, bytes, view, this.#scanner.start, end)
      if (this.#member.start !== NOWHERE) {
        this.fault = `it has a member ${quoted(this.#plan.into)} already`
        if (!this.#plan.overwrite) return 'bad'
        name = NO_NAME
        until = this.#member.start
        from = this.#member.end
      } else if (this.#scanner.isEmpty) name = this.#onlyName
      else this.#templates.learn(bytes, start, end, this.#scanner.scalars)
    }
    if (until === NOWHERE) {
      until = braceBefore(bytes, end)
      if (this.#isIndented) while ((bytes[until - 1] ?? 0) <= SPACE) until--
      from = until
    }
    out.write(bytes, start, until)
    if (this.#isIndented && name === this.#nextName) this.#writeIndented(bytes, start, out)
    else out.write(name)
    this.#locator.instant = this.#readTime(bytes)
    const isLocated = this.#locate(bytes)
    this.#locator.writeJson(out)
    out.write(bytes, from, end)
    return isLocated ? 'resolved' : 'unresolved'
  }

  /** The name of the added member, after the white space that the first member has before it. */
  #writeIndented(bytes: Uint8Array, start: number, out: ByteSink): void {
    out.writeByte(COMMA)
    const first = skipBlanks(bytes, start + 1, bytes.length)
    out.write(bytes, start + 1, first)
    out.write(this.#onlyName)
    if (first > start + 1) out.writeByte(SPACE)
  }

  #locate(bytes: Uint8Array): boolean {
    const { start, end } = foundOf(this.#address, this.#dottedAddress)
    // `null` counts as missing. Other values that are not strings are malformed.
    if (start === NOWHERE || bytes[start] === NULL_START) return this.#locator.missing()
    if (bytes[start] !== QUOTE) return this.#locator.locate(bytes, start, end)
    if (hasEscape(bytes, start, end)) return this.#locator.locateText(unescaped(bytes, start, end))
    return this.#locator.locate(bytes, start + 1, end - 1)
  }

  #readTime(bytes: Uint8Array): number {
    if (this.#time === null) return NO_TIME
    const { start, end } = foundOf(this.#time, this.#dottedTime)
    if (start === NOWHERE) return NO_TIME
    if (bytes[start] !== QUOTE) return eventTime(bytes, start, end)
    const instant = eventTime(bytes, start + 1, end - 1)
    // Times rarely have escapes: look for one only if the text is not a time.
    const isEscaped = Number.isNaN(instant) && hasEscape(bytes, start, end)
    return isEscaped ? eventTimeOf(unescaped(bytes, start, end)) : instant
  }
}

function foundOf(path: MemberPath, dotted: MemberPath | null): MemberPath {
  return path.start === NOWHERE && dotted !== null ? dotted : path
}

function isBlank(bytes: Uint8Array, start: number, end: number): boolean {
  for (let at = start; at < end; at++) if ((bytes[at] ?? 0) > SPACE) return false
  return true
}
