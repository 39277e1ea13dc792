import { allocate, newBytes, newShareableBytes } from '../bytes/byte-limit.ts'
import { DataSection } from '../mmdb/data-section.ts'
import type { BlockFile } from './block-file.ts'
import { blocksOf } from './directory.ts'
import { BLOCK_ITEMS, BLOCK_SHIFT, DATA_BLOCK_BYTES, DATA_SHIFT } from './format.ts'
import { type Runs, runsOf } from './runs.ts'

const NO_LIMIT = Number.POSITIVE_INFINITY

/**
 * The decoded contents of a packed file. Its memory is allocated at once, with room for everything, and filled block by block
 * when something of a block is read: the system gives pages only when they are written.
 */
export class PackedContents {
  readonly families: readonly Runs[]
  /** The data section. {@link fill} can replace it. */
  data: Uint8Array = new Uint8Array(0)
  /** One flag for each block of the file: 1 if it is decoded. */
  readonly isFilled: Uint8Array
  /** The number of the first block of records, and of data. */
  readonly #firstRecords: number
  readonly firstData: number
  readonly #file: BlockFile
  readonly #limit: number
  /** The record table. */
  #records: Uint32Array = new Uint32Array(0)
  #isAllocated = false
  /** One flag for each block: 1 if any thread has decoded it. `null` if threads share nothing. */
  #shared: Uint8Array<SharedArrayBuffer> | null = null
  #wasDropped = false
  /** Memory of the decoded blocks in bytes. */
  #used = 0

  /** @param limit of the memory of decoded blocks, in bytes. When it is reached, all are dropped */
  constructor(file: BlockFile, limit = NO_LIMIT) {
    this.#file = file
    this.#limit = limit
    const { families, recordCount, blocks } = file.directory
    this.families = runsOf(families)
    this.#firstRecords = this.families.reduce((sum, runs) => sum + runs.blocks, 0)
    this.firstData = this.#firstRecords + blocksOf(recordCount)
    this.isFilled = new Uint8Array(blocks.crc.length)
  }

  /**
   * What the original search tree stores for a record, less the number of nodes.
   *
   * @param index the record's value less `FIRST_RECORD`
   * @throws InvalidDatabaseError when its block of the record table is damaged
   */
  record(index: number): number {
    const block = this.#firstRecords + (index >>> BLOCK_SHIFT)
    if (this.isFilled[block] === 0) this.fill(block)
    return this.#records[index] ?? 0
  }

