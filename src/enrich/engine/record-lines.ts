// The general way of the engine, for any record.
import type { ByteSink } from '../../bytes/byte-sink.ts'
import type { LineLocator } from '../locating/line-locator.ts'
import type { CommonPlan } from '../options.ts'
import type { RecordReader } from '../reading/record-reader.ts'
import { CachedView } from '../swar.ts'
import { TextNumbers } from '../writing/location-columns.ts'
import { ADDRESS_MARK, type RecordForm } from '../writing/record-form.ts'
import { MAX_LOCATIONS } from '../writing/rendered-locations.ts'
import { locateRecord, type OtherAddress } from './other-address.ts'
import { RecordLoop } from './record-loop.ts'
import { PackedRow, RecordRow } from './record-row.ts'
import { type RecordOutput, RecordWriter } from './record-writer.ts'

/**
 * The result for a line:
 * - `resolved`: written with a location
 * - `unresolved`: written without a location; the locator has the reason
 * - `bad`: it cannot be read; `fault` of the reader says why, and the caller discards what was written
 * - `blank`: it has no content; the caller discards what was written
 */
export type LineResult = 'resolved' | 'unresolved' | 'bad' | 'blank'

/** Locates the records of a reader, and writes them in a form. */
export class RecordLines {
  readonly #writer: RecordWriter
  readonly #isObject: boolean
  /** Writes records as rows of a table, if they fit its columns; `null` for a run without rows. */
  row: RecordRow | null = null
  /** Whether the record last written is a row. */
  isRow = false
  readonly #view = new CachedView()
  /** The numbers of the texts in packed rows. */
  readonly #textNumbers: TextNumbers

  /** @param others the addresses of each record besides the first */
  constructor(
    private readonly plan: CommonPlan,
    private readonly locator: LineLocator,
    private readonly reader: RecordReader,
    private readonly form: RecordForm,
    private readonly others: readonly OtherAddress[],
  ) {
    const writers = others.map(({ writer }) => writer)
    this.#writer = new RecordWriter(reader, locator, form, writers)
    this.#isObject = form.kind === 'object'
    this.#textNumbers = new TextNumbers(locator)
  }

  /** Sets the columns of a table for the next records, which become rows of it; `undefined` if they are not known. */
  useColumns(names: readonly string[] | undefined): void {
    const { cells } = this.plan
    // Rows have one location.
    const hasRows = cells !== undefined && this.#isObject && this.others.length === 0
    // The receiver of the rows keeps a text for each number, so their count must be bounded.
    if (this.#textNumbers.count > MAX_LOCATIONS) this.#textNumbers.restart(0)
    const { reader, locator, plan } = this
    if (!hasRows || names === undefined) this.row = null
    else if (cells.form !== 'values') this.row = new RecordRow(reader, locator, plan, names)
    else this.row = new PackedRow(reader, locator, plan, names, this.#textNumbers)
  }

  /** The loop for usual records; `null` if the reader has none. */
  makeLoop(): RecordLoop | null {
    if (!this.reader.hasUsual) return null
    const { writesLines, writesLocations } = this.locator
    const onlyFailed = this.#isObject && writesLines && !writesLocations
    const writer = writesLines ? this.#writer : null
    return new RecordLoop(this.reader, this.locator, writer, onlyFailed, this.plan, this.others)
  }

  /**
   * Enriches the record in `bytes[start, end)`, which has no line end and no byte order mark, and writes it without a line end.
   * The record is not empty. `bytes[end]` can be read and is a line end. If the locator does not write lines, what is written is
   * discarded.
   */
  line(bytes: Uint8Array, start: number, end: number, out: ByteSink): LineResult {
    const { reader, locator } = this
    const kind = reader.read(bytes, start, end)
    if (kind !== 'read') return kind
    for (const other of this.others) {
      const otherKind = other.read(bytes, start, end)
      reader.fault = other.reader.fault
      if (otherKind !== 'read') return otherKind
    }
    const isLocated = locateRecord(reader, locator)
    const { reason } = locator
    const isUnread = !isLocated && (reason === 'malformed' || reason === 'missing')
    if (isUnread && !reader.complete()) return 'bad'
    if (locator.writesLines && (locator.writesLocations || !isLocated)) this.#write(out)
    for (const other of this.others) other.count()
    return isLocated ? 'resolved' : 'unresolved'
  }

  #write(out: ByteSink): void {
    if (this.form.kind === 'places') {
      this.#writePlaces(out)
      return
    }
    if (this.#isObject) this.reader.complete()
    this.isRow = this.row?.fits === true
    const output: RecordOutput = (this.isRow ? this.row : null) ?? this.#writer
    output.locateFound()
    const into = out.room(output.room)
    out.length = output.put(into, this.#view.view(into), out.length)
  }

  /** Writes the record with the place of each of its addresses. Locates the chosen address again at the end. */
  #writePlaces(out: ByteSink): void {
    const { reader, locator } = this
    const { record, places } = reader
    const { texts } = locator
    let written = reader.recordStart
    for (let index = 0; index < places.length; index += 4) {
      const [tokenStart = 0, tokenEnd = 0, start = 0, end = 0] = places.slice(index, index + 4)
      if (!locator.locate(record, start, end)) continue
      texts.instant = locator.textInstant
      const textStart = texts.startOf(locator.locationNumber)
      const textEnd = textStart + texts.sizeOf(locator.locationNumber)
      const { bytes } = texts.arena
      const mark = textStart === textEnd ? textStart : bytes.indexOf(ADDRESS_MARK, textStart)
      out.write(record, written, tokenStart)
      out.write(bytes, textStart, mark)
      out.write(record, tokenStart, tokenEnd)
      if (mark < textEnd) out.write(bytes, mark + 1, textEnd)
      written = tokenEnd
    }
    out.write(record, written, reader.recordEnd)
    locator.locate(reader.addressBytes, reader.addressStart, reader.addressEnd)
  }
}
