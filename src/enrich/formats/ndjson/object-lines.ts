import { ByteSink } from '../../../bytes/byte-sink.ts'
import { utf8Encoder } from '../../../bytes/utf8.ts'
import { quoted } from '../../../errors.ts'
import type { FieldValues } from '../../counting/field-values.ts'
import type { FusedLoop } from '../../engine/fused-loop.ts'
import type { LineFormat, LineResult } from '../../engine/line-format.ts'
import { eventTime, eventTimeOf, NO_TIME } from '../../locating/event-time.ts'
import type { LineLocator } from '../../locating/line-locator.ts'
import { CachedView } from '../../swar.ts'
import { braceBefore, JsonScanner, skipBlanks } from './json-scanner.ts'
import { TemplateCache } from './line-template.ts'
import { MemberLoop } from './member-loop.ts'
import { findMembers, hasEscape, MemberPath, NOWHERE, pathOf, unescaped } from './member-path.ts'
import type { ObjectPlan } from './plan.ts'

const LINE_FEED = 0x0a
const CARRIAGE_RETURN = 0x0d
const QUOTE = 0x22
/** `n` of `null`. */
const NULL_START = 0x6e
const SPACE = 0x20
const COMMA = 0x2c
const NO_NAME = new Uint8Array(0)

const encoder = /* @__PURE__ */ utf8Encoder()

/** What objects are like. */
export interface ObjectForm {
  /** Whether the added member is laid out as the members before it. Lines must begin with their brace then. */
  readonly isIndented?: boolean
  /** Whether each object is a line, so that usual ones can be read by a loop. */
  readonly hasLoop?: boolean
  /** Reads the value at the path, which is a line of its format and no address. Uses the same locator. */
  readonly content?: LineFormat | null
}

/**
 * Enriches JSON objects. An object keeps its bytes and gets one more member. With `overwrite`, a member that is there already
 * gets a new value.
 */
export class ObjectLines implements LineFormat, FieldValues {
  readonly rewrites = false
  bytes: Uint8Array = new Uint8Array(0)
  start = 0
  end = 0
  fault = ''
  readonly #isIndented: boolean
  readonly #hasLoop: boolean
  readonly #plan: ObjectPlan
  readonly #locator: LineLocator
  readonly #address: MemberPath
  readonly #time: MemberPath | null
  readonly #dottedAddress: MemberPath | null
  readonly #dottedTime: MemberPath | null
  /** The members that are counted. */
  readonly #counted: readonly MemberPath[]
  /** The bytes of the last line. */
  #bytes: Uint8Array = this.bytes
  /** Finds the member to be added if it exists already. */
  readonly #member: MemberPath
  /** Finds the member for the autonomous system if it exists already. */
  readonly #system: MemberPath | null
  readonly #scanner = new JsonScanner()
  /** All of these paths. */
  readonly #paths: readonly MemberPath[]
  readonly #templates: TemplateCache
  readonly #words = new CachedView()
  /** The name and the colon of the added member; in `#nextName` after a comma. */
  readonly #onlyName: Uint8Array
  readonly #nextName: Uint8Array

  /** What reads the value at the path if that is a line of another format; `null` if it is an address. */
  readonly #content: LineFormat | null
  /** The line of the other format, and what would be written for it. */
  readonly #inside = new ByteSink(1024)
  readonly #unwritten = new ByteSink(1024)

