import { DataSection } from './data-section.ts'
import { encodeDatabase } from './database.ts'
import { encodeMetadata } from './metadata.ts'
import { NetworkTrie } from './network-trie.ts'
import { NodeTable } from './node-table.ts'
import { IPV4_IN_IPV6, MAPPED, placeNetwork } from './placement.ts'
import { SearchTree } from './search-tree.ts'
import type { WritableValue } from './value.ts'
import { ValueTable } from './value-table.ts'
import { type CheckedOptions, checkOptions, type MmdbWriterOptions } from './writer-options.ts'

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
  readonly #options: CheckedOptions
  readonly #values = new ValueTable()
  readonly #networks = new NetworkTrie()

  /**
   * @throws TypeError when an option is of the wrong kind; RangeError when the build date cannot be written, or
   * when languages and description are longer than readers look for metadata.
   */
  constructor(options: MmdbWriterOptions) {
    this.#options = checkOptions(options)
    // Whatever else the format cannot say of the options is to be known now, not when the networks are in.
    encodeMetadata({ ...this.#options, nodeCount: 0xffff_ffff, recordSize: 32 })
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
   * @throws RangeError when the record holds a number beyond the format's range, or is more than this package
   * reads back: 128 levels of maps and arrays, 65,536 values (keys included), 16 MiB of text, a part that comes
   * twice counted twice, and keys of 1,024 bytes
   */
  insert(network: string, record: WritableValue): this {
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
    const { aliases, recordSize, ...about } = this.#options
    const table = new NodeTable()
    let root = this.#networks.addTo(table)
    if (aliases && about.ipVersion === 6) {
      const ipv4 = table.find(root, IPV4_IN_IPV6.words, IPV4_IN_IPV6.prefixLength)
      root = table.replace(root, MAPPED.words, MAPPED.prefixLength, ipv4)
    }
    return encodeDatabase(new SearchTree(table, root), new DataSection(this.#values), {
      ...about,
      ...(recordSize === undefined ? {} : { recordSize }),
    })
  }
}
