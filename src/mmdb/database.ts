import { checkSize, MAX_DATABASE_BYTES } from '../bytes/byte-limit.ts'
import { DataSection } from './data-section.ts'
import { type Metadata, readMetadata } from './metadata.ts'
import { type MmdbValue, RecordDecoder } from './record-decoder.ts'
import { NO_RECORD, PrefixIndex, SearchTree, tableBytes } from './search-tree.ts'
import { type Verification, verify } from './verify.ts'

/** Finds results for addresses, faster than the search tree. */
export type AddressIndex = Pick<PrefixIndex, 'findIPv4' | 'findIPv6' | 'clear'>

/** One open MMDB file: checked when it is opened, read-only afterwards. */
export class Database {
  readonly metadata: Metadata
  readonly tree: SearchTree
  readonly data: DataSection
  readonly #decoder: RecordDecoder
  /** The tables of an index that threads share. */
  #tables: SharedArrayBuffer | undefined

  /**
   * @param bytes the uncompressed file; not copied, so they must not change
   * @param path of the file, for messages
   * @param tables what {@link shareTables} of the same file gave in another thread
   * @throws InvalidDatabaseError when the bytes are not a database
   */
  constructor(
    readonly bytes: Uint8Array,
    readonly path?: string,
    tables?: SharedArrayBuffer,
  ) {
    checkSize(bytes.length, MAX_DATABASE_BYTES, path)
    this.metadata = readMetadata(bytes, path)
    this.tree = new SearchTree(bytes, this.metadata, path)
    this.data = new DataSection(bytes, this.tree.dataStart, this.metadata.start, path)
    this.#decoder = new RecordDecoder(bytes, this.data)
    if (tables?.byteLength === tableBytes(this.metadata)) this.#tables = tables
  }

  /** Memory for the tables of an index, which threads share: the same one each time. */
  shareTables(): SharedArrayBuffer {
    this.#tables ??= new SharedArrayBuffer(tableBytes(this.metadata))
    return this.#tables
  }

  /**
   * An index with tables of its own, or those that threads share. Then it keeps offsets there instead of results, because
   * each thread has its own results.
   *
   * @param resultOf as that of {@link PrefixIndex}
   */
  index(resultOf: (offset: number) => number): AddressIndex {
    if (this.#tables === undefined) return new PrefixIndex(this.tree, resultOf)
    const offsets = new PrefixIndex(this.tree, undefined, this.#tables)
    const resultAt = (offset: number): number => (offset === NO_RECORD ? NO_RECORD : resultOf(offset))
    return {
      findIPv4: (address) => resultAt(offsets.findIPv4(address)),
      findIPv6: (words) => resultAt(offsets.findIPv6(words)),
      clear: () => {},
    }
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
    return verify(this.tree, this.data, this.bytes)
  }
}
