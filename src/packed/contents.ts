import { allocate, newShareableBytes, noMemory } from '../bytes/byte-limit.ts'
import { DataSection } from '../mmdb/data-section.ts'
import type { BlockFile } from './block-file.ts'
import { BLOCK_ITEMS, BLOCK_SHIFT, blocksOf, DATA_BLOCK_BYTES, DATA_SHIFT } from './directory.ts'
import { type Runs, runsOf } from './runs.ts'

const NO_LIMIT = Number.POSITIVE_INFINITY

/** Memory is divided into columns: one has a number for each run or record of a block. A block of data takes two. */
const COLUMN_BYTES = 4 * BLOCK_ITEMS
const COLUMNS_OF_DATA = DATA_BLOCK_BYTES / COLUMN_BYTES
/** Enough for any block: runs have four words of a position and a value. */
const MIN_COLUMNS = 5
/** With more, the numbers of words would not fit in a place. */
const MAX_COLUMNS = 2 ** 31 / BLOCK_ITEMS - 1

/** The place of a block that is not decoded. */
export const NOT_DECODED = -1

/**
 * The decoded contents of a packed file. Its memory is allocated at once, and filled block by block when something of a block is read:
 * the system gives pages only when they are written. If the memory has room for all blocks, each has a place of its own. If not, a
 * block takes the place of the blocks that were decoded the longest time ago.
 */
export class PackedContents {
  readonly families: readonly Runs[]
  /** By block of the file, the index of its first word in the memory, or {@link NOT_DECODED}. */
  readonly places: Int32Array
  /** The memory. {@link fill} can replace it. */
  words: Uint32Array = new Uint32Array(0)
  /** The number of the first block of records, and of data. */
  readonly #firstRecords: number
  readonly firstData: number
  readonly #file: BlockFile
  /** By block, how many columns those before it take. The last number is that of all blocks. */
  readonly #columns: Float64Array
  /** How many columns the memory has. */
  readonly #room: number
  /** In a memory without room for all: by column, the block that was last decoded there, or {@link NOT_DECODED}. */
  readonly #owners: Int32Array
  /** The column for the next block. */
  #next = 0
  /** One flag for each block: 1 if any thread has decoded it. `null` if threads share nothing. */
  #shared: Uint8Array<SharedArrayBuffer> | null = null

  /** @param limit of the memory of decoded blocks, in bytes */
  constructor(file: BlockFile, limit = NO_LIMIT) {
    this.#file = file
    const { families, recordCount, blocks } = file.directory
    this.families = runsOf(families)
    this.#firstRecords = this.families.reduce((sum, runs) => sum + runs.blocks, 0)
    this.firstData = this.#firstRecords + blocksOf(recordCount)
    this.places = new Int32Array(blocks.crc.length).fill(NOT_DECODED)
    this.#columns = new Float64Array(this.places.length + 1)
    let block = 0
    let all = 0
    const add = (blocks: number, columns: number): void => {
      for (const end = block + blocks; block < end; ) {
        all += columns
        this.#columns[++block] = all
      }
    }
    for (const { blocks, width } of this.families) add(blocks, width + 1)
    add(blocksOf(recordCount), 1)
    add(this.places.length - this.firstData, COLUMNS_OF_DATA)
    this.#room = Math.min(all, Math.max(MIN_COLUMNS, Math.floor(limit / COLUMN_BYTES)))
    this.#owners = new Int32Array(this.#room < all ? this.#room : 0).fill(NOT_DECODED)
  }

  /**
   * What the original search tree stores for a record, less the number of nodes.
   *
   * @param index the record's value less `FIRST_RECORD`
   * @throws InvalidDatabaseError when its block of the record table is damaged
   */
  record(index: number): number {
    const place = this.place(this.#firstRecords + (index >>> BLOCK_SHIFT))
    return this.words[place + (index & (BLOCK_ITEMS - 1))] ?? 0
  }

  /**
   * Decodes a block if it is not decoded yet.
   *
   * @returns the index of its first word in the memory, valid until another block is decoded
   * @throws InvalidDatabaseError when it is damaged, or there is not enough memory
   */
  place(block: number): number {
    const place = this.places[block] ?? NOT_DECODED
    return place === NOT_DECODED ? this.#fill(block) : place
  }

