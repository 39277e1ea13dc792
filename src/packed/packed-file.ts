import { checkSize, isOutOfMemory, MAX_DATABASE_BYTES, noMemory } from '../bytes/byte-limit.ts'
import type { BlockCodec } from '../bytes/deflate.ts'
import { damagedFile, type InvalidDatabaseError, isGeofixError } from '../errors.ts'
import { SEPARATOR_BYTES } from '../mmdb/format.ts'
import { type Metadata, readMetadata } from '../mmdb/metadata.ts'
import { DataColumns } from './data-block.ts'
import { type Directory, readDirectory } from './directory.ts'
import { FIRST_RECORD, LEAVES_PER_BLOCK } from './format.ts'
import { decodeLeaves, type Leaves, type TreeShape } from './leaf-block.ts'
import { NumberReader } from './number-stream.ts'

/** The bytes of a packed file, in memory or on disk. */
export interface BlockSource {
  /** Of the whole file, in bytes. */
  readonly size: number
  /**
   * Returns bytes of the file. Those of a part of it are valid until the next call. Callers do not ask for bytes beyond its
   * end.
   */
  read(position: number, length: number): Uint8Array
  /** Adds a user of a file on disk. @returns `false` when it is closed */
  retain?(): boolean
  /** Removes a user. The last one closes the file: later reads throw an InvalidDatabaseError. */
  release?(): void
}

/** A packed file in memory. */
export function sourceOf(bytes: Uint8Array): BlockSource {
  return {
    size: bytes.length,
    // For the whole file, the given object: Resolver.share thus recognises shared bytes.
    read: (position, length) =>
      length === bytes.length ? bytes : bytes.subarray(position, position + length),
  }
}

/**
 * An open packed file: reads, checks and decodes its blocks one by one, and keeps none. Opening it checks the header
 * and the directory.
 */
export class PackedFile {
  readonly metadata: Metadata
  readonly directory: Directory
  /** What all leaf blocks have in common. */
  readonly shape: TreeShape
  /** Where the data section starts and ends in the original file. */
  readonly dataStart: number
  readonly dataEnd: number
  /** Where each block of the data section starts in the original file, and then where the last one ends. */
  readonly dataStarts: Float64Array
  readonly path: string | undefined

  readonly source: BlockSource
  readonly #codec: BlockCodec
  readonly #leafPositions: Float64Array
  readonly #dataPositions: Float64Array
  readonly #recordPositions: Float64Array
  /** By block, what was read of the record table. */
  readonly #records: (Uint32Array | undefined)[] = []

  /**
   * @param maxBytes of the file, of its directory inflated, and of the unpacked file
   * @throws InvalidDatabaseError when it is larger, or the header, the directory or the metadata is damaged
   */
  constructor(source: BlockSource, codec: BlockCodec, path?: string, maxBytes = MAX_DATABASE_BYTES) {
    const limit = Math.min(maxBytes, MAX_DATABASE_BYTES)
    checkSize(source.size, limit, path)
    this.source = source
    this.#codec = codec
    this.path = path
    const read = (position: number, length: number): Uint8Array => source.read(position, length)
    this.directory = this.#checked('the packed file', () =>
      readDirectory(source.size, read, codec, limit, path),
    )
    const { leafBlocks, recordBlocks, dataBlocks, end, metadata, recordCount, aliasCount } = this.directory
    this.#leafPositions = positions(end, leafBlocks.deflated, leafBlocks.lowBytes)
    this.#recordPositions = positions(this.#leafPositions.at(-1) ?? end, recordBlocks.deflated)
    this.#dataPositions = positions(this.#recordPositions.at(-1) ?? end, dataBlocks.deflated)

