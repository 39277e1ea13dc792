import { checkSize, MAX_DATABASE_BYTES } from '../bytes/byte-limit.ts'
import { DataSection } from './data-section.ts'
import { type Metadata, readMetadata } from './metadata.ts'
import { type MmdbValue, RecordDecoder } from './record-decoder.ts'
import { SearchTree } from './search-tree.ts'
import { type Verification, verify } from './verify/verify.ts'

/** One open MMDB file: checked when it is opened, read-only afterwards. */
export class Database {
  readonly metadata: Metadata
  readonly tree: SearchTree
  readonly data: DataSection
  readonly #decoder: RecordDecoder
  readonly #bytes: Uint8Array

  /**
   * @param bytes the uncompressed file; not copied, so they must not change
   * @param path of the file, for messages
   * @throws InvalidDatabaseError when the bytes are not a database
   */
  constructor(
    bytes: Uint8Array,
    readonly path?: string,
  ) {
    checkSize(bytes.length, MAX_DATABASE_BYTES, path)
    this.#bytes = bytes
    this.metadata = readMetadata(bytes, path)
    this.tree = new SearchTree(bytes, this.metadata, path)
    this.data = new DataSection(bytes, this.tree.dataStart, this.metadata.start, path)
    this.#decoder = new RecordDecoder(bytes, this.data)
  }

  /**
   * A whole record, as the vendor wrote it.
   *
   * @param offset of the record in the file, as the search tree gives it
   * @throws InvalidDatabaseError when the record is damaged
   */
  record(offset: number): MmdbValue {
    return this.#decoder.decode(offset)
  }

  /** Checks the whole file. Takes seconds for a large file, and up to half the file's size in memory. */
  verify(): Verification {
    return verify(this.tree, this.data, this.#bytes)
  }
}
