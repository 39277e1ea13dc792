import type { Words } from '../address/position.ts'
import { checkSize, MAX_DATABASE_BYTES } from '../bytes/byte-limit.ts'
import { DataSection } from './data-section.ts'
import { type Metadata, readMetadata } from './metadata.ts'
import { firstRecords } from './networks.ts'
import { decodeRecord, type MmdbValue } from './record-decoder.ts'
import { PrefixIndex, SearchTree, TreeRanges } from './search-tree.ts'

/** Goes over ranges of addresses: all addresses of a range have its record. */
export interface RangeCursor {
  /** Of the record of the range in the file, or `NO_RECORD`. */
  readonly offset: number
  /** The first position after the range. Zero is the end of all addresses. */
  readonly end: Words
  /** The prefix length of the network with the position, as bits of a position: the largest network that is in the range. */
  readonly prefixLength: number
  /**
   * Goes to the range with a position: one network, or some neighbours. Fast at the end of the last range.
   *
   * @param position of an address in the tree. An IPv4 tree has no other than those of ::/96
   * @throws InvalidDatabaseError when the tree is damaged there
   */
  seek(position: Words): void
}

/** Finds results for addresses in fewer steps than {@link RangeCursor} finds records. */
export interface AddressIndex {
  /**
   * @param address an unsigned 32-bit number
   * @returns the result for its record, or `NO_RECORD`
   * @throws InvalidDatabaseError when the tree is damaged on the address's path
   */
  findIPv4(address: number): number
  /** {@link findIPv4} for an IPv6 address, given as four big-endian words. An IPv4 tree has none. */
  findIPv6(words: Words): number
  /** Forgets all results. Call it when they have changed. */
  clear(): void
}

/** What lookups need of an open database, whatever the form of its file. Offsets are those of the unpacked file. */
interface LookupDatabase {
  /** The path of the file, for messages. */
  readonly path?: string | undefined
  /** The file, packed or not. */
  readonly bytes: Uint8Array
  readonly metadata: Metadata
  /** For single addresses. */
  readonly ranges: RangeCursor
  readonly data: DataSection
  /** @param resultOf gives the result for the offset of a record: an integer from 1 to 2 ** 31 - 1, or 0 for none */
  index(resultOf: (offset: number) => number): AddressIndex
  /** Ranges for a walk, which are independent of others. */
  newRanges(): RangeCursor
  /**
   * A whole record, as the vendor wrote it.
   *
   * @param offset of the record in the file, as the search tree gives it
   * @throws InvalidDatabaseError when the record is damaged
   */
  record(offset: number): MmdbValue
  /** Offsets of the first records, each once: in the order of their networks, or in that of the data of a packed file. */
  firstRecords(limit: number): Iterable<number>
  /** Opens the same database with a copy of its bytes. */
  withBytes(copy: Uint8Array): OpenDatabase
  /**
   * Adds a user of a packed database. Each user calls {@link release} once. A database starts with one user, the caller
   * who opened it. Other databases have neither method.
   *
   * @returns `false` when the last user has gone, and the file is closed
   */
  retain?(): boolean
  /** Removes a user. The last one drops the decoded blocks and closes the file: later reads throw an InvalidDatabaseError. */
  release?(): void
}

/** What a packed database has more, for the commands that read whole files. */
export interface PackedForm extends LookupDatabase {
  /** How many networks have a record, as `countNetworks` counts them in an unpacked file. The file says it. */
  countNetworks(): number
  /** Memory for decoded blocks, which threads share: the same one each time. */
  shareTables(): SharedArrayBuffer
  /**
   * The database of the unpacked file.
   *
   * @param attempt runs a step of the check of the file. Returns whether the step found no fault
   * @returns `null` when there was a fault
   */
  unpacked(attempt: (step: () => unknown) => boolean): Database | null
}

/** An open database. */
export type OpenDatabase = (LookupDatabase & Database) | PackedForm

/** One open MMDB file: checked when it is opened, read-only afterwards. */
export class Database implements LookupDatabase {
  readonly metadata: Metadata
  readonly tree: SearchTree
  readonly ranges: TreeRanges
  readonly data: DataSection

  /**
   * @param bytes the uncompressed file; not copied, so they must not change
   * @param path of the file, for messages
   * @throws InvalidDatabaseError when the bytes are not a database
   */
  constructor(
    readonly bytes: Uint8Array,
    readonly path?: string,
  ) {
    checkSize(bytes.length, MAX_DATABASE_BYTES, path)
    this.metadata = readMetadata(bytes, path)
    this.tree = new SearchTree(bytes, this.metadata, path)
    this.ranges = this.newRanges()
    this.data = new DataSection(bytes, this.tree.dataStart, this.metadata.start, path)
  }

  index(resultOf: (offset: number) => number): PrefixIndex {
    return new PrefixIndex(this.tree, resultOf)
  }

  newRanges(): TreeRanges {
    return new TreeRanges(this.tree)
  }

  record(offset: number): MmdbValue {
    return decodeRecord(this.data, offset)
  }

  firstRecords(limit: number): Iterable<number> {
    return firstRecords(this, limit)
  }

  withBytes(copy: Uint8Array): Database {
    return new Database(copy, this.path)
  }
}

/** Counts the users of something, and ends it when the last one has given it back. It starts with one user. */
export class UseCount {
  readonly #end: () => void
  #users = 1

  /** @param end is called once */
  constructor(end: () => void) {
    this.#end = end
  }

  /** Adds a user. @returns `false`, and adds none, when the last user has gone already */
  add(): boolean {
    if (this.#users === 0) return false
    this.#users++
    return true
  }

  /** Removes a user. Each user calls it once. */
  remove(): void {
    if (this.#users > 0 && --this.#users === 0) this.#end()
  }
}
