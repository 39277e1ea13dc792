import { ByteSink } from '../bytes/byte-sink.ts'
import type { DatabaseSet } from '../location/database-set.ts'
import { isUint8Array } from '../realm.ts'
import type { LineFormat } from './formats/format-definition.ts'
import { definitionOf } from './formats/formats.ts'
import type { RowFormat } from './formats/row-format.ts'
import { LineLocator } from './locating/line-locator.ts'
import type { RowPlan } from './row-plan.ts'
import { RawLines } from './writing/json-text.ts'

const LINE_FEED = 0x0a
const CARRIAGE_RETURN = 0x0d
const SPACE = 0x20

/** Before any index. */
const NOT_SEARCHED = -2

const NO_BYTES = new Uint8Array(0)

/** What to write for a row that is blank or cannot be read. */
type Unread = 'raw' | 'append' | 'keep'

/**
 * Writes exactly one row for each input row, even for rows that are blank, too long or unreadable. Rows are independent
 * of each other.
 *
 * A carriage return in a row would end it for some readers. Where quotes are text it becomes `\r`. Elsewhere it becomes a
 * space, except at the end of the row, where it belongs to the line end: there it is kept, unless the format rewrites rows.
 */
export class RowEnricher {
  /** The longest row that is read. Bytes. */
  readonly maxBytes: number
  readonly #format: LineFormat
  /** `null` where rows are read as lines are. */
  readonly #rows: RowFormat | null
  readonly #escapes: boolean
  readonly #raw: RawLines
  readonly #unread: Unread
  /** What is appended to a row without a location. */
  readonly #nothing: Uint8Array
  #bytes: Uint8Array = NO_BYTES
  /** Index in `#bytes` of the first carriage return that is not in an earlier row; -1 when there is none. */
  #return = NOT_SEARCHED
  /** Whether a carriage return at the end of the last part of an overlong row is not written yet. */
  #holdsReturn = false

  /** @throws InvalidDatabaseError when the databases hold no locations */
  constructor({ plan, rows, keepsBadLines }: RowPlan, set: DatabaseSet) {
    this.maxBytes = plan.maxLineBytes
    const definition = definitionOf(plan.format)
    const template = definition.rows?.template(rows) ?? definition.locationTemplate?.(plan)
    const locator = new LineLocator(set, plan, template)
    this.#format = definition.makeLines(plan, locator)
    this.#rows = definition.rows?.make(rows, locator) ?? null
    this.#escapes = this.#rows?.escapes === true
    this.#raw = new RawLines(plan.into)
    const appended = definition.appended?.(plan) ?? null
    this.#nothing = appended ?? NO_BYTES
    this.#unread = keepsBadLines ? 'keep' : appended === null ? 'raw' : 'append'
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
      this.writeStart(start, end, out)
      this.writeEnd(out)
      return
    }
    const bytes = this.#bytes
    if (this.#return !== -1 && this.#return < start) this.#return = bytes.indexOf(CARRIAGE_RETURN, start)
    const hasReturn = this.#return !== -1 && this.#return < end
    if (this.#rows !== null && this.#escapes) {
      this.#rows.write(bytes, start, end, out)
      return
    }
    const isEndedByReturn = hasReturn && bytes[end - 1] === CARRIAGE_RETURN
    const last = isEndedByReturn ? end - 1 : end
    const before = out.length
    if (this.#rows !== null) this.#rows.write(bytes, start, last, out)
    else {
      const result = start === last ? 'blank' : this.#format.line(bytes, start, last, out)
      if (result === 'blank' || result === 'bad') {
        out.length = before
        this.#writeUnread(start, last, out)
      }
    }
    if (!hasReturn) return
    withoutReturns(out, before)
    if (isEndedByReturn && !this.#format.rewrites) out.writeByte(CARRIAGE_RETURN)
  }

  /** Writes the first part of a row that is too long: `[start, end)` of the bytes in use, which exceeds `maxBytes`. */
  writeStart(start: number, end: number, out: ByteSink): void {
    if (this.#rows === null && this.#unread === 'raw') this.#writeRaw(start, start + this.maxBytes, out)
    else this.writeMore(start, end, out)
  }

  /** Writes a further part of a row that is too long. */
  writeMore(start: number, end: number, out: ByteSink): void {
    if (this.#rows !== null && this.#escapes) this.#rows.writeCells(this.#bytes, start, end, out)
    else if (start < end && (this.#rows !== null || this.#unread !== 'raw')) {
      const before = out.length
      if (this.#holdsReturn) out.writeByte(SPACE)
      this.#holdsReturn = this.#bytes[end - 1] === CARRIAGE_RETURN
      this.#rows?.follow(this.#bytes, start, end)
      out.write(this.#bytes, start, this.#holdsReturn ? end - 1 : end)
      withoutReturns(out, before)
    }
  }

  /** Ends a row that is too long. */
  writeEnd(out: ByteSink): void {
    if (this.#rows !== null) this.#rows.writeEnd(out)
    else if (this.#unread === 'append') out.write(this.#nothing)
    if (this.#holdsReturn && !this.#format.rewrites) out.writeByte(CARRIAGE_RETURN)
    this.#holdsReturn = false
  }

  #writeUnread(start: number, end: number, out: ByteSink): void {
    if (this.#unread === 'raw') this.#writeRaw(start, end, out)
    else out.write(this.#bytes, start, end)
    if (this.#unread === 'append') out.write(this.#nothing)
  }

  #writeRaw(start: number, end: number, out: ByteSink): void {
    this.#raw.write(this.#bytes, start, end, out)
    // Remove its line feed.
    out.length--
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
      if (!this.#escapes && row.includes(LINE_FEED))
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