  /**
   * Decodes blocks that are not decoded yet.
   *
   * @param last the number of the last one
   * @throws InvalidDatabaseError when one is damaged, or there is not enough memory
   */
  fill(first: number, last = first): void {
    if (this.#shared === null) {
      let bytes = 0
      for (let block = first; block <= last; block++)
        if (this.isFilled[block] === 0) bytes += this.#bytesOf(block)
      if (bytes > 0 && this.#used > 0 && this.#used + bytes > this.#limit) this.forget()
      // V8 counts the bytes of an ArrayBuffer, and would start a garbage collection for the first one: 8 ms in a new process.
      const make = this.#wasDropped ? newBytes : newShareableBytes
      if (!this.#isAllocated) this.#divide(this.#allocate(make).buffer)
    }
    for (let block = first; block <= last; block++) {
      if (this.isFilled[block] === 1) continue
      // Use Atomics, so that everything that the other thread wrote before is visible to this one.
      if (this.#shared === null || Atomics.load(this.#shared, block) === 0) this.#decode(block)
      this.isFilled[block] = 1
      this.#used += this.#bytesOf(block)
      if (this.#shared !== null) Atomics.store(this.#shared, block, 1)
    }
  }

  /** Drops all decoded blocks, and no longer shares them. */
  forget(): void {
    this.isFilled.fill(0)
    this.#used = 0
    this.#shared = null
    this.#wasDropped = true
    this.#divide(null)
  }

  /** Memory for decoded blocks that threads share: each block is decoded by one of them. There is no limit then. */
  share(): SharedArrayBuffer {
    const memory = this.#shared?.buffer ?? this.#allocate((bytes) => new SharedArrayBuffer(bytes))
    this.attach(memory)
    return memory
  }

  /** Uses the memory that {@link share} of the same file gave in another thread. */
  attach(memory: SharedArrayBuffer): void {
    if (memory.byteLength !== this.#byteLength || this.#shared?.buffer === memory) return
    this.forget()
    this.#shared = new Uint8Array(memory, 0, this.isFilled.length)
    this.#divide(memory)
  }

  /** Whether threads share the decoded blocks. */
  get isShared(): boolean {
    return this.#shared !== null
  }

  /** Bytes of the memory: flags, runs, records, data. */
  get #byteLength(): number {
    const { recordCount, dataBytes } = this.#file.directory
    const words = this.families.reduce((sum, { count, width }) => sum + count * (width + 1), recordCount)
    return this.#flagBytes + 4 * words + dataBytes
  }

  get #flagBytes(): number {
    return Math.ceil(this.isFilled.length / 4) * 4
  }

  #allocate<Memory>(make: (bytes: number) => Memory): Memory {
    return allocate(this.#byteLength, make, this.#file.path)
  }

  /** Divides memory among the contents. @param memory `null` for none */
  #divide(memory: ArrayBufferLike | null): void {
    const { recordCount, dataBytes } = this.#file.directory
    let at = this.#flagBytes
    const words = (count: number): Uint32Array => {
      if (memory === null) return new Uint32Array(0)
      at += 4 * count
      return new Uint32Array(memory, at - 4 * count, count)
    }
    for (const runs of this.families) {
      for (let word = 0; word < runs.width; word++) runs.starts[word] = words(runs.count)
      runs.values = words(runs.count)
    }
    this.#records = words(recordCount)
    this.data = memory === null ? new Uint8Array(0) : new Uint8Array(memory, at, dataBytes)
    this.#isAllocated = memory !== null
  }

  /** Memory of a block in bytes when it is decoded. */
  #bytesOf(block: number): number {
    if (block >= this.firstData) return DATA_BLOCK_BYTES
    // Most words of positions beyond the second are zeros, which take no memory.
    return 4 * BLOCK_ITEMS * (Math.min(this.#familyOf(block)?.width ?? 0, 2) + 1)
  }

  #familyOf(block: number): Runs | undefined {
    return this.families.find(({ firstBlock, blocks }) => block < firstBlock + blocks)
  }

  #decode(block: number): void {
    const runs = this.#familyOf(block)
    if (runs !== undefined) runs.read(this.#file, block)
    else if (block < this.firstData) {
      const first = (block - this.#firstRecords) * BLOCK_ITEMS
      this.#file.block(block, 'records', (stream) => decodeRecords(stream, this.#records, first))
    } else {
      const at = (block - this.firstData) << DATA_SHIFT
      this.#file.block(block, 'data', (stream) => this.data.set(stream, at))
    }
  }
}

/** Each record is stored as the difference from the one before, in four planes of bytes, the highest first. */
function decodeRecords(stream: Uint8Array, records: Uint32Array, first: number): void {
  const count = stream.length / 4
  let record = 0
  for (let i = 0; i < count; i++) {
    const high = ((stream[i] ?? 0) << 8) | (stream[i + count] ?? 0)
    record += high * 65_536 + (((stream[i + 2 * count] ?? 0) << 8) | (stream[i + 3 * count] ?? 0))
    records[first + i] = record
  }
  if (record > 0xffff_ffff) throw new Error('a record has more than 32 bits')
}

/** The data section of a packed file. Offsets are those of the original file. */
export class PackedData extends DataSection {
  readonly #contents: PackedContents
  readonly #isFilled: Uint8Array
  readonly #firstBlock: number

  constructor(contents: PackedContents, base: number, end: number, path?: string) {
    super(contents.data, base, end, path)
    this.from = base
    this.#contents = contents
    this.#isFilled = contents.isFilled
    this.#firstBlock = contents.firstData
  }

  protected override reach(offset: number, length: number): void {
    const first = (offset - this.base) >>> DATA_SHIFT
    const last = (offset + length - 1 - this.base) >>> DATA_SHIFT
    if (first === last && this.#isFilled[this.#firstBlock + first] === 1) return
    this.#fill(offset, length)
  }

  /** @param length may extend beyond the section, and be zero */
  #fill(offset: number, length: number): void {
    const end = Math.min(offset + length, this.end)
    if (end <= offset) return
    const first = (offset - this.base) >>> DATA_SHIFT
    this.#contents.fill(this.#firstBlock + first, this.#firstBlock + ((end - 1 - this.base) >>> DATA_SHIFT))
    const { data } = this.#contents
    this.bytes = data
    this.view = new DataView(data.buffer, data.byteOffset, data.byteLength)
  }
}
