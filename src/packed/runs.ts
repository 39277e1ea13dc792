// The runs of a family of addresses. A run is a range of neighbouring networks with the same value; a block has up to
// 4,096 of them. README.md has the layout.

import type { Words } from '../address/position.ts'
import type { BlockFile } from './block-file.ts'
import {
  BLOCK_ITEMS,
  BLOCK_SHIFT,
  bytesOf,
  ESCAPE,
  type Family,
  FIRST_RECORD,
  RUN_BYTES,
} from './directory.ts'

/**
 * The runs of a family. A decoded block has a place in the memory: where it has its columns of {@link BLOCK_ITEMS} numbers. First come
 * the words of the positions where runs start, a column for each word, and then the values.
 */
export class Runs {
  /** The memory of all decoded blocks. */
  words: Uint32Array = NONE
  readonly count: number
  readonly width: number
  readonly firstWord: number
  /** How many blocks there are. */
  readonly blocks: number
  /** Where the blocks start: a column for each word. */
  readonly #starts: Uint32Array
  readonly #lengths: Uint32Array

  /** @param firstBlock the number of its first block in the file */
  constructor(
    { count, width, firstWord, lengths, starts }: Family,
    readonly firstBlock: number,
  ) {
    this.count = count
    this.width = width
    this.firstWord = firstWord
    this.blocks = starts.length / width
    this.#starts = starts
    this.#lengths = lengths
  }

  /** How many runs a block has. */
  countOf(block: number): number {
    return Math.min(BLOCK_ITEMS, this.count - block * BLOCK_ITEMS)
  }

