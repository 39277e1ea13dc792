import { compare, sharedBits, type Words, writeLast } from '../address/position.ts'
import type { RangeCursor } from '../mmdb/database.ts'
import { SEPARATOR_BYTES } from '../mmdb/format.ts'
import { NO_RECORD } from '../mmdb/search-tree.ts'
import type { BlockFile } from './block-file.ts'
import { PackedContents } from './contents.ts'
import { ALIAS, BLOCK_ITEMS, BLOCK_SHIFT, FIRST_RECORD, NONE } from './format.ts'
import { Runs } from './runs.ts'

/** Stands for runs of a family that has none. Only damaged files have no runs at all, and they are not opened. */
const NO_RUNS = new Runs(
  { count: 0, width: 1, firstWord: 3, lengths: new Uint32Array(0), starts: new Uint32Array(0) },
  0,
)

/**
 * The search tree of a packed database. Finds what `SearchTree` finds: the offset of an address's record in the
 * original file. Reads the blocks that addresses lead to.
 */
export class PackedTree {
  readonly #file: BlockFile
  readonly #contents: PackedContents
  readonly #ipv4: Runs
  // The address of the last search, and where it ended.
  #address = 0
  readonly #words = new Uint32Array(4)
  #runs: Runs
  #run = -1

  constructor(file: BlockFile, contents: PackedContents) {
    this.#file = file
    this.#contents = contents
    this.#ipv4 = contents.families[0] ?? NO_RUNS
    this.#runs = this.#ipv4
  }

