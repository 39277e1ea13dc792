// Lines of other formats, each after what a wrapper writes before it.

import { ByteSink } from '../../../bytes/byte-sink.ts'
import { BRACE, CARRIAGE_RETURN, COMMA, LINE_FEED, QUOTE } from '../../ascii.ts'
import type { CommonPlan, PrefixWrapper } from '../../options.ts'
import { type Layout, LineRecordEnds, lineEndIn } from '../../reading/layout.ts'
import { type RecordKind, RecordReader } from '../../reading/record-reader.ts'
import { markLength } from '../../reading/sample.ts'
import { latin1 } from '../../swar.ts'
import { JsonText, jsonRoom, WRAPPER } from '../../writing/json-text.ts'
import type { FormatDefinition } from '../format-definition.ts'
import { endOfPrefix, wrappersOf } from './prefix.ts'

/**
 * Reads the line after the prefix by its own format. The prefix is kept, or is the first member of the object: a line that came in
 * parts has the prefix of its last part.
 */
class WrappedReader extends RecordReader {
  override readonly counted: readonly number[]
  override readonly rereads: boolean
  readonly #wrapper: PrefixWrapper
  readonly #parts: Parts | null
  readonly #inner: RecordReader
  readonly #isMember: boolean
  readonly #text = new JsonText()
  /** The prefix and the line, if they are not written as they are. */
  readonly #memory = new ByteSink(1024)
  /** Where the prefix is. */
  #prefixBytes: Uint8Array = this.record
  #prefixStart = 0
  #prefixEnd = 0

  /** @param isMember whether the prefix becomes a member of the line, which is an object */
  constructor(wrapper: PrefixWrapper, inner: RecordReader, isMember: boolean) {
    super()
    this.#wrapper = wrapper
    this.#parts = partsOf(wrapper)
    this.#inner = inner
    this.#isMember = isMember
    this.counted = inner.counted.map((field) => (field === -1 ? -1 : field + 1))
    this.rereads = inner.rereads
    this.fields = [{ name: WRAPPER, kind: 'text' }, ...inner.fields]
  }

