import { compare, lengthWithin, type Words } from '../address/position.ts'
import type { RangeCursor } from '../mmdb/database.ts'
import { SEPARATOR_BYTES } from '../mmdb/format.ts'
import { NO_RECORD } from '../mmdb/search-tree.ts'
import type { BlockFile } from './block-file.ts'
import type { PackedContents } from './contents.ts'
import { ALIAS, BLOCK_SHIFT, FIRST_RECORD, NONE } from './directory.ts'
import { Runs } from './runs.ts'

/** Stands for runs of a family that has none. Only damaged files have no runs at all, and they are not opened. */
export const NO_RUNS = new Runs(
  { count: 0, width: 1, firstWord: 3, lengths: new Uint32Array(0), starts: new Uint32Array(0) },
  0,
)

/** Goes over the runs of a packed database. Reads the blocks that positions lead to. */
export class PackedRanges implements RangeCursor {
  offset = NO_RECORD
  /** The value of the run. */
  value = NONE
  readonly end = new Uint32Array(4)
  readonly #file: BlockFile
  readonly #contents: PackedContents
  readonly #records: PackedContents
  readonly #position = new Uint32Array(4)
  #runs = NO_RUNS
  #run = -1

  /** @param records the contents to read records from. Default: those that have the runs */
  constructor(file: BlockFile, contents: PackedContents, records = contents) {
    this.#file = file
    this.#contents = contents
    this.#records = records
  }

  get prefixLength(): number {
    const start = new Uint32Array(4)
    // Decodes the block again if reading its record has dropped it.
    this.#runs.startOf(this.#place(this.#runs, this.#run >>> BLOCK_SHIFT), this.#run, start)
    return lengthWithin(this.#position, start, this.end)
  }

  seek(position: Words): void {
    const next = this.#run + 1
    const isNext = next > 0 && next < this.#runs.count && compare(position, this.end) === 0
    const runs = isNext ? this.#runs : familyOf(this.#contents.families, position)
    const block = isNext ? next >>> BLOCK_SHIFT : runs.blockOf(position)
    this.#run = -1
    const place = this.#place(runs, block)
    this.#runs = runs
    this.#run = isNext ? next : runs.runOf(place, block, position)
    this.#position.set(position)
    runs.endOf(place, this.#run, this.end)
    this.value = runs.valueOf(place, this.#run)
    this.offset = this.offsetOf(this.value)
  }

  /** The offset of a record in the original file, by the value of its run, or {@link NO_RECORD}. */
  offsetOf(value: number): number {
    if (value === NONE) return NO_RECORD
    const file = this.#file
    // No address is looked up in an alias: `Address` gives the IPv4 address in it.
    if (value === ALIAS) throw file.noAlias()
    const stored = this.#records.record(value - FIRST_RECORD)
    const offset = stored - SEPARATOR_BYTES + file.dataStart
    if (offset < file.dataStart || offset >= file.dataEnd) {
      const found = stored + file.metadata.nodeCount
      throw file.fault(`the search tree leads to ${found}, which is not a record`)
    }
    return offset
  }

  #place(runs: Runs, block: number): number {
    return this.#contents.place(runs.firstBlock + block)
  }
}

/** The runs with a position. */
function familyOf(families: readonly Runs[], [first = 0, second = 0, third = 0]: Words): Runs {
  const number = first !== 0 || second !== 0 ? 2 : third !== 0 ? 1 : 0
  return families.find(({ count }, i) => i >= number && count > 0) ?? NO_RUNS
}
