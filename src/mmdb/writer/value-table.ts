import { isOfClass, isUint8Array } from '../../realm.ts'
import { DataType, MAX_CONTENT_BYTES, MAX_DEPTH, MAX_KEY_BYTES, MAX_VALUES } from '../format.ts'
import { encodeScalar, FieldBuffer, type Scalar } from './field-encoding.ts'
import { isPlainObject, isTypedNumber, kindOf, type WritableValue } from './value.ts'

/** A map or an array. Its parts are ids of values in the same table; for a map key, value, key, value, … */
export type Composite = {
  readonly type: typeof DataType.map | typeof DataType.array
  readonly parts: readonly number[]
}

type Span = { readonly start: number; readonly end: number }

/**
 * The cost of reading a value. A part that is used twice counts twice, although it is stored once: a reader
 * follows the pointers.
 */
type Cost = {
  /** The value and everything in it, including keys: a reader that skips a map counts them too. */
  values: number
  /** Bytes of scalars and keys. */
  contentBytes: number
}

/**
 * Holds every distinct value once and gives it an id. Equal values have the same id, so that the search tree, which merges
 * networks with equal records, compares integers.
 *
 * Ids follow the order in which values are added, parts before their whole.
 */
export class ValueTable {
  /** By id of the value. Of a scalar, where its bytes are in `#scalars`: an array of its own takes much more memory. */
  readonly #entries: (Readonly<Span> | Composite)[] = []
  readonly #scalars = new FieldBuffer()
  /** By id of the value. */
  readonly #costs: Readonly<Cost>[] = []
  readonly #idByText = new Map<string, number>()
  readonly #idByKey = new Map<string, number>()

  /** Distinct values in the table, including parts. */
  get size(): number {
    return this.#entries.length
  }

  /** The encoded bytes of a scalar, valid until the next call of {@link add}, or the parts of a map or an array. */
  entry(id: number): Uint8Array | Composite {
    const entry = this.#entries[id]
    if (entry === undefined)
      throw new RangeError(`there is no value with id ${id} in a table of ${this.size}`)
    return 'parts' in entry ? entry : this.#scalars.view().subarray(entry.start, entry.end)
  }

  /**
   * Adds a value and its parts.
   *
   * @param name of the value in error messages, which say where in the value the problem is
   * @returns the value's id
   * @throws TypeError when the value or a part of it cannot be encoded (undefined, null, a function, a symbol, a
   * class instance, a cycle, a `__proto__` key, an unpaired surrogate)
   * @throws RangeError when a number is outside the format's range, or the value exceeds the limits of this
   * package's reader
   */
  add(value: WritableValue, name = 'record'): number {
    return this.#add(value, [name], [])
  }

  /** Adds a map of values that are in the table, by their ids. For records that share parts. */
  addMap(fields: Iterable<readonly [key: string, id: number]>): number {
    return this.#addComposite(DataType.map, fields, ['record'], (id) => id)
  }