  /** How many leading bits of the address the last search used: 0 to 32 or 128. */
  get prefixLength(): number {
    if (this.#run < 0) return 0
    const [start, end] = this.#bounds()
    const words = this.#runs === this.#ipv4 ? Uint32Array.of(0, 0, 0, this.#address) : this.#words
    return prefixLengthWithin(words, start, end) - this.#file.base
  }

  findIPv4(address: number): number {
    return this.offsetOf(this.valueIPv4(address))
  }

  findIPv6(words: Words): number {
    return this.offsetOf(this.valueIPv6(words))
  }

  /**
   * The value of an address's run.
   *
   * @param address an unsigned 32-bit number
   * @param hint a run that is not after the address, from which the search goes on. Negative for none
   * @throws InvalidDatabaseError when the block of the address is damaged
   */
  valueIPv4(address: number, hint = -1): number {
    const runs = this.#ipv4
    if (runs.count === 0) return this.valueIPv6(Uint32Array.of(0, 0, 0, address))
    const hinted = hint >>> BLOCK_SHIFT
    const block = hint < 0 ? runs.blockOfIPv4(address) : runs.blockFrom(hinted, address)
    const place = this.#contents.place(runs.firstBlock + block)
    const run = runs.runOfIPv4(place, hint >= 0 && block === hinted ? hint : block << BLOCK_SHIFT, address)
    this.#address = address
    this.#runs = runs
    this.#run = run
    return runs.valueOf(place, run)
  }

  /**
   * Writes the runs of addresses as hints, for those addresses that are in the block of IPv4 networks in which the last search
   * ended.
   *
   * @param hints by the first bits of an address, one more than the run of the first address with these bits, if it is known
   * @param shift how many bits follow
   */
  writeHints(hints: Int32Array, shift: number): void {
    const runs = this.#runs
    if (runs !== this.#ipv4) return
    const place = this.#place
    const { words } = runs
    const block = this.#run >>> BLOCK_SHIFT
    const first = block << BLOCK_SHIFT
    const count = runs.countOf(block)
    const end = runs.endOfIPv4(place, first + count - 1) | 0
    let entry = Math.ceil((words[place] ?? 0) / 2 ** shift)
    for (let i = 0; i < count; i++) {
      // In whole numbers of 32 bits: V8 computes with larger ones as doubles.
      const next = i + 1 < count ? (words[place + i + 1] ?? 0) | 0 : end
      for (const last = (next - 1) >>> shift; entry <= last; entry++)
        if (hints[entry] === 0) hints[entry] = first + i + 1
    }
  }

  /** The number of the block in which the last search ended. */
  get block(): number {
    return this.#runs.firstBlock + (this.#run >>> BLOCK_SHIFT)
  }

  /** Whether all IPv4 addresses of a range are in the run that the last search found. */
  isInRun(first: number, last: number): boolean {
    const runs = this.#runs
    if (runs !== this.#ipv4 || runs.count === 0) return false
    const place = this.#place
    const start = runs.words[place + (this.#run & (BLOCK_ITEMS - 1))] ?? 0
    return start <= first && runs.endOfIPv4(place, this.#run) > last
  }

  /** The value of the run of an IPv6 address, given as four big-endian words. */
  valueIPv6(words: Words): number {
    this.#run = -1
    if (this.#file.base === 96) return NONE
    const runs = familyOf(this.#contents.families, words)
    const block = runs.blockOf(words)
    const place = this.#contents.place(runs.firstBlock + block)
    const run = runs.runOf(place, block, words)
    this.#address = words[3] ?? 0
    this.#words.set(words)
    this.#runs = runs
    this.#run = run
    return runs.valueOf(place, run)
  }

  /** The offset of a record in the original file, by the value of its run, or {@link NO_RECORD}. */
  offsetOf(value: number): number {
    if (value === NONE) return NO_RECORD
    const file = this.#file
    // No address is looked up in an alias: `Address` gives the IPv4 address in it.
    if (value === ALIAS) throw file.noAlias()
    const stored = this.#contents.record(value - FIRST_RECORD)
    const offset = stored - SEPARATOR_BYTES + file.dataStart
    if (offset < file.dataStart || offset >= file.dataEnd) {
      const found = stored + file.metadata.nodeCount
      throw file.fault(`the search tree leads to ${found}, which is not a record`)
    }
    return offset
  }

  /** Where the run of the last search starts and ends. */
  #bounds(): readonly [start: Words, end: Words] {
    const start = new Uint32Array(4)
    const end = new Uint32Array(4)
    const place = this.#place
    this.#runs.startOf(place, this.#run, start)
    this.#runs.endOf(place, this.#run, end)
    return [start, end]
  }

  ranges(): RangeCursor {
    return new PackedRanges(this, this.#file)
  }

  /** The place of the block of the last search. Decodes it again if reading its record has dropped it. */
  get #place(): number {
    return this.#contents.place(this.block)
  }
}

/** The runs with a position. */
function familyOf(families: readonly Runs[], [first = 0, second = 0, third = 0]: Words): Runs {
  const number = first !== 0 || second !== 0 ? 2 : third !== 0 ? 1 : 0
  return families.find(({ count }, i) => i >= number && count > 0) ?? NO_RUNS
}

/** Goes over the runs of a tree. Decodes them itself, one block at a time, because each is read once. */
class PackedRanges implements RangeCursor {
  offset = NO_RECORD
  readonly end = new Uint32Array(4)
  readonly #tree: PackedTree
  readonly #contents: PackedContents
  #runs = NO_RUNS
  #run = -1

  constructor(tree: PackedTree, file: BlockFile) {
    this.#tree = tree
    this.#contents = new PackedContents(file, 0)
  }

  seek(position: Words): void {
    const next = this.#run + 1
    const isNext = next > 0 && next < this.#runs.count && compare(position, this.end) === 0
    const runs = isNext ? this.#runs : familyOf(this.#contents.families, position)
    const block = isNext ? next >>> BLOCK_SHIFT : runs.blockOf(position)
    this.#run = -1
    const place = this.#contents.place(runs.firstBlock + block)
    this.#runs = runs
    this.#run = isNext ? next : runs.runOf(place, block, position)
    runs.endOf(place, this.#run, this.end)
    this.offset = this.#tree.offsetOf(runs.valueOf(place, this.#run))
  }
}

/** The prefix length of the largest network with an address that is in a range. An `end` of zero is the end of all addresses. */
export function prefixLengthWithin(words: Words, start: Words, end: Words): number {
  // The network has neither the address before the range nor the one after it.
  writeLast(start, before)
  const atStart = start.some(Boolean) ? sharedBits(words, before) + 1 : 0
  return Math.max(atStart, end.some(Boolean) ? sharedBits(words, end) + 1 : 0)
}

// Reused for every call.
const before = new Uint32Array(4)
