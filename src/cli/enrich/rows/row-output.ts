import { ByteSink } from '../../../bytes/byte-sink.ts'
import { LINE_FEED } from '../../../enrich/ascii.ts'
import type { TablePlan } from '../../../enrich/formats/delimited/table-reader.ts'
import type { EnrichOptions } from '../../../enrich/formats/formats.ts'
import {
  checkedFields,
  columnNames,
  commonPlan,
  INTO,
  type LocationCells,
  type LocationField,
  RAW,
} from '../../../enrich/options.ts'
import { viewOf } from '../../../enrich/swar.ts'
import { UsageError } from '../../terminal.ts'
import { type AddressOption, asUsage } from '../command-line.ts'
import type { Output } from '../output.ts'
import { decodedIn, ObjectMembers } from './object-members.ts'

/** The column of members and lines that have no place in the other columns. Databricks uses this name too. */
export const RESCUED = '_rescued_data'

/** What is added to the lines for an address. */
export interface AddedColumns {
  /** The name of the member with the columns of the location as one text, and in Parquet of the column with the whole location. */
  readonly into: string
  /** What the columns have, by their names. */
  readonly fields: ReadonlyMap<string, LocationField>
  /** The name of the column with the whole autonomous system; `null` for none. Only of Parquet. */
  readonly asn: string | null
}

/** What is added for the addresses of each line, with the names of the columns. @throws UsageError for a wrong name */
export function addedColumns(options: EnrichOptions, others: readonly AddressOption[]): AddedColumns[] {
  const fields = asUsage(() => checkedFields(options))
  return [options, ...others].map(({ into }) => {
    const names = asUsage(() => columnNames(fields, { into }))
    const { asn = null } = commonPlan({ into, asn: options.asn })
    const columns = new Map(fields.map((field, index) => [names[index] ?? '', field]))
    return { into: into ?? INTO, fields: columns, asn }
  })
}

/** The error for a member of the lines that has the name of a column of the location. */
export function takenColumn(name: string): UsageError {
  return new UsageError(
    `The lines have a member ${JSON.stringify(name)} already: write other names, as in --into geo, or other columns, with --fields.`,
  )
}

/**
 * Takes the objects that a run writes, one a line, and makes rows of them, from where their members are in the bytes. A line
 * that is not an object becomes one, with its text in `raw`. Rows that the run writes itself are passed on.
 */
export abstract class RowOutput implements Output {
  /** The members of the row. */
  protected readonly members = new ObjectMembers()
  /** Whether the run writes what is wanted already. */
  keepsBytes = false
  /** Bytes written so far. */
  bytesWritten = 0
  /** Bytes that are not written yet. */
  protected readonly out = new ByteSink()
  #isEnded = false
  readonly #take = (): void => this.row()

  /** @param into the name of a member with a location: a line that is not an object has none */
  constructor(
    protected readonly target: Output,
    private readonly into: string,
  ) {}

  /** Takes the row whose {@link members} are found. */
  protected abstract row(): void

  /** Writes what comes after the last row. */
  protected abstract end(): void

  /** How the lines have a location as one text; `null` for JSON. */
  get cells(): LocationCells | null {
    return null
  }

  /** Call it before the first line of an input. @param table the plan that would keep the table that it is, or `null` */
  usePlan(_table: TablePlan | null): void {}

  async write(bytes: Uint8Array, objects: readonly number[] = [0, bytes.length], source = 0): Promise<void> {
    if (this.keepsBytes || (objects.length === 0 && this.cells?.form !== 'values')) {
      await this.sendRows()
      return this.send(bytes)
    }
    let rowsStart = 0
    for (let index = 0; index < objects.length; index += 2) {
      const [start = 0, end = 0] = objects.slice(index, index + 2)
      this.takeRows(bytes, rowsStart, start, source)
      this.rows(bytes.subarray(start, end), this.#take)
      rowsStart = end
    }
    this.takeRows(bytes, rowsStart, bytes.length, source)
    await this.sendRows()
  }

  /** Takes the rows in `bytes[start, end)`, which the run has written. */
  protected takeRows(bytes: Uint8Array, start: number, end: number, _source: number): void {
    this.out.write(bytes, start, end)
  }

  async flush(): Promise<void> {
    if (!this.#isEnded) {
      this.#isEnded = true
      if (!this.keepsBytes) this.end()
      await this.sendRows()
    }
    await this.target.flush()
  }

  async finish(): Promise<void> {
    await this.flush()
    await this.target.finish()
  }

  discard(): void {
    this.target.discard()
  }

  /** Takes the rows of whole lines. @param take called with {@link members} */
  protected rows(bytes: Uint8Array, take: () => void): void {
    const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    const view = viewOf(bytes)
    let start = 0
    while (start < bytes.length) {
      const lineFeed = buffer.indexOf(LINE_FEED, start)
      const end = lineFeed === -1 ? bytes.length : lineFeed
      if (this.members.read(bytes, view, start, end)) take()
      else this.#raw(decodedIn(bytes, start, end).trim(), take)
      start = end + 1
    }
  }

  /** Writes the bytes of `out`. */
  protected async sendRows(): Promise<void> {
    if (this.out.length > 0) await this.send(this.out.bytes)
    this.out.length = 0
  }

  /** @param bytes some */
  protected async send(bytes: Uint8Array): Promise<void> {
    this.bytesWritten += bytes.length
    await this.target.write(bytes)
  }

  #raw(text: string, take: () => void): void {
    if (text === '') return
    const bytes = Buffer.from(`{"${RAW}":${JSON.stringify(text)},${JSON.stringify(this.into)}:null}`)
    this.members.read(bytes, viewOf(bytes), 0, bytes.length)
    take()
  }
}

/**
 * Makes one JSON array of the objects that a run writes, one a line. Objects keep their bytes. A line that is not an object becomes
 * one, with its text in `raw`.
 */
export class ArrayOutput extends RowOutput {
  #isBegun = false

  protected row(): void {
    const { bytes, start, end } = this.members
    this.out.writeAscii(this.#isBegun ? ',\n' : '[\n')
    this.out.write(bytes, start, end)
    this.#isBegun = true
  }

  protected end(): void {
    this.out.writeAscii(this.#isBegun ? '\n]\n' : '[]\n')
  }
}
