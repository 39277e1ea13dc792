// The runs of a family of addresses. A run is a range of neighbouring networks with the same value; a block has up to
// 4,096 of them. README.md has the layout.

import type { Words } from '../address/position.ts'
import type { BlockFile } from './block-file.ts'
import { type Family, RUN_BYTES } from './directory.ts'
import { BLOCK_ITEMS, BLOCK_SHIFT, bytesOf, ESCAPE, FIRST_RECORD } from './format.ts'

/** The decoded runs of a family. They are read after their block was decoded. */
export class Runs {
  /**
   * Where each run starts: an array for each word of a position. Most positions have zeros in their last words, so that the
   * system gives few pages of these.
   */
  readonly starts: Uint32Array[]
  /** The value of each run. */
  values: Uint32Array
  readonly count: number
  readonly width: number
  readonly firstWord: number
  readonly #blockStarts: readonly Uint32Array[]
  readonly #lengths: Uint32Array
  /** The bits of the number of a run that say where it is in the arrays. */
  readonly #places: number

  /**
   * @param firstBlock the number of its first block in the file
   * @param room `block` has memory for one block, which each decoded block takes. `all` gets memory for all from its owner
   */
  constructor(
    { count, width, firstWord, lengths, starts }: Family,
    readonly firstBlock: number,
    room: 'all' | 'block' = 'all',
  ) {
    this.count = count
    this.width = width
    this.firstWord = firstWord
    this.#places = room === 'all' ? -1 : BLOCK_ITEMS - 1
    const length = room === 'all' ? 0 : BLOCK_ITEMS
    this.starts = Array.from({ length: width }, () => new Uint32Array(length))
    this.values = new Uint32Array(length)
    this.#blockStarts = Array.from({ length: width }, (_, word) =>
      starts.subarray((word * starts.length) / width, ((word + 1) * starts.length) / width),
    )
    this.#lengths = lengths
  }

  /** How many blocks there are. */
  get blocks(): number {
    return this.#blockStarts[0]?.length ?? 0
  }

  /** The block with an IPv4 address, counted in the family. */
  blockOfIPv4(address: number): number {
    const [starts = NONE] = this.#blockStarts
    return lastAtMost(starts, 0, starts.length, address)
  }

  /** The last block, from a given one on, that does not start after an IPv4 address. */
  blockFrom(block: number, address: number): number {
    const [starts = NONE] = this.#blockStarts
    let last = block
    while (last + 1 < starts.length && (starts[last + 1] ?? 0) <= address) last++
    return last
  }

  /** The block with an address, counted in the family. */
  blockOf(words: Words): number {
    return this.#lastNotAfter(this.#blockStarts, 0, this.blocks, words)
  }

  /** The run with an IPv4 address. @param from a run of the block that is not after it */
  runOfIPv4(from: number, address: number): number {
    const end = Math.min(this.count, ((from >>> BLOCK_SHIFT) + 1) << BLOCK_SHIFT)
    const [starts = NONE] = this.starts
    return isFirstOfBlock(from)
      ? lastAtMost(starts, from, end, address)
      : lastAtMostFrom(starts, from, end, address)
  }

  /** The run with an address, in a decoded block. */
  runOf(block: number, words: Words): number {
    const first = block << BLOCK_SHIFT
    const place = first & this.#places
    const count = Math.min(this.count - first, BLOCK_ITEMS)
    return first - place + this.#lastNotAfter(this.starts, place, place + count, words)
  }

  /** The value of a run of a decoded block. */
  valueOf(run: number): number {
    return this.values[run & this.#places] ?? 0
  }

  /** Writes where a run of a decoded block starts. */
  startOf(run: number, into: Words): void {
    this.#copy(this.starts, run & this.#places, into)
  }

  /** Writes where a run of a decoded block ends: the first position after it. */
  endOf(run: number, into: Words): void {
    const next = run + 1
    if (next === this.count) {
      into.fill(0)
      if (this.firstWord > 0) into[this.firstWord - 1] = 1
    } else if (isFirstOfBlock(next)) this.#copy(this.#blockStarts, next >>> BLOCK_SHIFT, into)
    else this.#copy(this.starts, next & this.#places, into)
  }

  /** Where a run of a decoded block of IPv4 addresses ends. */
  endOfIPv4(run: number): number {
    const next = run + 1
    if (next === this.count) return 2 ** 32
    const positions = isFirstOfBlock(next) ? this.#blockStarts : this.starts
    return positions[0]?.[isFirstOfBlock(next) ? next >>> BLOCK_SHIFT : next] ?? 0
  }

  /**
   * Reads and decodes a block.
   *
   * @param number of the block in the file
   * @throws InvalidDatabaseError when the block is damaged
   */
  read(file: BlockFile, number: number): void {
    const { recordCount } = file.directory
    const valueBytes = bytesOf(recordCount + 1)
    const block = number - this.firstBlock
    file.block(number, 'networks', (stream, lowBytes) => {
      // The long lengths end where the new values start.
      const newAt = stream.length - (valueBytes - 1) * lowBytes.length
      const place = (block << BLOCK_SHIFT) & this.#places
      const count = Math.min(BLOCK_ITEMS, this.count - (block << BLOCK_SHIFT))
      if (this.#placeRuns(stream, block, place, count) !== newAt) throw misfit()
      decodeValues(stream, newAt, lowBytes, FIRST_RECORD + recordCount, this.values, place, count)
    })
  }

  /** Adds up the lengths of the runs of a block. @returns where the long lengths end in its stream */
  #placeRuns(stream: Uint8Array, block: number, place: number, count: number): number {
    const { width, starts } = this
    const isLast = block + 1 === this.blocks
    const start = this.#blockStarts.map((words) => words[block] ?? 0)
    // After the last block of a family, the words of the position return to zero.
    const end = this.#blockStarts.map((words) => (isLast ? 0 : (words[block + 1] ?? 0)))
    if (width === 1) return placeIPv4(stream, this.#lengths, start, end, starts[0] ?? NONE, place, count)
    // Memory for all runs is new.
    if (this.#places !== -1) for (const words of starts) words.fill(0)
    return placeIPv6(stream, this.#lengths, start, end, isLast, starts, place, count)
  }

  #copy(positions: readonly Uint32Array[], at: number, into: Words): void {
    into.fill(0)
    for (let word = 0; word < this.width; word++) into[this.firstWord + word] = positions[word]?.[at] ?? 0
  }

  /** The last position of a list that is not after an address, or the first one. */
  #lastNotAfter(positions: readonly Uint32Array[], from: number, end: number, words: Words): number {
    const { width, firstWord } = this
    let low = from
    for (let high = end; high - low > 1; ) {
      const middle = (low + high) >>> 1
      let word = 0
      while (word < width - 1 && positions[word]?.[middle] === words[firstWord + word]) word++
      if ((positions[word]?.[middle] ?? 0) <= (words[firstWord + word] ?? 0)) low = middle
      else high = middle
    }
    return low
  }
}

const NONE = new Uint32Array(0)

/** The runs of all families, whose blocks are the first ones of a file. */
export function runsOf(families: readonly Family[], room?: 'all' | 'block'): Runs[] {
  let block = 0
  return families.map((family) => {
    const runs = new Runs(family, block, room)
    block += runs.blocks
    return runs
  })
}

function isFirstOfBlock(run: number): boolean {
  return (run & (BLOCK_ITEMS - 1)) === 0
}

/** Turns the order of unsigned numbers into that of signed ones: V8 compares numbers over 2 ** 31 as doubles. */
const SIGN = 1 << 31

/**
 * The last place from `first` on, and before `end`, whose number is at most a given one, in ascending numbers; `first` if there is
 * none. Without branches in the loop, which a processor would often predict wrongly.
 */
function lastAtMost(numbers: Uint32Array, first: number, end: number, most: number): number {
  const limit = most ^ SIGN
  let low = first
  for (let count = end - first; count > 1; ) {
    const half = count >>> 1
    low += half & -Number(((numbers[low + half] ?? 0) ^ SIGN) <= limit)
    count -= half
  }
  return low
}

/** `lastAtMost` for a place that is probably close to `first`. */
function lastAtMostFrom(numbers: Uint32Array, first: number, end: number, most: number): number {
  const limit = most ^ SIGN
  let low = first
  let step = 1
  while (low + step < end && ((numbers[low + step] ?? 0) ^ SIGN) <= limit) {
    low += step
    step *= 2
  }
  for (; step > 1; step = (step + 1) >>> 1) {
    const middle = low + (step >>> 1)
    if (middle < end && ((numbers[middle] ?? 0) ^ SIGN) <= limit) low = middle
  }
  return low
}

/** Adds up the lengths of the runs of a block of IPv4 addresses. @returns where the long lengths end */
function placeIPv4(
  stream: Uint8Array,
  lengths: Uint32Array,
  [start = 0]: readonly number[],
  [end = 0]: readonly number[],
  starts: Uint32Array,
  first: number,
  count: number,
): number {
  let position = start | 0
  /** A sum of 4,096 lengths is exact, so it tells if the positions went beyond the end. */
  let sum = start
  let longAt = RUN_BYTES * count
  for (let i = 0; i < count; i++) {
    starts[first + i] = position
    const index = stream[i] ?? 0
    let length = lengths[index] ?? 0
    if (index === ESCAPE) {
      length = numberAt(stream, longAt)
      longAt += 4
    }
    // Compute with signed integers, because V8 computes with numbers over 2 ** 31 as doubles, which takes twice as long.
    position = (position + (length | 0)) | 0
    // The only run with all addresses has the length zero.
    sum += length === 0 ? 2 ** 32 : length
  }
  if (sum !== (end === 0 ? 2 ** 32 : end)) throw misplaced()
  return longAt
}

function numberAt(bytes: Uint8Array, at: number): number {
  const low = (bytes[at] ?? 0) | ((bytes[at + 1] ?? 0) << 8) | ((bytes[at + 2] ?? 0) << 16)
  return low + (bytes[at + 3] ?? 0) * 2 ** 24
}

/** Adds up the lengths of the runs of a block of other addresses. @param starts has zeros @returns as {@link placeIPv4} */
function placeIPv6(
  stream: Uint8Array,
  lengths: Uint32Array,
  start: readonly number[],
  end: readonly number[],
  isLast: boolean,
  starts: readonly Uint32Array[],
  first: number,
  count: number,
): number {
  const { length: width } = start
  const position = Float64Array.from(start)
  const [firsts = NONE, seconds = NONE] = starts
  const long = new Uint32Array(width)
  let longAt = RUN_BYTES * count
  /** How often the position went beyond the end of the addresses. */
  let overflows = 0
  let isShort = position.subarray(2).every((word) => word === 0)
  for (let i = 0; i < count; i++) {
    const index = stream[i] ?? 0
    const row = index * width
    // Most positions and lengths have zeros after their second word. Fewer words take a third of the time.
    const isUsual = isShort && index !== ESCAPE && lengths[row + width - 1] === 0 && lengths[row + 2] === 0
    if (index === ESCAPE) {
      for (let word = 0; word < width; word++, longAt += 4) long[word] = numberAt(stream, longAt)
    }
    const words = index === ESCAPE ? long : lengths
    const at = index === ESCAPE ? 0 : row
    let carry = 0
    let bits = 0
    for (let word = isUsual ? 1 : width - 1; word >= 0; word--) {
      const before = position[word] ?? 0
      const length = words[at + word] ?? 0
      bits |= length
      if (word === 0) firsts[first + i] = before
      else if (word === 1) seconds[first + i] = before
      else if (before !== 0) setIn(starts[word], first + i, before)
      const sum = before + length + carry
      carry = sum >= 2 ** 32 ? 1 : 0
      position[word] = sum - carry * 2 ** 32
    }
    // The only run with all addresses has the length zero.
    overflows += bits === 0 ? 1 : carry
    if (!isUsual) isShort = width < 3 || (position[2] === 0 && position[width - 1] === 0)
  }
  if (overflows !== (isLast ? 1 : 0)) throw misplaced()
  for (let word = 0; word < width; word++) if (position[word] !== end[word]) throw misplaced()
  return longAt
}

function setIn(places: Uint32Array | undefined, at: number, word: number): void {
  if (places !== undefined) places[at] = word
}

/**
 * A value is that of a run before, or a new one.
 *
 * @param newAt where the high bytes of new values start in the stream
 */
function decodeValues(
  stream: Uint8Array,
  newAt: number,
  lowBytes: Uint8Array,
  valueCount: number,
  values: Uint32Array,
  first: number,
  count: number,
): void {
  const { length: newCount } = lowBytes
  for (let i = 0; i < newCount; i++) {
    let value = 0
    for (let at = newAt + i; at < stream.length; at += newCount) value = (value << 8) | (stream[at] ?? 0)
    value = ((value << 8) | (lowBytes[i] ?? 0)) >>> 0
    if (value >= valueCount) throw new Error('a network has a value that does not exist')
    newValues[i] = value
  }
  let used = 0
  let before = 0
  for (let i = 0; i < count; i++) {
    const back = (stream[count + i] ?? 0) | ((stream[2 * count + i] ?? 0) << 8)
    // The loop has no branches: a processor could not predict them, and they would take a third of the decoding.
    const isNew = (back - 1) >>> 31
    const old = values[first + i - back] ?? 0
    values[first + i] = old ^ ((old ^ (newValues[used] ?? 0)) & -isNew)
    used += isNew
    before |= i - back
  }
  if (before < 0) throw new Error('a network refers to a value before the first of its block')
  if (used !== newCount) throw misfit()
}

/** The new values of the block that is being decoded. */
const newValues = new Uint32Array(BLOCK_ITEMS + 1)

function misfit(): Error {
  return new Error('the streams of a block do not fit together')
}

function misplaced(): Error {
  return new Error('the networks of a block do not fill its addresses')
}
