import type { Words } from '../address/position.ts'
import type { AddressIndex } from '../mmdb/database.ts'
import { NO_RECORD } from '../mmdb/search-tree.ts'
import type { BlockFile } from './block-file.ts'
import type { PackedContents } from './contents.ts'
import { BLOCK_ITEMS, BLOCK_SHIFT, FIRST_RECORD, NONE } from './directory.ts'
import { NO_RUNS, PackedRanges } from './packed-ranges.ts'
import type { Runs } from './runs.ts'

/** A table of this many bits has a million entries, 4 MB. */
const TABLE_BITS = 20
const SHIFT = 32 - TABLE_BITS
/** Addresses of an entry. V8 does not fold this power: in each lookup, it would take 50 ns. */
const ENTRY_ADDRESSES = 2 ** SHIFT

/**
 * After this many searches in a block, the entries of its addresses are filled. A search without them waits for memory a dozen
 * times. Filling them takes as long as decoding the block, which is a twentieth of the time of 1,000 lookups in a new process.
 */
const HINTED_SEARCHES = 4

/** An entry or a result that is not filled. Results are stored as their complements, which are negative. */
const UNKNOWN = 0

/**
 * A table by the first 20 bits of IPv4 addresses. An entry has the result, if all its addresses have the same one.
 * Otherwise it has the run of its first address, where the search then starts.
 */
export class PackedIndex implements AddressIndex {
  readonly #contents: PackedContents
  readonly #ranges: PackedRanges
  readonly #ipv4: Runs
  readonly #hasIPv6: boolean
  readonly #resultOf: (offset: number) => number
  /** The complement of a result, or one more than the number of a run. */
  readonly #table = new Int32Array(2 ** TABLE_BITS)
  /** By block of IPv4 networks, how many searches were in it until the entries of its addresses were filled. */
  readonly #searches: Uint8Array
  /** The complement of the result for each value of a run. */
  readonly #results: Int32Array

  /** @param resultOf gives the result for the offset of a record: an integer from 1 to 2 ** 31 - 1, or 0 for none */
  constructor(file: BlockFile, contents: PackedContents, resultOf: (offset: number) => number) {
    this.#contents = contents
    this.#ranges = new PackedRanges(file, contents)
    this.#ipv4 = contents.families[0] ?? NO_RUNS
    this.#hasIPv6 = file.metadata.ipVersion === 6
    this.#searches = new Uint8Array(this.#ipv4.blocks)
    this.#results = new Int32Array(FIRST_RECORD + file.directory.recordCount)
    this.#resultOf = resultOf
  }

  findIPv4(address: number): number {
    const number = address >>> SHIFT
    const entry = this.#table[number] ?? UNKNOWN
    if (entry < 0) return ~entry
    const runs = this.#ipv4
    if (runs.count === 0) return this.findIPv6(Uint32Array.of(0, 0, 0, address))
    const hint = entry - 1
    const block =
      entry === UNKNOWN ? runs.blockOfIPv4(address) : runs.blockFrom(hint >>> BLOCK_SHIFT, address)
    const place = this.#contents.place(runs.firstBlock + block)
    const run = runs.runOfIPv4(place, Math.max(hint, block << BLOCK_SHIFT), address)
    if (entry === UNKNOWN) this.#hint(block, place)
    const first = (number << SHIFT) >>> 0
    const start = runs.words[place + (run & (BLOCK_ITEMS - 1))] ?? 0
    const isWhole = start <= first && runs.endOfIPv4(place, run) >= first + ENTRY_ADDRESSES
    const result = this.#result(runs.valueOf(place, run))
    if (isWhole) this.#table[number] = ~result
    return result
  }

  findIPv6(words: Words): number {
    if (!this.#hasIPv6) return NO_RECORD
    this.#ranges.seek(words)
    return this.#result(this.#ranges.value)
  }

  clear(): void {
    this.#table.fill(UNKNOWN)
    this.#searches.fill(0)
    this.#results.fill(UNKNOWN)
  }

  /** Fills the entries of all addresses of a block, if it is time. Those that are known stay as they are. */
  #hint(block: number, place: number): void {
    const searches = (this.#searches[block] ?? 0) + 1
    if (searches > HINTED_SEARCHES) return
    this.#searches[block] = searches
    if (searches === HINTED_SEARCHES) writeHints(this.#table, this.#ipv4, block, place)
  }

  #result(value: number): number {
    if (value === NONE) return NO_RECORD
    const known = this.#results[value] ?? UNKNOWN
    if (known < 0) return ~known
    const offset = this.#ranges.offsetOf(value)
    const result = offset === NO_RECORD ? NO_RECORD : this.#resultOf(offset)
    this.#results[value] = ~result
    return result
  }
}

/** Writes the runs of a block to the entries whose first addresses they have. */
function writeHints(table: Int32Array, runs: Runs, block: number, place: number): void {
  const { words } = runs
  const first = block << BLOCK_SHIFT
  const count = runs.countOf(block)
  const end = runs.endOfIPv4(place, first + count - 1) | 0
  let entry = Math.ceil((words[place] ?? 0) / ENTRY_ADDRESSES)
  for (let i = 0; i < count; i++) {
    // In whole numbers of 32 bits: V8 computes with larger ones as doubles.
    const next = i + 1 < count ? (words[place + i + 1] ?? 0) | 0 : end
    for (const last = (next - 1) >>> SHIFT; entry <= last; entry++)
      if (table[entry] === UNKNOWN) table[entry] = first + i + 1
  }
}
