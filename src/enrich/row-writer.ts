import { ByteSink } from '../bytes/byte-sink.ts'
import type { DatabaseSet } from '../location/database-set.ts'
import { isUint8Array } from '../realm.ts'
import { CARRIAGE_RETURN, LINE_FEED, SPACE } from './ascii.ts'
import type { LineFormat, RowParts } from './engine/line-format.ts'
import { linesOf, locatorFor } from './formats/format-definition.ts'
import { definitionOf, type Plan } from './formats/formats.ts'
import { AddressMask, endOfCut } from './masking/address-mask.ts'
import { RawLines } from './writing/json-text.ts'

/** Stands for an index before the first search. */
const NOT_SEARCHED = -2

const NO_BYTES = new Uint8Array(0)
const ONE_SPACE = Uint8Array.of(SPACE)

/**
 * Writes exactly one row for each input row, even for rows that are blank, too long or unreadable. Rows are independent
 * of each other.
 *
 * A carriage return in a row would end it for some readers. Where quotes are text it becomes `\r`. Elsewhere it becomes a
 * space, except at the end of the row, where it belongs to the line end: there it is kept, unless the format rewrites rows.
 */
export class RowWriter {
  /** The longest row that is read. Bytes. */
  readonly maxBytes: number
  readonly #format: LineFormat
  /** Writes rows that are not read. */
  readonly #parts: RowParts
  /** Replaces the addresses of rows; `null` if they are kept. */
  readonly #mask: AddressMask | null
  /** A row with its addresses. */
  readonly #unmasked = new ByteSink(0)
  #bytes: Uint8Array = NO_BYTES
  /** Index in `#bytes` of the first carriage return that is not in an earlier row; -1 when there is none. */
  #return = NOT_SEARCHED
  /** Whether a carriage return at the end of the last part of an overlong row is not written yet. */
  #holdsReturn = false
  /** Whether a part of an overlong row is written. Only with a mask. */
  #isInLongRow = false

  /**
   * @param plan made by `makeRowPlan`
   * @throws InvalidDatabaseError when the databases hold no locations
   */
  constructor(plan: Plan, set: DatabaseSet) {
    this.maxBytes = plan.maxLineBytes
    const definition = definitionOf(plan.format)
    const locator = locatorFor(set, plan, definition)
    this.#format = definition.makeRows?.(plan, locator) ?? linesOf(plan, locator, definition)
    const { kind, nothing } = definition.form(plan)
    const appended = kind === 'object' || kind === 'member' ? null : new TextEncoder().encode(nothing)
    this.#parts =
      this.#format.rowParts ??
      (plan.onBadLine === 'raw' && appended === null
        ? new RawRow(plan)
        : new KeptRow(plan.onBadLine === 'raw' ? appended : null))
    this.#mask = AddressMask.of(plan)
  }

  /** Sets the bytes of the next rows. They must not change before these rows are written. */
  use(bytes: Uint8Array): void {
    this.#bytes = bytes
    // The bytes can be the start of a long row, with more each time: do not search them before the row is complete.
    this.#return = NOT_SEARCHED
  }

