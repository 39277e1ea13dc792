import type { ByteSink } from '../bytes/byte-sink.ts'
import { CARRIAGE_RETURN, LINE_FEED } from './ascii.ts'
import { addBadLine, type RunningCounts } from './counting/counts.ts'
import { BadLineError } from './errors.ts'
import type { Plan } from './formats/formats.ts'
import type { AddressMask } from './masking/address-mask.ts'
import type { RecordReader } from './reading/record-reader.ts'
import { RawLines } from './writing/json-text.ts'
import type { RecordForm } from './writing/record-form.ts'

/** Counts and writes records that are not read, as the option `onBadLine` asks, and rows without content. */
export class UnreadLines {
  /** Writes bad lines as JSON; `null` if they are kept, dropped or an error. */
  readonly #raw: RawLines | null
  /** Writes lines that are too long as JSON; `null` if they are kept, dropped or an error. */
  readonly #rawTooLong: RawLines | null
  /** What is written after a row that cannot be read. */
  readonly #nothing: Uint8Array

  constructor(
    private readonly plan: Plan,
    private readonly form: RecordForm,
    private readonly reader: RecordReader,
    mask: AddressMask | null,
  ) {
    const isRaw = plan.onBadLine === 'raw'
    const isObject = form.rewrites || plan.cells !== undefined || (plan.isRows && form.kind === 'member')
    const raw = new RawLines(plan, mask)
    this.#raw = isRaw && isObject ? raw : null
    this.#rawTooLong = plan.cutsLines === true && plan.onBadLine !== 'drop' ? raw : this.#raw
    this.#nothing = new TextEncoder().encode(isRaw && this.#raw === null ? form.nothing : '')
  }

  /** Counts a record. @throws BadLineError when the plan's `onBadLine` is `fail` */
  count(line: number, isTooLong: boolean, bytes: Uint8Array, counts: RunningCounts): void {
    const { onBadLine, badLineGroups, maxLineBytes } = this.plan
    const fault = isTooLong ? `it is longer than ${maxLineBytes} bytes` : this.reader.fault
    if (onBadLine === 'fail') throw new BadLineError(line, fault)
    addBadLine(counts, { line, message: fault }, bytes, badLineGroups)
  }

  /** Writes the record `bytes[start, end)`. What ends it is `bytes[end, next)`: a line end, or a byte of the record. */
  write(
    bytes: Uint8Array,
    start: number,
    end: number,
    next: number,
    isTooLong: boolean,
    out: ByteSink,
  ): void {
    const raw = isTooLong ? this.#rawTooLong : this.#raw
    const isLine = bytes[end] === LINE_FEED || bytes[end] === CARRIAGE_RETURN
    if (this.plan.isRows) this.#writeRow(bytes, start, end, next, true, out)
    else if (raw !== null) raw.write(bytes, start, isLine ? end : next, out)
    else if (this.plan.onBadLine !== 'drop') out.write(bytes, start, next)
  }

  /** Writes a piece of a record that is too long. */
  writePiece(bytes: Uint8Array, startsLine: boolean, out: ByteSink): void {
    const next = bytes.length
    const hasLineEnd = bytes.at(-1) === LINE_FEED
    const end = hasLineEnd ? next - (bytes.at(-2) === CARRIAGE_RETURN ? 2 : 1) : next
    if (this.plan.isRows) this.#writeRow(bytes, 0, end, next, startsLine, out)
    // The first piece is longer than `maxLineBytes`, so an object does not need the others.
    else if (startsLine || this.#rawTooLong === null) this.write(bytes, 0, next, next, true, out)
  }

  /** Writes a row that is not read, or a part of one. Its line end, which a part can lack, is `bytes[end, next)`. */
  #writeRow(
    bytes: Uint8Array,
    start: number,
    end: number,
    next: number,
    isFirst: boolean,
    out: ByteSink,
  ): void {
    if (this.#raw === null) out.write(bytes, start, end)
    else if (isFirst) {
      this.#raw.write(bytes, start, end, out)
      // The row has its own line end.
      out.length--
    }
    const isOpen = this.reader.isOpenAfter(bytes, start, end, isFirst)
    if (end === next) return
    if (!isOpen) out.write(this.#nothing)
    writeLineEnd(this.form, bytes, end, next, out)
  }
}

/** Writes the line end `bytes[end, next)` of a record, or a line feed. */
export function writeLineEnd(
  { rewrites }: RecordForm,
  bytes: Uint8Array,
  end: number,
  next: number,
  out: ByteSink,
): void {
  if (rewrites) out.writeByte(LINE_FEED)
  else out.write(bytes, end, next)
}
