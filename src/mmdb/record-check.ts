import type { DataSection } from './data-section.ts'
import { DataType } from './format.ts'
import { MAX_CONTENT, MAX_DEPTH, MAX_KEY, MAX_VALUES } from './limits.ts'

/** The one key that would change what an object inherits. */
const PROTO = '__proto__'

/**
 * Walks a whole record before it is decoded, so that a decoder without bounds can be trusted with it:
 * every pointer lands, nothing is nested or repeated without end, every key is text, none is long, and none
 * is `__proto__`.
 *
 * @returns how many values it has, counted each time that a pointer leads to them
 * @throws InvalidDatabaseError at the first fault
 */
export function checkRecord(data: DataSection, offset: number): number {
  const check = new RecordCheck(data, offset)
  check.run()
  return check.values
}

/** The same check, of which the work is known also where it ends at a fault. */
export class RecordCheck {
  /** How many values were read. */
  values = 0
  #content = 0

  constructor(
    readonly data: DataSection,
    readonly record: number,
  ) {}

  /** @throws InvalidDatabaseError at the first fault */
  run(): void {
    this.data.begin()
    this.#value(this.record, 0)
  }

  /** @returns where the next field starts */
  #value(offset: number, depth: number): number {
    const { data, record } = this
    if (depth > MAX_DEPTH) throw data.fault(`a record is nested deeper than ${MAX_DEPTH} levels`, record)
    this.#count()
    data.open(offset)
    const { type, size, start, after, viaPointer } = data
    if (type === DataType.map || type === DataType.array) {
      const end = type === DataType.map ? this.#pairs(start, size, depth) : this.#elements(start, size, depth)
      return viaPointer ? after : end
    }
    if (type !== DataType.boolean) this.#take(size)
    return after
  }

  /** That many more bytes of text and the like. */
  #take(bytes: number): void {
    this.#content += bytes
    if (this.#content > MAX_CONTENT) {
      throw this.data.fault(`a record holds more than ${MAX_CONTENT} bytes of text`, this.record)
    }
  }

  /** One more value; the keys of maps are values too. */
  #count(): void {
    if (++this.values > MAX_VALUES) {
      throw this.data.fault(`a record holds more than ${MAX_VALUES} values`, this.record)
    }
  }

  #elements(start: number, size: number, depth: number): number {
    let at = start
    for (let i = 0; i < size; i++) at = this.#value(at, depth + 1)
    return at
  }

  #pairs(start: number, size: number, depth: number): number {
    let at = start
    for (let i = 0; i < size; i++) {
      this.#count()
      this.data.open(at)
      if (this.data.type !== DataType.utf8String) throw this.data.fault('the key of a map is not text', at)
      if (this.data.size > MAX_KEY) {
        throw this.data.fault(`the key of a map is longer than ${MAX_KEY} bytes`, at)
      }
      // Keys of other lengths are not decoded.
      if (this.data.size === PROTO.length && this.data.text() === PROTO) {
        throw this.data.fault('a map has the key "__proto__"', at)
      }
      this.#take(this.data.size)
      at = this.#value(this.data.after, depth + 1)
    }
    return at
  }
}
