import { LEAVES_PER_BLOCK, NONE } from './format.ts'
import { MARK_SHIFT } from './leaf-block.ts'
import type { LeafValues } from './leaf-values.ts'
import type { PackedFile } from './packed-file.ts'

/** Marks of a block. */
export const MARKS_PER_BLOCK = LEAVES_PER_BLOCK >>> MARK_SHIFT

/** What a block takes: its marks, then its prefix lengths. In 32-bit words. */
const WORDS = MARKS_PER_BLOCK + LEAVES_PER_BLOCK / 4

/** What a block takes when its values are decoded. */
const SLOT_BYTES = 4 * (WORDS + LEAVES_PER_BLOCK)

/**
 * The binary logarithm of the blocks whose memory is allocated at once. So many that few slabs are in the processor's cache; the system gives
 * pages only when they are used.
 */
const SLAB_SHIFT = 7
const SLAB_MASK = 2 ** SLAB_SHIFT - 1

/** Memory of some blocks. */
interface Slab {
  readonly words: Uint32Array
  /** The same memory. */
  readonly bytes: Uint8Array
  /** By leaf. Allocated when the values of a block are decoded. */
  values: Uint32Array | null
}

/**
 * Decoded blocks of IPv4 networks, within a limit of bytes. Many lookups go to a block that is not in the processor's cache, and wait for
 * each place in memory that they read. So the blocks are numbers in few large arrays, not objects.
 */
export class IPv4Blocks {
  /** How many leading bits of the address the last search used, in the tree of the file. */
  prefixLength = 0
  /** How many blocks there are. */
  readonly count: number
  readonly #file: PackedFile
  /** The number of the last leaf of the last block. All other blocks are full. */
  readonly #lastLeaf: number
  /** What an address has in prefix lengths. */
  readonly #bits: number
  readonly #slabs: Slab[] = []
  /** By block, its slot, or -1. */
  readonly #slots: Int32Array
  /** By slot, its block. */
  readonly #blocks: number[] = []
  /** By slot, whether it was used since the hand last passed it. */
  readonly #isUsed: Uint8Array
  /** By slot, the values of a block if they are not in the slab. */
  readonly #pending: (LeafValues | null)[] = []
  #hand = 0
  /** Where the last search found its mark in the slab. */
  #found = 0

  /**
   * @param limit of the bytes of decoded blocks; one stays even if it is larger
   */
  constructor(file: PackedFile, limit: number) {
    this.#file = file
    this.count = countIPv4(file)
    this.#lastLeaf = file.countOf(this.count - 1) - 1
    this.#bits = 128 - file.shape.base
    const slots = Math.min(this.count, Math.max(1, Math.floor(limit / SLOT_BYTES)))
    this.#slots = new Int32Array(this.count).fill(-1)
    this.#isUsed = new Uint8Array(slots)
  }

  /**
   * The value of an address's leaf.
   *
   * @param hint a mark at or before the address; negative for none
   * @throws InvalidDatabaseError when the block is damaged
   */
  value(block: number, address: number, hint: number): number {
    const known = this.#slots[block] ?? -1
    const slot = known < 0 ? this.#decode(block) : known
    this.#isUsed[slot] = 1
    const slab = this.#slabs[slot >>> SLAB_SHIFT]
    if (slab === undefined) return NONE
    const place = slot & SLAB_MASK
    const last = block === this.count - 1 ? this.#lastLeaf : LEAVES_PER_BLOCK - 1
    const first = WORDS * place
    const end = first + (last >>> MARK_SHIFT) + 1
    const found =
      hint < 0
        ? lastAtMost(slab.words, first, end, address)
        : lastAtMostFrom(slab.words, first + hint, end, address)
    let distance = (address - (slab.words[found] ?? 0)) | 0
    // Where the prefix lengths of the block start in the slab.
    const lengths = 4 * (first + MARKS_PER_BLOCK)
    const bits = this.#bits
    let leaf = (found - first) << MARK_SHIFT
    for (; leaf < last; leaf++) {
      const size = 1 << (bits - (slab.bytes[lengths + leaf] ?? 0))
      if (distance >>> 0 < size >>> 0) break
      distance = (distance - size) | 0
    }
    this.prefixLength = slab.bytes[lengths + leaf] ?? 0
    this.#found = found
    const pending = this.#pending[slot] ?? null
    if (pending !== null) return this.#pendingValue(slab, slot, pending, leaf)
    return slab.values?.[LEAVES_PER_BLOCK * place + leaf] ?? NONE
  }

