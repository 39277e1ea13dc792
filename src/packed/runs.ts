// The runs of a family of addresses. A run is a range of neighbouring networks with the same value; a block has up to
// 4,096 of them. README.md has the layout.
import { type Family, RUN_BYTES } from './directory.ts'
import { BLOCK_SHIFT, ESCAPE } from './format.ts'
import type { Words } from './position.ts'

/** The sizes of a block, and what its values can be. */
export interface RunBounds {
  /** The number of its first run. */
  readonly first: number
  readonly count: number
  /** One more than the largest value. */
  readonly valueCount: number
  /** Bytes of a value. */
  readonly valueBytes: number
}

/** The decoded runs of a family. They are read after their block was decoded. */
export class Runs {
  /**
   * By word of a position, and then by run, where it starts. Most positions have zeros in their last words, so that the
   * system gives few pages of these.
   */
  readonly starts: Uint32Array[]
  /** By run. */
  values: Uint32Array = new Uint32Array(0)
  readonly count: number
  readonly width: number
  readonly firstWord: number
  readonly #blockStarts: readonly Uint32Array[]
  readonly #lengths: Uint32Array

  /** @param firstBlock the number of its first block in the file */
  constructor(
    { count, width, firstWord, lengths, starts }: Family,
    readonly firstBlock: number,
  ) {
    this.count = count
    this.width = width
    this.firstWord = firstWord
    this.starts = Array.from({ length: width }, () => new Uint32Array(0))
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
    return lastAtMost(this.starts[0] ?? NONE, from, end, address)
  }

  /** The run with an address, in a decoded block. */
  runOf(block: number, words: Words): number {
    const first = block << BLOCK_SHIFT
    return this.#lastNotAfter(this.starts, first, Math.min(this.count, first + 2 ** BLOCK_SHIFT), words)
  }

  /** Writes where a run of a decoded block starts. */
  startOf(run: number, into: Words): void {
    this.#copy(this.starts, run, into)
  }

  /** Writes where a run of a decoded block ends: the first position after it. */
  endOf(run: number, into: Words): void {
    const next = run + 1
    if (next === this.count) {
      into.fill(0)
      if (this.firstWord > 0) into[this.firstWord - 1] = 1
    } else if (isFirstOfBlock(next)) this.#copy(this.#blockStarts, next >>> BLOCK_SHIFT, into)
    else this.#copy(this.starts, next, into)
  }

  /** Where a run of a decoded block of IPv4 addresses ends. */
  endOfIPv4(run: number): number {
    const next = run + 1
    if (next === this.count) return 2 ** 32
    const positions = isFirstOfBlock(next) ? this.#blockStarts : this.starts
    return positions[0]?.[isFirstOfBlock(next) ? next >>> BLOCK_SHIFT : next] ?? 0
  }