  read(bytes: Uint8Array, start: number, end: number): RecordKind {
    this.#parts?.read(bytes, start, end)
    const isPart = this.#parts?.isPart === true
    const last = isPart ? Math.max(start, bytes.lastIndexOf(LINE_FEED, end - 1) + 1) : start
    const prefixEnd = endOfPrefix(this.#wrapper, bytes, last, end)
    this.#prefixBytes = bytes
    this.#prefixStart = last
    this.#prefixEnd = prefixEnd
    if (!isPart && !this.#isMember) return this.#readContent(bytes, prefixEnd, end, start)
    const memory = this.#memory
    memory.length = 0
    if (!this.#isMember) memory.write(bytes, last, prefixEnd)
    else if (prefixEnd > last) {
      memory.write(MEMBER)
      const into = memory.room(jsonRoom(prefixEnd - last))
      memory.length = this.#text.put(bytes, last, prefixEnd, into, memory.length)
      memory.writeByte(QUOTE)
    }
    const from = memory.length
    writeContents(bytes, start, end, this.#wrapper, this.#parts, memory)
    const until = memory.length
    memory.writeByte(LINE_FEED)
    const joined = memory.room(0)
    const kind = this.#readContent(joined, from, until, 0)
    // The brace that opens the object becomes the comma after the first member.
    if (kind === 'read' && this.#isMember && from > 0) joined[joined.indexOf(BRACE, from)] = COMMA
    return kind
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

  #readContent(bytes: Uint8Array, start: number, end: number, recordStart: number): RecordKind {
    if (start === end) return 'blank'
    const inner = this.#inner
    const kind = inner.read(bytes, start, end)
    this.take(inner)
    if (kind !== 'read') return kind
    this.record = inner.record
    this.recordStart = recordStart
    this.recordEnd = inner.recordEnd
    this.insertStart = inner.insertStart
    this.insertEnd = inner.insertEnd
    this.joint = inner.joint
    this.objectStart = inner.objectStart
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
      ...withParts(partsOf(wrapper), plan),
    }),
    form: (plan) => {
      const ofLines = form(plan)
      return { ...ofLines, rewrites: ofLines.rewrites || plan.hasWrapperMember === true }
    },
    makeReader: (plan, wantsFields) => {
      const hasMember = plan.hasWrapperMember === true && plan.count === undefined
      const isMember = hasMember && form(plan).kind === 'member'
      return new WrappedReader(wrapper, makeReader(plan, wantsFields), isMember)
    },
  }
}

/** The lines of a sample without the prefixes of each wrapper that most of the first lines have. */
export function* unwrapped(sample: Uint8Array) {
  for (const wrapper of wrappersOf(sample)) {
    const contents = new ByteSink(sample.length)
    writeContents(sample, markLength(sample), sample.length, wrapper, partsOf(wrapper), contents)
    yield { wrapper, bytes: contents.take() }
  }
}

/** Writes the lines of `bytes[start, end)` without their prefixes, and without the line ends of parts that others follow. */
function writeContents(
  bytes: Uint8Array,
  start: number,
  end: number,
  wrapper: PrefixWrapper,
  parts: Parts | null,
  out: ByteSink,
): void {
  for (let line = start, next = start; next < end; line = next) {
    const lineEnd = lineEndIn(bytes, line, end)
    next = lineEnd === -1 ? end : lineEnd
    let until = next
    if (lineEnd !== -1 && parts !== null && areJoined(parts, bytes, line, next, end))
      until -= bytes[next - 2] === CARRIAGE_RETURN ? 2 : 1
    out.write(bytes, endOfPrefix(wrapper, bytes, line, until), until)
  }
}

/** Some writers cut a long line into parts, and write each part as a line. This is how they mark the parts. */
export interface Parts {
  /** A line up to this size is not a part that others follow. Bytes. */
  readonly leastBytes: number
  /** Whether the line read last is a part that others follow. */
  readonly isPart: boolean
  /** The stream of the line read last; `null` if unknown. Only parts of one stream are joined. */
  readonly stream: string | null
  /** Reads the line `bytes[start, end)`. */
  read(bytes: Uint8Array, start: number, end: number): void
}

/** Whether the line that begins at `line` is a part, and the one at `next` goes on with it. */
function areJoined(parts: Parts, bytes: Uint8Array, line: number, next: number, end: number): boolean {
  parts.read(bytes, line, next)
  const { isPart, stream } = parts
  if (!isPart || stream === null) return false
  parts.read(bytes, next, end)
  return parts.stream === stream
}

/** A time, the name of a stream, and the tag `P` of a part that others follow. */
const TAGGED = /^[^ \n]* ([^ \n]*) (P?)/
/** Bytes of the longest one, at least. */
const MAX_TAGGED = 65

/** Reads the tags that container runtimes write. */
class TaggedParts implements Parts {
  readonly leastBytes = 0
  isPart = false
  stream: string | null = null

  read(bytes: Uint8Array, start: number, end: number): void {
    const [, stream, tag] = TAGGED.exec(latin1(bytes, start, Math.min(end, start + MAX_TAGGED))) ?? []
    this.isPart = tag === 'P'
    this.stream = stream ?? null
  }
}

/** The parts of lines; `null` if all lines are whole. */
function partsOf(wrapper: PrefixWrapper): Parts | null {
  return wrapper === 'cri' ? new TaggedParts() : null
}

/** What the layout of lines has if they can come in parts. */
export function withParts(parts: Parts | null, { maxLineBytes }: CommonPlan): Partial<Layout> {
  return parts === null ? {} : { recordEnds: () => new PartialLines(parts, maxLineBytes) }
}

/**
 * Finds lines that their writer has cut into parts. A line whose parts together exceed the bound is not joined: each part is then
 * a record. Lines of the other stream can come between two parts. The parts before and after them are then records of their own,
 * because lines are written in their order.
 */
class PartialLines extends LineRecordEnds {
  readonly #parts: Parts

  constructor(parts: Parts, maxBytes: number) {
    super(null, maxBytes)
    this.#parts = parts
  }

  override next(start: number, end: number, isLast: boolean): number {
    this.contentStart = start
    this.spansLines = false
    const first = this.lineFeeds.next(start, end)
    if (start < this.plainUntil) return first === -1 && isLast ? end : first
    let last = first
    const parts = this.#parts
    if (first - start > parts.leastBytes) {
      parts.read(this.bytes, start, first)
      const { stream } = parts
      while (last !== -1 && parts.isPart) {
        const part = last
        last = this.lineFeeds.next(part + 1, end)
        const until = last === -1 ? end : last
        if (until - start > this.maxBytes) {
          this.plainUntil = part + 1
          return first
        }
        if (last === -1 && !isLast) break
        parts.read(this.bytes, part + 1, until)
        if (stream !== null && parts.stream === stream) continue
        last = part
        break
      }
    }
    this.spansLines = last !== first
    return last === -1 && isLast ? end : last
  }
}
