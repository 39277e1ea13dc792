import { ByteSink } from '../bytes/byte-sink.ts'
import type { DatabaseSet } from '../location/database-set.ts'
import { localeOf } from '../location/locale.ts'
import { CARRIAGE_RETURN, LINE_FEED } from './ascii.ts'
import { queriesOf } from './count-plan.ts'
import {
  addBadLineGroup,
  BAD_LINES_SHOWN,
  type Counts,
  emptyCounts,
  type RunningCounts,
} from './counting/counts.ts'
import type { RecordLines } from './engine/record-lines.ts'
import { OUTPUT_BYTES, type RecordLoop } from './engine/record-loop.ts'
import { BadLineError } from './errors.ts'
import type { FormatDefinition } from './formats/format-definition.ts'
import { linesOf, locatorFor } from './formats/format-definition.ts'
import { definitionFor, type Plan } from './formats/formats.ts'
import { LineCounter } from './locating/line-counter.ts'
import type { LineLocator } from './locating/line-locator.ts'
import { AddressMask, endOfCut } from './masking/address-mask.ts'
import { type Layout, lineFeedsIn, preambleLength, recordEndsOf } from './reading/layout.ts'
import type { RecordEnds } from './reading/record-ends.ts'
import { markLength } from './reading/sample.ts'
import type { Block } from './reading/splitter.ts'
import { RawLines } from './writing/json-text.ts'

/**
 * Stop a block, at the end of a record, once its output exceeds this: a hostile database can expand input 2,000-fold.
 * The output for a block of 256 KiB, the size that runs use, of the shortest addresses is half of this. Bytes.
 */
const MAX_OUTPUT_BYTES = 2 ** 24
/** The memory of larger copies, those of blocks with a long line, is not kept. Bytes. */
const MAX_KEPT_BYTES = 2 ** 20
/** Bytes of a bad line that a report shows. */
const MAX_BAD_TEXT_BYTES = 200
/** A record with more lines is doubtful. Values with line ends, such as addresses and remarks, rarely have as many. */
const MANY_LINES = 10
/** Room for the output of one more line. Bytes. */
const LINE_ROOM_BYTES = 65_536

/** The output for a block, or for the first part of one. */
export interface Enriched {
  /** The output: in the memory given for it, in new memory, or in the memory of an oversized block. */
  readonly output: Uint8Array
  /** Counts of this output only, see `block`. Lines are numbered from its start, from 1. */
  readonly counts: RunningCounts
  /** Counts of the other addresses of each line; absent if one is located. */
  readonly others?: readonly RunningCounts[]
  /** Physical lines that start in this part of the block, the header included. A CSV record can span several. */
  readonly lines: number
  /** The rest of the block, in the block's memory, to be enriched next. `null` when the block is done. */
  readonly rest: Block | null
}

/** Enriches blocks of lines by a plan. */
export interface Enricher
  extends Pick<BlockEnricher, 'block' | 'pieces' | 'locationCounts' | 'forgetCounts'> {}

/**
 * Enriches blocks of lines by a plan. Blocks are independent: each has the state that the directives before it made. Any
 * enricher of the same plan can take any block.
 */
export class BlockEnricher {
  readonly #plan: Plan
  readonly #locator: LineLocator
  readonly #format: RecordLines
  /** The loop for usual records; `null` if the format has none. */
  readonly #loop: RecordLoop | null
  readonly #layout: Layout
  /** The first byte of a directive; -1 if the format has none. */
  readonly #directive: number
  readonly #ends: RecordEnds
  /** Writes bad lines as JSON; `null` if they are kept, dropped or an error. */
  readonly #raw: RawLines | null
  readonly #counter: LineCounter
  /** Replaces the addresses of the output; `null` if they are kept. */
  readonly #mask: AddressMask | null
  /** The output with its addresses. */
  #unmasked: ByteSink | null = null
  /** Memory for `#readable`. */
  #copy = new Uint8Array(0)
  /** Expected output bytes for each input byte, from the last large block. Sizes the first buffer. */
  #growth = 3

