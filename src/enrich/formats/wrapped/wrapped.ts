// Lines of other formats, each after what a wrapper writes before it, or in a member of JSON objects, one object a line.

import { ByteSink } from '../../../bytes/byte-sink.ts'
import { quoted } from '../../../errors.ts'
import { BRACE, CARRIAGE_RETURN, COMMA, LINE_FEED, QUOTE, SPACE } from '../../ascii.ts'
import type { CommonPlan, LineOptions, MemberWrapper, Planned, PrefixWrapper } from '../../options.ts'
import { guessAddress } from '../../reading/field-guess.ts'
import { LineRecordEnds, lineEndIn } from '../../reading/layout.ts'
import { type RecordKind, RecordReader } from '../../reading/record-reader.ts'
import { markLength, sampleLines } from '../../reading/sample.ts'
import { JsonText, jsonRoom, WRAPPER } from '../../writing/json-text.ts'
import type { RecordForm } from '../../writing/record-form.ts'
import type { FormatDefinition } from '../format-definition.ts'
import { fieldsOf, type MemberPath, pathOf, valueAt } from '../ndjson/member-path.ts'
import { isIn, NDJSON, type NdjsonPlan, objectsIn, planNdjson } from '../ndjson/ndjson.ts'
import { ObjectReader } from '../ndjson/object-reader.ts'
import { Prefix, wrappersOf } from './prefix.ts'

/**
 * Reads the line after the prefix by its own format. The prefix is kept, or is the first member of the object: a line that came in
 * parts has the prefix of its last part.
 */
class WrappedReader extends RecordReader {
  override readonly counted: readonly number[]
  override readonly rereads: boolean
  readonly #prefix: Prefix
  readonly #inner: RecordReader
  readonly #form: RecordForm['kind']
  readonly #hasMember: boolean
  readonly #parts: PartialLines | null
  readonly #text = new JsonText()
  /** The prefix and the line, if they are not written as they are. */
  readonly #memory = new ByteSink(1024)
  /** Where the prefix is. */
  #prefixBytes: Uint8Array = this.record
  #prefixStart = 0
  #prefixEnd = 0

  /** @param hasMember whether the prefix is a member of objects */
  constructor(wrapper: PrefixWrapper, inner: RecordReader, form: RecordForm['kind'], hasMember: boolean) {
    super()
    this.#prefix = new Prefix(wrapper)
    this.#inner = inner
    this.#form = form
    this.#hasMember = hasMember
    this.#parts = wrapper === 'cri' ? new PartialLines(0) : null
    this.counted = inner.counted.map((field) => (field === -1 ? -1 : field + 1))
    this.rereads = inner.rereads
    this.fields = [{ name: WRAPPER, kind: 'text' }, ...inner.fields]
  }

