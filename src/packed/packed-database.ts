import { DEFAULT_MAX_BYTES } from '../bytes/byte-limit.ts'
import type { BlockCodec } from '../bytes/gunzip.ts'
import { Database, type PackedForm, UseCount } from '../mmdb/database.ts'
import { SEPARATOR_BYTES } from '../mmdb/format.ts'
import type { Metadata } from '../mmdb/metadata.ts'
import { decodeRecord, type MmdbValue } from '../mmdb/record-decoder.ts'
import { BlockFile, type BlockSource, sourceOf } from './block-file.ts'
import { PackedContents, PackedData } from './contents.ts'
import { PackedIndex } from './packed-index.ts'
import { PackedRanges } from './packed-ranges.ts'
import { unpackFile } from './unpack.ts'

/**
 * The default limit of the decoded blocks that a packed database keeps. A city database takes 148 MB: with less, the blocks of a
 * log are decoded again and again.
 */
export const DEFAULT_CACHE_BYTES = 201_326_592

/** The least limit: a record and the runs that lead to it are in some blocks. */
const MIN_CACHE_BYTES = 4_194_304

export interface PackedOptions {
  /** Limit of the decoded blocks that are kept, in bytes. Less than 4,194,304 counts as that. Default: 201,326,592. */
  readonly cacheBytes?: number | undefined
  /** Limit of the file, of its directory inflated, and of the unpacked file, in bytes. Default: 2,147,483,648. */
  readonly maxBytes?: number | undefined
  /** Memory for decoded blocks that {@link PackedDatabase.shareTables} of the same file gave in another thread. */
  readonly tables?: SharedArrayBuffer | undefined
}

/**
 * One open packed file. Its records and offsets are those of the file that was packed. Opening it reads the directory;
 * lookups read the blocks that they need.
 */
export class PackedDatabase implements PackedForm {
  readonly metadata: Metadata
  readonly ranges: PackedRanges
  readonly data: PackedData
  readonly #file: BlockFile
  readonly #contents: PackedContents
  readonly #codec: BlockCodec
  readonly #options: PackedOptions
  readonly #users: UseCount

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
    const { cacheBytes = DEFAULT_CACHE_BYTES, maxBytes = DEFAULT_MAX_BYTES, tables } = options
    const file = new BlockFile(source, codec, path, maxBytes)
    this.#file = file
    this.#contents = new PackedContents(file, Math.max(MIN_CACHE_BYTES, cacheBytes))
    if (tables !== undefined) this.#contents.attach(tables)
    this.#codec = codec
    this.#options = options
    this.#users = new UseCount(() => {
      this.#contents.forget()
      source.close?.()
    })
    this.metadata = file.metadata
    this.ranges = new PackedRanges(file, this.#contents)
    this.data = new PackedData(this.#contents, file.dataStart, file.dataEnd, path)
  }

  /** Size of the packed file in bytes. */
  get size(): number {
    return this.#file.source.size
  }

  get bytes(): Uint8Array {
    return this.#file.source.read(0, this.size)
  }

  index(resultOf: (offset: number) => number): PackedIndex {
    return new PackedIndex(this.#file, this.#contents, resultOf)
  }

  /** Decodes blocks of networks itself, one at a time, because a walk reads each once. */
  newRanges(): PackedRanges {
    return new PackedRanges(this.#file, new PackedContents(this.#file, 0), this.#contents)
  }

  /** Memory for decoded blocks, which threads share. Each call returns the same memory. */
  shareTables(): SharedArrayBuffer {
    return this.#contents.share()
  }

  record(offset: number): MmdbValue {
    return decodeRecord(this.data, offset)
  }

  /** Reads no block of networks. */
  *firstRecords(limit: number): Iterable<number> {
    const { dataStart, dataEnd, directory } = this.#file
    for (let index = 0; index < Math.min(limit, directory.recordCount); index++) {
      const offset = this.#contents.record(index) - SEPARATOR_BYTES + dataStart
      if (offset >= dataStart && offset < dataEnd) yield offset
    }
  }

  countNetworks(): number {
    const { networkCount } = this.#file.directory
    if (Number.isNaN(networkCount))
      throw this.#file.fault('the search tree leads to values that are not records')
    return networkCount
  }

  /** @throws InvalidDatabaseError when there is not enough memory to unpack the file */
  unpacked(attempt: (step: () => unknown) => boolean): Database | null {
    const file = this.#file
    const contents = new PackedContents(file, 0)
    const faulty = contents.places.filter((_, block) => !attempt(() => contents.place(block)))
    const unpacked: Database[] = []
    if (faulty.length === 0) attempt(() => unpacked.push(new Database(unpackFile(file), this.path)))
    return unpacked[0] ?? null
  }

  withBytes(copy: Uint8Array): PackedDatabase {
    return new PackedDatabase(sourceOf(copy), this.#codec, this.path, this.#options)
  }

  retain(): boolean {
    return this.#users.add()
  }

  release(): void {
    this.#users.remove()
  }
}
