import { IPV4_IN_IPV6, IPV4_MAPPED } from '../../address/position.ts'
import { checkOptionNames, type NamesOf } from '../../option-names.ts'
import { timeOf } from '../../realm.ts'
import { DataSectionEncoder, encodeDatabase, encodeMetadata } from './database-encoder.ts'
import { EMPTY, linkToValue, NetworkTrie, NodeTable, treePathOf } from './node-table.ts'
import { type RecordSize, SearchTreeEncoder } from './search-tree-encoder.ts'
import { isPlainObject, kindOf, type WritableValue } from './value.ts'
import { ValueTable } from './value-table.ts'

export type MmdbWriterOptions = {
  /** Names the schema of the records, such as `My-Test-City`. MaxMind reserves names that start with `GeoIP`. */
  readonly databaseType: string
  /** 6 (the default) holds IPv4 and IPv6; 4 holds IPv4 only. */
  readonly ipVersion?: 4 | 6
  /** Bits of a record in the search tree: 24, 28 or 32. Default: the smallest that fits. */
  readonly recordSize?: RecordSize
  /** Locales of names in the records. Default: none. */
  readonly languages?: readonly string[]
  /** Description of the database, by language code. Default: none. */
  readonly description?: Readonly<Record<string, string>>
  /**
   * When the data was made, to the second. Default: 2000-01-01T00:00:00Z. The writer never reads the clock, so
   * that the same input always gives the same bytes. For the current time pass `new Date()`.
   */
  readonly buildDate?: Date
  /**
   * Whether `::ffff:0:0/96` leads to the IPv4 networks too, for readers that do not unwrap IPv4-mapped addresses.
   * Default: true. Has no effect if `ipVersion` is 4.
   */
  readonly aliases?: boolean
}

