import type { DatabaseSet } from '../../location/database-set.ts'
import { countRead, emptyCounts, type RunningCounts } from '../counting/counts.ts'
import { LineLocator } from '../locating/line-locator.ts'
import type { CommonPlan } from '../options.ts'
import type { RecordKind, RecordReader } from '../reading/record-reader.ts'
import type { RecordForm } from '../writing/record-form.ts'
import { RecordWriter } from './record-writer.ts'

/** Locates the address of the record that a reader has read. @returns whether it has a location */
export function locateRecord(reader: RecordReader, locator: LineLocator): boolean {
  if (reader.isLocal) locator.localInstant = reader.instant
  else locator.instant = reader.instant
  const locate = (): boolean => locator.locate(reader.addressBytes, reader.addressStart, reader.addressEnd)
  return locate() || (reader.rereads && !locator.hasAddress && reader.readAgain() && locate())
}

/**
 * An address of each record besides the first one. A reader of its own finds it in the same bytes. The writer of the first
 * address has its writer, which writes the location.
 */
export class OtherAddress {
  #counts = emptyCounts()
  readonly writer: RecordWriter
  readonly #locator: LineLocator

  /** @throws InvalidDatabaseError when the databases hold no locations */
  constructor(
    plan: CommonPlan,
    set: DatabaseSet,
    readonly reader: RecordReader,
    readonly form: RecordForm,
  ) {
    this.#locator = new LineLocator(set, plan, form.template)
    this.writer = new RecordWriter(reader, this.#locator, form)
  }

  /** Finds and locates the address of a usual record, as `RecordReader.usual` finds it. @returns what that returns */
  usual(bytes: Uint8Array, view: DataView, start: number, limit: number): number {
    const [reader, locator] = [this.reader, this.#locator]
    const lineEnd = reader.usual(bytes, view, start, limit)
    if (lineEnd === -1) return -1
    locator.instant = reader.instant
    locator.locate(bytes, reader.addressStart, reader.addressEnd)
    if (reader.rereads && !locator.hasAddress) return -1
    this.writer.locateFound()
    return lineEnd
  }

  /** Reads and locates the address of any record, as `RecordReader.read` reads it. @returns what that returns */
  read(bytes: Uint8Array, start: number, end: number): RecordKind {
    const kind = this.reader.read(bytes, start, end)
    if (kind !== 'read') return kind
    locateRecord(this.reader, this.#locator)
    this.writer.locateFound()
    return kind
  }

  /** Gives the counts of the next records. */
  restart(): RunningCounts {
    this.#counts = emptyCounts()
    return this.#counts
  }

  /** Counts the record. Call it once it is written. */
  count(): void {
    this.#counts.lines++
    countRead(this.#counts, this.#locator.number, this.#locator.hasTime)
  }
}