    const found = readMetadata(metadata, path)
    if (found.start !== 0) throw this.fault('the metadata of the packed file does not start with its marker')
    this.dataStart = (found.nodeCount * found.recordSize) / 4 + SEPARATOR_BYTES
    this.dataStarts = positions(this.dataStart, dataBlocks.length)
    this.dataEnd = this.dataStarts.at(-1) ?? this.dataStart
    checkSize(this.dataEnd + metadata.length, limit, path)
    // Each node but the first takes the place of one of its parent's two records.
    if (aliasCount + recordCount > found.nodeCount + 1)
      throw this.fault('the packed file has more records and aliases than its nodes can hold')
    this.metadata = { ...found, start: this.dataEnd }
    this.shape = { base: found.ipVersion === 4 ? 96 : 0, valueCount: FIRST_RECORD + recordCount }
    this.#checkStarts()
  }

  /**
   * What the original search tree stores for a record, less the number of nodes.
   *
   * @param index the record's value less `FIRST_RECORD`
   * @throws InvalidDatabaseError when its block of the record table is damaged
   */
  record(index: number): number {
    const { recordShift } = this.directory
    const block = index >>> recordShift
    this.#records[block] ??= this.records(block)
    return this.#records[block]?.[index - (block << recordShift)] ?? 0
  }

  /**
   * The whole record table.
   *
   * @throws InvalidDatabaseError when it is damaged
   */
  allRecords(): Uint32Array {
    const { recordBlocks, recordCount, recordShift } = this.directory
    const all = new Uint32Array(recordCount)
    for (let block = 0; block < recordBlocks.crc.length; block++) {
      const start = block * 2 ** recordShift
      if ((all[start - 1] ?? 0) !== recordBlocks.base[block])
        throw this.fault('the record table of the packed file is not in order')
      all.set(this.records(block), start)
    }
    return all
  }

  /** How many networks have a record; NaN if the search tree was damaged before it was packed. */
  get networkCount(): number {
    const { networks0, networks1 } = this.directory
    const view = new DataView(new ArrayBuffer(8))
    view.setUint32(0, networks0, true)
    view.setUint32(4, networks1, true)
    return view.getFloat64(0, true)
  }

  /**
   * @param isKept as in {@link decodeLeaves}
   * @throws InvalidDatabaseError when the block is damaged
   */
  leaves(block: number, isKept = true): Leaves {
    const { leafBlocks } = this.directory
    const { tokenBytes, deflated, lowBytes, crc } = leafBlocks
    const position = this.#leafPositions[block] ?? 0
    const length = (this.#leafPositions[block + 1] ?? 0) - position
    const what = `the block of networks at byte ${position} of the packed file`
    return this.#checked(what, () => {
      const bytes = this.#read(position, length, crc[block])
      const streams = {
        tokens: this.#codec.inflate(bytes.subarray(0, deflated[block]), tokenBytes[block] ?? 0),
        lowBytes: bytes.subarray(length - (lowBytes[block] ?? 0)),
      }
      const [start, end] = [this.startOf(block), this.startOf(block + 1)]
      const bounds = { count: this.countOf(block), start, end, shape: this.shape }
      return decodeLeaves(streams, bounds, (why) => this.#unreadable(what, why), isKept)
    })
  }

  /** How many leaves a leaf block has. */
  countOf(block: number): number {
    return Math.min(LEAVES_PER_BLOCK, this.directory.leafCount - block * LEAVES_PER_BLOCK)
  }

  /** The position of a leaf block's first address. After the last block: that of the end. */
  startOf(block: number): Uint32Array {
    const { word0, word1, word2, word3 } = this.directory.leafBlocks
    // The end of the IPv4 addresses, or of all addresses, where positions return to zero.
    if (block === word0.length) return Uint32Array.of(0, 0, this.shape.base === 96 ? 1 : 0, 0)
    return Uint32Array.of(word0[block] ?? 0, word1[block] ?? 0, word2[block] ?? 0, word3[block] ?? 0)
  }

  /** A block of the record table. @throws InvalidDatabaseError when it is damaged */
  records(block: number): Uint32Array {
    const { recordBlocks, recordCount, recordShift } = this.directory
    const { base, bytes: lengths, deflated, crc } = recordBlocks
    const position = this.#recordPositions[block] ?? 0
    return this.#checked(`the block of records at byte ${position} of the packed file`, () => {
      const bytes = this.#read(position, deflated[block] ?? 0, crc[block])
      const reader = new NumberReader(this.#codec.inflate(bytes, lengths[block] ?? 0))
      const count = Math.min(2 ** recordShift, recordCount - block * 2 ** recordShift)
      const records = reader.sums(count, base[block])
      if (!reader.isAtEnd) throw new Error('it is longer than its records')
      return records
    })
  }

  /** @throws InvalidDatabaseError when the block is damaged */
  data(block: number): DataColumns {
    const { length, columnBytes, deflated, crc } = this.directory.dataBlocks
    const position = this.#dataPositions[block] ?? 0
    return this.#checked(`the block of data at byte ${position} of the packed file`, () => {
      const bytes = this.#read(position, deflated[block] ?? 0, crc[block])
      return new DataColumns(this.#codec.inflate(bytes, columnBytes[block] ?? 0), length[block] ?? 0)
    })
  }

  /** The error for damage in this file. */
  fault(fault: string, offset?: number): InvalidDatabaseError {
    return damagedFile(fault, { offset, path: this.path })
  }

  #checkStarts(): void {
    const { word0, word1, word2, word3 } = this.directory.leafBlocks
    const words = [word0, word1, word2, word3]
    let isAscending = words.every((column) => column[0] === 0)
    for (let block = 1; isAscending && block < word0.length; block++) {
      let i = 0
      while (i < 3 && words[i]?.[block] === words[i]?.[block - 1]) i++
      isAscending = (words[i]?.[block] ?? 0) > (words[i]?.[block - 1] ?? 0)
    }
    if (!isAscending)
      throw this.fault('the blocks of the packed file are not in the order of their addresses')
  }

  /** Bytes of the file. @throws Error when they do not match their checksum */
  #read(position: number, length: number, crc: number | undefined): Uint8Array {
    const bytes = this.source.read(position, length)
    if (this.#codec.crc32(bytes) !== crc) throw new Error('it does not match its checksum')
    return bytes
  }

  /** Runs a step, and names `what` in the error if the step fails. */
  #checked<Result>(what: string, step: () => Result): Result {
    try {
      return step()
    } catch (cause) {
      if (isGeofixError(cause)) throw cause
      if (isOutOfMemory(cause)) throw noMemory(cause, this.path)
      const why = cause instanceof Error ? cause.message : String(cause)
      throw this.#unreadable(what, why, cause)
    }
  }

  #unreadable(what: string, why: string, cause?: unknown): InvalidDatabaseError {
    return damagedFile(`${what} cannot be read: ${why}`, { path: this.path, cause })
  }
}

/** Running sums: the start, then the start plus all rows up to each row. */
function positions(start: number, sizes: Uint32Array, moreSizes?: Uint32Array): Float64Array {
  const sums = new Float64Array(sizes.length + 1)
  sums[0] = start
  for (let i = 0, sum = start; i < sizes.length; ) {
    sum += (sizes[i] ?? 0) + (moreSizes?.[i] ?? 0)
    sums[++i] = sum
  }
  return sums
}
