import { DEFAULT_MAX_BYTES } from '../bytes/byte-limit.ts'
import type { BlockCodec } from '../bytes/deflate.ts'
import { Database, type OpenDatabase } from '../mmdb/database.ts'
import { SEPARATOR_BYTES } from '../mmdb/format.ts'
import type { Metadata } from '../mmdb/metadata.ts'
import { MAX_VISITED_NODES } from '../mmdb/networks.ts'
import { type MmdbValue, RecordDecoder } from '../mmdb/record-decoder.ts'
import { FaultList, type Verification } from '../mmdb/verify.ts'
import { BlockCache } from './block-cache.ts'
import { expandFile } from './expand.ts'
import { FIRST_RECORD } from './format.ts'
import { DataBlock, PackedData } from './packed-data.ts'
import { type BlockSource, PackedFile, sourceOf } from './packed-file.ts'
import { PackedIndex } from './packed-index.ts'
import { PackedTree } from './packed-tree.ts'
import { unpackFile } from './unpack.ts'

/** The default limit of the decoded blocks that a packed database keeps. */
export const DEFAULT_CACHE_BYTES = 100_663_296

// The parts of the limit that are for IPv4 networks and for other ones. The rest is for the data section. All IPv4 networks of the
// embedded city database (33 MB) and its whole data section (40 MB) then fit into the default limit: otherwise, random
// lookups decode blocks again and again.
const IPV4_SHARE = 0.34
const IPV6_SHARE = 0.24

export interface PackedOptions {
  /** Limit of the decoded blocks that are kept, in bytes. 0 keeps only the last ones. Default: 100,663,296. */
  readonly cacheBytes?: number | undefined
  /** Limit of the file, of its directory inflated, and of the unpacked file, in bytes. Default: 2,147,483,648. */
  readonly maxBytes?: number | undefined
}

/**
 * One open packed file. Its records and offsets are those of the file that was packed. Opening it reads the directory;
 * lookups read the blocks that they need.
 */
export class PackedDatabase implements OpenDatabase {
  readonly metadata: Metadata
  readonly tree: PackedTree
  readonly data: PackedData
  readonly #file: PackedFile
  readonly #source: BlockSource
  readonly #codec: BlockCodec
  readonly #options: PackedOptions
  readonly #decoder: RecordDecoder
  readonly #blocks: BlockCache<DataBlock>

  /**
   * @param codec decompresses and checks blocks
   * @param path of the file, for messages
   * @throws InvalidDatabaseError when the file's header, directory or metadata is damaged, or the file is too large
   */
  constructor(
    source: BlockSource,
    codec: BlockCodec,
    readonly path?: string,
    options: PackedOptions = {},
  ) {
    const { cacheBytes = DEFAULT_CACHE_BYTES, maxBytes = DEFAULT_MAX_BYTES } = options
    const file = new PackedFile(source, codec, path, maxBytes)
    this.#file = file
    this.#source = source
    this.#codec = codec
    this.#options = options
    this.metadata = file.metadata
    this.tree = new PackedTree(file, cacheBytes * IPV4_SHARE, cacheBytes * IPV6_SHARE)
    this.#blocks = new BlockCache(
      file.directory.dataBlocks.length.length,
      cacheBytes * (1 - IPV4_SHARE - IPV6_SHARE),
    )
    // The decoder has its own section: it moves to other rows while `data` is being read.
    this.data = this.#openData()
    this.#decoder = new RecordDecoder(this.#openData())
  }

  /** Of the packed file, in bytes. */
  get size(): number {
    return this.#source.size
  }

  get bytes(): Uint8Array {
    return this.#source.read(0, this.#source.size)
  }

  index(resultOf: (offset: number) => number): PackedIndex {
    return new PackedIndex(this.tree, 96 - this.#file.shape.base, this.#file.shape.valueCount, resultOf)
  }

  record(offset: number): MmdbValue {
    return this.#decoder.decode(offset)
  }

  *firstRecords(limit: number): Iterable<number> {
    const { dataStart, dataEnd } = this.#file
    const seen = new Set<number>()
    for (const value of this.tree.firstValues(MAX_VISITED_NODES)) {
      if (value < FIRST_RECORD || seen.has(value)) continue
      seen.add(value)
      const offset = this.#file.record(value - FIRST_RECORD) - SEPARATOR_BYTES + dataStart
      if (offset >= dataStart && offset < dataEnd) yield offset
      if (seen.size === limit) return
    }
  }

  countNetworks(): number {
    const count = this.#file.networkCount
    if (Number.isNaN(count)) throw this.#file.fault('the search tree leads to values that are not records')
    return count
  }

  /**
   * Unpacks the whole file to check it.
   *
   * @throws InvalidDatabaseError when there is not enough memory for that
   */
  verify(): Verification {
    const file = this.#file
    const faults = new FaultList()
    for (let block = 0; block < file.directory.recordBlocks.crc.length; block++)
      faults.attempt(() => file.records(block))
    for (let block = 0; block < file.directory.leafBlocks.crc.length; block++)
      faults.attempt(() => file.leaves(block).values.all())
    for (let block = 0; block < file.directory.dataBlocks.crc.length; block++)
      faults.attempt(() => file.data(block))
    const unpacked: Database[] = []
    if (faults.count === 0) faults.attempt(() => unpacked.push(new Database(unpackFile(file), this.path)))
    const { nodeCount } = this.metadata
    return (
      unpacked[0]?.verify() ?? {
        faults: faults.faults,
        faultCount: faults.count,
        nodeCount,
        recordCount: 0,
        valueCount: 0,
      }
    )
  }

  withBytes(copy: Uint8Array): PackedDatabase {
    return new PackedDatabase(sourceOf(copy), this.#codec, this.path, this.#options)
  }

  expand(make: (length: number) => Uint8Array): Uint8Array | null {
    return expandFile(this.#file, make)
  }

  retain(): boolean {
    return this.#source.retain?.() ?? true
  }

  release(): void {
    this.#source.release?.()
  }

  #openData(): PackedData {
    const { dataStart, dataEnd } = this.#file
    return new PackedData((offset) => this.#blockAt(offset), dataStart, dataEnd, this.path)
  }

  /** The block with a byte of the data section. */
  #blockAt(offset: number): DataBlock {
    const starts = this.#file.dataStarts
    let low = 0
    for (let high = starts.length - 1; high - low > 1; ) {
      const middle = (low + high) >>> 1
      if ((starts[middle] ?? 0) <= offset) low = middle
      else high = middle
    }
    const block = this.#blocks.get(low)
    return block ?? this.#blocks.add(low, new DataBlock(this.#file.data(low), starts[low] ?? 0))
  }
}
