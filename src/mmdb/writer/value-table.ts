import { ByteSink } from '../../bytes/byte-sink.ts'
import { DistinctTexts } from '../../bytes/distinct-texts.ts'
import { RowSet } from '../../bytes/tables.ts'
import { isOfClass, isUint8Array } from '../../realm.ts'
import { DataType, MAX_CONTENT_BYTES, MAX_DEPTH, MAX_KEY_BYTES, MAX_VALUES } from '../format.ts'
import {
  isPlainObject,
  isTypedNumber,
  kindOf,
  type Scalar,
  type WritableValue,
  writeScalar,
  writeUint,
} from './value.ts'

/** A map or an array. Its parts are ids of values in the same table; for a map key, value, key, value, … */
export type Composite = {
  readonly type: typeof DataType.map | typeof DataType.array
  readonly parts: readonly number[]
}

// The numbers in the row of a value: the cost of reading it.
/**
 * The value and everything in it, including keys: a reader that skips a map counts them too. A part that is used
 * twice counts twice, although it is stored once: a reader follows the pointers.
 */
const VALUES = 0
/** Bytes of scalars and keys. */
const CONTENT_BYTES = 1
const ROW = 2

/** The type of a value that is not a map or an array. Its content starts with its own type. */
const SCALAR = 0

/** Bytes of an id in the content of a map or an array. */
const ID_BYTES = 4

/**
 * Holds every distinct value once and gives it an id. Equal values have the same id, so that the search tree, which merges
 * networks with equal records, compares integers.
 *
 * Ids follow the order in which values are added, parts before their whole. All is in typed arrays: with objects and text keys,
 * 100,000 records took twice as long.
 */
export class ValueTable {
  /** The values by their ids: a byte for the type, and the encoded bytes of a scalar or the ids of the parts of a map or an array. */
  readonly #contents = new DistinctTexts()
  /** The value that is added now. */
  readonly #content = new ByteSink(1024)
  /** Rows of values by their ids. */
  readonly #rows = new RowSet(ROW)
  readonly #idByText = new Map<string, number>()

  /** Distinct values in the table, including parts. */
  get size(): number {
    return this.#rows.size
  }

  /** The encoded bytes of a scalar, valid until the next call of {@link add}, or the parts of a map or an array. */
  entry(id: number): Uint8Array | Composite {
    if (id >= this.size) throw new RangeError(`there is no value with id ${id} in a table of ${this.size}`)
    const content = this.#contents.textOf(id)
    const [type = SCALAR] = content
    if (type === SCALAR) return content.subarray(1)
    const ids = new DataView(content.buffer, content.byteOffset + 1)
    const parts = Array.from({ length: (content.length - 1) / ID_BYTES }, (_, index) =>
      ids.getUint32(index * ID_BYTES),
    )
    return { type: type === DataType.map ? DataType.map : DataType.array, parts }
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

  #add(value: unknown, path: Path, ancestors: unknown[]): number {
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

  #addScalar(value: Scalar, path: Path): number {
    // Most texts are known map keys, which need no second encoding.
    const known = typeof value === 'string' ? this.#idByText.get(value) : undefined
    if (known !== undefined) return known
    this.#begin(SCALAR)
    let contentBytes: number
    try {
      contentBytes = writeScalar(this.#content, value)
    } catch (error) {
      if (error instanceof RangeError) throw refused(RangeError, path, error.message)
      if (error instanceof TypeError) throw refused(TypeError, path, error.message)
      throw error
    }
    checkCost(1, contentBytes, path)
    const id = this.#idOf(1, contentBytes)
    if (typeof value === 'string') this.#idByText.set(value, id)
    return id
  }

  #addKey(key: string, path: Path): number {
    // Readers build objects from maps, where this key would change the object's prototype.
    if (key === '__proto__') throw refused(TypeError, path, 'the key __proto__ is not allowed')
    const id = this.#addScalar(key, path)
    if (this.#number(id, CONTENT_BYTES) > MAX_KEY_BYTES) {
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
    path: Path,
    add: (part: Part) => number,
  ): number {
    const parts: number[] = []
    let values = 1
    let contentBytes = 0
    // Checked at every part, so that an array that holds one large object a million times is refused before it is
    // walked a million times.
    const push = (id: number): void => {
      if (id >= this.size) throw new RangeError(`there is no value with id ${id} in the table`)
      values += this.#number(id, VALUES)
      contentBytes += this.#number(id, CONTENT_BYTES)
      checkCost(values, contentBytes, path)
      parts.push(id)
    }
    for (const [key, part] of entries) {
      if (type === DataType.map && typeof key !== 'string')
        throw refused(TypeError, path, `a key of the map is ${kindOf(key)}, not a string`)
      path.push(key)
      const name = typeof key === 'string' ? this.#addKey(key, path) : null
      const id = add(part)
      path.pop()
      if (name !== null) push(name)
      push(id)
    }
    this.#begin(type)
    for (const part of parts) writeUint(this.#content, part, ID_BYTES)
    return this.#idOf(values, contentBytes)
  }

  #begin(type: number): void {
    this.#content.length = 0
    this.#content.writeByte(type)
  }

  /** The id of the value whose content was just written. */
  #idOf(values: number, contentBytes: number): number {
    const memory = this.#content.room(0)
    const id = this.#contents.numberOf(memory, new DataView(memory.buffer), 0, this.#content.length)
    if (id === this.size) this.#rows.append(Int32Array.of(values, contentBytes))
    return id
  }

  #number(id: number, column: number): number {
    return this.#rows.rows[id * ROW + column] ?? 0
  }
}

/** The name of a value, and the keys and indexes that lead to a part of it. */
type Path = [name: string, ...keys: unknown[]]

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

function entriesOf(value: object, path: Path): [unknown, unknown][] {
  if (isOfClass(value, 'Map')) return [...value]
  if (!isPlainObject(value)) {
    throw refused(TypeError, path, `${kindOf(value)} is not a plain object: copy its fields into one`)
  }
  return Object.entries(value)
}

/** Enforces the limits of this package's reader, which refuses larger records as hostile. */
function checkCost(values: number, contentBytes: number, path: Path): void {
  if (values > MAX_VALUES) {
    throw refused(RangeError, path, `a record may hold at most ${MAX_VALUES} values, including keys`)
  }
  if (contentBytes > MAX_CONTENT_BYTES) {
    throw refused(RangeError, path, `a record may hold at most ${MAX_CONTENT_BYTES} bytes of text`)
  }
}

function refused<E extends Error>(
  Failure: new (message: string) => E,
  [name, ...keys]: Path,
  why: string,
): E {
  const place = keys.map((key) => (typeof key === 'string' ? `.${key}` : `[${key}]`)).join('')
  return new Failure(`${name}${place}: ${why}`)
}
