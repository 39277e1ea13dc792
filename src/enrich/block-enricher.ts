import { ByteSink } from '../bytes/byte-sink.ts'
import type { DatabaseSet } from '../location/database-set.ts'
import { localeOf } from '../location/locale.ts'
import { CARRIAGE_RETURN, LINE_FEED } from './ascii.ts'
import { queriesOf } from './count-plan.ts'
import { BAD_LINES_SHOWN, countRead, emptyCounts, type RunningCounts } from './counting/counts.ts'
import { OtherAddress } from './engine/other-address.ts'
import { RecordLines } from './engine/record-lines.ts'
import { OUTPUT_BYTES, type RecordLoop } from './engine/record-loop.ts'
import type { FormatDefinition } from './formats/format-definition.ts'
import { definitionFor, maskOf, type Plan } from './formats/formats.ts'
import { LineCounter } from './locating/line-counter.ts'
import { LineLocator } from './locating/line-locator.ts'
import type { AddressMask } from './masking/address-mask.ts'
import { headOf, type Layout, lineFeedsIn, type RecordEnds, recordEndsOf } from './reading/layout.ts'
import type { RecordReader } from './reading/record-reader.ts'
import type { Block } from './reading/splitter.ts'
import { UnreadLines, writeLineEnd } from './unread-lines.ts'
import type { RecordForm } from './writing/record-form.ts'

/**
 * Stop a block, at the end of a record, once its output exceeds this: a hostile database can expand input 2,000-fold.
 * The output for a block of 256 KiB, the size that runs use, of the shortest addresses is half of this. Bytes.
 */
const MAX_OUTPUT_BYTES = 2 ** 24
/** A larger copy, which only a block with a long line needs, is not kept. Bytes. */
const MAX_KEPT_BYTES = 2 ** 20
/** A record with more lines is doubtful. Values with line ends, such as addresses and remarks, rarely have as many. */
const MANY_LINES = 10
/** Identifies this thread in its output. All enrichers of the thread share it, because a run uses one after another. */
const SOURCE = /* @__PURE__ */ Math.random()
/** Room for the output of one more line. Bytes. */
const LINE_ROOM_BYTES = 65_536

const encoder = /* @__PURE__ */ new TextEncoder()

/** The output for a block, or for the first part of one. */
export interface Enriched {
  /** The output: in the memory given for it, or in new memory. */
  readonly output: Uint8Array
  /** If the block has columns: where the output has objects in place of rows, the start and the end of each. Absent if it has no rows. */
  readonly objects?: readonly number[] | undefined
  /** The thread that made the output. A packed row can refer to the text of a location in an earlier row of the same thread. */
  readonly source?: number
  /** Counts of this output only, see `block`. Lines are numbered from its start, from 1. */
  readonly counts: RunningCounts
  /** Physical lines that start in this part of the block, the header included. A CSV record can span several. */
  readonly lines: number
  /** The rest of the block, in the block's memory, to be enriched next. `null` when the block is done. */
  readonly rest: Block | null
}

/**
 * Enriches blocks of lines by a plan. Blocks are independent: each has the state that the directives before it made. Any
 * enricher of the same plan can take any block.
 */
export class BlockEnricher {
  readonly #locator: LineLocator
  readonly #form: RecordForm
  readonly #reader: RecordReader
  readonly #others: readonly OtherAddress[]
  /** The readers of all addresses. */
  readonly #readers: readonly RecordReader[]
  /** What is written after the header. */
  readonly #header: Uint8Array
  readonly #lines: RecordLines
  /** The loop for usual records; `null` if the format has none. */
  readonly #loop: RecordLoop | null
  readonly #layout: Layout
  /** The first byte of a directive; -1 if the format has none. */
  readonly #directive: number
  readonly #ends: RecordEnds
  readonly #unread: UnreadLines
  readonly #counter: LineCounter
  /** Replaces the addresses of the output; `null` if they are kept. */
  readonly #mask: AddressMask | null
  /** Where the output of the block has objects in place of rows; `null` if it has no rows. */
  #objects: number[] | null = null
  /** The output with its addresses. */
  #unmasked: ByteSink | null = null
  /** Memory for `#readable`. */
  #copy = new Uint8Array(0)
  /** Expected output bytes for each input byte, from the last large block. Sizes the first buffer. */
  #growth = 3