  /** The bytes of a block of data, valid until another block is decoded. @param block counted from the first block of data */
  data(block: number): Uint8Array {
    const number = this.firstData + block
    const place = this.place(number)
    return new Uint8Array(this.words.buffer, 4 * place, this.#file.directory.blocks.inflated[number])
  }

  /** Drops all decoded blocks, and no longer shares them. */
  forget(): void {
    this.places.fill(NOT_DECODED)
    this.#shared = null
    this.#use(new Uint32Array(0))
  }

  /** Memory for decoded blocks that threads share: each block is decoded by one of them. There is no limit then. */
  share(): SharedArrayBuffer {
    const memory =
      this.#shared?.buffer ?? this.#allocate(this.#sharedBytes, (bytes) => new SharedArrayBuffer(bytes))
    this.attach(memory)
    return memory
  }

  /** Uses the memory that {@link share} of the same file gave in another thread. */
  attach(memory: SharedArrayBuffer): void {
    if (memory.byteLength !== this.#sharedBytes || this.#shared?.buffer === memory) return
    this.forget()
    const flags = this.places.length
    this.#shared = new Uint8Array(memory, memory.byteLength - flags, flags)
    this.#use(new Uint32Array(memory, 0, (this.#columns.at(-1) ?? 0) * BLOCK_ITEMS))
  }

  /** Bytes of the memory that threads share: all blocks, and a flag for each. */
  get #sharedBytes(): number {
    return (this.#columns.at(-1) ?? 0) * COLUMN_BYTES + this.places.length
  }

  #allocate<Memory>(bytes: number, make: (bytes: number) => Memory): Memory {
    if (bytes > MAX_COLUMNS * COLUMN_BYTES) throw noMemory(undefined, this.#file.path)
    return allocate(bytes, make, this.#file.path)
  }

  #use(words: Uint32Array): void {
    this.words = words
    for (const runs of this.families) runs.words = words
  }

  #fill(block: number): number {
    if (this.words.length === 0) {
      // V8 counts the bytes of an ArrayBuffer, and would start a garbage collection for the first one: 8 ms in a new process.
      const { buffer } = this.#allocate(this.#room * COLUMN_BYTES, newShareableBytes)
      this.#use(new Uint32Array(buffer))
    }
    const isOwn = this.#shared !== null || this.#owners.length === 0
    const column = isOwn ? (this.#columns[block] ?? 0) : this.#freed(block)
    const place = column * BLOCK_ITEMS
    // Use Atomics, so that everything that the other thread wrote before is visible to this one.
    if (this.#shared === null || Atomics.load(this.#shared, block) === 0) this.#decode(block, place, isOwn)
    this.places[block] = place
    // A damaged block takes no room.
    this.#next = column + this.#columnsOf(block)
    if (this.#shared !== null) Atomics.store(this.#shared, block, 1)
    return place
  }

  /** Drops the blocks that were decoded the longest time ago. @returns the first of enough columns for a block */
  #freed(block: number): number {
    const count = this.#columnsOf(block)
    const first = this.#next + count > this.#room ? 0 : this.#next
    for (let column = first; column < first + count; column++) {
      const owner = this.#owners[column] ?? NOT_DECODED
      if (owner !== NOT_DECODED) this.places[owner] = NOT_DECODED
      this.#owners[column] = block
    }
    return first
  }

  #columnsOf(block: number): number {
    return (this.#columns[block + 1] ?? 0) - (this.#columns[block] ?? 0)
  }

  #familyOf(block: number): Runs | undefined {
    return this.families.find(({ firstBlock, blocks }) => block < firstBlock + blocks)
  }

  #decode(block: number, place: number, isNew: boolean): void {
    const runs = this.#familyOf(block)
    if (runs !== undefined) runs.read(this.#file, block, place, isNew)
    else if (block < this.firstData) {
      this.#file.block(block, 'records', (stream) => {
        const last = decodeRecords(stream, stream.length / 4, this.words, place)
        if (last > 0xffff_ffff) throw new Error('a record has more than 32 bits')
      })
    } else {
      this.#file.block(block, 'data', (stream) => new Uint8Array(this.words.buffer).set(stream, 4 * place))
    }
  }
}

/**
 * Each record is stored as the difference from the one before, in four planes of bytes, the highest first.
 *
 * @returns the last record
 */
function decodeRecords(stream: Uint8Array, count: number, records: Uint32Array, first: number): number {
  let record = 0
  for (let i = 0; i < count; i++) {
    const high = ((stream[i] ?? 0) << 8) | (stream[i + count] ?? 0)
    record += high * 65_536 + (((stream[i + 2 * count] ?? 0) << 8) | (stream[i + 3 * count] ?? 0))
    records[first + i] = record
  }
  return record
}

/** The data section of a packed file. Offsets are those of the original file. */
export class PackedData extends DataSection {
  readonly #contents: PackedContents
  readonly #places: Int32Array
  readonly #firstBlock: number
  /** The memory that `bytes` has, or `null` if they are a copy of bytes that are in several blocks. */
  #words: Uint32Array | null = null

  constructor(contents: PackedContents, base: number, end: number, path?: string) {
    super(new Uint8Array(0), base, end, path)
    this.#contents = contents
    this.#places = contents.places
    this.#firstBlock = contents.firstData
  }

  protected override reach(offset: number, length: number): void {
    const first = (offset - this.base) >>> DATA_SHIFT
    const last = (offset + length - 1 - this.base) >>> DATA_SHIFT
    const place = this.#places[this.#firstBlock + first] ?? NOT_DECODED
    if (first === last && place !== NOT_DECODED && this.#words !== null)
      this.from = this.base + (first << DATA_SHIFT) - 4 * place
    else this.#load(offset, Math.min(offset + length, this.end))
  }

  #load(offset: number, end: number): void {
    if (end <= offset) return
    const contents = this.#contents
    const first = (offset - this.base) >>> DATA_SHIFT
    const last = (end - 1 - this.base) >>> DATA_SHIFT
    if (first === last) {
      const place = contents.place(this.#firstBlock + first)
      this.from = this.base + (first << DATA_SHIFT) - 4 * place
      if (this.#words === contents.words) return
      this.#words = contents.words
      this.#read(new Uint8Array(contents.words.buffer))
      return
    }
    const copy = new Uint8Array(end - offset)
    for (let block = first; block <= last; block++) {
      const start = this.base + (block << DATA_SHIFT)
      const from = Math.max(offset, start)
      copy.set(contents.data(block).subarray(from - start, end - start), from - offset)
    }
    this.#words = null
    this.from = offset
    this.#read(copy)
  }

  #read(bytes: Uint8Array): void {
    this.bytes = bytes
    this.view = new DataView(bytes.buffer)
  }
}
