import { viewOf } from '../../../enrich/swar.ts'

/** Texts hash to other places in each process, so that an input cannot make them collide. */
const SEED = Math.floor(Math.random() * 2 ** 32)

/** Stands for the number of a text that is not there. */
export const NONE = -1

/** Larger memory is not kept for the next texts. */
export const MAX_KEPT_BYTES = 2 ** 20

/** Distinct texts, as bytes. Each has a number, from 0. */
export class DistinctTexts {
  count = 0
  #bytes = new Uint8Array(1024)
  #view = viewOf(this.#bytes)
  /** Where each text begins in {@link #bytes}, and after them where the last one ends. */
  #starts = new Int32Array(32)
  #hashes = new Int32Array(32)
  /** The hash of the text that was looked for last, and its place in {@link #table}. */
  #hash = 0
  #place = 0
  /** The text that was found last. Rows often have that of the row before. */
  #last = 0
  /** An open-addressing table of numbers; {@link NONE} is a free place. At most half of it is in use. */
  #table = new Int32Array(64).fill(NONE)

  /** The number of the text `bytes[start, end)`, which is added if it is new. @param view of all of `bytes` */
  numberOf(bytes: Uint8Array, view: DataView, start: number, end: number): number {
    const number = this.find(bytes, view, start, end)
    return number === NONE ? this.add(bytes, start, end) : number
  }

  /** The number of a text; {@link NONE} if it is not here. */
  find(bytes: Uint8Array, view: DataView, start: number, end: number): number {
    const last = this.#last
    if (last < this.count && this.sizeOf(last) === end - start && this.isAt(last, bytes, view, start))
      return last
    this.#hash = hashOf(bytes, view, start, end)
    this.#place = this.#placeOf(this.#hash, bytes, view, start, end)
    const number = this.#table[this.#place] ?? NONE
    if (number !== NONE) this.#last = number
    return number
  }

  sizeOf(number: number): number {
    return (this.#starts[number + 1] ?? 0) - (this.#starts[number] ?? 0)
  }

  /** The bytes of a text, valid until the next one is added. */
  textOf(number: number): Uint8Array {
    return this.#bytes.subarray(this.#starts[number], this.#starts[number + 1])
  }

  /** Whether the text is the one from `start`. */
  isAt(number: number, bytes: Uint8Array, view: DataView, start: number): boolean {
    const own = this.#bytes
    const from = this.#starts[number] ?? 0
    const size = (this.#starts[number + 1] ?? 0) - from
    if (start + size > bytes.length) return false
    let at = 0
    for (; at + 4 <= size; at += 4) {
      if (this.#view.getInt32(from + at, true) !== view.getInt32(start + at, true)) return false
    }
    for (; at < size; at++) if (own[from + at] !== bytes[start + at]) return false
    return true
  }

  clear(): void {
    this.count = 0
    if (this.#bytes.length > MAX_KEPT_BYTES) {
      this.#bytes = new Uint8Array(1024)
      this.#view = viewOf(this.#bytes)
    }
    this.#table.fill(NONE)
  }

  #placeOf(hash: number, bytes: Uint8Array, view: DataView, start: number, end: number): number {
    const table = this.#table
    const last = table.length - 1
    for (let place = hash & last; ; place = (place + 1) & last) {
      const number = table[place] ?? NONE
      if (number === NONE) return place
      const isSame = this.#hashes[number] === hash && this.sizeOf(number) === end - start
      if (isSame && this.isAt(number, bytes, view, start)) return place
    }
  }

  /** Adds the text that `find` has just not found. @returns its number */
  add(bytes: Uint8Array, start: number, end: number): number {
    const number = this.count++
    const from = number === 0 ? 0 : (this.#starts[number] ?? 0)
    const to = from + end - start
    if (to > this.#bytes.length) {
      const larger = new Uint8Array(Math.max(to, 2 * this.#bytes.length))
      larger.set(this.#bytes)
      this.#bytes = larger
      this.#view = viewOf(larger)
    }
    this.#bytes.set(bytes.subarray(start, end), from)
    if (number + 1 >= this.#starts.length) {
      this.#starts = grown(this.#starts, 0)
      this.#hashes = grown(this.#hashes, 0)
    }
    this.#starts[number + 1] = to
    this.#hashes[number] = this.#hash
    this.#table[this.#place] = number
    if (2 * this.count > this.#table.length) this.#rehash()
    return number
  }

  #rehash(): void {
    const table = new Int32Array(2 * this.#table.length).fill(NONE)
    const last = table.length - 1
    for (let number = 0; number < this.count; number++) {
      let place = (this.#hashes[number] ?? 0) & last
      while (table[place] !== NONE) place = (place + 1) & last
      table[place] = number
    }
    this.#table = table
  }
}

/** A copy with twice the size. @param filling what the new half has */
export function grown(array: Int32Array, filling: number): Int32Array<ArrayBuffer> {
  const larger = new Int32Array(2 * array.length)
  larger.set(array)
  return filling === 0 ? larger : larger.fill(filling, array.length)
}

function hashOf(bytes: Uint8Array, view: DataView, start: number, end: number): number {
  let hash = SEED ^ (end - start)
  let at = start
  for (const last = end - 4; at <= last; at += 4) {
    hash = Math.imul(hash ^ view.getInt32(at, true), 0x5bd1e995)
    hash ^= hash >>> 15
  }
  for (; at < end; at++) hash = Math.imul(hash ^ (bytes[at] ?? 0), 0x5bd1e995)
  return hash ^ (hash >>> 13)
}
