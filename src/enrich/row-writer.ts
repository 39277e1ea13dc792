import { ByteSink } from '../bytes/byte-sink.ts'
import type { DatabaseSet } from '../location/database-set.ts'
import { wrongOption } from '../option-names.ts'
import { isUint8Array } from '../realm.ts'
import { CARRIAGE_RETURN, LINE_FEED, SPACE } from './ascii.ts'
import type { LineFormat, RowParts } from './engine/record-lines.ts'
import { FORMAT_DEFINITIONS } from './formats/all-formats.ts'
import { linesOf, locatorFor, type RequiredRowOption } from './formats/format-definition.ts'
import { checkOptions, definitionOf, type Format, formatsWith, type Plan } from './formats/formats.ts'
import { AddressMask } from './masking/address-mask.ts'
import type { LineOptions, RowLineOptions } from './options.ts'
import { RAW, RawLines } from './writing/json-text.ts'

/** How rows are read and what is added to them. Nothing is guessed. */
export interface RowOptions extends RowLineOptions {
  readonly format: Format
}

/** The required options that are missing. */
export function missingRowOptions(
  options: RowLineOptions & { readonly format?: Format | undefined },
): ('format' | RequiredRowOption)[] {
  const { format, field, quoting, timeField, at } = options
  if (format === undefined) return ['format']
  const given = { field, quoting, at: at ?? timeField }
  const required = FORMAT_DEFINITIONS.find(({ name }) => name === format)?.requiredForRows ?? []
  return required.filter((name) => given[name] === undefined)
}

/** Whether `timeField` can be given in place of `at`. */
export function hasTimeField(format: Format): boolean {
  return formatsWith('timeField').includes(format)
}

/**
 * Checks the options and makes a plan without looking at a row.
 *
 * @throws TypeError when an option is missing or wrong
 * @throws InvalidLocaleError when `locale` is not a BCP 47 tag
 * @throws EnrichError when the format has no such field, or a row would have two members with one name
 */
export function makeRowPlan(options: RowOptions): Plan {
  const { format, quoting, onBadLine = 'raw' } = options
  for (const name of missingRowOptions(options)) {
    if (name === 'at' && hasTimeField(format))
      throw wrongOption`<at> or <timeField> must be given for rows: nothing is guessed`
    throw wrongOption`<${name}> must be given for rows: nothing is guessed`
  }
  checkOptions(options)
  const definition = definitionOf(format)
  if (definition.planRows === null) {
    throw wrongOption`<format> cannot be ${format} for rows: lines before the records name their columns`
  }
  if (onBadLine !== 'raw' && onBadLine !== 'keep') {
    throw wrongOption`<onBadLine> must be raw or keep: every input row needs an output row`
  }
  const { onlyFailed, dropUnresolved }: LineOptions = options
  const leaving = onlyFailed ? 'onlyFailed' : dropUnresolved ? 'dropUnresolved' : undefined
  if (leaving !== undefined) {
    throw wrongOption`<${leaving}> is not for rows: every input row needs an output row`
  }
  if (options.append === true && options.into !== undefined) {
    throw wrongOption`<into> is not for <append>: the location has no name then`
  }
  if (options.into === RAW) throw wrongOption`<into> must not be ${RAW}`
  if (definition.planRows !== undefined) return definition.planRows(options)
  const quotable = FORMAT_DEFINITIONS.filter((each) => each.requiredForRows.includes('quoting'))
  const names = quotable.map(({ name }) => name).sort()
  if (quoting !== undefined) throw wrongOption`<quoting> is for ${names.join(' and ')}`
  return definition.plan(new Uint8Array(0), true, options).plan
}

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
    const isRaw = plan.onBadLine === 'raw'
    const isJson = isRaw && (kind === 'object' || kind === 'member')
    this.#mask = AddressMask.of(plan)
    this.#parts =
      this.#format.rowParts ??
      (isJson ? rawRow(plan, this.#mask) : keptRow(new TextEncoder().encode(isRaw ? nothing : '')))
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
const keptRow = (appended: Uint8Array): RowParts => ({
  escapes: false,
  part: (bytes, start, end, out) => out.write(bytes, start, end),
  end: (out) => out.write(appended),
})

/** Writes a row as JSON, as far as a row is read. The first part of a row is the whole row, or longer than any row that is read. */
function rawRow(plan: Plan, mask: AddressMask | null): RowParts {
  const raw = new RawLines(plan, mask)
  let isStarted = false
  return {
    // JSON escapes line ends.
    escapes: true,
    part: (bytes, start, end, out) => {
      if (isStarted) return
      isStarted = true
      raw.write(bytes, start, end, out)
      // Remove its line feed.
      out.length--
    },
    end: () => {
      isStarted = false
    },
  }
}
