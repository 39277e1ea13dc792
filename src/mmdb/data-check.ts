import type { DataSection } from './data-section.ts'
import type { FaultList } from './fault-list.ts'
import { DataType } from './format.ts'
import { OffsetSet } from './offset-set.ts'
import { RecordCheck } from './record-check.ts'

/** How often records share a value in the mean, at most: real files have some ten. Hostile ones have no bound. */
const MOST_REPEATS = 32
/** Values that may be read in any case: less than a second. */
const LEAST_WORK = 10_000_000

/**
 * Reads a data section from front to back, as strict verifiers do: values follow one another without a gap, all
 * text is UTF-8, and pointers and the search tree lead to where values start.
 */
export class DataCheck {
  /** All values, those in maps and arrays and the keys of maps too. */
  valueCount = 0
  readonly #data: DataSection
  readonly #bytes: Uint8Array
  readonly #faults: FaultList
  /** Where values start; those that lie in no other; those that a pointer leads to. */
  readonly #starts: OffsetSet
  readonly #outermost: OffsetSet
  readonly #targets: OffsetSet
  readonly #decoder = new TextDecoder('utf-8', { fatal: true })

  /** @param bytes of the whole file */
  constructor(data: DataSection, bytes: Uint8Array, faults: FaultList) {
    this.#data = data
    this.#bytes = bytes
    this.#faults = faults
    this.#starts = new OffsetSet(data.base, data.end)
    this.#outermost = new OffsetSet(data.base, data.end)
    this.#targets = new OffsetSet(data.base, data.end)
  }

  /** @param records that the search tree leads to */
  run(records: OffsetSet): void {
    const isWhole = this.#faults.attempt(() => this.#readAll())
    this.#checkRecords(records)
    // Behind a fault nothing is known of where values start.
    if (!isWhole) return
    for (const offset of records) {
      if (!this.#starts.has(offset))
        this.#faults.add('the search tree leads into the middle of a value', offset)
    }
    for (const offset of this.#targets) {
      if (!this.#starts.has(offset)) this.#faults.add('a pointer leads into the middle of a value', offset)
    }
    for (const offset of this.#outermost) {
      if (records.has(offset) || this.#targets.has(offset)) continue
      this.#faults.add('neither the search tree nor a pointer leads to a value', offset)
    }
  }

  /** Each record as its reader sees it, behind all pointers. */
  #checkRecords(records: OffsetSet): void {
    const most = Math.max(LEAST_WORK, this.valueCount * MOST_REPEATS)
    let values = 0
    for (const offset of records) {
      const check = new RecordCheck(this.#data, offset)
      this.#faults.attempt(() => check.run())
      values += check.values
      if (values <= most) continue
      this.#faults.add(`its records lead through pointers to more than ${most} values`, offset)
      return
    }
  }

  #readAll(): void {
    const { base, end } = this.#data
    for (let at = base; at < end; ) {
      this.#outermost.add(at)
      at = this.#value(at)
    }
  }

  /** @returns where the value behind it starts */
  #value(offset: number): number {
    const data = this.#data
    let at = offset
    for (let pending = 1; pending > 0; pending--) {
      this.#starts.add(at)
      this.valueCount++
      data.open(at)
      if (data.viaPointer) this.#targets.add(data.opened)
      else if (data.type === DataType.map) pending += 2 * data.size
      else if (data.type === DataType.array) pending += data.size
      else if (data.type === DataType.utf8String) this.#checkText()
      at = data.after
    }
    return at
  }

  #checkText(): void {
    const { start, size, opened } = this.#data
    try {
      // A copy: platforms refuse to decode shared memory in place.
      this.#decoder.decode(this.#bytes.slice(start, start + size))
    } catch {
      this.#faults.add('a text is not UTF-8', opened)
    }
  }
}
