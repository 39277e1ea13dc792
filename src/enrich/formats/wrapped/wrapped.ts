// Lines of other formats, each after what a wrapper writes before it.
import { ByteSink } from '../../../bytes/byte-sink.ts'
import type { FieldValues } from '../../counting/field-values.ts'
import type { LineFormat, LineResult } from '../../engine/line-format.ts'
import type { CommonPlan, PrefixWrapper } from '../../options.ts'
import { JsonText, jsonRoom, WRAPPER } from '../../writing/json-text.ts'
import type { FormatDefinition } from '../format-definition.ts'
import { linesOf } from '../format-definition.ts'
import { PartialLines } from './partial-lines.ts'
import { Prefix } from './prefix.ts'

const QUOTE = 0x22
const COMMA = 0x2c
const BRACE = 0x7b

/** Reads the line after the prefix by its own format, and keeps the prefix. */
class WrappedLines implements LineFormat {
  readonly rewrites: boolean
  readonly #prefix: Prefix
  readonly #inner: LineFormat
  readonly #parts: PartialLines | null
  readonly #text = new JsonText()
  readonly #memory = new ByteSink(1024)

  constructor(wrapper: PrefixWrapper, inner: LineFormat, isMember: boolean) {
    this.rewrites = inner.rewrites || isMember
    this.#prefix = new Prefix(wrapper)
    this.#inner = inner
    this.#parts = wrapper === 'cri' ? new PartialLines(0) : null
  }

  get fault(): string {
    return this.#inner.fault
  }

  get values(): FieldValues | undefined {
    return this.#inner.values
  }

  get doubt(): string {
    return this.#inner.doubt ?? ''
  }

  line(bytes: Uint8Array, start: number, end: number, out: ByteSink): LineResult {
    const from = this.#prefix.end(bytes, start, end)
    if (this.#parts?.isPart(bytes, start, end) === true)
      return this.#joined(this.#parts, bytes, start, end, out)
    return this.#content(bytes, start, from, bytes, from, end, out)
  }

  /** Enriches a line that came in parts as one line, after the prefix of its last part. */
  #joined(parts: PartialLines, bytes: Uint8Array, start: number, end: number, out: ByteSink): LineResult {
    const joined = this.#memory
    joined.length = 0
    let [last, lastEnd] = [start, start]
    for (let at = start; at < end; ) {
      const next = parts.endOfLine(bytes, at, end)
      const from = this.#prefix.end(bytes, at, next)
      joined.write(bytes, from, next)
      last = at
      lastEnd = from
      at = parts.nextLine(bytes, next, end)
    }
    const size = joined.length
    joined.write(LINE_END)
    return this.#content(bytes, last, lastEnd, joined.room(0), 0, size, out)
  }

  #content(
    prefixes: Uint8Array,
    prefixStart: number,
    prefixEnd: number,
    bytes: Uint8Array,
    start: number,
    end: number,
    out: ByteSink,
  ): LineResult {
    if (start === end) return 'blank'
    if (!this.rewrites) {
      out.write(prefixes, prefixStart, prefixEnd)
      return this.#inner.line(bytes, start, end, out)
    }
    const size = prefixEnd - prefixStart
    if (size > 0) {
      out.write(MEMBER)
      const into = out.room(jsonRoom(size))
      out.length = this.#text.put(prefixes, prefixStart, prefixEnd, into, out.length)
      out.writeByte(QUOTE)
    }
    let at = out.length
    const result = this.#inner.line(bytes, start, end, out)
    const written = out.room(0)
    while (at < out.length && written[at] !== BRACE) at++
    // The brace that opens the object becomes the comma after the first member.
    if (size > 0) written[at] = COMMA
    return result
  }
}

const encoder = /* @__PURE__ */ new TextEncoder()
const MEMBER = /* @__PURE__ */ encoder.encode(`{"${WRAPPER}":"`)
const LINE_END = /* @__PURE__ */ encoder.encode('\n')

/** The definition of a format for lines after what a wrapper writes. */
export function wrapped<Plan extends CommonPlan & { readonly format: string }>(
  definition: FormatDefinition<Plan>,
  wrapper: PrefixWrapper,
): FormatDefinition<Plan> {
  const { makeReader: _, ...ofFormat } = definition
  return {
    ...ofFormat,
    layout: (plan) => ({
      ...definition.layout(plan),
      ...(wrapper === 'cri' && { recordEnds: () => new PartialLines(plan.maxLineBytes) }),
    }),
    makeLines: (plan, locator) => {
      const isMember = plan.hasWrapperMember === true && locator.writesLines
      return new WrappedLines(wrapper, linesOf(plan, locator, definition), isMember)
    },
  }
}
