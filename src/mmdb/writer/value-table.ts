import { isOfClass, isUint8Array } from '../../realm.ts'
import { DataType } from '../format.ts'
import { MAX_CONTENT, MAX_DEPTH, MAX_KEY, MAX_VALUES } from '../limits.ts'
import { isPlainObject, kindOf } from './kind.ts'
import { type EncodedScalar, encodeScalar, type Scalar } from './scalar.ts'
import { isTypedNumber, type WritableValue } from './value.ts'

/** A map or an array whose parts are values of the same table: of a map key, value, key, value, … */
export type Composite = {
  readonly type: typeof DataType.map | typeof DataType.array
  readonly parts: readonly number[]
}

/**
 * What reading a value costs. A part that comes twice counts twice, although it is stored once: a reader
 * follows the pointers.
 */
type Cost = {
  /** The value itself and all that is in it. Keys count: a reader that passes over a map counts them too. */
  values: number
  /** Bytes of scalars and keys. */
  content: number
}

/**
 * Every distinct value once, under a number. Equal values get the same number, so that comparing two records
 * is comparing two integers, and the search tree can tell equal networks from different ones.
 *
 * Numbers are given in the order in which values are first seen, parts before their whole.
 */
export class ValueTable {
  readonly #entries: (Uint8Array | Composite)[] = []
  /** By number of the value. */
  readonly #costs: Readonly<Cost>[] = []
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
   * @throws RangeError when a number is out of the format's range, or when something is nested more deeply,
   * holds more or has longer keys than this package reads back.
   * Both say where it is.
   *
   * @param name what messages call the value
   */
  add(value: WritableValue, name = 'record'): number {
    return this.#add(value, [name], [])
  }

  /** A map of values that the table has already, by their numbers: for records that share their parts. */
  addMap(fields: Iterable<readonly [key: string, number: number]>): number {
    const path = ['record']
    const map = new Parts(this.#costs, path)
    for (const [key, number] of fields) {
      path.push(`.${key}`)
      map.push(this.#addKey(key, path))
      path.pop()
      map.push(number)
    }
    return this.#addComposite(DataType.map, map)
  }

  #add(value: unknown, path: string[], ancestors: unknown[]): number {
    if (isScalar(value)) return this.#addScalar(value, path)
    if (typeof value !== 'object' || value === null)
      throw refused(TypeError, path, `${kindOf(value)} cannot be written`)
    if (ancestors.includes(value)) throw refused(TypeError, path, 'the value contains itself')
    if (ancestors.length >= MAX_DEPTH) {
      throw refused(RangeError, path, `maps and arrays are nested more than ${MAX_DEPTH} deep`)
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
    let encoded: EncodedScalar
    try {
      encoded = encodeScalar(value)
    } catch (error) {
      if (error instanceof RangeError) throw refused(RangeError, path, error.message)
      if (error instanceof TypeError) throw refused(TypeError, path, error.message)
      throw error
    }
    const { bytes, payloadLength } = encoded
    const cost = { values: 1, content: payloadLength }
    checkCost(cost, path)
    return this.#number(typeof value === 'string' ? `s${value}` : `b${bytes}`, bytes, cost)
  }

  #addKey(key: string, path: string[]): number {
    // Readers build objects from maps: this key would change the object's prototype there.
    if (key === '__proto__') throw refused(TypeError, path, 'the key __proto__ is not allowed')
    const number = this.#addScalar(key, path)
    if ((this.#costs[number]?.content ?? 0) > MAX_KEY) {
      throw refused(RangeError, path, `a key of more than ${MAX_KEY} bytes is too long`)
    }
    return number
  }

  #addArray(items: readonly unknown[], path: string[], ancestors: unknown[]): number {
    const array = new Parts(this.#costs, path)
    // By index: a hole in a sparse array must be refused, and forEach would step over it.
    for (let index = 0; index < items.length; index++) {
      path.push(`[${index}]`)
      const item = this.#add(items[index], path, ancestors)
      path.pop()
      array.push(item)
    }
    return this.#addComposite(DataType.array, array)
  }

  #addMap(entries: readonly [unknown, unknown][], path: string[], ancestors: unknown[]): number {
    const map = new Parts(this.#costs, path)
    for (const [key, value] of entries) {
      if (typeof key !== 'string')
        throw refused(TypeError, path, `a key of the map is ${kindOf(key)}, not text`)
      path.push(`.${key}`)
      const name = this.#addKey(key, path)
      const number = this.#add(value, path, ancestors)
      path.pop()
      map.push(name)
      map.push(number)
    }
    return this.#addComposite(DataType.map, map)
  }

  #addComposite(type: Composite['type'], { numbers, cost }: Parts): number {
    return this.#number(`${type === DataType.map ? 'm' : 'a'}${numbers}`, { type, parts: numbers }, cost)
  }

  #number(key: string, entry: Uint8Array | Composite, cost: Cost): number {
    const known = this.#numberByKey.get(key)
    if (known !== undefined) return known
    const number = this.#entries.push(entry) - 1
    this.#costs.push(cost)
    this.#numberByKey.set(key, number)
    return number
  }
}

/**
 * The parts of a map or an array, by their numbers. Their cost is checked with every part, not at the end: a
 * list that holds one large object a million times is refused before it is walked a million times.
 */
class Parts {
  readonly numbers: number[] = []
  readonly cost: Cost = { values: 1, content: 0 }

  constructor(
    readonly costs: readonly Readonly<Cost>[],
    readonly path: readonly string[],
  ) {}

  push(number: number): void {
    const cost = this.costs[number]
    if (cost === undefined) throw new RangeError(`there is no value ${number} in the table`)
    this.cost.values += cost.values
    this.cost.content += cost.content
    checkCost(this.cost, this.path)
    this.numbers.push(number)
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
      return isUint8Array(value) || isTypedNumber(value)
  }
}

function entriesOf(value: object, path: string[]): [unknown, unknown][] {
  if (isOfClass(value, 'Map')) return [...value]
  if (!isPlainObject(value)) {
    throw refused(TypeError, path, `${kindOf(value)} is not a plain object: copy its fields into one`)
  }
  return Object.entries(value)
}

/** The limits of this package's reader, which takes a record beyond them for an attack. */
function checkCost({ values, content }: Cost, path: readonly string[]): void {
  if (values > MAX_VALUES) {
    throw refused(
      RangeError,
      path,
      `more than ${MAX_VALUES} values, keys included, are too many in one record`,
    )
  }
  if (content > MAX_CONTENT) {
    throw refused(RangeError, path, `more than ${MAX_CONTENT} bytes of text are too many in one record`)
  }
}

function refused<E extends Error>(
  Failure: new (message: string) => E,
  path: readonly string[],
  why: string,
): E {
  return new Failure(`${path.join('')}: ${why}`)
}
