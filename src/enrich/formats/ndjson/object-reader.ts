import { quoted } from '../../../errors.ts'
import { utf8Encoder } from '../../../realm.ts'
import { QUOTE, SMALL_N, SPACE } from '../../ascii.ts'
import { NOT_IPV4 } from '../../locating/address-cache.ts'
import { eventTime, eventTimeOf, NO_TIME } from '../../locating/event-time.ts'
import type { CommonPlan } from '../../options.ts'
import { type RecordKind, RecordReader } from '../../reading/record-reader.ts'
import { CachedView } from '../../swar.ts'
import { braceBefore, JsonScanner } from './json-scanner.ts'
import { TemplateCache } from './line-template.ts'
import { findMembers, hasEscape, MemberPath, NOWHERE, pathOf, unescaped } from './member-path.ts'

/** Where the values of objects are. */
export interface ObjectPlan extends CommonPlan {
  /** Names of members, and indexes of arrays, from the object of the line to the address. */
  readonly path: readonly string[]
  /** The path to the time; `null` when there is none. */
  readonly timePath: readonly string[] | null
  /** One name with dots, which is read if nothing is at `path`: the sample was cut off, and does not show which of the two is meant. */
  readonly dottedPath: readonly string[] | null
  readonly dottedTimePath: readonly string[] | null
}

const encoder = /* @__PURE__ */ utf8Encoder()

/** What objects are like. */
export interface ObjectLayout {
  /** Whether the added member is laid out as the members before it. Objects must begin with their brace then. */
  readonly isIndented?: boolean
  /** Whether each object is a line, so that usual ones can be read by templates alone. */
  readonly hasUsual?: boolean
}

/**
 * Reads JSON objects. An object keeps its bytes and gets one more member; with `overwrite`, a member that is there already gets a
 * new value. A usual object matches the template of those before it, which finds the values in it. Its address is a string
 * without escapes.
 */
export class ObjectReader extends RecordReader {
  override readonly hasUsual: boolean
  override readonly counted: readonly number[]
  /** The paths to the address, the time, and what is counted. */
  readonly readPaths: readonly (readonly string[])[]
  readonly #plan: ObjectPlan
  readonly #isIndented: boolean
  readonly #address: MemberPath
  readonly #time: MemberPath | null
  readonly #dottedAddress: MemberPath | null
  readonly #dottedTime: MemberPath | null
  /** The members that are counted. */
  readonly #counted: readonly MemberPath[]
  /** Finds the member to be added if it exists already. */
  readonly #member: MemberPath
  /** Finds the member for the autonomous system if it exists already. */
  readonly #system: MemberPath | null
  readonly #scanner = new JsonScanner()
  /** All of these paths. */
  readonly #paths: readonly MemberPath[]
  readonly #templates: TemplateCache
  readonly #words = new CachedView()

  constructor(plan: ObjectPlan, { isIndented = false, hasUsual = false }: ObjectLayout = {}) {
    super()
    this.hasUsual = hasUsual
    this.#isIndented = isIndented
    this.#plan = plan
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
    this.counted = [...this.#counted.keys()]
    this.#paths = [...wanted, this.#member, ...(this.#system === null ? [] : [this.#system])]
    this.readPaths = wanted.map(({ names }) => names)
    this.#templates = new TemplateCache(wanted)
  }

  override usual(bytes: Uint8Array, view: DataView, start: number, limit: number): number {
    const end = this.#templates.match(bytes, view, start, limit)
    if (end === -1) return -1
    const path = foundOf(this.#address, this.#dottedAddress)
    if (path.start === NOWHERE || bytes[path.start] !== QUOTE) return -1
    this.useBytes(bytes, start, end)
    this.useAddress(bytes, path.start + 1, path.end - 1)
    if (this.ipv4 === NOT_IPV4 && hasEscape(bytes, path.start, path.end)) return -1
    this.insertStart = this.insertEnd = braceBefore(bytes, end)
    this.joint = 'next'
    this.instant = this.#readTime(bytes)
    return end
  }

  read(bytes: Uint8Array, start: number, end: number): RecordKind {
    const view = this.#words.view(bytes)
    this.useBytes(bytes, start, end)
    this.objectStart = start
    this.joint = this.#isIndented ? 'indented' : 'next'
    this.insertStart = NOWHERE
    if (this.#templates.match(bytes, view, start, end, end) === -1) {
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
        this.joint = 'value'
        this.insertStart = this.#member.start
        this.insertEnd = this.#member.end
      } else if (this.#scanner.isEmpty) this.joint = 'only'
      else this.#templates.learn(bytes, start, end, this.#scanner.scalars)
    }
    if (this.insertStart === NOWHERE) {
      let at = braceBefore(bytes, end)
      if (this.#isIndented) while ((bytes[at - 1] ?? 0) <= SPACE) at--
      this.insertStart = this.insertEnd = at
    }
    this.instant = this.#readTime(bytes)
    return this.readValue(foundOf(this.#address, this.#dottedAddress))
  }

  override find(field: number): boolean {
    const path = this.#counted[field]
    return path !== undefined && this.findValue(path)
  }

  /** Sets `bytes`, `start` and `end` to the value at a path. @returns `false` if it was not found or is `null` */
  protected findValue({ start, end }: MemberPath): boolean {
    const bytes = this.record
    if (start === NOWHERE || bytes[start] === SMALL_N) return false
    this.bytes = bytes
    this.start = start
    this.end = end
    if (bytes[start] !== QUOTE) return true
    this.start++
    this.end--
    if (hasEscape(bytes, start, end)) {
      this.bytes = encoder.encode(unescaped(bytes, start, end))
      this.start = 0
      this.end = this.bytes.length
    }
    return true
  }

  /** Takes the address. Values that are not strings are malformed. @param path to it, if it was found */
  protected readValue(path: MemberPath): RecordKind {
    const isFound = this.findValue(path)
    this.addressBytes = this.bytes
    this.addressStart = isFound ? this.start : 0
    this.addressEnd = isFound ? this.end : 0
    return 'read'
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