const WRITER_OPTIONS: NamesOf<MmdbWriterOptions> = {
  databaseType: true,
  ipVersion: true,
  recordSize: true,
  languages: true,
  description: true,
  buildDate: true,
  aliases: true,
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
 * The same calls in the same order give the same bytes. Equal values are stored once, identical subtrees of the
 * search tree are shared, and adjacent networks with equal records are merged.
 */
export class MmdbWriter {
  readonly #options: CheckedOptions
  readonly #values = new ValueTable()
  readonly #networks = new NetworkTrie()

  /**
   * @throws TypeError when an option has the wrong type
   * @throws RangeError when the build date cannot be encoded, or the metadata would be longer than readers support
   */
  constructor(options: MmdbWriterOptions) {
    this.#options = checkOptions(options)
    // Fail now, not in toBytes(), if the options cannot be encoded.
    encodeMetadata({ ...this.#options, nodeCount: 0xffff_ffff, recordSize: 32 })
  }

  /**
   * Gives the addresses of a network a record. A later call replaces earlier ones for the addresses that both
   * cover, whichever network is larger: insert large networks first, then the exceptions inside them.
   *
   * IPv4 networks are stored at `::/96` in an IPv6 database, so inserting `::/0` there sets all IPv4 addresses too.
   * An IPv4-mapped network (`::ffff:192.0.2.0/120`) is stored as the IPv4 network.
   *
   * The record is read during the call; changing it afterwards has no effect.
   *
   * @param network CIDR text, such as `192.0.2.0/24` or `2001:db8::/32`, without bits set after the prefix; or an address,
   * which is its own network, as in overlays
   * @throws TypeError when the network is not such a text, or is an IPv6 network and `ipVersion` is 4; when the
   * record holds a value that the format has no type for (the message says where in the record)
   * @throws RangeError when the record holds a number outside the format's range, or exceeds the limits of this
   * package's reader: 128 levels of maps and arrays, 65,536 values including keys, 16 MiB of text, keys of 1,024
   * bytes; a part that is used twice counts twice
   */
  insert(network: string, record: WritableValue): this {
    const { words, prefixLength } = treePathOf(network, this.#options.ipVersion)
    this.#networks.set(words, prefixLength, linkToValue(this.#values.add(record)))
    return this
  }

  /**
   * Removes the addresses of a network from the database.
   *
   * @throws TypeError for the same networks as {@link insert}
   */
  remove(network: string): this {
    const { words, prefixLength } = treePathOf(network, this.#options.ipVersion)
    this.#networks.set(words, prefixLength, EMPTY)
    return this
  }

  /**
   * The database as the bytes of a file. Afterwards more networks can be inserted, and the method called again.
   *
   * @throws RangeError when the networks and records do not fit in the chosen record size
   */
  toBytes(): Uint8Array {
    const { aliases, recordSize, ...metadata } = this.#options
    const table = new NodeTable()
    let root = this.#networks.addTo(table)
    if (aliases && metadata.ipVersion === 6) {
      const ipv4 = table.find(root, IPV4_IN_IPV6.words, IPV4_IN_IPV6.prefixLength)
      root = table.replace(root, IPV4_MAPPED.words, IPV4_MAPPED.prefixLength, ipv4)
    }
    return encodeDatabase(new SearchTreeEncoder(table, root), new DataSectionEncoder(this.#values), {
      ...metadata,
      ...(recordSize === undefined ? {} : { recordSize }),
    })
  }
}

/** Checked options, with the defaults filled in. */
type CheckedOptions = Required<Omit<MmdbWriterOptions, 'recordSize'>> & {
  readonly recordSize: RecordSize | undefined
}

export const DEFAULT_BUILD_DATE = '2000-01-01T00:00:00Z'

/**
 * A copy of the options, which the caller cannot change afterwards.
 *
 * @throws TypeError when an option has the wrong type; RangeError when the build date cannot be encoded. The
 * message names the option.
 */
function checkOptions(options: MmdbWriterOptions): CheckedOptions {
  if (typeof options !== 'object' || options === null) {
    throw new TypeError(`the options must be an object, not ${kindOf(options)}`)
  }
  checkOptionNames('MmdbWriter', options, WRITER_OPTIONS)
  const {
    databaseType,
    ipVersion = 6,
    recordSize,
    languages = [],
    description = {},
    buildDate = new Date(DEFAULT_BUILD_DATE),
    aliases = true,
  } = options
  if (typeof databaseType !== 'string' || databaseType === '') {
    throw new TypeError('databaseType must be a non-empty string that names the schema of the records')
  }
  if (ipVersion !== 4 && ipVersion !== 6) throw wrongType('ipVersion', '4 or 6', ipVersion)
  if (recordSize !== undefined && recordSize !== 24 && recordSize !== 28 && recordSize !== 32) {
    throw wrongType('recordSize', '24, 28 or 32', recordSize)
  }
  if (typeof aliases !== 'boolean') throw wrongType('aliases', 'true or false', aliases)
  return {
    databaseType,
    ipVersion,
    recordSize,
    languages: textList('languages', languages),
    description: textMap('description', description),
    buildDate: writableDate('buildDate', buildDate),
    aliases,
  }
}

function textList(name: string, value: unknown): string[] {
  if (!Array.isArray(value)) throw wrongType(name, 'an array of strings', value)
  // Array.from turns the holes of a sparse array into undefined; map() would skip them.
  return Array.from(value, (item: unknown, index) => text(`${name}[${index}]`, item))
}

function textMap(name: string, value: unknown): Record<string, string> {
  if (!isPlainObject(value)) throw wrongType(name, 'a plain object of strings', value)
  return Object.fromEntries(
    Object.entries(value).map(([key, item]: [string, unknown]) => [key, text(`${name}.${key}`, item)]),
  )
}

function text(name: string, value: unknown): string {
  if (typeof value !== 'string') throw wrongType(name, 'a string', value)
  return value
}

function writableDate(name: string, value: unknown): Date {
  const instant = timeOf(value)
  if (instant === undefined) throw wrongType(name, 'a Date', value)
  if (Number.isNaN(instant)) throw new TypeError(`${name} must be a valid Date`)
  // libmaxminddb treats a build_epoch of 0 as missing and refuses the file.
  if (instant < 1000) throw new RangeError(`${name} must be after 1970-01-01T00:00:00Z`)
  return new Date(instant)
}

function wrongType(name: string, expected: string, value: unknown): TypeError {
  return new TypeError(
    `${name} must be ${expected}, not ${typeof value === 'number' ? value : kindOf(value)}`,
  )
}
