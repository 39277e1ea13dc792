import { advance, compare, IPV4_ALIASES, type Words } from '../address/position.ts'
import { checkSize, isOutOfMemory, MAX_DATABASE_BYTES, noMemory } from '../bytes/byte-limit.ts'
import type { BlockCodec } from '../bytes/gunzip.ts'
import { damagedFile, type InvalidDatabaseError, isGeofixError } from '../errors.ts'
import { SEPARATOR_BYTES } from '../mmdb/format.ts'
import { type Metadata, readMetadata } from '../mmdb/metadata.ts'
import { mostNetworks } from '../mmdb/networks.ts'
import { type Family, type ReadDirectory, readDirectory } from './directory.ts'

/** The bytes of a packed file, in memory or on disk. */
export interface BlockSource {
  /** Size of the whole file in bytes. */
  readonly size: number
  /**
   * Returns bytes of the file. Those of a part of it are valid until the next call. Callers do not ask for bytes beyond its
   * end.
   */
  read(position: number, length: number): Uint8Array
  /** Throws an InvalidDatabaseError if a file on disk was changed after it was opened. */
  checkUnchanged?(): void
  /** Closes a file on disk: later reads throw an InvalidDatabaseError. */
  close?(): void
}

/** A packed file in memory. */
export function sourceOf(bytes: Uint8Array): BlockSource {
  return {
    size: bytes.length,
    // Return the given object for the whole file: Resolver.share recognises shared bytes by it.
    read: (position, length) =>
      length === bytes.length ? bytes : bytes.subarray(position, position + length),
  }
}

/** An open packed file: reads, checks and inflates its blocks one by one, and keeps none. */
export class BlockFile {
  readonly metadata: Metadata
  readonly directory: ReadDirectory
  /** How many bits of a position come before the address: 96 in an IPv4 tree, 0 in an IPv6 tree. */
  readonly base: number
  /** Where the data section starts and ends in the original file. */
  readonly dataStart: number
  readonly dataEnd: number
  readonly #codec: BlockCodec

  /**
   * @param maxBytes of the file, of its directory inflated, and of the unpacked file
   * @throws InvalidDatabaseError when it is larger, or the header, the directory or the metadata is damaged
   */
  constructor(
    readonly source: BlockSource,
    codec: BlockCodec,
    readonly path?: string,
    maxBytes = MAX_DATABASE_BYTES,
  ) {
    const limit = Math.min(maxBytes, MAX_DATABASE_BYTES)
    checkSize(source.size, limit, path)
    this.#codec = codec
    const read = (position: number, length: number): Uint8Array => source.read(position, length)
    try {
      this.directory = readDirectory(source.size, read, codec, limit, path)
    } catch (cause) {
      throw this.#unreadable('the packed file', cause)
    }
    const { dataBytes, families, metadata, recordCount } = this.directory
    const found = readMetadata(metadata, path)
    if (found.start !== 0) throw this.fault('the metadata of the packed file does not start with its marker')
    this.dataStart = (found.nodeCount * found.recordSize) / 4 + SEPARATOR_BYTES
    this.dataEnd = this.dataStart + dataBytes
    checkSize(this.dataEnd + metadata.length, limit, path)
    // n nodes have 2n places for records. All nodes but the first take one each, so n + 1 are left.
    if (recordCount > found.nodeCount + 1)
      throw this.fault('the packed file has more records than its nodes can hold')
    const runs = families.reduce((sum, { count }) => sum + count, 0)
    if (runs > mostNetworks(found.nodeCount))
      throw this.fault('the packed file has more networks than its nodes can hold')
    this.metadata = { ...found, start: this.dataEnd }
    this.base = found.ipVersion === 4 ? 96 : 0
    if (!this.#areInOrder(families))
      throw this.fault('the blocks of the packed file are not in the order of their addresses')
  }

  /**
   * Reads, checks and decodes a block.
   *
   * @param what it is a block of, for messages
   * @param decode gets the inflated stream and the bytes after it, which are valid during the call
   * @throws InvalidDatabaseError when the block is damaged
   */
  block(number: number, what: string, decode: (stream: Uint8Array, plain: Uint8Array) => void): void {
    const { inflated, deflated, plain, crc } = this.directory.blocks
    const position = this.directory.positions[number] ?? 0
    const streamBytes = deflated[number] ?? 0
    try {
      const bytes = this.source.read(position, streamBytes + (plain[number] ?? 0))
      if (this.#codec.crc32(bytes) !== crc[number]) {
        this.source.checkUnchanged?.()
        throw new Error('it does not match its checksum')
      }
      const stream = this.#codec.inflate(bytes.subarray(0, streamBytes), inflated[number] ?? 0)
      decode(stream, bytes.subarray(streamBytes))
    } catch (cause) {
      throw this.#unreadable(`the block of ${what} at byte ${position} of the packed file`, cause)
    }
  }

  /** The prefix length of the alias that a run is. @throws InvalidDatabaseError when it is another network */
  aliasLength(start: Words, end: Words): number {
    const alias = IPV4_ALIASES.find(({ words }) => compare(words, start) === 0)
    const last = Uint32Array.from(start)
    if (alias !== undefined) advance(last, alias.prefixLength)
    if (alias === undefined || compare(last, end) !== 0) throw this.noAlias()
    return alias.prefixLength
  }

  noAlias(): InvalidDatabaseError {
    return this.fault('a network of the packed file is an alias of no other')
  }

  /** The error for damage in this file. */
  fault(fault: string, offset?: number): InvalidDatabaseError {
    return damagedFile(fault, { offset, path: this.path })
  }

  /** Whether the blocks start where their family does, and then at ascending positions. */
  #areInOrder(families: readonly Family[]): boolean {
    /** Where the family before ends. */
    const end = new Uint32Array(4)
    for (const [number, { count, width, firstWord, starts }] of families.entries()) {
      if (count === 0) {
        // The last family has the rest of all IPv6 addresses. The first has all of IPv4.
        if (number === (this.base === 96 ? 0 : 2)) return false
        // A network that goes beyond the end of a family starts at 0: the families before have no runs either.
        if (this.base === 0 && compare(end, ZERO) !== 0) return false
        continue
      }
      if (this.base === 96 && number > 0) return false
      const blocks = starts.length / width
      for (let word = 0; word < width; word++)
        if (starts[word * blocks] !== end[firstWord + word]) return false
      for (let block = 1; block < blocks; block++) {
        let at = block
        while (at + blocks < starts.length && starts[at] === starts[at - 1]) at += blocks
        if ((starts[at] ?? 0) <= (starts[at - 1] ?? 0)) return false
      }
      end.fill(0)
      if (firstWord > 0) end[firstWord - 1] = 1
    }
    return true
  }

  /** The error for a part that cannot be read. */
  #unreadable(what: string, cause: unknown): unknown {
    if (isGeofixError(cause)) return cause
    if (isOutOfMemory(cause)) return noMemory(cause, this.path)
    const why = cause instanceof Error ? cause.message : String(cause)
    return damagedFile(`${what} cannot be read: ${why}`, { path: this.path, cause })
  }
}

const ZERO = new Uint32Array(4)
