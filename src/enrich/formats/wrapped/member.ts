// Lines of other formats, each in a member of JSON objects, one object a line.

import { ByteSink } from '../../../bytes/byte-sink.ts'
import { quoted } from '../../../errors.ts'
import { CARRIAGE_RETURN, LINE_FEED, QUOTE, SPACE } from '../../ascii.ts'
import type { CommonPlan, LineOptions, MemberWrapper, Planned } from '../../options.ts'
import { guessAddress } from '../../reading/field-guess.ts'
import { lineEndIn } from '../../reading/layout.ts'
import type { RecordKind, RecordReader } from '../../reading/record-reader.ts'
import { type Sample, sampleLines } from '../../reading/sample.ts'
import { CachedView, latin1 } from '../../swar.ts'
import type { FormatDefinition } from '../format-definition.ts'
import { JsonScanner } from '../ndjson/json-scanner.ts'
import {
  fieldsOf,
  findMembers,
  MemberPath,
  NOWHERE,
  pathOf,
  unescaped,
  valueAt,
} from '../ndjson/member-path.ts'
import { isIn, NDJSON, type NdjsonPlan, objectsIn, planObjects } from '../ndjson/ndjson.ts'
import { ObjectReader } from '../ndjson/object-reader.ts'
import { type Parts, withParts } from './wrapped.ts'

const DOCKER_STREAM = 'stream'

/**
 * Where wrappers put a line and its time.
 * - `docker`: the json-file logging driver of Docker, and what Fluent Bit makes of it
 * - `journald`: systemd.io `JOURNAL_EXPORT_FORMATS`, Journal JSON Format
 */
const MEMBERS: Readonly<Record<MemberWrapper, { line: string; time: string; also: readonly string[] }>> = {
  docker: { line: 'log', time: 'time', also: [DOCKER_STREAM] },
  journald: { line: 'MESSAGE', time: '__REALTIME_TIMESTAMP', also: [] },
}

/** The share of the objects of a sample that must have the members. */
const MEMBER_SHARE = 0.9

const encoder = /* @__PURE__ */ new TextEncoder()

/** Docker writes a longer line as several objects. All but the last are at least this large, and do not end with a line feed. Bytes. */
const PART_BYTES = 16_384

/** Whether a text in an object is a part of a line that the next one continues. */
function isPartOfLine(text: string): boolean {
  return !text.endsWith('\n') && encoder.encode(text).length >= PART_BYTES
}

/** Finds the objects of one line. */
class ObjectParts implements Parts {
  readonly leastBytes = PART_BYTES
  isPart = false
  stream: string | null = null
  readonly #line = new MemberPath([MEMBERS.docker.line])
  readonly #stream = new MemberPath([DOCKER_STREAM])
  readonly #scanner = new JsonScanner()
  readonly #views = new CachedView()

  read(bytes: Uint8Array, start: number, end: number): void {
    const [line, stream] = [this.#find(bytes, start, end), this.#stream]
    const isText = bytes[line.start] === QUOTE
    this.stream = isText && stream.start !== NOWHERE ? latin1(bytes, stream.start, stream.end) : null
    this.isPart =
      isText && line.end - line.start > PART_BYTES && isPartOfLine(unescaped(bytes, line.start, line.end))
  }

  /** Where the line in the object `bytes[start, end)` is, with its quotes; {@link NOWHERE} if it is not there. */
  #find(bytes: Uint8Array, start: number, end: number): MemberPath {
    const view = this.#views.view(bytes)
    this.#line.start = this.#stream.start = NOWHERE
    if (this.#scanner.scan(bytes, view, start, end))
      findMembers([this.#line, this.#stream], bytes, view, this.#scanner.start, end)
    return this.#line
  }

  /** Writes the last of the objects `bytes[start, end)`, with the line of all of them. */
  join(bytes: Uint8Array, start: number, end: number, out: ByteSink): void {
    const last = bytes.lastIndexOf(LINE_FEED, end - 1) + 1
    const rest = this.#find(bytes, last, end).start + 1
    out.write(bytes, last, rest)
    for (let object = start, next = start; object < last; object = next) {
      next = bytes.indexOf(LINE_FEED, object) + 1
      const line = this.#find(bytes, object, next - 1)
      out.write(bytes, line.start + 1, line.end - 1)
    }
    out.write(bytes, rest, end)
  }
}

/** Objects of a sample with lines in them. */
export interface Enclosed {
  readonly wrapper: MemberWrapper
  readonly objects: readonly object[]
  /** The name of the member with the line. */
  readonly member: string
  /** The lines. */
  readonly sample: Sample
  /** Whether a long line can be in several objects. */
  readonly hasParts: boolean
}

/**
 * The lines in the objects of a sample; `null` if most lines are not objects, if no wrapper writes such objects, or if they have a
 * field for the address.
 */
export function enclosedIn(
  sample: Sample,
  { field, format }: LineOptions & { readonly format?: string | undefined },
): Enclosed | null {
  const lines = sampleLines(sample)
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
      return typeof text === 'string' ? text : ''
    })
    // Other programs leave out the line feeds. Then nothing tells which objects are parts.
    const hasParts = wrapper === 'docker' && texts.some((text) => text.endsWith('\n'))
    const lines = texts.map((text) =>
      hasParts && isPartOfLine(text) ? text : `${text.replace(/[\r\n]+/g, ' ')}\n`,
    )
    const bytes = encoder.encode(lines.join(''))
    return { wrapper, objects, member: line, sample: { ...sample, bytes }, hasParts }
  }
  return null
}

/** Makes the plan for the objects around lines. Throws what `planObjects` does. */
export function planEnclosing(
  { wrapper, objects, member, hasParts }: Enclosed,
  options: LineOptions,
): Planned<NdjsonPlan> {
  // Plan without the text of the lines: a list of addresses at the start of a line is not the value of a field.
  const without = objects.map((object) => ({ ...object, [member]: '' }))
  const { timeField = `/${MEMBERS[wrapper].time}` } = options
  const named = { ...options, field: `/${member}`, timeField, force: true }
  const { plan, notes } = planObjects('ndjson', without, named, false)
  return { plan: { ...plan, hasParts }, notes }
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
  readonly #parts: ObjectParts | null
  readonly #joined = new ByteSink(0)

  constructor(plan: NdjsonPlan, content: RecordReader) {
    super({ ...plan, counted: [] })
    this.#parts = plan.hasParts === true ? new ObjectParts() : null
    this.#member = plan.path.join('.')
    this.#content = content
    this.counted = content.counted
    this.rereads = content.rereads
  }

  override read(bytes: Uint8Array, start: number, end: number): RecordKind {
    if (this.#parts === null || lineEndIn(bytes, start, end) === -1) return super.read(bytes, start, end)
    const joined = this.#joined
    joined.length = 0
    this.#parts.join(bytes, start, end, joined)
    joined.writeByte(LINE_FEED)
    return super.read(joined.room(0), 0, joined.length - 1)
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
    layout: (plan) => ({
      ...NDJSON.layout(plan),
      ...withParts(plan.hasParts === true ? new ObjectParts() : null, plan),
    }),
    fieldNames: () => definition.fieldNames?.(inside) ?? null,
    makeReader: (plan, wantsFields) => new MemberReader(plan, definition.makeReader(inside, wantsFields)),
  }
}
