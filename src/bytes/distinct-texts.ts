import { ByteSink } from './byte-sink.ts'
import { extended } from './tables.ts'

/** Stands for the number of a text that is not there. */
export const NONE = -1

/** Larger memory is not kept for the next texts. */
export const MAX_KEPT_BYTES = 2 ** 20

/** Distinct texts, as bytes. Each has a number, from 0. */
export class DistinctTexts {
  count = 0
  /** Texts hash to other places in each object, so that an input cannot make them collide. */
  readonly #seed = Math.floor(Math.random() * 2 ** 32)
  readonly #texts = new ByteSink(1024)
  /** The memory of {@link #texts}. */
  #bytes = this.#texts.room(0)
  #view = new DataView(this.#bytes.buffer)
  /** Where each text begins in {@link #bytes}, and after them where the last one ends. */
  #starts = new Int32Array(32)
  /** The hash of the text that was looked for last, and its place in {@link #table}. */
  #hash = 0
  #place = 0
  /** The text that was found last. A row often has the same text as the row before. */
  #last = 0
  /** An open-addressing table of pairs, a number and its hash; {@link NONE} is a free place. At most half of it is in use. */
  #table = new Int32Array(128).fill(NONE)

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
    this.#hash = hashOf(this.#seed, bytes, view, start, end)
    this.#place = this.#placeOf(this.#hash, bytes, view, start, end)
    const number = this.#table[this.#place] ?? NONE
    if (number !== NONE) this.#last = number
    return number
  }

  /** Bytes of all texts. */
  get length(): number {
    return this.#texts.length
  }

  sizeOf(number: number): number {
    return (this.#starts[number + 1] ?? 0) - (this.#starts[number] ?? 0)
  }

  /** The bytes of a text, valid until the next one is added. */
  textOf(number: number): Uint8Array {
    return this.#bytes.subarray(this.#starts[number], this.#starts[number + 1])
  }

  /** Whether the text is the one from `start`. */
  isAt(number: number, bytes: Uint8Array, other: DataView, start: number): boolean {
    const own = this.#bytes
    const from = this.#starts[number] ?? 0
    const size = (this.#starts[number + 1] ?? 0) - from
    if (start + size > bytes.length) return false
    const view = this.#view
    const last = size - 4
    let at = 0
    if (last < 0) {
      while (at < size && own[from + at] === bytes[start + at]) at++
      return at === size
    }
    for (; at < last - 4; at += 8) {
      const differences =
        (view.getInt32(from + at, true) ^ other.getInt32(start + at, true)) |
        (view.getInt32(from + at + 4, true) ^ other.getInt32(start + at + 4, true))
      if (differences !== 0) return false
    }
    // The last words can have bytes in common.
    at = Math.min(at, last)
    return (
      view.getInt32(from + at, true) === other.getInt32(start + at, true) &&
      view.getInt32(from + last, true) === other.getInt32(start + last, true)
    )
  }

  clear(): void {
    this.count = 0
    if (this.#texts.length > MAX_KEPT_BYTES) this.#texts.take()
    this.#texts.length = 0
    this.#table.fill(NONE)
  }

  #placeOf(hash: number, bytes: Uint8Array, view: DataView, start: number, end: number): number {
    const table = this.#table
    const last = table.length - 2
    for (let place = (hash << 1) & last; ; place = (place + 2) & last) {
      const number = table[place] ?? NONE
      if (number === NONE) return place
      const isSame = table[place + 1] === hash && this.sizeOf(number) === end - start
      if (isSame && this.isAt(number, bytes, view, start)) return place
    }
  }

  /** Adds the text that `find` has just not found. @returns its number */
  add(bytes: Uint8Array, start: number, end: number): number {
    const number = this.count++
    this.#texts.write(bytes, start, end)
    const memory = this.#texts.room(0)
    if (memory !== this.#bytes) {
      this.#bytes = memory
      this.#view = new DataView(memory.buffer)
    }
    if (number + 1 >= this.#starts.length) this.#starts = grown(this.#starts, 0)
    this.#starts[number + 1] = this.#texts.length
    this.#table[this.#place] = number
    this.#table[this.#place + 1] = this.#hash
    if (4 * this.count > this.#table.length) this.#rehash()
    return number
  }

  #rehash(): void {
    const before = this.#table
    const table = new Int32Array(2 * before.length).fill(NONE)
    const last = table.length - 2
    for (let from = 0; from < before.length; from += 2) {
      const [number = NONE, hash = 0] = [before[from], before[from + 1]]
      if (number === NONE) continue
      let place = (hash << 1) & last
      while (table[place] !== NONE) place = (place + 2) & last
      table[place] = number
      table[place + 1] = hash
    }
    this.#table = table
  }
}

/** A copy with twice the size. @param filling what the new half has */
export function grown(array: Int32Array, filling: number): Int32Array<ArrayBuffer> {
  return extended(array, new Int32Array(2 * array.length).fill(filling))
}

function hashOf(seed: number, bytes: Uint8Array, view: DataView, start: number, end: number): number {
  let hash = seed ^ (end - start)
  let other = ~hash
  const last = end - 4
  let at = start
  if (last < start) for (; at < end; at++) hash = Math.imul(hash ^ (bytes[at] ?? 0), 0x5bd1e995)
  else {
    // Two chains of products: the processor computes them at the same time.
    for (; at < last - 4; at += 8) {
      hash = Math.imul(hash ^ view.getInt32(at, true), 0x5bd1e995)
      other = Math.imul(other ^ view.getInt32(at + 4, true), 0x5bd1e995)
      // Distances that the seed decides: the differences of two texts could cancel out in a fixed pattern, for every seed.
      hash = (hash << other) | (hash >>> -other)
      other = (other << hash) | (other >>> -hash)
    }
    // The last words can have bytes in common.
    hash = Math.imul(hash ^ view.getInt32(Math.min(at, last), true), 0x5bd1e995)
    other = Math.imul(other ^ view.getInt32(last, true), 0x5bd1e995)
  }
  hash = Math.imul(hash ^ (hash >>> 15) ^ other, 0x5bd1e995)
  return hash ^ (hash >>> 13)
}
