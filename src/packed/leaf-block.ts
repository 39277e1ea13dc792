// A block of leaves: networks that follow one another, with their values, in two streams. README.md describes them.
import { FAR_VALUE, LEAVES_PER_BLOCK, LENGTH_SHIFT, LONG_LENGTH, NEW_VALUE, RECENCY_MASK } from './format.ts'
import { LeafValues, recent } from './leaf-values.ts'
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
  readonly values: LeafValues
  /** What the block takes in memory when all its values are decoded. */
  readonly byteLength: number
}

/** What the next block and its file say of a block. */
export interface LeafBounds {
  readonly count: number
  readonly start: Words
  /** The position of the next block; zero at the end of the IPv6 addresses. */
  readonly end: Words
  readonly shape: TreeShape
}

/**
 * Decodes a block. Checks that its leaves fill the positions from start to end, and that its new values exist.
 *
 * @param fault makes the error for a value that is found to be damaged later
 * @throws Error when the block is damaged
 */
export function decodeLeaves(
  { tokens: all, lowBytes }: LeafStreams,
  { count, start, end, shape }: LeafBounds,
  fault: (why: string) => Error,
): Leaves {
  const tokens = all.subarray(0, count)
  const counts = countTokens(tokens)
  const longEnd = count + counts.longs
  const newAt = longEnd + counts.fars
  if (lowBytes.length !== counts.news || all.length !== newAt + counts.news * (bytesOfValue(shape) - 1))
    throw new Error('the streams of a block do not fit together')
  const longLengths = all.subarray(count, longEnd)
  const newValues = decodeNewValues(all.subarray(newAt), lowBytes, shape)
  const values = new LeafValues({ tokens, farValues: all.subarray(longEnd, newAt), newValues }, fault)
  const { base } = shape
  // IPv4 networks differ in their last word only.
  const isIPv4 = start[0] === 0 && start[1] === 0 && start[2] === 0 && isAtMostIPv4End(end)
  const prefixLengths = new Uint8Array(count)
  const lengths = { tokens, longLengths, prefixLengths }
  const { starts, width } = isIPv4
    ? { starts: new Uint32Array(count), width: 1 }
    : placeIPv6(lengths, start, end, base)
  if (isIPv4 && placeIPv4(lengths, starts, start, base) !== ((end[3] ?? 0) | 0)) throw misplaced()
  const byteLength = starts.byteLength + count + 4 * count
  return { count, starts, firstWord: isIPv4 ? 3 : 0, width, prefixLengths, values, byteLength }
}

/** How many leaves have a long length, a far recency and a new value. */
function countTokens(tokens: Uint8Array): {
  readonly longs: number
  readonly fars: number
  readonly news: number
} {
  // There is no branch for each token, because a processor cannot predict it.
  const counts = new Uint16Array(256)
  for (let i = 0; i < tokens.length; i++) counts[tokens[i] ?? 0] = (counts[tokens[i] ?? 0] ?? 0) + 1
  let [longs, fars, news] = [0, 0, 0]
  for (let token = 0; token < counts.length; token++) {
    const times = counts[token] ?? 0
    const recency = token & RECENCY_MASK
    if (token >>> LENGTH_SHIFT === LONG_LENGTH) longs += times
    if (recency === NEW_VALUE) news += times
    else if (recency === FAR_VALUE) fars += times
  }
  return { longs, fars, news }
}

/** @param highBytes those of all new values, from the highest ones down */
function decodeNewValues(
  highBytes: Uint8Array,
  lowBytes: Uint8Array,
  { valueCount }: TreeShape,
): Uint32Array {
  const { length: count } = lowBytes
  const values = new Uint32Array(count)
  for (let i = 0; i < count; i++) {
    let value = 0
    for (let at = i; at < highBytes.length; at += count) value = value * 256 + (highBytes[at] ?? 0)
    value = value * 256 + (lowBytes[i] ?? 0)
    if (value >= valueCount) throw new Error('a leaf has a value that does not exist')
    values[i] = value
  }
  return values
}

/** By how many bits prefixes are longer than the least, and where their lengths go. */
interface Lengths {
  readonly tokens: Uint8Array
  readonly longLengths: Uint8Array
  readonly prefixLengths: Uint8Array
}

/**
 * Finds the prefix lengths of IPv4 networks, and the last word of each position. Nothing follows the loop: V8 compiles the loop
 * while it runs for the first time, and would leave that code at its end, each time, for what never ran before.
 *
 * @returns the last word of the position after them
 */
function placeIPv4(
  { tokens, longLengths, prefixLengths }: Lengths,
  starts: Uint32Array,
  start: Words,
  base: number,
): number {
  const least = Math.max(base, leastPrefixLength(start))
  let longAt = 0
  // As a signed integer, because V8 computes with numbers over 2 ** 31 as doubles, which is slower.
  let position = (start[3] ?? 0) | 0
  for (let i = 0; i < tokens.length; i++) {
    // Zero is the end of the addresses: networks end at multiples of their sizes, so none can pass it.
    if (position === 0 && i > 0) throw misplaced()
    let length =
      (position === 0 ? least : 97 + Math.clz32(position & -position)) + ((tokens[i] ?? 0) >>> LENGTH_SHIFT)
    if ((tokens[i] ?? 0) >= FIRST_LONG) length += longLengths[longAt++] ?? 0
    // A network with a prefix under 96 bits is larger than all IPv4 addresses.
    if (length > 128 || length < 96) throw misplaced()
    starts[i] = position
    prefixLengths[i] = length - base
    position = length === 96 ? 0 : (position + (1 << (128 - length))) | 0
  }
  return position
}

/** The least token with a long length. */
const FIRST_LONG = LONG_LENGTH << LENGTH_SHIFT

/** The same for IPv6 networks. @returns as many words of each position as their lengths need */
function placeIPv6(
  { tokens, longLengths, prefixLengths }: Lengths,
  start: Words,
  end: Words,
  base: number,
): { readonly starts: Uint32Array; readonly width: number } {
  const all = ipv6Starts
  // Signed words in variables, which V8 keeps in registers. It does not keep the words of `advance` there.
  let [word0 = 0, word1 = 0, word2 = 0, word3 = 0] = Int32Array.from(start)
  let longest = 1
  let longAt = 0
  for (let i = 0; i < tokens.length; i++) {
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
    let length = (least < base ? base : least) + ((tokens[i] ?? 0) >>> LENGTH_SHIFT)
    if ((tokens[i] ?? 0) >= FIRST_LONG) length += longLengths[longAt++] ?? 0
    if (length > 128) throw misplaced()
    prefixLengths[i] = length - base
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
  const starts = new Uint32Array(width * tokens.length)
  for (let i = 0; i < tokens.length; i++) {
    for (let word = 0; word < width; word++) starts[i * width + word] = all[4 * i + word] ?? 0
  }
  return { starts, width }
}

/** Reused for every block: coding is synchronous. */
const ipv6Starts = new Uint32Array(4 * LEAVES_PER_BLOCK)

function isAtMostIPv4End(end: Words): boolean {
  const [first = 0, second = 0, third = 0, last = 0] = end
  // All zero is the end of the IPv6 addresses.
  return first === 0 && second === 0 && (third === 0 ? last > 0 : third === 1 && last === 0)
}

function misplaced(): Error {
  return new Error('the networks of a block do not fill its addresses')
}