  #add(value: unknown, path: string[], ancestors: unknown[]): number {
    if (isScalar(value)) return this.#addScalar(value, path)
    if (typeof value !== 'object' || value === null)
      throw refused(TypeError, path, `${kindOf(value)} cannot be written`)
    if (ancestors.includes(value)) throw refused(TypeError, path, 'the value contains itself')
    if (ancestors.length >= MAX_DEPTH) {
      throw refused(RangeError, path, `maps and arrays are nested deeper than ${MAX_DEPTH} levels`)
    }
    ancestors.push(value)
    const add = (part: unknown): number => this.#add(part, path, ancestors)
    const id = Array.isArray(value)
      ? this.#addComposite(DataType.array, value.entries(), path, add)
      : this.#addComposite(DataType.map, entriesOf(value, path), path, add)
    ancestors.pop()
    return id
  }

  #addScalar(value: Scalar, path: string[]): number {
    // Most texts are known map keys, which need no second encoding.
    const known = typeof value === 'string' ? this.#idByText.get(value) : undefined
    if (known !== undefined) return known
    let encoded: ReturnType<typeof encodeScalar>
    try {
      encoded = encodeScalar(value)
    } catch (error) {
      if (error instanceof RangeError) throw refused(RangeError, path, error.message)
      if (error instanceof TypeError) throw refused(TypeError, path, error.message)
      throw error
    }
    const { bytes, payloadLength } = encoded
    const cost = { values: 1, contentBytes: payloadLength }
    checkCost(cost, path)
    if (typeof value === 'string') return this.#idOf(this.#idByText, value, () => this.#append(bytes), cost)
    return this.#idOf(this.#idByKey, `b${bytes}`, () => this.#append(bytes), cost)
  }

  #addKey(key: string, path: string[]): number {
    // Readers build objects from maps, where this key would change the object's prototype.
    if (key === '__proto__') throw refused(TypeError, path, 'the key __proto__ is not allowed')
    const id = this.#addScalar(key, path)
    if ((this.#costs[id]?.contentBytes ?? 0) > MAX_KEY_BYTES) {
      throw refused(RangeError, path, `the key is longer than ${MAX_KEY_BYTES} bytes`)
    }
    return id
  }

  /**
   * @param entries keys or indexes and what is there. A hole of a sparse array is `undefined`, and refused
   * @param add gives the id of what is there
   */
  #addComposite<Part>(
    type: Composite['type'],
    entries: Iterable<readonly [unknown, Part]>,
    path: string[],
    add: (part: Part) => number,
  ): number {
    const isMap = type === DataType.map
    const parts: number[] = []
    const cost: Cost = { values: 1, contentBytes: 0 }
    // Checked at every part, so that an array that holds one large object a million times is refused before it is
    // walked a million times.
    const push = (id: number): void => {
      const part = this.#costs[id]
      if (part === undefined) throw new RangeError(`there is no value with id ${id} in the table`)
      cost.values += part.values
      cost.contentBytes += part.contentBytes
      checkCost(cost, path)
      parts.push(id)
    }
    for (const [key, part] of entries) {
      if (isMap && typeof key !== 'string')
        throw refused(TypeError, path, `a key of the map is ${kindOf(key)}, not a string`)
      path.push(typeof key === 'string' ? `.${key}` : `[${key}]`)
      const name = typeof key === 'string' ? this.#addKey(key, path) : null
      const id = add(part)
      path.pop()
      if (name !== null) push(name)
      push(id)
    }
    // A copy has no room for more parts.
    const make = (): Composite => ({ type, parts: parts.slice() })
    return this.#idOf(this.#idByKey, `${isMap ? 'm' : 'a'}${parts}`, make, cost)
  }

  #append(bytes: Uint8Array): Span {
    const start = this.#scalars.length
    this.#scalars.append(bytes)
    return { start, end: this.#scalars.length }
  }

  #idOf(ids: Map<string, number>, key: string, make: () => Span | Composite, cost: Cost): number {
    const known = ids.get(key)
    if (known !== undefined) return known
    const id = this.#entries.push(make()) - 1
    this.#costs.push(cost)
    ids.set(key, id)
    return id
  }
}

function isScalar(value: unknown): value is Scalar {
  return (
    typeof value === 'string' ||
    typeof value === 'number' ||
    typeof value === 'bigint' ||
    typeof value === 'boolean' ||
    isUint8Array(value) ||
    isTypedNumber(value)
  )
}

function entriesOf(value: object, path: string[]): [unknown, unknown][] {
  if (isOfClass(value, 'Map')) return [...value]
  if (!isPlainObject(value)) {
    throw refused(TypeError, path, `${kindOf(value)} is not a plain object: copy its fields into one`)
  }
  return Object.entries(value)
}

/** Enforces the limits of this package's reader, which refuses larger records as hostile. */
function checkCost({ values, contentBytes }: Cost, path: readonly string[]): void {
  if (values > MAX_VALUES) {
    throw refused(RangeError, path, `a record may hold at most ${MAX_VALUES} values, including keys`)
  }
  if (contentBytes > MAX_CONTENT_BYTES) {
    throw refused(RangeError, path, `a record may hold at most ${MAX_CONTENT_BYTES} bytes of text`)
  }
}

function refused<E extends Error>(
  Failure: new (message: string) => E,
  path: readonly string[],
  why: string,
): E {
  return new Failure(`${path.join('')}: ${why}`)
}
