import { ByteSink } from '../bytes/byte-sink.ts'
import type { DatabaseSet } from '../location/database-set.ts'
import { wrongOption } from '../option-names.ts'
import { isUint8Array } from '../realm.ts'
import { BACKSLASH, CARRIAGE_RETURN, LINE_FEED, SMALL_N, SMALL_R, SPACE } from './ascii.ts'
import { BlockEnricher } from './block-enricher.ts'
import { FORMAT_DEFINITIONS } from './formats/all-formats.ts'
import type { RequiredRowOption } from './formats/format-definition.ts'
import { checkOptions, definitionOf, type Format, formatsWith, type Plan } from './formats/formats.ts'
import type { LineOptions, RowLineOptions } from './options.ts'

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
  if (definition.planRows !== undefined) return definition.planRows(options)
  const quotable = FORMAT_DEFINITIONS.filter((each) => each.requiredForRows.includes('quoting'))
  const names = quotable.map(({ name }) => name).sort()
  if (quoting !== undefined) throw wrongOption`<quoting> is for ${names.join(' and ')}`
  return { ...definition.plan({ bytes: new Uint8Array(0), isWhole: true }, options).plan, isRows: true }
}

const LINE_END = Uint8Array.of(LINE_FEED)

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
  readonly #enricher: BlockEnricher
  /** Whether line ends in rows are escaped. Otherwise they become spaces. */
  readonly #escapes: boolean
  /** Whether the bytes so far end in a backslash that escapes what comes next. */
  #isOpen = false
  /** Memory for the next output. */
  #memory: ArrayBufferLike | null = null

  /**
   * @param plan made by `makeRowPlan`
   * @throws InvalidDatabaseError when the databases hold no locations
   */
  constructor(plan: Plan, set: DatabaseSet) {
    this.maxBytes = plan.maxLineBytes
    this.#enricher = new BlockEnricher(plan, set)
    this.#escapes = 'quotes' in plan && !plan.quotes
  }

  /**
   * The next bytes of an input, as {@link write} takes them. If line ends are escaped, so are the carriage returns in them. A
   * backslash at the end of a row is completed: it would escape the delimiter after it, and shift the columns.
   */
  escaped(bytes: Uint8Array): Uint8Array {
    if (!this.#escapes || !(this.#isOpen || bytes.includes(BACKSLASH) || bytes.includes(CARRIAGE_RETURN)))
      return bytes
    const out = new ByteSink(bytes.length)
    this.#escape(bytes, bytes.length, false, out)
    return out.take()
  }

  #escape(bytes: Uint8Array, end: number, isRow: boolean, out: ByteSink): void {
    for (const byte of bytes.subarray(0, end)) {
      const letter = byte === CARRIAGE_RETURN ? SMALL_R : byte === LINE_FEED && isRow ? SMALL_N : 0
      if (this.#isOpen && (letter !== 0 || byte === LINE_FEED)) out.writeByte(BACKSLASH)
      if (letter !== 0) out.writeByte(BACKSLASH)
      out.writeByte(letter || byte)
      this.#isOpen = byte === BACKSLASH && !this.#isOpen
    }
  }

  /**
   * Writes rows, each with its line feed, or a part of a row that is too long. Each output is valid until the next one.
   *
   * @param isPart whether the bytes are a part of a row that is too long. A part does not end between a carriage return and a line feed
   * @param startsRow `false` for the second and further parts
   */
  *write(bytes: Uint8Array, isPart = false, startsRow = true): Generator<Uint8Array> {
    const block = { bytes, isHead: false, oversized: isPart, startsLine: startsRow }
    for (const { output } of this.#enricher.pieces(block, this.#memory)) {
      this.#memory = output.buffer
      for (let at = output.indexOf(CARRIAGE_RETURN); at !== -1; at = output.indexOf(CARRIAGE_RETURN, at + 1))
        if (output[at + 1] !== LINE_FEED) output[at] = SPACE
      yield output
    }
  }

  /**
   * Enriches separate rows. A line feed at the end of a row is not a part of it.
   *
   * @returns the output rows, without line feeds, in one buffer
   * @throws TypeError when a row is not bytes
   */
  rows(rows: readonly Uint8Array[]): Uint8Array[] {
    const joined = new ByteSink()
    for (const row of rows) {
      if (!isUint8Array(row)) throw new TypeError('a row must be a Uint8Array')
      const end = row.at(-1) === LINE_FEED ? row.length - 1 : row.length
      if (this.#escapes) this.#escape(row, end, true, joined)
      else
        for (let at = 0; at < end; ) {
          const lineFeed = row.indexOf(LINE_FEED, at)
          const until = lineFeed === -1 ? end : Math.min(lineFeed, end)
          joined.write(row, at, until)
          if (until < end) joined.writeByte(SPACE)
          at = until + 1
        }
      this.#escape(LINE_END, 1, false, joined)
    }
    return this.#written(joined.take())
  }

  /** Enriches rows that each end with a line feed; the last can lack it. @returns as `rows` does */
  rowsIn(bytes: Uint8Array): Uint8Array[] {
    if (bytes.length === 0 || bytes.at(-1) === LINE_FEED) return this.#written(this.escaped(bytes))
    const ended = new Uint8Array(bytes.length + 1)
    ended.set(bytes)
    ended[bytes.length] = LINE_FEED
    return this.#written(this.escaped(ended))
  }

  #written(rows: Uint8Array): Uint8Array[] {
    const out = new ByteSink(2 * rows.length + 4096)
    for (const output of this.write(rows)) out.write(output)
    const all = out.take()
    const written: Uint8Array[] = []
    let start = 0
    for (let end = all.indexOf(LINE_FEED); end !== -1; end = all.indexOf(LINE_FEED, start)) {
      written.push(all.subarray(start, end))
      start = end + 1
    }
    return written
  }
}
