import { DataSection } from './data-section.ts'
import { encodeDatabase } from './database.ts'
import { NetworkTrie } from './network-trie.ts'
import { NodeTable } from './node-table.ts'
import { IPV4_IN_IPV6, MAPPED, placeNetwork } from './placement.ts'
import { type RecordSize, SearchTree } from './search-tree.ts'
import type { MmdbValue } from './value.ts'
import { ValueTable } from './value-table.ts'

const DEFAULT_BUILD_DATE = '2000-01-01T00:00:00Z'

export type MmdbWriterOptions = {
  /** Names the schema of the records, such as `My-Test-City`. MaxMind reserves names that start with `GeoIP`. */
  readonly databaseType: string
  /** 6 (the default) holds IPv4 and IPv6; 4 holds IPv4 only. */
  readonly ipVersion?: 4 | 6
  /** Bits of a record in the search tree: 24, 28 or 32. Default: the smallest that fits. */
  readonly recordSize?: RecordSize
  /** Locales that records hold names in. Default: none. */
  readonly languages?: readonly string[]
  /** Text about the database by language code. Default: none. */
  readonly description?: Readonly<Record<string, string>>
  /**
   * When the data was made, to the second. Default: 2000-01-01T00:00:00Z. The writer never reads the clock, so
   * that the same input always gives the same bytes; for the current time give `new Date()`.
   */
  readonly buildDate?: Date
  /**
   * Whether `::ffff:0:0/96` leads to the IPv4 networks as well, for readers that do not unwrap IPv4-mapped
   * addresses. Default: true. Without effect in a database for IPv4 only.
   */
  readonly aliases?: boolean
}

/**
 * Writes MMDB databases (MaxMind DB file format 2.0), in memory.
 *
 * ```ts
 * const writer = new MmdbWriter({ databaseType: 'My-Test-City' })
 * writer.insert('81.2.69.0/24', { country: { iso_code: 'GB' } })
 * const bytes = writer.toBytes()
 * ```
 *
 * The same calls in the same order give the same bytes. Equal values are stored once, identical subtrees of
 * the search tree are shared, and neighbouring networks with equal records become one.
 */
export class MmdbWriter {
  readonly #options: Required<Omit<MmdbWriterOptions, 'recordSize'>>
  readonly #recordSize: RecordSize | undefined
  readonly #values = new ValueTable()
  readonly #networks = new NetworkTrie()

  /** @throws TypeError when an option is of the wrong kind; RangeError when the build date cannot be written. */
  constructor(options: MmdbWriterOptions) {
    const {
      databaseType,
      ipVersion = 6,
      recordSize,
      languages = [],
      description = {},
      aliases = true,
    } = options
    const buildDate = options.buildDate ?? new Date(DEFAULT_BUILD_DATE)
    if (typeof databaseType !== 'string' || databaseType === '') {
      throw new TypeError('databaseType must be a text that names the schema of the records')
    }
    if (ipVersion !== 4 && ipVersion !== 6) throw new TypeError(`ipVersion must be 4 or 6, not ${ipVersion}`)
    if (recordSize !== undefined && ![24, 28, 32].includes(recordSize)) {
      throw new TypeError(`recordSize must be 24, 28 or 32, not ${recordSize}`)
    }
    // libmaxminddb takes a build epoch of 0 for a missing one, and refuses the file.
    if (!(buildDate.getTime() >= 1000))
      throw new RangeError('buildDate must be a valid date after 1970-01-01')
    this.#options = { databaseType, ipVersion, languages, description, buildDate, aliases }
    this.#recordSize = recordSize
  }

  /**
   * Gives the addresses of a network a record. A later call wins over earlier ones for the addresses that both
   * cover, whichever network is the larger: insert large networks first, and the exceptions after them.
   *
   * IPv4 networks stand at `::/96` in a database for IPv6, so inserting `::/0` there says something about all
   * IPv4 addresses too. An IPv4-mapped network (`::ffff:192.0.2.0/120`) is the IPv4 network that it maps.
   *
   * The record is read during the call; changing it afterwards changes nothing.
   *
   * @param network CIDR text, such as `192.0.2.0/24` or `2001:db8::/32`, without bits set behind the prefix
   * @throws TypeError when the network is not such a text, or is for IPv6 in a database for IPv4 only; when
   * the record holds something that the format has no type for (the message says where in the record)
   * @throws RangeError when the record holds a number or a text beyond the format's range
   */
  insert(network: string, record: MmdbValue): this {
    const { words, prefixLength } = placeNetwork(network, this.#options.ipVersion)
    this.#networks.insert(words, prefixLength, this.#values.add(record))
    return this
  }

  /**
   * Takes the addresses of a network out of the database again.
   *
   * @throws TypeError for the same networks as {@link insert}
   */
  remove(network: string): this {
    const { words, prefixLength } = placeNetwork(network, this.#options.ipVersion)
    this.#networks.remove(words, prefixLength)
    return this
  }

  /**
   * The database as the bytes of a file. More networks may be inserted afterwards, and the method called again.
   *
   * @throws RangeError when the networks and records do not fit in the chosen record size
   */
  toBytes(): Uint8Array {
    const { aliases, ...about } = this.#options
    const table = new NodeTable()
    let root = this.#networks.addTo(table)
    if (aliases && about.ipVersion === 6) {
      const ipv4 = table.find(root, IPV4_IN_IPV6.words, IPV4_IN_IPV6.prefixLength)
      root = table.replace(root, MAPPED.words, MAPPED.prefixLength, ipv4)
    }
    const recordSize = this.#recordSize === undefined ? {} : { recordSize: this.#recordSize }
    return encodeDatabase(new SearchTree(table, root), new DataSection(this.#values), {
      ...about,
      ...recordSize,
    })
  }
}
