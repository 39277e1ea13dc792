// A block of leaves: networks that follow one another, with their values, in two streams. README.md describes them.
import {
  FAR_VALUE,
  LEAVES_PER_BLOCK,
  LENGTH_SHIFT,
  LONG_LENGTH,
  NEW_VALUE,
  RECENCY_MASK,
  RECENT_VALUES,
} from './format.ts'
import { advance, compare, leastPrefixLength, type Words } from './position.ts'

/** A block as it is stored, apart from its compression. */
export interface LeafStreams {
  /** Tokens, long lengths, far recencies, and the high bytes of new values: worth compressing. */
  readonly tokens: Uint8Array
  /** The lowest byte of each new value: too random to compress. */
  readonly lowBytes: Uint8Array
}

/** What the leaves of a tree have in common. */
export interface TreeShape {
  /** How many bits of a position come before the address: 96 in an IPv4 tree, 0 in an IPv6 tree. */
  readonly base: number
  /** One more than the largest value. */
  readonly valueCount: number
}

/** Bytes of a value in the streams. */
function bytesOfValue({ valueCount }: TreeShape): number {
  return Math.max(1, Math.ceil(Math.log2(valueCount) / 8))
}

/**
 * Encodes a block.
 *
 * @param start the position of the first leaf; it is moved to that of the next block
 */
export function encodeLeaves(
  prefixLengths: Uint8Array,
  values: Uint32Array,
  start: Words,
  shape: TreeShape,
): LeafStreams {
  const tokens: number[] = []
  const longLengths: number[] = []
  const farValues: number[] = []
  const newValues: number[] = []
  recent.clear()
  for (const [i, value] of values.entries()) {
    const length = shape.base + (prefixLengths[i] ?? 0)
    const extra = length - Math.max(shape.base, leastPrefixLength(start))
    if (extra >= LONG_LENGTH) longLengths.push(extra - LONG_LENGTH)
    const recency = recent.recencyOf(value)
    if (recency === NEW_VALUE) {
      newValues.push(value)
      recent.add(value)
    } else {
      if (recency >= FAR_VALUE) farValues.push(recency - FAR_VALUE)
      recent.use(recency)
    }
    tokens.push((Math.min(extra, LONG_LENGTH) << LENGTH_SHIFT) | Math.min(recency, FAR_VALUE))
    advance(start, length)
  }
  const highBytes: number[] = []
  for (let shift = 8 * (bytesOfValue(shape) - 1); shift > 0; shift -= 8) {
    for (const value of newValues) highBytes.push((value >>> shift) & 0xff)
  }
  return {
    tokens: Uint8Array.from([...tokens, ...longLengths, ...farValues, ...highBytes]),
    lowBytes: Uint8Array.from(newValues, (value) => value & 0xff),
  }
}

/** A decoded block. */
export interface Leaves {
  readonly count: number
  /** Of each leaf, `width` words of its position from `firstWord`. The other words are equal or zero in all. */
  readonly starts: Uint32Array
  readonly firstWord: number
  readonly width: number
  /** As in the file's tree: at most 32 for IPv4, at most 128 for IPv6. */
  readonly prefixLengths: Uint8Array
  readonly values: Uint32Array
  /** What the block takes in memory. */
  readonly byteLength: number
}

/**
 * Decodes a block. Checks that its leaves fill the positions from `start` to `end` and that its values exist.
 *
 * @param end the position of the next block; zero at the end of the IPv6 addresses
 * @throws Error when the block is damaged
 */
export function decodeLeaves(
  { tokens, lowBytes }: LeafStreams,
  count: number,
  start: Words,
  end: Words,
  shape: TreeShape,
): Leaves {
  const streams = splitStreams(tokens, lowBytes, count, shape)
  const prefixLengths = decodeLengths(streams)
  const values = decodeValues(streams, shape)
  const { base } = shape
  // IPv4 networks differ in their last word only.
  const isIPv4 = start[0] === 0 && start[1] === 0 && start[2] === 0 && isAtMostIPv4End(end)
  const { starts, width } = isIPv4
    ? { starts: placeIPv4(prefixLengths, start, end, base), width: 1 }
    : placeIPv6(prefixLengths, start, end, base)
  const byteLength = starts.byteLength + prefixLengths.byteLength + values.byteLength
  return { count, starts, firstWord: isIPv4 ? 3 : 0, width, prefixLengths, values, byteLength }
}

