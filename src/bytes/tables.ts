// Hash tables of numbers in typed arrays, with open addressing. The garbage collector does not look into them, and an
// entry costs a few bytes. Callers bound the number of entries.

/** Entries of an empty table: a power of two, as all sizes are. */
const FIRST_SLOTS = 1024

/** Multiplying by the golden ratio spreads numbers that lie at regular distances (Fibonacci hashing). */
const GOLDEN_RATIO = 0x9e3779b1

/** The result for a key that a table does not have. */
export const ABSENT = -1

/** Maps positive numbers to numbers from 0. A key and its value are neighbours, so that a hit reads one place in memory. */
export class NumberMap {
  /** How many keys it has. */
  size = 0
  #slots = new Int32Array(2 * FIRST_SLOTS)
  /** How far a hash is shifted to the right to give a slot. */
  #shift = 32 - Math.log2(FIRST_SLOTS)

  /** @returns {@link ABSENT} for an unknown key */
  get(key: number): number {
    const slots = this.#slots
    const at = this.#find(slots, key)
    return slots[at] === key ? (slots[at + 1] ?? ABSENT) : ABSENT
  }

  set(key: number, value: number): void {
    // At most two thirds full, so that a search is short.
    if (3 * (this.size + 1) > this.#slots.length) this.#grow()
    const at = this.#find(this.#slots, key)
    if (this.#slots[at] !== key) this.size++
    this.#slots[at] = key
    this.#slots[at + 1] = value
  }

  /** Where a key is or belongs. */
  #find(slots: Int32Array, key: number): number {
    const last = slots.length - 2
    let at = (Math.imul(key, GOLDEN_RATIO) >>> this.#shift) << 1
    while (slots[at] !== key && slots[at] !== 0) at = at === last ? 0 : at + 2
    return at
  }

  #grow(): void {
    const old = this.#slots
    this.#slots = new Int32Array(2 * old.length)
    this.#shift--
    for (let from = 0; from < old.length; from += 2) {
      const key = old[from] ?? 0
      if (key === 0) continue
      const at = this.#find(this.#slots, key)
      this.#slots[at] = key
      this.#slots[at + 1] = old[from + 1] ?? 0
    }
  }
}

/** Numbers distinct rows of the same width in the order in which they are added. */
export class RowSet {
  /** How many rows it has. */
  size = 0
  /** Row after row; replaced when it is full. */
  rows: Int32Array
  /** Numbers of rows plus 1, by hash; 0 is an empty slot. */
  #slots = new Int32Array(FIRST_SLOTS)
  /** How many rows are in the slots. */
  #indexed = 0

  /**
   * @param width numbers in a row
   * @param rows distinct rows that it has from the start, in memory that is its own from now on
   */
  constructor(
    readonly width: number,
    rows: Int32Array = new Int32Array(0),
  ) {
    this.rows = rows
    this.size = rows.length / width
  }

  /** The number of a row; {@link ABSENT} if it is not there. */
  find(row: Int32Array): number {
    if (this.#indexed < this.size) this.#index()
    return (this.#slots[this.#slotOf(row, 0)] ?? 0) - 1
  }

  /** The number of a row, which is added if it is absent. */
  add(row: Int32Array): number {
    if (this.#indexed < this.size) this.#index()
    const slot = this.#slotOf(row, 0)
    const known = this.#slots[slot] ?? 0
    if (known > 0) return known - 1
    const number = this.append(row)
    if (2 * this.size > this.#slots.length) this.#index()
    else {
      this.#slots[slot] = this.size
      this.#indexed = this.size
    }
    return number
  }

  /** Adds a row that it does not have, without a search. @returns its number */
  append(row: Int32Array): number {
    const { width, size } = this
    const at = size * width
    if (at + width > this.rows.length)
      this.rows = extended(
        this.rows,
        new Int32Array(Math.max((FIRST_SLOTS / 2) * width, 2 * this.rows.length)),
      )
    for (let i = 0; i < width; i++) this.rows[at + i] = row[i] ?? 0
    this.size++
    return size
  }

  /** The slot of a row, which is the one in `source` that starts at `start`: its own, or an empty one. */
  #slotOf(source: Int32Array, start: number): number {
    const { width, rows } = this
    const slots = this.#slots
    let hash = 0
    for (let i = 0; i < width; i++) {
      hash = Math.imul(hash ^ (source[start + i] ?? 0), GOLDEN_RATIO)
      hash ^= hash >>> 15
    }
    for (let slot = hash & (slots.length - 1); ; slot = (slot + 1) & (slots.length - 1)) {
      const number = slots[slot] ?? 0
      if (number === 0) return slot
      const other = (number - 1) * width
      let i = 0
      while (i < width && rows[other + i] === source[start + i]) i++
      if (i === width) return slot
    }
  }

  /** Puts all rows into slots, of which half are used at most. */
  #index(): void {
    let length = this.#slots.length
    if (2 * this.size > length) {
      while (2 * this.size > length) length *= 2
      this.#slots = new Int32Array(length)
      this.#indexed = 0
    }
    // Rows are distinct, so each finds an empty slot.
    for (; this.#indexed < this.size; this.#indexed++) {
      this.#slots[this.#slotOf(this.rows, this.#indexed * this.width)] = this.#indexed + 1
    }
  }
}

/**
 * Returns the cached value of a key. Makes the value on the first use. A full cache is emptied, because this needs no
 * bookkeeping per hit. Only a caller or a file with an unlimited number of keys fills it.
 *
 * @param make must not return `undefined`
 */
export function remember<Key, Value>(
  cache: Map<Key, Value>,
  maxEntries: number,
  key: Key,
  make: (key: Key) => Value,
): Value {
  let value = cache.get(key)
  if (value === undefined) {
    value = make(key)
    if (cache.size >= maxEntries) cache.clear()
    cache.set(key, value)
  }
  return value
}

/** A larger array that begins with these values. */
export function extended<Numbers extends { set(values: ArrayLike<number>): void }>(
  values: ArrayLike<number>,
  larger: Numbers,
): Numbers {
  larger.set(values)
  return larger
}