  /**
   * @param definition of the format of the plan
   * @param usesLoop whether usual lines are enriched by the loop of the format, if it has one. The results are the same
   * @throws InvalidDatabaseError when the databases hold no locations
   */
  constructor(
    readonly plan: Plan,
    set: DatabaseSet,
    definition: FormatDefinition<Plan> = definitionFor(plan),
    usesLoop = true,
  ) {
    const form = definition.form(plan)
    this.#form = form
    this.#locator = new LineLocator(set, plan, form.template)
    this.#others = (plan.others ?? []).map((each) => {
      const other = definitionFor(each)
      return new OtherAddress(each, set, other.makeReader(each, false), other.form(each))
    })
    const { writesLines, writesLocations } = this.#locator
    const forms = [form, ...this.#others.map((other) => other.form)]
    this.#header = encoder.encode(forms.map(({ header = '' }) => header).join(''))
    const isReplacing = forms.some(({ columns }) => columns !== undefined)
    const wantsFields = form.kind === 'object' ? writesLocations : isReplacing && writesLines
    this.#reader = definition.makeReader(plan, wantsFields)
    this.#readers = [this.#reader, ...this.#others.map(({ reader }) => reader)]
    this.#lines = new RecordLines(plan, this.#locator, this.#reader, form, this.#others)
    this.#layout = definition.layout(plan)
    this.#directive = this.#layout.directives?.firstByte ?? -1
    this.#ends = recordEndsOf(this.#layout)
    const locale = localeOf(plan.locale, plan.cityNames)
    const queries = queriesOf(plan)
    this.#counter = new LineCounter(queries, this.#locator, this.#reader, locale)
    this.#loop = usesLoop ? this.#lines.makeLoop() : null
    if (this.#loop !== null && queries.length > 0) this.#loop.counter = this.#counter
    this.#mask = maskOf(plan)
    this.#unread = new UnreadLines(plan, form, this.#reader, this.#mask)
  }

  /**
   * Enriches a block until the output exceeds 16 MiB.
   *
   * @param memory reused for the output if it is large enough; its content is overwritten
   * @throws BadLineError when a line cannot be read and the plan's `onBadLine` is `fail`; its number is in this part
   */
  block(block: Block, memory: ArrayBufferLike | null = null): Enriched {
    if (block.oversized) return this.#piece(block)
    const counts = emptyCounts()
    if (this.#others.length > 0) counts.others = this.#others.map((other) => other.restart())
    // Masks are for text and JSON.
    this.#lines.useColumns(this.#mask === null ? block.columns : undefined)
    const { row } = this.#lines
    if (this.#loop !== null) this.#loop.row = row
    this.#objects = row === null ? null : []
    const expected = Math.ceil(block.bytes.length * this.#growth)
    const out = new ByteSink(Math.min(expected + 4096, MAX_OUTPUT_BYTES + LINE_ROOM_BYTES), memory)
    const { rest, lines } = this.#maskedRecords(block, out, counts)
    if (!this.#locator.writesLines) out.length = 0
    const objects = this.#objects ?? undefined
    const size = block.bytes.length - (rest?.bytes.length ?? 0)
    // Add a tenth, so that the buffer of the next block need not grow.
    if (size > 65_536) this.#growth = (out.length / size) * 1.1
    return { output: out.take(), objects, source: SOURCE, counts, lines, rest }
  }

  /** Enriches a whole block, piece by piece. @param memory for each output @throws BadLineError as `block` does */
  *pieces(block: Block, memory: ArrayBufferLike | null = null): Generator<Enriched> {
    for (let rest: Block | null = block; rest !== null; ) {
      const enriched: Enriched = this.block(rest, memory)
      yield enriched
      rest = enriched.rest
    }
  }

  /** The counts of the locations, the times and the fields of all lines since the last call, and nothing else. */
  locationCounts(): RunningCounts {
    return { ...emptyCounts(), parts: this.#counter.take() }
  }

  /** Forgets what `locationCounts` would give. */
  forgetCounts(): void {
    this.#counter.forget()
  }

  /** `#records` with the addresses of the output masked by the plan. */
  #maskedRecords(block: Block, out: ByteSink, counts: RunningCounts): Pick<Enriched, 'rest' | 'lines'> {
    if (this.#mask === null) return this.#records(block, out, counts)
    this.#unmasked ??= new ByteSink()
    const unmasked = this.#unmasked
    unmasked.length = 0
    const result = this.#records(block, unmasked, counts)
    const { length } = unmasked
    this.#mask.write(unmasked.room(0), 0, length, out)
    if (length > MAX_KEPT_BYTES) this.#unmasked = null
    return result
  }

  #records(block: Block, out: ByteSink, counts: RunningCounts): Pick<Enriched, 'rest' | 'lines'> {
    const size = block.bytes.length
    const bytes = this.#readable(block.bytes)
    if (block.isHead) return { rest: null, lines: this.#head(bytes.subarray(0, size), out) }
    let start = 0
    let line = 1
    let state = block.state
    const ends = this.#ends
    if (this.#directive !== -1) for (const reader of this.#readers) reader.use(state)
    ends.reset(bytes)
    this.#loop?.reset(bytes, size)
    while (start < size) {
      // The loop stops only when its own output is full.
      if (this.#loop !== null && out.length + OUTPUT_BYTES <= MAX_OUTPUT_BYTES) {
        const [before, linesBefore] = [start, counts.lines]
        start = this.#loop.run(start, out, counts)
        line += counts.lines - linesBefore
        if (start > before) continue
      }
      const lineFeed = ends.next(start, size, true)
      const isPair = lineFeed > start && bytes[lineFeed - 1] === CARRIAGE_RETURN && ends.endWithLines
      const end = isPair ? lineFeed - 1 : lineFeed
      const next = Math.min(lineFeed + 1, size)
      const { endWithLines } = ends
      const lineFeeds = ends.spansLines
        ? lineFeedsIn(bytes.subarray(start, endWithLines ? lineFeed : next))
        : 0
      const lines = endWithLines ? lineFeeds + 1 : lineFeeds
      if (bytes[start] === this.#directive && lineFeed - start <= this.plan.maxLineBytes) {
        state = this.#layout.directives?.next(state, bytes, start, end)
        for (const reader of this.#readers) reader.use(state)
        // Lines that are rewritten need no directives.
        if (!this.#form.rewrites) {
          out.write(bytes, start, end)
          const text = new TextDecoder().decode(bytes.subarray(start, end))
          const added = this.#readers.map((reader) => reader.addedTo(text))
          // A record that cannot be read for one of its addresses gets no columns.
          if (!added.includes('')) out.write(encoder.encode(added.join('')))
          out.write(bytes, end, next)
        }
      } else {
        const before = out.length
        this.#lines.isRow = false
        this.#record(bytes, start, end, next, line, lines, out, counts)
        if (!this.#lines.isRow && out.length > before) this.#objects?.push(before, out.length)
      }
      line += lines
      start = next
      if (out.length > MAX_OUTPUT_BYTES && start < size && ends.mayCut(start)) {
        const rest = { ...block, bytes: block.bytes.subarray(start), state }
        // This thread can enrich later blocks before the rest. A row of the rest must not refer to a text of those blocks, which
        // come after it in the output. So the records of the rest become objects.
        if (this.plan.cells?.form === 'values') delete rest.columns
        return { rest, lines: line - 1 }
      }
    }
    return { rest: null, lines: line - 1 }
  }

  /** Writes the head of an input, unless lines become objects, which have names of their own. @returns its lines */
  #head(bytes: Uint8Array, out: ByteSink): number {
    const { header, lines } = headOf(bytes, this.#layout)
    if (this.#form.rewrites) return lines
    const end = header.length === 0 ? bytes.length : header.byteOffset - bytes.byteOffset + header.length
    out.write(bytes, 0, end)
    if (header.length > 0) out.write(this.#header)
    out.write(bytes, end, bytes.length)
    return lines
  }

  /**
   * The bytes with a line feed at their end, because scanners stop there. Shared memory is copied to
   * memory of this thread.
   */
  #readable(bytes: Uint8Array): Uint8Array {
    const isEnded = bytes.at(-1) === LINE_FEED
    if (isEnded && bytes.buffer instanceof ArrayBuffer) return bytes
    const size = isEnded ? bytes.length : bytes.length + 1
    const copy = this.#copy.length >= size ? this.#copy : new Uint8Array(size)
    if (size <= MAX_KEPT_BYTES) this.#copy = copy
    copy.set(bytes)
    copy[size - 1] = LINE_FEED
    return copy.subarray(0, size)
  }

  /** Enriches the record `bytes[start, end)`. Its line end, which the last record can lack, is `bytes[end, next)`. */
  #record(
    bytes: Uint8Array,
    start: number,
    end: number,
    next: number,
    line: number,
    lines: number,
    out: ByteSink,
    counts: RunningCounts,
  ): void {
    counts.lines++
    const before = out.length
    const { endWithLines, contentStart } = this.#ends
    // The line feed of a line is not counted.
    const size = next - start - (endWithLines && bytes[next - 1] === LINE_FEED ? 1 : 0)
    const isTooLong = size > this.plan.maxLineBytes
    const result = isTooLong ? 'bad' : start === end ? 'blank' : this.#lines.line(bytes, start, end, out)
    const isRead = result === 'resolved' || result === 'unresolved'
    if (isRead && !this.#locator.wants(this.#locator.number)) {
      counts.excluded++
      out.length = before
      return
    }
    // The format did not read a line that is blank or too long: its doubt is about an earlier line.
    let doubt = isRead ? this.#reader.doubt : ''
    if (lines > MANY_LINES && result !== 'blank' && endWithLines)
      doubt = `its record has ${lines} lines: look at its quotes`
    if (doubt) {
      counts.doubtful++
      if (counts.doubtfulLines.length < BAD_LINES_SHOWN) counts.doubtfulLines.push({ line, message: doubt })
    }
    if (isRead) {
      const { number, hasTime, writesLines } = this.#locator
      countRead(counts, number, hasTime)
      this.#counter.count()
      const isOmitted = result === 'resolved' ? this.plan.onlyFailed : this.plan.dropUnresolved
      if (isOmitted || !writesLines) out.length = before
      else writeLineEnd(this.#form, bytes, end, next, out)
      return
    }
    out.length = before
    if (result === 'blank') {
      counts.blank++
      const { isRows, onlyFailed } = this.plan
      if (!isRows && !this.#form.rewrites && !onlyFailed) out.write(bytes, start, next)
      if (!isRows) return
    } else {
      // Lines can come between the start of a record and its content. A record that is too long is named by its first line.
      const linesBefore = endWithLines || isTooLong ? 0 : lineFeedsIn(bytes.subarray(start, contentStart))
      this.#unread.count(line + linesBefore, isTooLong, bytes.subarray(start, end), counts)
    }
    this.#unread.write(bytes, start, end, next, isTooLong, out)
  }

  /** Writes or drops a piece of a line that is too long to be read. */
  #piece({ bytes, startsLine }: Block): Enriched {
    const counts = emptyCounts()
    if (startsLine) {
      counts.lines++
      this.#unread.count(1, true, bytes, counts)
    }
    const piece = new ByteSink(bytes.length)
    this.#unread.writePiece(bytes, startsLine, piece)
    const output = this.#mask === null ? piece.take() : maskedPiece(this.#mask, piece.take(), startsLine)
    const lines = this.#ends.endWithLines ? counts.lines : lineFeedsIn(bytes)
    return { output: this.#locator.writesLines ? output : new Uint8Array(0), counts, lines, rest: null }
  }
}

function maskedPiece(mask: AddressMask, bytes: Uint8Array, startsLine: boolean): Uint8Array {
  const out = new ByteSink(bytes.length)
  mask.writePiece(bytes, startsLine, bytes.at(-1) === LINE_FEED, out)
  return out.take()
}
