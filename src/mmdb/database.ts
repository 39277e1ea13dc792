import { checkSize, MAX_DATABASE_BYTES } from '../bytes/byte-limit.ts'
import { DataSection } from './data-section.ts'
import { type Metadata, readMetadata } from './metadata.ts'
import { PrefixIndex } from './prefix-index.ts'
import { SearchTree } from './search-tree.ts'
import { type Verification, verify } from './verification.ts'
import { type MmdbValue, WholeRecords } from './whole-record.ts'

/** One open MMDB file: validated when it is opened, read-only afterwards. */
export class Database {
  readonly metadata: Metadata
  readonly tree: SearchTree
  /** The same records by address as `tree`, faster. */
  readonly index: PrefixIndex
  readonly data: DataSection
  readonly #whole: WholeRecords
  readonly #bytes: Uint8Array

  /**
   * @param bytes the uncompressed file; they are not copied and must not change
   * @param path of the file, for messages
   * @throws InvalidDatabaseError when they are not a database
   */
  constructor(
    bytes: Uint8Array,
    readonly path?: string,
  ) {
    checkSize(bytes.length, MAX_DATABASE_BYTES, path)
    this.#bytes = bytes
    this.metadata = readMetadata(bytes, path)
    this.tree = new SearchTree(bytes, this.metadata, path)
    this.index = new PrefixIndex(this.tree)
    this.data = new DataSection(bytes, this.tree.dataStart, this.metadata.start, path)
    this.#whole = new WholeRecords(bytes, this.data)
  }

  /**
   * A whole record, as the vendor wrote it.
   *
   * @param offset of the record in the file, as the search tree gives it
   * @throws InvalidDatabaseError when the record is damaged
   */
  record(offset: number): MmdbValue {
    return this.#whole.at(offset)
  }

  /** Checks all of the file. Takes seconds where it is large, and up to half its size in memory. */
  verify(): Verification {
    return verify(this.tree, this.data, this.#bytes)
  }
}
