// Lines of other formats, each after what a wrapper writes before it.

import { ByteSink } from '../../../bytes/byte-sink.ts'
import { BRACE, COMMA, LINE_FEED, QUOTE } from '../../ascii.ts'
import type { CommonPlan, PrefixWrapper } from '../../options.ts'
import { type RecordKind, RecordReader } from '../../reading/record-reader.ts'
import { JsonText, jsonRoom, WRAPPER } from '../../writing/json-text.ts'
import type { RecordForm } from '../../writing/record-form.ts'
import type { FormatDefinition } from '../format-definition.ts'
import { PartialLines, Prefix } from './prefix.ts'

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
    if (this.#parts?.isPart(bytes, start, end) === true) this.#join(this.#parts, bytes, start, end)
    else if (this.#form === 'member' && this.#hasMember) memory.write(bytes, this.#prefixEnd, end)
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

  /** Joins a line that came in parts, in memory. The prefix is that of its last part. */
  #join(parts: PartialLines, bytes: Uint8Array, start: number, end: number): void {
    for (let at = start; at < end; ) {
      const next = parts.endOfLine(bytes, at, end)
      const from = this.#prefix.end(bytes, at, next)
      this.#memory.write(bytes, from, next)
      this.#prefixStart = at
      this.#prefixEnd = from
      at = parts.nextLine(bytes, next, end)
    }
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