interface SplitStreams {
  readonly tokens: Uint8Array
  readonly longLengths: Uint8Array
  readonly farValues: Uint8Array
  /** The bytes of new values: all their lowest bytes, then all the next ones, up to the highest. */
  readonly bytes: readonly Uint8Array[]
  readonly newCount: number
}

function splitStreams(all: Uint8Array, lowBytes: Uint8Array, count: number, shape: TreeShape): SplitStreams {
  const tokens = all.subarray(0, count)
  // There is no branch for each token, because a processor cannot predict it.
  const counts = new Uint16Array(256)
  for (let i = 0; i < count; i++) counts[tokens[i] ?? 0] = (counts[tokens[i] ?? 0] ?? 0) + 1
  let longCount = 0
  let farCount = 0
  let newCount = 0
  for (let token = 0; token < counts.length; token++) {
    const times = counts[token] ?? 0
    const recency = token & RECENCY_MASK
    if (token >>> LENGTH_SHIFT === LONG_LENGTH) longCount += times
    if (recency === NEW_VALUE) newCount += times
    else if (recency === FAR_VALUE) farCount += times
  }
  let at = count
  const next = (length: number): Uint8Array => {
    at += length
    return all.subarray(at - length, at)
  }
  const longLengths = next(longCount)
  const farValues = next(farCount)
  const bytes = [lowBytes]
  for (let i = bytesOfValue(shape); i > 1; i--) bytes.splice(1, 0, next(newCount))
  if (at !== all.length || lowBytes.length !== newCount)
    throw new Error('the streams of a block do not fit together')
  return { tokens, longLengths, farValues, bytes, newCount }
}

/** The bits by which each prefix is longer than the least. */
function decodeLengths({ tokens, longLengths }: SplitStreams): Uint8Array {
  const extra = new Uint8Array(tokens.length)
  let longAt = 0
  for (let i = 0; i < extra.length; i++) {
    const short = (tokens[i] ?? 0) >>> LENGTH_SHIFT
    // The array would wrap a sum over 255 to a valid length.
    extra[i] = short < LONG_LENGTH ? short : Math.min(LONG_LENGTH + (longLengths[longAt++] ?? 0), 255)
  }
  return extra
}

function decodeValues(
  { tokens, farValues, bytes, newCount }: SplitStreams,
  { valueCount }: TreeShape,
): Uint32Array {
  const newValues = new Uint32Array(newCount)
  for (const [weight, column] of bytes.entries()) {
    const factor = 2 ** (8 * weight)
    for (let i = 0; i < newCount; i++) newValues[i] = (newValues[i] ?? 0) + (column[i] ?? 0) * factor
  }
  if (newValues.some((value) => value >= valueCount))
    throw new Error('a leaf has a value that does not exist')
  const values = new Uint32Array(tokens.length)
  recent.clear()
  let newAt = 0
  let farAt = 0
  for (let i = 0; i < values.length; i++) {
    let recency = (tokens[i] ?? 0) & RECENCY_MASK
    if (recency === NEW_VALUE) {
      values[i] = recent.add(newValues[newAt++] ?? 0)
      continue
    }
    if (recency === FAR_VALUE) recency += farValues[farAt++] ?? 0
    values[i] = recent.use(recency)
  }
  return values
}

/**
 * Replaces the extra bits of IPv4 networks by their prefix lengths.
 *
 * @returns the last word of each position
 */
function placeIPv4(lengths: Uint8Array, start: Words, end: Words, base: number): Uint32Array {
  const starts = new Uint32Array(lengths.length)
  const least = Math.max(base, leastPrefixLength(start))
  // As a signed integer, because V8 computes with numbers over 2 ** 31 as doubles, which is slower.
  let position = (start[3] ?? 0) | 0
  for (let i = 0; i < lengths.length; i++) {
    // Zero is the end of the addresses: networks end at multiples of their sizes, so none can pass it.
    if (position === 0 && i > 0) throw misplaced()
    const length = (position === 0 ? least : 97 + Math.clz32(position & -position)) + (lengths[i] ?? 0)
    // A network with a prefix under 96 bits is larger than all IPv4 addresses.
    if (length > 128 || length < 96) throw misplaced()
    starts[i] = position
    lengths[i] = length - base
    position = length === 96 ? 0 : (position + (1 << (128 - length))) | 0
  }
  if (position !== ((end[3] ?? 0) | 0)) throw misplaced()
  return starts
}