  /**
   * The last mark that is not after an address, in the block of the last search.
   *
   * @param address before that of the search
   * @returns -1 if there is none
   */
  markBefore(block: number, address: number): number {
    const slot = this.#slots[block] ?? -1
    const words = this.#slabs[slot >>> SLAB_SHIFT]?.words
    if (slot < 0 || words === undefined) return -1
    const first = WORDS * (slot & SLAB_MASK)
    let mark = this.#found - first
    while (mark >= 0 && (words[first + mark] ?? 0) > address) mark--
    return mark
  }

  #decode(block: number): number {
    const { marks, prefixLengths, values } = this.#file.leaves(block, false)
    const slot = this.#newSlot()
    let slab = this.#slabs[slot >>> SLAB_SHIFT]
    if (slab === undefined) {
      const words = new Uint32Array(WORDS * Math.min(this.#isUsed.length, SLAB_MASK + 1))
      slab = { words, bytes: new Uint8Array(words.buffer), values: null }
      this.#slabs.push(slab)
    }
    const first = WORDS * (slot & SLAB_MASK)
    slab.words.set(marks.subarray(0, MARKS_PER_BLOCK), first)
    slab.bytes.set(prefixLengths, 4 * (first + MARKS_PER_BLOCK))
    this.#pending[slot] = values
    this.#blocks[slot] = block
    this.#slots[block] = slot
    return slot
  }

  /** The clock algorithm: skips each used slot once. */
  #newSlot(): number {
    if (this.#blocks.length < this.#isUsed.length) return this.#blocks.length
    for (;;) {
      this.#hand = (this.#hand + 1) % this.#isUsed.length
      if (this.#isUsed[this.#hand] === 0) break
      this.#isUsed[this.#hand] = 0
    }
    this.#slots[this.#blocks[this.#hand] ?? 0] = -1
    return this.#hand
  }

  #pendingValue(slab: Slab, slot: number, pending: LeafValues, leaf: number): number {
    if (!pending.isTraced) return pending.trace(leaf)
    slab.values ??= new Uint32Array((slab.words.length / WORDS) * LEAVES_PER_BLOCK)
    const first = LEAVES_PER_BLOCK * (slot & SLAB_MASK)
    pending.all(slab.values.subarray(first, first + LEAVES_PER_BLOCK))
    this.#pending[slot] = null
    return slab.values[first + leaf] ?? NONE
  }
}

/** The blocks at the start of a file that have IPv4 networks only. */
function countIPv4(file: PackedFile): number {
  let count = file.directory.leafBlocks.crc.length
  for (; count > 0; count--) {
    const [word0, word1, word2, word3 = 0] = file.startOf(count)
    const isIPv4 = word2 === 0 ? word3 > 0 : word2 === 1 && word3 === 0
    if (word0 === 0 && word1 === 0 && isIPv4) break
  }
  return count
}

/** Turns the order of unsigned numbers into that of signed ones: V8 compares numbers over 2 ** 31 as doubles, which is slower. */
const SIGN = 1 << 31

/**
 * The last place from `first` on, and before `end`, whose number is at most a given one, in ascending numbers; `first` if there is
 * none. Without branches in the loop, which a processor would often predict wrongly.
 */
export function lastAtMost(numbers: Uint32Array, first: number, end: number, most: number): number {
  const limit = most ^ SIGN
  let low = first
  for (let count = end - first; count > 1; ) {
    const half = count >>> 1
    low += half & -Number(((numbers[low + half] ?? 0) ^ SIGN) <= limit)
    count -= half
  }
  return low
}

/** The same, searched upwards from a place whose number is at most the given one. Fast if the result is close. */
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