  constructor(
    plan: ObjectPlan,
    locator: LineLocator,
    { isIndented = false, hasLoop = false, content = null }: ObjectForm = {},
  ) {
    this.#hasLoop = hasLoop
    this.#isIndented = isIndented
    this.#content = content
    this.#plan = plan
    this.#locator = locator
    this.#address = new MemberPath(plan.path)
    const pathTo = (names: readonly string[] | null) => (names === null ? null : new MemberPath(names))
    this.#time = pathTo(plan.timePath)
    this.#dottedAddress = pathTo(plan.dottedPath)
    this.#dottedTime = pathTo(plan.dottedTimePath)
    this.#member = new MemberPath([plan.into])
    this.#system = pathTo(plan.asn === undefined ? null : [plan.asn])
    const all = [this.#address, this.#time, this.#dottedAddress, this.#dottedTime]
    const wanted = all.filter((path) => path !== null)
    this.#counted = (plan.counted ?? []).map((field) => {
      const names = pathOf(field, 'by')
      const known = wanted.find((path) => path.names.join('\0') === names.join('\0'))
      const path = known ?? new MemberPath(names)
      if (known === undefined) wanted.push(path)
      return path
    })
    this.#paths = [...wanted, this.#member, ...(this.#system === null ? [] : [this.#system])]
    this.#templates = new TemplateCache(wanted)
    this.#nextName = new TextEncoder().encode(`,${JSON.stringify(plan.into)}:`)
    this.#onlyName = this.#nextName.subarray(1)
  }

  makeLoop(): FusedLoop | null {
    // The loop writes whole records.
    if (!this.#hasLoop || !this.#locator.writesLines || this.#plan.jsonFields !== null) return null
    const paths = {
      address: this.#address,
      dottedAddress: this.#dottedAddress,
      time: this.#time,
      dottedTime: this.#dottedTime,
    }
    const useBytes = (bytes: Uint8Array): void => {
      this.#bytes = bytes
    }
    return new MemberLoop(this.#locator, this.#templates, paths, useBytes, this.#plan)
  }

  line(bytes: Uint8Array, start: number, end: number, out: ByteSink): LineResult {
    const view = this.#words.view(bytes)
    this.#bytes = bytes
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
      if (this.#system !== null && this.#system.start !== NOWHERE) {
        this.fault = `it has a member ${quoted(this.#plan.asn ?? '')} already`
        return 'bad'
      }
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
    if (!this.#locator.writesLines) return this.#read(bytes)
    out.write(bytes, start, until)
    if (this.#isIndented && name === this.#nextName) this.#writeIndented(bytes, start, out)
    else out.write(name)
    const result = this.#read(bytes)
    if (result === 'bad') return result
    this.#locator.writeJson(out)
    out.write(bytes, from, end)
    return result
  }

  /** Finds the location and the time of the object whose values were found last. */
  #read(bytes: Uint8Array): LineResult {
    const instant = this.#readTime(bytes)
    this.#locator.instant = instant
    if (this.#content === null) return this.#locate(bytes) ? 'resolved' : 'unresolved'
    const result = this.#readContent(this.#content, bytes)
    // The content has set its own time. The time of the object is better: it has an offset from UTC.
    if (!Number.isNaN(instant)) this.#locator.instant = instant
    return result
  }

  /** The values of the line in the object, or of the object itself. */
  get values(): FieldValues {
    return this.#content?.values ?? this
  }

  find(field: number): boolean {
    const path = this.#counted[field]
    const bytes = this.#bytes
    if (path === undefined || path.start === NOWHERE || bytes[path.start] === NULL_START) return false
    this.bytes = bytes
    this.start = path.start
    this.end = path.end
    if (bytes[path.start] !== QUOTE) return true
    this.start++
    this.end--
    if (hasEscape(bytes, this.start, this.end)) {
      this.bytes = encoder.encode(unescaped(bytes, path.start, path.end))
      this.start = 0
      this.end = this.bytes.length
    }
    return true
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

  /** Locates the line of another format that is the value at the path. Another value, or an empty one, has no address. */
  #readContent(content: LineFormat, bytes: Uint8Array): LineResult {
    const { start, end } = foundOf(this.#address, this.#dottedAddress)
    const inside = this.#inside
    inside.length = 0
    if (start !== NOWHERE && bytes[start] === QUOTE) {
      if (hasEscape(bytes, start, end)) inside.write(encoder.encode(unescaped(bytes, start, end)))
      else inside.write(bytes, start + 1, end - 1)
    }
    inside.writeByte(LINE_FEED)
    const line = inside.room(0)
    let size = inside.length - 1
    while (size > 0 && (line[size - 1] ?? 0) <= SPACE) size--
    line[size] = LINE_FEED
    for (let at = 0; at < size; at++)
      if (line[at] === LINE_FEED || line[at] === CARRIAGE_RETURN) line[at] = SPACE
    if (size === 0) {
      this.#locator.missing()
      return 'unresolved'
    }
    this.#unwritten.length = 0
    const result = content.line(line, 0, size, this.#unwritten)
    if (result === 'bad') this.fault = `in its ${quoted(this.#plan.path.join('.'))}: ${content.fault}`
    if (result !== 'blank') return result
    this.#locator.missing()
    return 'unresolved'
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