  /**
   * Writes the row in `[start, end)` of the bytes in use, without a line feed. Write rows in order.
   *
   * @param end index of the line feed after the row, which must exist
   */
  write(start: number, end: number, out: ByteSink): void {
    if (end - start > this.maxBytes) {
      this.writePart(start, end, out)
      this.writeEnd(out)
    } else if (this.#mask === null) this.#write(start, end, out)
    else {
      const unmasked = this.#unmasked
      unmasked.length = 0
      this.#write(start, end, unmasked)
      this.#mask.write(unmasked.room(0), 0, unmasked.length, out)
    }
  }

  #write(start: number, end: number, out: ByteSink): void {
    const bytes = this.#bytes
    const { rewrites, rowParts } = this.#format
    if (rowParts?.escapes === true) {
      this.#format.line(bytes, start, end, out)
      return
    }
    if (this.#return !== -1 && this.#return < start) this.#return = bytes.indexOf(CARRIAGE_RETURN, start)
    const hasReturn = this.#return !== -1 && this.#return < end
    const isEndedByReturn = hasReturn && bytes[end - 1] === CARRIAGE_RETURN
    const last = isEndedByReturn ? end - 1 : end
    const before = out.length
    const isRead = start < last || rowParts !== undefined
    const result = isRead ? this.#format.line(bytes, start, last, out) : 'blank'
    if (result === 'blank' || result === 'bad') {
      out.length = before
      this.#parts.part(bytes, start, last, out)
      this.#parts.end(out)
    }
    if (!hasReturn) return
    withoutReturns(out, before)
    if (isEndedByReturn && !rewrites) out.writeByte(CARRIAGE_RETURN)
  }

  /** Writes a part of a row that is too long: `[start, end)` of the bytes in use. */
  writePart(start: number, end: number, out: ByteSink): void {
    if (this.#mask === null) {
      this.#writePart(start, end, out)
      return
    }
    const unmasked = new ByteSink(end - start)
    this.#writePart(start, end, unmasked)
    this.#mask.writePiece(unmasked.take(), !this.#isInLongRow, false, out)
    this.#isInLongRow = true
  }

  #writePart(start: number, end: number, out: ByteSink): void {
    if (this.#parts.escapes) this.#parts.part(this.#bytes, start, end, out)
    else if (start < end) {
      const before = out.length
      if (this.#holdsReturn) this.#parts.part(ONE_SPACE, 0, 1, out)
      this.#holdsReturn = this.#bytes[end - 1] === CARRIAGE_RETURN
      this.#parts.part(this.#bytes, start, this.#holdsReturn ? end - 1 : end, out)
      withoutReturns(out, before)
    }
  }

  /** Ends a row that is too long. */
  writeEnd(out: ByteSink): void {
    this.#parts.end(out)
    if (this.#holdsReturn && !this.#format.rewrites) out.writeByte(CARRIAGE_RETURN)
    this.#holdsReturn = false
    this.#isInLongRow = false
  }

  /**
   * Enriches separate rows. A line feed at the end of a row is not a part of it.
   *
   * @returns the output rows, without line feeds, in one buffer
   * @throws TypeError when a row is not bytes
   */
  rows(rows: readonly Uint8Array[]): Uint8Array[] {
    let size = 0
    const ends = rows.map((row) => {
      if (!isUint8Array(row)) throw new TypeError('a row must be a Uint8Array')
      size += row.at(-1) === LINE_FEED ? row.length : row.length + 1
      return size - 1
    })
    const bytes = new Uint8Array(size)
    let start = 0
    for (const [index, end] of ends.entries()) {
      bytes.set(rows[index]?.subarray(0, end - start) ?? NO_BYTES, start)
      const row = bytes.subarray(start, end)
      if (this.#format.rowParts?.escapes !== true && row.includes(LINE_FEED))
        row.forEach((byte, at) => {
          if (byte === LINE_FEED) row[at] = SPACE
        })
      bytes[end] = LINE_FEED
      start = end + 1
    }
    return this.#written(bytes, ends)
  }

  /** Enriches rows that each end with a line feed; the last can lack it. @returns as `rows` does */
  rowsIn(bytes: Uint8Array): Uint8Array[] {
    const ended = bytes.length === 0 || bytes.at(-1) === LINE_FEED ? bytes : new Uint8Array(bytes.length + 1)
    if (ended !== bytes) {
      ended.set(bytes)
      ended[bytes.length] = LINE_FEED
    }
    const ends: number[] = []
    for (let end = ended.indexOf(LINE_FEED); end !== -1; end = ended.indexOf(LINE_FEED, end + 1))
      ends.push(end)
    return this.#written(ended, ends)
  }

  #written(bytes: Uint8Array, ends: readonly number[]): Uint8Array[] {
    const out = new ByteSink(2 * bytes.length + 4096)
    this.use(bytes)
    let start = 0
    const places = ends.map((end) => {
      const from = out.length
      this.write(start, end, out)
      start = end + 1
      return [from, out.length] as const
    })
    const written = out.take()
    return places.map(([from, to]) => written.subarray(from, to))
  }
}

function withoutReturns(out: ByteSink, from: number): void {
  const bytes = out.room(0)
  for (let at = from; at < out.length; at++) if (bytes[at] === CARRIAGE_RETURN) bytes[at] = SPACE
}

/** Keeps a row, and appends what is appended to a row without a location. */
class KeptRow implements RowParts {
  readonly escapes = false
  readonly #appended: Uint8Array

  constructor(appended: Uint8Array | null) {
    this.#appended = appended ?? NO_BYTES
  }

  part(bytes: Uint8Array, start: number, end: number, out: ByteSink): void {
    out.write(bytes, start, end)
  }

  end(out: ByteSink): void {
    out.write(this.#appended)
  }
}

/** Writes a row as JSON, as far as a row is read. */
class RawRow implements RowParts {
  // JSON escapes line ends.
  readonly escapes = true
  readonly #raw: RawLines
  readonly #maxBytes: number
  readonly #isMasked: boolean
  #isStarted = false

  constructor(plan: Plan) {
    this.#raw = new RawLines(plan)
    this.#maxBytes = plan.maxLineBytes
    this.#isMasked = AddressMask.of(plan) !== null
  }

  /** The first part of a row is the whole row, or longer than any row that is read. */
  part(bytes: Uint8Array, start: number, end: number, out: ByteSink): void {
    if (this.#isStarted) return
    this.#isStarted = true
    const most = start + this.#maxBytes
    this.#raw.write(
      bytes,
      start,
      end <= most ? end : this.#isMasked ? endOfCut(bytes, start, most) : most,
      out,
    )
    // Remove its line feed.
    out.length--
  }

  end(): void {
    this.#isStarted = false
  }
}
