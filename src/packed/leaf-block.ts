// A block of leaves: networks that follow one another, with their values, in two streams. README.md describes them.
import { FAR_VALUE, LEAVES_PER_BLOCK, LENGTH_SHIFT, LONG_LENGTH, NEW_VALUE, RECENCY_MASK } from './format.ts'
import { LeafValues, recent } from './leaf-values.ts'
import { advance, leastPrefixLength, type Words } from './position.ts'

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

/** The binary logarithm of the leaves from one mark to the next. */
export const MARK_SHIFT = 4

/** A decoded block. */
export interface Leaves {
  readonly count: number
  /**
   * Of every 16th leaf from the first one on, `width` words of its position from `firstWord`. The words before are zero.
   * Positions of all leaves would take four times the memory, and a search in them waits for it.
   */
  readonly marks: Uint32Array
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
 * @param isKept `false` if the marks and the prefix lengths are not used after the next block is decoded into the same memory
 * @throws Error when the block is damaged
 */
export function decodeLeaves(
  { tokens: all, lowBytes }: LeafStreams,
  { count, start, end, shape }: LeafBounds,
  fault: (why: string) => Error,
  isKept = true,
): Leaves {
  // IPv4 networks differ in their last word only.
  const isIPv4 = start[0] === 0 && start[1] === 0 && start[2] === 0 && isAtMostIPv4End(end)
  const width = isIPv4 ? 1 : 4
  for (let word = 0; word < width; word++) marks[word] = start[4 - width + word] ?? 0
  counts.fill(0)
  if (isIPv4) placeIPv4(all, count, shape.base)
  else placeIPv6(all, count)
  const [longs = 0, fars = 0, news = 0] = counts
  const markCount = (count + MARK_LEAVES - 1) >>> MARK_SHIFT
  for (let word = 0; word < width; word++) {
    if (marks[width * markCount + word] !== end[4 - width + word]) throw misplaced()
  }
  const farAt = count + longs
  const newAt = farAt + fars
  if (lowBytes.length !== news || all.length !== newAt + news * (bytesOfValue(shape) - 1))
    throw new Error('the streams of a block do not fit together')
  const newValues = new Uint32Array(news)
  decodeNewValues(all.subarray(newAt), lowBytes, shape.valueCount, newValues)
  return {
    count,
    marks: isKept ? marks.slice(0, width * markCount) : marks,
    firstWord: 4 - width,
    width,
    prefixLengths: isKept ? prefixLengths.slice(0, count) : prefixLengths,
    values: new LeafValues(
      { tokens: all.subarray(0, count), farValues: all.subarray(farAt, newAt), newValues },
      fault,
    ),
    byteLength: 4 * width * markCount + count + 4 * count,
  }
}

const MARK_LEAVES = 2 ** MARK_SHIFT

// Of the block that is being decoded. Reused for every block: coding is synchronous.

/** The marks, and the end of the block. */
const marks = new Uint32Array(4 * (LEAVES_PER_BLOCK / MARK_LEAVES + 1))
const prefixLengths = new Uint8Array(LEAVES_PER_BLOCK)
/** How many long lengths, far recencies and new values it has. */
const counts = new Int32Array(3)

// By token, whether it has a long length, a far recency and a new value: three numbers in one, to count them with one
// addition. A processor could not predict branches for them.
const KIND_BITS = 10
const KIND_MASK = 2 ** KIND_BITS - 1
const KINDS = Int32Array.from({ length: 256 }, (_, token) => {
  const recency = token & RECENCY_MASK
  const isLong = token >>> LENGTH_SHIFT === LONG_LENGTH
  return (
    Number(isLong) |
    (Number(recency === FAR_VALUE) << KIND_BITS) |
    (Number(recency === NEW_VALUE) << (2 * KIND_BITS))
  )
})

function addKinds(kinds: number): void {
  counts[0] = (counts[0] ?? 0) + (kinds & KIND_MASK)
  counts[1] = (counts[1] ?? 0) + ((kinds >>> KIND_BITS) & KIND_MASK)
  counts[2] = (counts[2] ?? 0) + (kinds >>> (2 * KIND_BITS))
}

// The loops over all leaves are functions of their own, which end with the loop. V8 compiles a loop before what follows it has run once, and has to do it
// again if something follows.

/** @param highBytes those of all new values, from the highest ones down */
function decodeNewValues(
  highBytes: Uint8Array,
  lowBytes: Uint8Array,
  valueCount: number,
  values: Uint32Array,
): void {
  const { length: count } = values
  for (let i = 0; i < count; i++) {
    let value = 0
    for (let at = i; at < highBytes.length; at += count) value = value * 256 + (highBytes[at] ?? 0)
    value = value * 256 + (lowBytes[i] ?? 0)
    if (value >= valueCount) throw new Error('a leaf has a value that does not exist')
    values[i] = value
  }
}

/** The least token with a long length. */
const FIRST_LONG = LONG_LENGTH << LENGTH_SHIFT

/**
 * Finds the prefix lengths and the marks of the IPv4 networks of a block, and counts its {@link KINDS}.
 *
 * @param all the tokens of the block, and then its long lengths
 * @param base as {@link TreeShape.base}
 */
function placeIPv4(all: Uint8Array, count: number, base: number): void {
  // As a signed integer, because V8 computes with numbers over 2 ** 31 as doubles, which is slower.
  let position = (marks[0] ?? 0) | 0
  for (let mark = 0; mark << MARK_SHIFT < count; mark++) {
    const end = Math.min(count, (mark + 1) << MARK_SHIFT)
    const longAt = count + (counts[0] ?? 0)
    let kinds = 0
    for (let i = mark << MARK_SHIFT; i < end; i++) {
      const token = all[i] ?? 0
      let length = token >>> LENGTH_SHIFT
      if (token >= FIRST_LONG) length += all[longAt + (kinds & KIND_MASK)] ?? 0
      kinds += KINDS[token] ?? 0
      if (position !== 0) length += 97 + Math.clz32(position & -position)
      // Networks end at multiples of their sizes, so none can pass the end of the addresses, where the position returns to zero.
      else if (i > 0) throw misplaced()
      else length += base
      // A network with a prefix under 96 bits is larger than all IPv4 addresses.
      if (length > 128 || length < 96) throw misplaced()
      prefixLengths[i] = length - base
      position = length === 96 ? 0 : (position + (1 << (128 - length))) | 0
    }
    marks[mark + 1] = position
    addKinds(kinds)
  }
}

/** The same for IPv6 networks. Their blocks are in IPv6 trees. */
function placeIPv6(all: Uint8Array, count: number): void {
  // Signed words in variables, which V8 keeps in registers. It does not keep the words of `advance` there.
  let word0 = (marks[0] ?? 0) | 0
  let word1 = (marks[1] ?? 0) | 0
  let word2 = (marks[2] ?? 0) | 0
  let word3 = (marks[3] ?? 0) | 0
  for (let mark = 0; mark << MARK_SHIFT < count; mark++) {
    const end = Math.min(count, (mark + 1) << MARK_SHIFT)
    const longAt = count + (counts[0] ?? 0)
    let kinds = 0
    for (let i = mark << MARK_SHIFT; i < end; i++) {
      const token = all[i] ?? 0
      let least = 0
      if (word3 !== 0) least = 97 + Math.clz32(word3 & -word3)
      else if (word2 !== 0) least = 65 + Math.clz32(word2 & -word2)
      else if (word1 !== 0) least = 33 + Math.clz32(word1 & -word1)
      else if (word0 !== 0) least = 1 + Math.clz32(word0 & -word0)
      // Only the first leaf of all starts at zero: another one is beyond the end.
      else if (i > 0) throw misplaced()
      let length = least + (token >>> LENGTH_SHIFT)
      if (token >= FIRST_LONG) length += all[longAt + (kinds & KIND_MASK)] ?? 0
      kinds += KINDS[token] ?? 0
      if (length > 128) throw misplaced()
      prefixLengths[i] = length
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
    marks[4 * mark + 4] = word0
    marks[4 * mark + 5] = word1
    marks[4 * mark + 6] = word2
    marks[4 * mark + 7] = word3
    addKinds(kinds)
  }
}

function isAtMostIPv4End(end: Words): boolean {
  const [first = 0, second = 0, third = 0, last = 0] = end
  // All zero is the end of the IPv6 addresses.
  return first === 0 && second === 0 && (third === 0 ? last > 0 : third === 1 && last === 0)
}

function misplaced(): Error {
  return new Error('the networks of a block do not fill its addresses')
}
