import { DataType, MAXIMUM_SIZE } from './control-byte.ts'
import { encodeScalar, type Scalar } from './scalar.ts'
import { type MmdbValue, TypedNumber } from './value.ts'

/** A map or an array whose parts are values of the same table: of a map key, value, key, value, … */
export type Composite = {
  readonly type: typeof DataType.map | typeof DataType.array
  readonly parts: readonly number[]
}

/** What this package reads back; libmaxminddb reads 512 levels. No vendor nests deeper than ten. */
const MAXIMUM_DEPTH = 128

/**
 * Every distinct value once, under a number. Equal values get the same number, so that comparing two records
 * is comparing two integers, and the search tree can tell equal networks from different ones.
 *
 * Numbers are given in the order in which values are first seen, parts before their whole.
 */
export class ValueTable {
  readonly #entries: (Uint8Array | Composite)[] = []
  readonly #numberByKey = new Map<string, number>()

  /** How many distinct values, parts included, the table holds. */
  get size(): number {
    return this.#entries.length
  }

  /** The encoded bytes of a scalar, or the parts of a map or an array. */
  entry(number: number): Uint8Array | Composite {
    const entry = this.#entries[number]
    if (entry === undefined) throw new RangeError(`there is no value ${number} in a table of ${this.size}`)
    return entry
  }

  /**
   * @throws TypeError when the value, or something in it, cannot be written (undefined, null, a function, a
   * symbol, a class instance, a cycle, a `__proto__` key, half of a surrogate pair).
   * @throws RangeError when a number, a text or a list is out of the format's range, or nested too deeply.
   * Both say where in the record it is.
   */
  add(value: MmdbValue): number {
    return this.#add(value, [], [])
  }

  /** A map of values that the table has already, by their numbers: for records that share their parts. */
  addMap(fields: Iterable<readonly [key: string, number: number]>): number {
    const parts: number[] = []
    for (const [key, number] of fields) {
      if (key === '__proto__') throw refused(TypeError, ['.__proto__'], 'the key __proto__ is not allowed')
      parts.push(this.#addScalar(key, []), number)
    }
    return this.#number(`m${parts}`, { type: DataType.map, parts })
  }

  #add(value: unknown, path: string[], ancestors: unknown[]): number {
    if (isScalar(value)) return this.#addScalar(value, path)
    if (typeof value !== 'object' || value === null)
      throw refused(TypeError, path, `${kind(value)} cannot be written`)
    if (ancestors.includes(value)) throw refused(TypeError, path, 'the value contains itself')
    if (ancestors.length >= MAXIMUM_DEPTH) {
      throw refused(RangeError, path, `maps and arrays are nested more than ${MAXIMUM_DEPTH} deep`)
    }
    ancestors.push(value)
    const number = Array.isArray(value)
      ? this.#addArray(value, path, ancestors)
      : this.#addMap(entriesOf(value, path), path, ancestors)
    ancestors.pop()
    return number
  }

  #addScalar(value: Scalar, path: string[]): number {
    // Most texts are map keys that were seen before: they are not encoded again.
    const known = typeof value === 'string' ? this.#numberByKey.get(`s${value}`) : undefined
    if (known !== undefined) return known
    let bytes: Uint8Array
    try {
      bytes = encodeScalar(value)
    } catch (error) {
      if (error instanceof RangeError) throw refused(RangeError, path, error.message)
      if (error instanceof TypeError) throw refused(TypeError, path, error.message)
      throw error
    }
    return this.#number(typeof value === 'string' ? `s${value}` : `b${bytes}`, bytes)
  }

  #addArray(items: readonly unknown[], path: string[], ancestors: unknown[]): number {
    checkCount(items.length, path)
    const parts: number[] = []
    // By index: a hole in a sparse array must be refused, and forEach would step over it.
    for (let index = 0; index < items.length; index++) {
      path.push(`[${index}]`)
      parts.push(this.#add(items[index], path, ancestors))
      path.pop()
    }
    return this.#number(`a${parts}`, { type: DataType.array, parts })
  }

  #addMap(entries: readonly [unknown, unknown][], path: string[], ancestors: unknown[]): number {
    checkCount(entries.length, path)
    const parts: number[] = []
    for (const [key, value] of entries) {
      if (typeof key !== 'string')
        throw refused(TypeError, path, `a key of the map is ${kind(key)}, not text`)
      path.push(`.${key}`)
      // Readers build objects from maps: this key would change the object's prototype there.
      if (key === '__proto__') throw refused(TypeError, path, 'the key __proto__ is not allowed')
      parts.push(this.#addScalar(key, path), this.#add(value, path, ancestors))
      path.pop()
    }
    return this.#number(`m${parts}`, { type: DataType.map, parts })
  }

  #number(key: string, entry: Uint8Array | Composite): number {
    const known = this.#numberByKey.get(key)
    if (known !== undefined) return known
    const number = this.#entries.push(entry) - 1
    this.#numberByKey.set(key, number)
    return number
  }
}

function isScalar(value: unknown): value is Scalar {
  switch (typeof value) {
    case 'string':
    case 'number':
    case 'bigint':
    case 'boolean':
      return true
    default:
      return value instanceof Uint8Array || value instanceof TypedNumber
  }
}

function entriesOf(value: object, path: string[]): [unknown, unknown][] {
  if (value instanceof Map) return [...value]
  const prototype: unknown = Object.getPrototypeOf(value)
  // An object of another realm (a worker, a test runner's sandbox) has another Object.prototype.
  if (prototype !== null && Object.getPrototypeOf(prototype) !== null) {
    throw refused(TypeError, path, `${kind(value)} is not a plain object: copy its fields into one`)
  }
  return Object.entries(value)
}

function checkCount(count: number, path: string[]): void {
  if (count > MAXIMUM_SIZE) throw refused(RangeError, path, `${count} entries are too many for the format`)
}

function refused<E extends Error>(Failure: new (message: string) => E, path: string[], why: string): E {
  return new Failure(`record${path.join('')}: ${why}`)
}

function kind(value: unknown): string {
  if (value === null || value === undefined) return String(value)
  if (typeof value === 'object') return `a value of class ${value.constructor?.name ?? '(none)'}`
  return `a value of type ${typeof value}`
}
