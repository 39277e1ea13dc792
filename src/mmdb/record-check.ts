import type { DataSection } from './data-section.ts'
import { DataType } from './format.ts'
import { MAX_CONTENT, MAX_DEPTH, MAX_VALUES } from './limits.ts'

/**
 * Walks a whole record before it is decoded, so that a decoder without bounds can be trusted with it:
 * every pointer lands, nothing is nested or repeated without end, every key is text, and none is
 * `__proto__`.
 *
 * @returns how many values it has, counted each time that a pointer leads to them
 * @throws InvalidDatabaseError at the first fault
 */
export function checkRecord(data: DataSection, offset: number): number {
  data.begin()
  const check = new RecordCheck(data, offset)
  check.value(offset, 0)
  return check.values
}

class RecordCheck {
  values = 0
  #content = 0

  constructor(
    readonly data: DataSection,
    readonly record: number,
  ) {}

  /** @returns where the next field starts */
  value(offset: number, depth: number): number {
    const { data, record } = this
    if (depth > MAX_DEPTH) throw data.fault(`a record is nested deeper than ${MAX_DEPTH} levels`, record)
    this.#count()
    data.open(offset)
    const { type, size, start, after, viaPointer } = data
    if (type === DataType.map || type === DataType.array) {
      const end = type === DataType.map ? this.#pairs(start, size, depth) : this.#elements(start, size, depth)
      return viaPointer ? after : end
    }
    if (type !== DataType.boolean) this.#content += size
    if (this.#content > MAX_CONTENT) {
      throw data.fault(`a record holds more than ${MAX_CONTENT} bytes of text`, record)
    }
    return after
  }

  /** One more value; the keys of maps are values too. */
  #count(): void {
    if (++this.values > MAX_VALUES) {
      throw this.data.fault(`a record holds more than ${MAX_VALUES} values`, this.record)
    }
  }

  #elements(start: number, size: number, depth: number): number {
    let at = start
    for (let i = 0; i < size; i++) at = this.value(at, depth + 1)
    return at
  }

  #pairs(start: number, size: number, depth: number): number {
    let at = start
    for (let i = 0; i < size; i++) {
      this.#count()
      this.data.open(at)
      const key = this.data.text()
      if (key === null) throw this.data.fault('the key of a map is not text', at)
      if (key === '__proto__') throw this.data.fault('a map has the key "__proto__"', at)
      this.#content += this.data.size
      at = this.value(this.data.after, depth + 1)
    }
    return at
  }
}