  read(bytes: Uint8Array, start: number, end: number): RecordKind {
    this.#prefixBytes = bytes
    this.#prefixStart = start
    this.#prefixEnd = this.#prefix.end(bytes, start, end)
    const memory = this.#memory
    memory.length = 0
    if (this.#parts?.isPart(bytes, start, end) === true) {
      this.#prefixStart = writeContents(bytes, start, end, this.#prefix, this.#parts, memory)
      this.#prefixEnd = this.#prefix.end(bytes, this.#prefixStart, end)
    } else if (this.#form === 'member' && this.#hasMember) memory.write(bytes, this.#prefixEnd, end)
    else return this.#readContent(bytes, this.#prefixEnd, end, start)
    const size = memory.length
    return this.#readMemory(size)
  }

  override find(field: number): boolean {
    if (field > 0) return this.findIn(this.#inner, field - 1)
    this.bytes = this.#prefixBytes
    this.start = this.#prefixStart
    this.end = this.#prefixEnd
    return this.end > this.start
  }

  override has(field: number): boolean {
    return field > 0 && this.#inner.has(field - 1)
  }

  override complete(): boolean {
    const isWhole = this.#inner.complete()
    this.fault = this.#inner.fault
    return isWhole
  }

  override readAgain(): boolean {
    const isOther = this.#inner.readAgain()
    this.take(this.#inner)
    return isOther
  }

  /** Reads the line in memory, after its prefix as it is written. @param size in bytes */
  #readMemory(size: number): RecordKind {
    const memory = this.#memory
    const content = memory.room(0).slice(0, size)
    const [prefixStart, prefixEnd] = [this.#prefixStart, this.#prefixEnd]
    const isMember = this.#form === 'member' && this.#hasMember
    memory.length = 0
    if (isMember && prefixEnd > prefixStart) {
      memory.write(MEMBER)
      const into = memory.room(jsonRoom(prefixEnd - prefixStart))
      memory.length = this.#text.put(this.#prefixBytes, prefixStart, prefixEnd, into, memory.length)
      memory.writeByte(QUOTE)
    } else if (!isMember) memory.write(this.#prefixBytes, prefixStart, prefixEnd)
    const start = memory.length
    memory.write(content)
    memory.writeByte(LINE_FEED)
    const bytes = memory.room(0)
    const kind = this.#readContent(bytes, start, start + size, 0)
    // The brace that opens the object becomes the comma after the first member.
    if (kind === 'read' && isMember && start > 0) bytes[bytes.indexOf(BRACE, start)] = COMMA
    return kind
  }

  #readContent(bytes: Uint8Array, start: number, end: number, recordStart: number): RecordKind {
    if (start === end) return 'blank'
    const inner = this.#inner
    const kind = inner.read(bytes, start, end)
    this.take(inner)
    if (kind !== 'read') return kind
    this.takeRecord(inner)
    this.recordStart = recordStart
    return 'read'
  }
}

const encoder = /* @__PURE__ */ new TextEncoder()
const MEMBER = /* @__PURE__ */ encoder.encode(`{"${WRAPPER}":"`)

/** The definition of a format for lines after what a wrapper writes. */
export function wrapped<Plan extends CommonPlan & { readonly format: string }>(
  definition: FormatDefinition<Plan>,
  wrapper: PrefixWrapper,
): FormatDefinition<Plan> {
  const { makeReader, form } = definition
  return {
    ...definition,
    layout: (plan) => ({
      ...definition.layout(plan),
      ...(wrapper === 'cri' && { recordEnds: () => new PartialLines(plan.maxLineBytes) }),
    }),
    form: (plan) => {
      const ofLines = form(plan)
      return { ...ofLines, rewrites: ofLines.rewrites || plan.hasWrapperMember === true }
    },
    makeReader: (plan, wantsFields) => {
      const hasMember = plan.hasWrapperMember === true && plan.count === undefined
      return new WrappedReader(wrapper, makeReader(plan, wantsFields), form(plan).kind, hasMember)
    },
  }
}

/** A sample without what a wrapper wrote before its lines. */
export interface Unwrapped {
  readonly wrapper: PrefixWrapper
  readonly sample: Uint8Array
}

/** The lines of a sample without the prefixes of each wrapper that most of the first lines have. */
export function* unwrapped(sample: Uint8Array): Generator<Unwrapped> {
  for (const wrapper of wrappersOf(sample))
    yield { wrapper, sample: withoutPrefixes(sample, new Prefix(wrapper), wrapper === 'cri') }
}

/** @param joins whether lines can come in parts, see `PartialLines` */
function withoutPrefixes(sample: Uint8Array, prefix: Prefix, joins: boolean): Uint8Array {
  const contents = new ByteSink(sample.length)
  const parts = joins ? new PartialLines(0) : null
  writeContents(sample, markLength(sample), sample.length, prefix, parts, contents)
  return contents.take()
}

/**
 * Writes the lines of `bytes[start, end)` without their prefixes, and without the line ends of parts that others follow.
 *
 * @returns where the last line begins
 */
function writeContents(
  bytes: Uint8Array,
  start: number,
  end: number,
  prefix: Prefix,
  parts: PartialLines | null,
  out: ByteSink,
): number {
  let line = start
  for (let next = start; next < end; ) {
    line = next
    const lineEnd = lineEndIn(bytes, line, end)
    next = lineEnd === -1 ? end : lineEnd
    let until = next
    const isPart = lineEnd !== -1 && parts?.isPart(bytes, line, next) === true
    if (isPart && isSameStream(bytes, line, next, end)) until -= bytes[next - 2] === CARRIAGE_RETURN ? 2 : 1
    out.write(bytes, prefix.end(bytes, line, until), until)
  }
  return line
}

const CAPITAL_P = 0x50

/** Where the tag of a line is: after a time and the name of a stream. */
const TAG_WORD = 2
const MAX_TAG_AT = 64

/** The index of the tag of the line that begins at `start`; -1 if it has none. */
function tagOf(bytes: Uint8Array, start: number, end: number): number {
  const most = Math.min(end, start + MAX_TAG_AT)
  let words = 0
  for (let at = start; at < most && bytes[at] !== LINE_FEED; at++)
    if (bytes[at] === SPACE && ++words === TAG_WORD) return at + 1
  return -1
}

/** Whether two lines are of one stream: the last letter of `stdout` or `stderr` is before the space before the tag. */
function isSameStream(bytes: Uint8Array, line: number, other: number, end: number): boolean {
  const tag = tagOf(bytes, other, end)
  return tag !== -1 && bytes[tagOf(bytes, line, end) - 2] === bytes[tag - 2]
}

/**
 * Finds lines that a container runtime has cut into parts: each part but the last has the tag `P`. A line whose parts together
 * exceed the bound is not joined: each part is then a record. Lines of the other stream can come between two parts. The parts before
 * and after them are then records of their own, because lines are written in their order.
 */
class PartialLines extends LineRecordEnds {
  constructor(maxBytes: number) {
    super(null, maxBytes)
  }

  override next(start: number, end: number, isLast: boolean): number {
    this.contentStart = start
    this.spansLines = false
    const first = this.lineFeeds.next(start, end)
    if (start < this.plainUntil) return first === -1 && isLast ? end : first
    let last = first
    for (let at = start; last !== -1 && this.isPart(this.bytes, at, last); ) {
      const part = last
      at = last + 1
      last = this.lineFeeds.next(at, end)
      if ((last === -1 ? end : last) - start > this.maxBytes) {
        this.plainUntil = at
        return first
      }
      if ((last === -1 && !isLast) || isSameStream(this.bytes, start, at, end)) continue
      last = part
      break
    }
    this.spansLines = last !== first
    return last === -1 && isLast ? end : last
  }

  /** Whether the line that begins at `start` is a part that others follow. */
  isPart(bytes: Uint8Array, start: number, end: number): boolean {
    return bytes[tagOf(bytes, start, end)] === CAPITAL_P
  }
}

/**
 * Where wrappers put a line and its time.
 * - `docker`: the json-file logging driver of Docker, and what Fluent Bit makes of it
 * - `journald`: systemd.io `JOURNAL_EXPORT_FORMATS`, Journal JSON Format
 */
const MEMBERS: Readonly<Record<MemberWrapper, { line: string; time: string; also: readonly string[] }>> = {
  docker: { line: 'log', time: 'time', also: ['stream'] },
  journald: { line: 'MESSAGE', time: '__REALTIME_TIMESTAMP', also: [] },
}

/** The share of the objects of a sample that must have the members. */
const MEMBER_SHARE = 0.9

/** Objects of a sample with lines in them. */
export interface Enclosed {
  readonly wrapper: MemberWrapper
  readonly objects: readonly object[]
  /** The name of the member with the line. */
  readonly member: string
  /** The lines. */
  readonly sample: Uint8Array
}

/**
 * The lines in the objects of a sample; `null` if most lines are not objects, if no wrapper writes such objects, or if they have a
 * field for the address.
 */
export function enclosedIn(
  sample: Uint8Array,
  isWhole: boolean,
  { field, format }: LineOptions & { readonly format?: string | undefined },
): Enclosed | null {
  const lines = sampleLines(sample, isWhole)
  const objects = objectsIn(lines)
  // A few objects among other lines do not decide the format.
  if (objects.length === 0 || (format === undefined && objects.length * 2 < lines.length)) return null
  if (field !== undefined && isIn(objects, pathOf(field, 'field'))) return null
  for (const wrapper of ['docker', 'journald'] as const) {
    const { line, time, also } = MEMBERS[wrapper]
    const having = objects.filter((object) =>
      [line, time, ...also].every((name) => Object.hasOwn(object, name)),
    )
    if (having.length < MEMBER_SHARE * objects.length) continue
    if (guessAddress(fieldsOf(objects, line), false).best !== null) return null
    const texts = having.map((object) => {
      const text = valueAt(object, [line])
      return typeof text === 'string' ? text.replace(/[\r\n]+/g, ' ') : ''
    })
    return { wrapper, objects, member: line, sample: new TextEncoder().encode(`${texts.join('\n')}\n`) }
  }
  return null
}

/** Makes the plan for the objects around lines. Throws what `planNdjson` does. */
export function planEnclosing(
  { wrapper, objects, member }: Enclosed,
  options: LineOptions,
): Planned<NdjsonPlan> {
  // Plan without the text of the lines: a list of addresses at the start of a line is not the value of a field.
  const without = objects.map((object) => ({ ...object, [member]: '' }))
  const { timeField = `/${MEMBERS[wrapper].time}` } = options
  return planNdjson(without, { ...options, field: `/${member}`, timeField, force: true }, false)
}

/** Reads objects that have a line of another format in a member. An empty member has no address, nor has one that is not text. */
class MemberReader extends ObjectReader {
  override readonly counted: readonly number[]
  override readonly rereads: boolean
  readonly #member: string
  readonly #content: RecordReader
  /** Whether the content has read a record. */
  #isRead = false
  readonly #line = new ByteSink(1024)

  constructor(plan: NdjsonPlan, content: RecordReader) {
    super({ ...plan, counted: [] })
    this.#member = plan.path.join('.')
    this.#content = content
    this.counted = content.counted
    this.rereads = content.rereads
  }

  override find(field: number): boolean {
    return this.#isRead && this.findIn(this.#content, field)
  }

  override complete(): boolean {
    return !this.#isRead || this.#content.complete() || this.#takeFault()
  }

  override readAgain(): boolean {
    if (!this.#isRead || !this.#content.readAgain()) return false
    const { instant } = this
    this.take(this.#content)
    this.instant = instant
    return true
  }

  protected override readValue(path: MemberPath): RecordKind {
    const [line, content, { instant }] = [this.#line, this.#content, this]
    line.length = 0
    if (this.record[path.start] === QUOTE && this.findValue(path))
      line.write(this.bytes, this.start, this.end)
    line.writeByte(LINE_FEED)
    const bytes = line.room(0)
    let size = line.length - 1
    while (size > 0 && (bytes[size - 1] ?? 0) <= SPACE) size--
    bytes[size] = LINE_FEED
    for (let at = 0; at < size; at++)
      if (bytes[at] === LINE_FEED || bytes[at] === CARRIAGE_RETURN) bytes[at] = SPACE
    const kind = size === 0 ? 'blank' : content.read(bytes, 0, size)
    this.#isRead = kind === 'read'
    this.addressStart = this.addressEnd = 0
    this.isLocal = false
    if (kind === 'bad') this.#takeFault()
    if (kind !== 'read') return kind === 'bad' ? 'bad' : 'read'
    this.take(content)
    this.doubt = ''
    // The time of the object is better: it has an offset from UTC.
    if (!Number.isNaN(instant)) {
      this.instant = instant
      this.isLocal = false
    }
    return 'read'
  }

  #takeFault(): false {
    this.fault = `in its ${quoted(this.#member)}: ${this.#content.fault}`
    return false
  }
}

/** The definition for objects whose lines have a format of their own. */
export function inMember<Plan extends CommonPlan & { readonly format: string }>(
  inside: Plan,
  definition: FormatDefinition<Plan>,
): FormatDefinition<NdjsonPlan> {
  return {
    ...NDJSON,
    fieldNames: () => definition.fieldNames?.(inside) ?? null,
    makeReader: (plan, wantsFields) => new MemberReader(plan, definition.makeReader(inside, wantsFields)),
  }
}