  /**
   * @param definition of the format of the plan
   * @param isFused whether usual lines are enriched by the loop of the format, if it has one. The results are the same
   * @throws InvalidDatabaseError when the databases hold no locations
   */
  constructor(
    plan: Plan,
    set: DatabaseSet,
    definition: FormatDefinition<Plan> = definitionFor(plan),
    isFused = true,
  ) {
    this.#plan = plan
    this.#locator = locatorFor(set, plan, definition)
    this.#format = linesOf(plan, this.#locator, definition)
    this.#layout = definition.layout(plan)
    this.#directive = this.#layout.directives?.firstByte ?? -1
    this.#ends = recordEndsOf(this.#layout)
    const locale = localeOf(plan.locale, plan.cityNames)
    this.#counter = new LineCounter(queriesOf(plan), this.#locator, this.#format.values, locale)
    // Loops take lines of all countries.
    const loop = isFused && plan.countries === undefined ? this.#format.makeLoop() : null
    if (loop !== null) loop.counter = this.#counter
    this.#loop = loop
    const isRaw = plan.onBadLine === 'raw' && (this.#format.rewrites || plan.cells !== undefined)
    this.#raw = isRaw ? new RawLines(plan) : null
    this.#mask = AddressMask.of(plan)
  }

  /** Enriches a whole block, piece by piece. @throws BadLineError as `block` does */
  *pieces(block: Block): Generator<Enriched> {
    for (let rest: Block | null = block; rest !== null; ) {
      const enriched = this.block(rest)
      yield enriched
      rest = enriched.rest
    }
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
    const expected = Math.ceil(block.bytes.length * this.#growth)
    const out = new ByteSink(Math.min(expected + 4096, MAX_OUTPUT_BYTES + LINE_ROOM_BYTES), memory)
    const { rest, lines } = this.#maskedRecords(block, out, counts)
    if (!this.#locator.writesLines) out.length = 0
    const size = block.bytes.length - (rest?.bytes.length ?? 0)
    // Add a tenth, so that the buffer of the next block need not grow.
    if (size > 65_536) this.#growth = (out.length / size) * 1.1
    return { output: out.take(), counts, lines, rest }
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
    let start = block.isStart ? preambleLength(bytes, size, this.#layout) : 0
    if (start > 0 && !this.#format.rewrites) out.write(bytes, 0, start)
    let line = start > markLength(bytes, size) ? this.#layout.preambleLines + 1 : 1
    let state = block.state
    const ends = this.#ends
    if (this.#directive !== -1) this.#format.use(state)
    ends.reset(bytes)
    this.#loop?.reset(bytes, size)
    while (start < size) {
      // The loop stops only when its own output is full.
      if (this.#loop !== null && line > block.headerLine && out.length + OUTPUT_BYTES <= MAX_OUTPUT_BYTES) {
        const before = start
        start = this.#loop.run(start, out, counts)
        line += this.#loop.lines
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
      if (line === block.headerLine) {
        // Objects have names of their own, and no header.
        if (!this.#format.rewrites) {
          this.#format.header(bytes, start, end, out)
          this.#writeEnd(bytes, end, next, out)
        }
      } else if (bytes[start] === this.#directive && lineFeed - start <= this.#plan.maxLineBytes) {
        state = this.#layout.directives?.next(state, bytes, start, end)
        this.#format.use(state)
        this.#writeDirective(bytes, start, end, next, out)
      } else this.#record(bytes, start, end, next, line, lines, out, counts)
      line += lines
      start = next
      if (out.length > MAX_OUTPUT_BYTES && start < size && ends.mayCut(start)) {
        const headerLine = Math.max(block.headerLine - line + 1, 0)
        return {
          rest: { ...block, bytes: block.bytes.subarray(start), isStart: false, headerLine, state },
          lines: line - 1,
        }
      }
    }
    return { rest: null, lines: line - 1 }
  }

  /**
   * The bytes with a line feed at their end, for scanners that stop at one, and in memory that is not shared: V8 takes
   * longer to copy a line from or to shared memory.
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
    const fault = this.#faultOfLength(bytes, start, next)
    const result =
      fault !== null ? 'bad' : start === end ? 'blank' : this.#format.line(bytes, start, end, out)
    if (result === 'resolved' || result === 'unresolved') {
      if (!this.#locator.isWanted) {
        counts.excluded++
        out.length = before
        return
      }
      if (!this.#locator.hasTime) counts.withoutTime++
      this.#counter.count()
      if (!this.#locator.writesLines) out.length = before
    }
    // The format has read neither a blank line nor one that is too long: its doubt is about an earlier line.
    const doubt = result === 'bad' || result === 'blank' ? null : this.#format.doubt
    const isMany = lines > MANY_LINES && result !== 'blank' && this.#ends.endWithLines
    if (isMany || doubt) {
      this.#countDoubtful(
        line,
        isMany ? `its record has ${lines} lines: look at its quotes` : (doubt ?? ''),
        counts,
      )
    }
    switch (result) {
      case 'resolved':
        counts.resolved++
        if (this.#plan.onlyFailed) out.length = before
        else if (this.#locator.writesLines) this.#writeEnd(bytes, end, next, out)
        break
      case 'unresolved': {
        const { reason } = this.#locator
        counts.failed[reason] = (counts.failed[reason] ?? 0) + 1
        if (this.#plan.dropUnresolved) out.length = before
        else if (this.#locator.writesLines) this.#writeEnd(bytes, end, next, out)
        break
      }
      case 'blank':
        counts.blank++
        out.length = before
        if (!this.#format.rewrites && !this.#plan.onlyFailed) out.write(bytes, start, next)
        break
      case 'bad':
        this.#countBad(
          line + this.#linesBefore(bytes, start, fault),
          fault ?? this.#format.fault,
          bytes.subarray(start, end),
          counts,
        )
        out.length = before
        if (this.#raw !== null) {
          const whole = this.#ends.endWithLines || bytes[end] === LINE_FEED ? end : next
          this.#raw.write(bytes, start, this.#endOfRaw(bytes, start, whole), out)
        } else if (this.#plan.onBadLine !== 'drop') out.write(bytes, start, next)
    }
  }

  /** The lines between the start of a record and its content. A record that is too long is named by its first line. */
  #linesBefore(bytes: Uint8Array, start: number, faultOfLength: string | null): number {
    const isPlain = this.#ends.endWithLines || faultOfLength !== null
    return isPlain ? 0 : lineFeedsIn(bytes.subarray(start, this.#ends.contentStart))
  }

  /** The fault of a record that is longer than the plan allows, else `null`. Its line feed is not counted. */
  #faultOfLength(bytes: Uint8Array, start: number, next: number): string | null {
    const hasLineFeed = this.#ends.endWithLines && bytes[next - 1] === LINE_FEED
    const size = next - start - (hasLineFeed ? 1 : 0)
    return size > this.#plan.maxLineBytes ? tooLong(this.#plan) : null
  }

  /** Lines that are rewritten need no directives. */
  #writeDirective(bytes: Uint8Array, start: number, end: number, next: number, out: ByteSink): void {
    if (this.#format.rewrites) return
    this.#format.directive(bytes, start, end, out)
    this.#writeEnd(bytes, end, next, out)
  }

  #writeEnd(bytes: Uint8Array, end: number, next: number, out: ByteSink): void {
    if (this.#format.rewrites) out.writeByte(LINE_FEED)
    else out.write(bytes, end, next)
  }

  /** Writes or drops a piece of a line that is too long to be read. */
  #piece(block: Block): Enriched {
    const counts = emptyCounts()
    if (block.startsLine) {
      counts.lines++
      this.#countBad(1, tooLong(this.#plan), block.bytes, counts)
    }
    // The byte order mark is not a part of the first line.
    const mark = block.isStart ? markLength(block.bytes) : 0
    const start = this.#format.rewrites ? mark : 0
    const end = this.#plan.onBadLine === 'drop' ? mark : block.bytes.length
    const isWhole = start === 0 && end === block.bytes.length
    const kept = (): Uint8Array => (isWhole ? block.bytes : block.bytes.slice(start, end))
    const output = this.#raw === null ? kept() : this.#rawPiece(this.#raw, block, mark)
    const masked = this.#mask === null ? output : this.#maskedPiece(this.#mask, output, block.startsLine)
    const lines = this.#ends.endWithLines ? counts.lines : lineFeedsIn(block.bytes)
    return { output: this.#locator.writesLines ? masked : new Uint8Array(0), counts, lines, rest: null }
  }

  #maskedPiece(mask: AddressMask, output: Uint8Array, startsLine: boolean): Uint8Array {
    const out = new ByteSink(output.length)
    mask.writePiece(output, startsLine, output.at(-1) === LINE_FEED, out)
    return out.take()
  }

  /** The first piece is longer than `maxLineBytes`, so the object does not need the others. */
  #rawPiece(raw: RawLines, { bytes, startsLine }: Block, mark: number): Uint8Array {
    if (!startsLine) return new Uint8Array(0)
    const out = new ByteSink()
    raw.write(bytes, mark, this.#endOfRaw(bytes, mark, bytes.length), out)
    return out.take()
  }

  /** The end of the part of a line that is written as JSON. */
  #endOfRaw(bytes: Uint8Array, start: number, end: number): number {
    const most = start + this.#plan.maxLineBytes
    return end <= most ? end : this.#mask === null ? most : endOfCut(bytes, start, most)
  }

  #countDoubtful(line: number, message: string, counts: Counts): void {
    counts.doubtful++
    if (counts.doubtfulLines.length < BAD_LINES_SHOWN) counts.doubtfulLines.push({ line, message })
  }

  #countBad(line: number, fault: string, bytes: Uint8Array, counts: RunningCounts): void {
    const { onBadLine, badLineGroups } = this.#plan
    if (onBadLine === 'fail') throw new BadLineError(line, fault)
    counts.bad++
    if (badLineGroups !== undefined) {
      const text = badLineGroups === 'text' ? startOfText(bytes) : null
      addBadLineGroup(counts, { line, message: fault, text, count: 1 })
    }
    if (counts.badLines.length < BAD_LINES_SHOWN) counts.badLines.push({ line, message: fault })
  }
}

function tooLong({ maxLineBytes }: Plan): string {
  return `it is longer than ${maxLineBytes} bytes`
}

/** The text of a line, cut to {@link MAX_BAD_TEXT_BYTES}. */
function startOfText(bytes: Uint8Array): string {
  // A copy, because a decoder does not read shared memory.
  const text = new TextDecoder().decode(bytes.slice(0, MAX_BAD_TEXT_BYTES))
  return bytes.length <= MAX_BAD_TEXT_BYTES ? text : `${text.replace(/\ufffd$/, '')}…`
}
