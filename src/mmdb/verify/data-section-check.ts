import type { DataSection } from '../data-section.ts'
import { DataType } from '../format.ts'
import { RecordCheck } from '../record-decoder.ts'
import type { FaultList } from './fault-list.ts'
import { OffsetSet } from './search-tree-check.ts'

/** Uses of a value by records, on average. Real files have about 10; in a hostile file they are unlimited. */
const MAX_MEAN_USES = 32
/** Values that are read in any case. They take less than a second. */
const MIN_VALUE_BUDGET = 10_000_000

/**
 * Reads a data section from start to end, as strict verifiers do: values follow one another without a gap, all
 * text is UTF-8, and pointers and the search tree lead to the start of a value.
 */
export class DataSectionCheck {
  /** All values, including the keys and values inside maps and arrays. */
  valueCount = 0
  readonly #data: DataSection
  readonly #bytes: Uint8Array
  readonly #faults: FaultList
  /** Where values start. */
  readonly #starts: OffsetSet
  /** Where values start that are not inside another value. */
  readonly #outermost: OffsetSet
  readonly #pointerTargets: OffsetSet
  readonly #decoder = new TextDecoder('utf-8', { fatal: true })

  /** @param bytes the whole file */
  constructor(data: DataSection, bytes: Uint8Array, faults: FaultList) {
    this.#data = data
    this.#bytes = bytes
    this.#faults = faults
    this.#starts = new OffsetSet(data.base, data.end)
    this.#outermost = new OffsetSet(data.base, data.end)
    this.#pointerTargets = new OffsetSet(data.base, data.end)
  }

  /** @param records offsets that the search tree leads to */
  run(records: OffsetSet): void {
    const isWhole = this.#faults.attempt(() => this.#readAll())
    this.#checkRecords(records)
    // After a fault it is not known where values start.
    if (!isWhole) return
    for (const offset of records) {
      if (!this.#starts.has(offset))
        this.#faults.add('the search tree leads into the middle of a value', offset)
    }
    for (const offset of this.#pointerTargets) {
      if (!this.#starts.has(offset)) this.#faults.add('a pointer leads into the middle of a value', offset)
    }
    for (const offset of this.#outermost) {
      if (records.has(offset) || this.#pointerTargets.has(offset)) continue
      this.#faults.add('neither the search tree nor a pointer leads to a value', offset)
    }
  }

  /** Checks each record with its pointers followed, as a reader sees it. */
  #checkRecords(records: OffsetSet): void {
    const budget = Math.max(MIN_VALUE_BUDGET, this.valueCount * MAX_MEAN_USES)
    let values = 0
    for (const offset of records) {
      const check = new RecordCheck(this.#data, offset)
      this.#faults.attempt(() => check.run())
      values += check.values
      if (values <= budget) continue
      this.#faults.add(`the records lead through pointers to more than ${budget} values`, offset)
      return
    }
  }

  #readAll(): void {
    const { base, end } = this.#data
    for (let at = base; at < end; ) {
      this.#outermost.add(at)
      at = this.#readValue(at)
    }
  }

  /** @returns where the next value starts */
  #readValue(offset: number): number {
    const data = this.#data
    let at = offset
    for (let pending = 1; pending > 0; pending--) {
      this.#starts.add(at)
      this.valueCount++
      data.open(at)
      if (data.viaPointer) this.#pointerTargets.add(data.fieldOffset)
      else if (data.type === DataType.map) pending += 2 * data.size
      else if (data.type === DataType.array) pending += data.size
      else if (data.type === DataType.utf8String) this.#checkText()
      at = data.next
    }
    return at
  }

  #checkText(): void {
    const { start, size, fieldOffset } = this.#data
    try {
      // A copy: platforms refuse to decode shared memory in place.
      this.#decoder.decode(this.#bytes.slice(start, start + size))
    } catch {
      this.#faults.add('a text is not UTF-8', fieldOffset)
    }
  }
}