/** The same for IPv6 networks. @returns as many words of each position as their lengths need */
function placeIPv6(
  lengths: Uint8Array,
  start: Words,
  end: Words,
  base: number,
): { readonly starts: Uint32Array; readonly width: number } {
  const all = ipv6Starts
  // Signed words in variables, which V8 keeps in registers. It does not keep the words of `advance` there.
  let [word0 = 0, word1 = 0, word2 = 0, word3 = 0] = Int32Array.from(start)
  let longest = 1
  for (let i = 0; i < lengths.length; i++) {
    all[4 * i] = word0
    all[4 * i + 1] = word1
    all[4 * i + 2] = word2
    all[4 * i + 3] = word3
    let least = 0
    if (word3 !== 0) least = 97 + Math.clz32(word3 & -word3)
    else if (word2 !== 0) least = 65 + Math.clz32(word2 & -word2)
    else if (word1 !== 0) least = 33 + Math.clz32(word1 & -word1)
    else if (word0 !== 0) least = 1 + Math.clz32(word0 & -word0)
    // Only the first leaf of all starts at zero: another one is beyond the end.
    else if (i > 0) throw misplaced()
    const length = (least < base ? base : least) + (lengths[i] ?? 0)
    if (length > 128) throw misplaced()
    lengths[i] = length - base
    if (length > longest) longest = length
    // Adds the size of the network to the word with its last bit. A word that becomes zero carries.
    let carry = length === 0 ? 0 : 1 << -length
    if (length > 96) {
      word3 = (word3 + carry) | 0
      carry = word3 === 0 ? 1 : 0
    }
    if (length > 64 && carry !== 0) {
      word2 = (word2 + carry) | 0
      carry = word2 === 0 ? 1 : 0
    }
    if (length > 32 && carry !== 0) {
      word1 = (word1 + carry) | 0
      carry = word1 === 0 ? 1 : 0
    }
    word0 = (word0 + carry) | 0
  }
  if (compare(Uint32Array.of(word0, word1, word2, word3), end) !== 0) throw misplaced()
  const width = Math.ceil(longest / 32)
  const starts = new Uint32Array(width * lengths.length)
  for (let i = 0; i < lengths.length; i++) {
    for (let word = 0; word < width; word++) starts[i * width + word] = all[4 * i + word] ?? 0
  }
  return { starts, width }
}

/** Reused for every block, as {@link recent}. */
const ipv6Starts = new Uint32Array(4 * LEAVES_PER_BLOCK)

function isAtMostIPv4End(end: Words): boolean {
  const [first = 0, second = 0, third = 0, last = 0] = end
  // All zero is the end of the IPv6 addresses.
  return first === 0 && second === 0 && (third === 0 ? last > 0 : third === 1 && last === 0)
}

function misplaced(): Error {
  return new Error('the networks of a block do not fill its addresses')
}

/** Values of a greater recency are moved to the front by one call, which is faster for them. */
const LOOP_RECENCY = 24

/** The values that a block used last, most recent first. Recency counts from 1. */
class RecentValues {
  /** From `#first` on. There is room for all new values of a block before it, so that adding one moves no other. */
  readonly #values = new Uint32Array(LEAVES_PER_BLOCK + RECENT_VALUES)
  #first = LEAVES_PER_BLOCK
  #count = 0

  /** Starts a block. */
  clear(): void {
    this.#first = LEAVES_PER_BLOCK
    this.#count = 0
  }

  /** @returns {@link NEW_VALUE} for a value that is not in the list */
  recencyOf(value: number): number {
    for (let i = 0; i < this.#count; i++) if (this.#values[this.#first + i] === value) return i + 1
    return NEW_VALUE
  }

  add(value: number): number {
    this.#values[--this.#first] = value
    this.#count = Math.min(this.#count + 1, RECENT_VALUES)
    return value
  }

  /** @throws Error when the list has fewer values */
  use(recency: number): number {
    if (recency > this.#count) throw new Error('a leaf refers to a value before the first of its block')
    const values = this.#values
    const first = this.#first
    const value = values[first + recency - 1] ?? 0
    // A loop is faster for most values, and copyWithin for the few that are far back.
    if (recency > LOOP_RECENCY) values.copyWithin(first + 1, first, first + recency - 1)
    else for (let i = first + recency - 1; i > first; i--) values[i] = values[i - 1] ?? 0
    values[first] = value
    return value
  }
}

/** Reused for every block: coding is synchronous. */
const recent = new RecentValues()