  /** The block with an IPv4 address, counted in the family. */
  blockOfIPv4(address: number): number {
    return lastAtMost(this.#starts, 0, this.blocks, address)
  }

  /** The last block, from a given one on, that does not start after an IPv4 address. */
  blockFrom(block: number, address: number): number {
    let last = block
    while (last + 1 < this.blocks && (this.#starts[last + 1] ?? 0) <= address) last++
    return last
  }

  /** The block with an address, counted in the family. */
  blockOf(words: Words): number {
    return this.#lastNotAfter(this.#starts, 0, this.blocks, this.blocks, words)
  }

  /** The run with an IPv4 address. @param from a run of the block that is not after it */
  runOfIPv4(place: number, from: number, address: number): number {
    const item = from & (BLOCK_ITEMS - 1)
    const end = place + this.countOf(from >>> BLOCK_SHIFT)
    const found =
      item === 0
        ? lastAtMost(this.words, place, end, address)
        : lastAtMostFrom(this.words, place + item, end, address)
    return from - item + found - place
  }

  /** The run with an address. */
  runOf(place: number, block: number, words: Words): number {
    return (
      block * BLOCK_ITEMS + this.#lastNotAfter(this.words, place, BLOCK_ITEMS, this.countOf(block), words)
    )
  }

  /** The value of a run. */
  valueOf(place: number, run: number): number {
    return this.words[place + this.width * BLOCK_ITEMS + (run & (BLOCK_ITEMS - 1))] ?? 0
  }

  /** Writes where a run starts. */
  startOf(place: number, run: number, into: Words): void {
    this.#copy(this.words, place + (run & (BLOCK_ITEMS - 1)), BLOCK_ITEMS, into)
  }

  /** Writes where a run ends: the first position after it. */
  endOf(place: number, run: number, into: Words): void {
    const next = run + 1
    if (next === this.count) {
      into.fill(0)
      if (this.firstWord > 0) into[this.firstWord - 1] = 1
    } else if (isFirstOfBlock(next)) this.#copy(this.#starts, next >>> BLOCK_SHIFT, this.blocks, into)
    else this.startOf(place, next, into)
  }

  /** Where a run of IPv4 addresses ends. */
  endOfIPv4(place: number, run: number): number {
    const next = run + 1
    if (next === this.count) return 2 ** 32
    if (isFirstOfBlock(next)) return this.#starts[next >>> BLOCK_SHIFT] ?? 0
    return this.words[place + (next & (BLOCK_ITEMS - 1))] ?? 0
  }

  /**
   * Reads and decodes a block.
   *
   * @param number of the block in the file
   * @param isNew whether the memory at the place has zeros
   * @throws InvalidDatabaseError when the block is damaged
   */
  read(file: BlockFile, number: number, place: number, isNew: boolean): void {
    const { recordCount } = file.directory
    const valueBytes = bytesOf(recordCount + 1)
    const block = number - this.firstBlock
    const count = this.countOf(block)
    file.block(number, 'networks', (stream, lowBytes) => {
      // The long lengths end where the new values start.
      const newAt = stream.length - (valueBytes - 1) * lowBytes.length
      if (this.#placeRuns(stream, block, place, count, isNew) !== newAt) throw misfit()
      const values = this.words.subarray(place + this.width * BLOCK_ITEMS)
      decodeValues(stream, newAt, lowBytes, FIRST_RECORD + recordCount, values, count)
    })
  }

  /** Adds up the lengths of the runs of a block. @returns where the long lengths end in its stream */
  #placeRuns(stream: Uint8Array, block: number, place: number, count: number, isNew: boolean): number {
    const { width, firstWord, words } = this
    const start = new Uint32Array(4)
    const end = new Uint32Array(4)
    this.#copy(this.#starts, block, this.blocks, start)
    this.endOf(place, block * BLOCK_ITEMS + count - 1, end)
    longAt = RUN_BYTES * count
    if (width === 1) {
      const first = start[firstWord] ?? 0
      const sum = placeIPv4(stream, this.#lengths, first | 0, words, place, count)
      if (first + sum !== (end[firstWord] || 2 ** 32)) throw misplaced()
      return longAt
    }
    // Most words of positions after the second are zeros. The system gives no pages for them until they are written.
    if (!isNew) words.fill(0, place, place + width * BLOCK_ITEMS)
    const position = Float64Array.from(start.subarray(firstWord, firstWord + width))
    const overflows = placeIPv6(stream, this.#lengths, position, words, place, count)
    const isEnd = position.every((word, i) => word === end[firstWord + i])
    if (!isEnd || overflows !== (block + 1 === this.blocks ? 1 : 0)) throw misplaced()
    return longAt
  }

  /** @param numbers columns of a length. The word of the first one is at `at` */
  #copy(numbers: Uint32Array, at: number, length: number, into: Words): void {
    into.fill(0)
    for (let word = 0; word < this.width; word++)
      into[this.firstWord + word] = numbers[at + word * length] ?? 0
  }

  /** The last of some positions that is not after an address, or the first one. @param numbers as for {@link #copy} */
  #lastNotAfter(numbers: Uint32Array, at: number, length: number, count: number, words: Words): number {
    const { width, firstWord } = this
    let low = 0
    for (let high = count; high - low > 1; ) {
      const middle = (low + high) >>> 1
      let place = at + middle
      let word = 0
      for (; word < width - 1 && numbers[place] === words[firstWord + word]; word++) place += length
      if ((numbers[place] ?? 0) <= (words[firstWord + word] ?? 0)) low = middle
      else high = middle
    }
    return low
  }
}

const NONE = new Uint32Array(0)

/** The runs of all families, whose blocks are the first ones of a file. */
export function runsOf(families: readonly Family[]): Runs[] {
  let block = 0
  return families.map((family) => {
    const runs = new Runs(family, block)
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

// The functions that decode a block have only a loop: V8 compiles the first call before it knows what comes before and after
// the loop. It would compile again, or leave compiled code after each block: 100 times in 1,000 lookups.

/** Where the next long length of a block is in its stream. */
let longAt = 0

/**
 * Adds up the lengths of the runs of a block of IPv4 addresses.
 *
 * @param start as a signed number: V8 computes with numbers over 2 ** 31 as doubles, which takes twice as long
 * @returns the sum, which is exact and tells if the positions went beyond the end
 */
function placeIPv4(
  stream: Uint8Array,
  lengths: Uint32Array,
  start: number,
  starts: Uint32Array,
  place: number,
  count: number,
): number {
  let position = start
  let sum = 0
  for (let i = 0; i < count; i++) {
    starts[place + i] = position
    const index = stream[i] ?? 0
    let length = lengths[index] ?? 0
    if (index === ESCAPE) {
      length = numberAt(stream, longAt)
      longAt += 4
    }
    position = (position + (length | 0)) | 0
    // The only run with all addresses has the length zero.
    sum += length === 0 ? 2 ** 32 : length
  }
  return sum
}

function numberAt(bytes: Uint8Array, at: number): number {
  const low = (bytes[at] ?? 0) | ((bytes[at + 1] ?? 0) << 8) | ((bytes[at + 2] ?? 0) << 16)
  return low + (bytes[at + 3] ?? 0) * 2 ** 24
}

/**
 * Adds up the lengths of the runs of a block of other addresses.
 *
 * @param position of the first run; afterwards the end of the last one
 * @param starts has zeros
 * @returns how often the position went beyond the end of the addresses
 */
function placeIPv6(
  stream: Uint8Array,
  lengths: Uint32Array,
  position: Float64Array,
  starts: Uint32Array,
  place: number,
  count: number,
): number {
  const { length: width } = position
  const long = new Uint32Array(width)
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
      if (word < 2 || before !== 0) starts[place + word * BLOCK_ITEMS + i] = before
      const sum = before + length + carry
      carry = sum >= 2 ** 32 ? 1 : 0
      position[word] = sum - carry * 2 ** 32
    }
    // The only run with all addresses has the length zero.
    overflows += bits === 0 ? 1 : carry
    if (!isUsual) isShort = width < 3 || (position[2] === 0 && position[width - 1] === 0)
  }
  return overflows
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
  const used = copyValues(stream, values, count)
  if (used < 0) throw new Error('a network refers to a value before the first of its block')
  if (used !== newCount) throw misfit()
}

/** @returns how many new values there are; below 0 if a distance leads before the first value */
function copyValues(stream: Uint8Array, values: Uint32Array, count: number): number {
  let used = 0
  for (let i = 0; i < count; i++) {
    const back = (stream[count + i] ?? 0) | ((stream[2 * count + i] ?? 0) << 8)
    // The loop has no branches: a processor could not predict them, and they would take a third of the decoding.
    const isNew = (back - 1) >>> 31
    const old = values[i - back] ?? 0
    values[i] = old ^ ((old ^ (newValues[used] ?? 0)) & -isNew)
    used = (used + isNew) | ((i - back) & SIGN)
  }
  return used
}

/** The new values of the block that is being decoded. */
const newValues = new Uint32Array(BLOCK_ITEMS + 1)

function misfit(): Error {
  return new Error('the streams of a block do not fit together')
}

function misplaced(): Error {
  return new Error('the networks of a block do not fill its addresses')
}