  /**
   * Decodes a block.
   *
   * @param stream lengths, distances, long lengths, and the high bytes of new values
   * @param lowBytes of new values
   * @throws Error when the block is damaged
   */
  decode(stream: Uint8Array, lowBytes: Uint8Array, bounds: RunBounds): void {
    const { width, starts } = this
    const { first, count, valueCount, valueBytes } = bounds
    const escapes = countOf(stream, ESCAPE, count)
    const { length: newCount } = lowBytes
    const newAt = RUN_BYTES * count + 4 * width * escapes
    if (stream.length !== newAt + (valueBytes - 1) * newCount) throw misfit()
    const block = first >>> BLOCK_SHIFT
    const isLast = first + count === this.count
    const start = this.#blockStarts.map((words) => words[block] ?? 0)
    // After the last block of a family, the words of the position return to zero.
    const end = this.#blockStarts.map((words) => (isLast ? 0 : (words[block + 1] ?? 0)))
    const view = new DataView(stream.buffer, stream.byteOffset, stream.byteLength)
    if (width === 1) placeIPv4(view, this.#lengths, start, end, starts[0] ?? NONE, first, count)
    else place(view, this.#lengths, start, end, isLast, starts, first, count)
    decodeValues(stream, newAt, lowBytes, valueCount, this.values, first, count)
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

function isFirstOfBlock(run: number): boolean {
  return (run & (2 ** BLOCK_SHIFT - 1)) === 0
}

/** Turns the order of unsigned numbers into that of signed ones: V8 compares numbers over 2 ** 31 as doubles, which is slower. */
const SIGN = 1 << 31

/**
 * The last place from `first` on, and before `end`, whose number is at most a given one, in ascending numbers; `first` if there is
 * none. Fast if the place is close to `first`.
 */
function lastAtMost(numbers: Uint32Array, first: number, end: number, most: number): number {
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

function countOf(bytes: Uint8Array, byte: number, end: number): number {
  let count = 0
  for (let i = 0; i < end; i++) count += bytes[i] === byte ? 1 : 0
  return count
}

/** Adds up the lengths of the runs of a block of IPv4 addresses. */
function placeIPv4(
  stream: DataView,
  lengths: Uint32Array,
  [start = 0]: readonly number[],
  [end = 0]: readonly number[],
  starts: Uint32Array,
  first: number,
  count: number,
): void {
  let position = start
  let longAt = RUN_BYTES * count
  for (let i = 0; i < count; i++) {
    starts[first + i] = position
    const index = stream.getUint8(i)
    let length = lengths[index] ?? 0
    if (index === ESCAPE) {
      length = stream.getUint32(longAt, true)
      longAt += 4
    }
    // The only run with all addresses has the length zero.
    position += length === 0 ? 2 ** 32 : length
  }
  // A sum of 4,096 lengths is exact, so it tells if the positions went beyond the end.
  if (position !== (end === 0 ? 2 ** 32 : end)) throw misplaced()
}

/** Adds up the lengths of the runs of a block of other addresses. @param starts has zeros */
function place(
  stream: DataView,
  lengths: Uint32Array,
  start: readonly number[],
  end: readonly number[],
  isLast: boolean,
  starts: readonly Uint32Array[],
  first: number,
  count: number,
): void {
  const { length: width } = start
  const position = Float64Array.from(start)
  let longAt = RUN_BYTES * count
  /** How often the position went beyond the end of the addresses. */
  let overflows = 0
  for (let i = 0; i < count; i++) {
    const index = stream.getUint8(i)
    let carry = 0
    let isZero = true
    for (let word = width - 1; word >= 0; word--) {
      const before = position[word] ?? 0
      const words = starts[word]
      if (before !== 0 && words !== undefined) words[first + i] = before
      const length =
        index === ESCAPE ? stream.getUint32(longAt + 4 * word, true) : (lengths[index * width + word] ?? 0)
      if (length !== 0) isZero = false
      const sum = before + length + carry
      carry = sum >= 2 ** 32 ? 1 : 0
      position[word] = sum - carry * 2 ** 32
    }
    if (index === ESCAPE) longAt += 4 * width
    // The only run with all addresses has the length zero.
    overflows += carry + (isZero ? 1 : 0)
  }
  if (overflows !== (isLast ? 1 : 0)) throw misplaced()
  for (let word = 0; word < width; word++) if (position[word] !== end[word]) throw misplaced()
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
  let used = 0
  for (let i = 0; i < count; i++) {
    const back = (stream[count + i] ?? 0) | ((stream[2 * count + i] ?? 0) << 8)
    if (back !== 0) {
      if (back > i) throw new Error('a network refers to a value before the first of its block')
      values[first + i] = values[first + i - back] ?? 0
      continue
    }
    let value = 0
    for (let at = newAt + used; at < stream.length; at += newCount) value = value * 256 + (stream[at] ?? 0)
    value = value * 256 + (lowBytes[used++] ?? 0)
    if (value >= valueCount) throw new Error('a network has a value that does not exist')
    values[first + i] = value
  }
  if (used !== newCount) throw misfit()
}

function misfit(): Error {
  return new Error('the streams of a block do not fit together')
}

function misplaced(): Error {
  return new Error('the networks of a block do not fill its addresses')
}
