import { Address } from './address/address.ts'
import { formatCidr } from './address/cidr.ts'
import { describeMalformation } from './address/malformation.ts'
import { describeSpecialPurpose } from './address/parse-address.ts'
import { type ByteSource, readBytes } from './bytes/byte-source.ts'
import { gunzip } from './bytes/gunzip.ts'
import { unpack } from './bytes/unpack.ts'
import { InvalidDatabaseError, MalformedAddressError, UnresolvableAddressError } from './errors.ts'
import { Database } from './mmdb/database.ts'
import { NO_RECORD } from './mmdb/search-tree.ts'
import type { MmdbValue } from './mmdb/whole-record.ts'
import { type DatabaseInfo, databaseInfo } from './record/database-info.ts'
import { instantOf } from './record/instant.ts'
import { localeOf } from './record/locale.ts'
import type { LocationRecord, LookupFailure, LookupOptions, LookupResult } from './record/location-record.ts'
import type { Place } from './record/place.ts'
import { PlaceTable } from './record/place-table.ts'

const IPV6_ZERO = new Uint32Array(4)

/** A database beside its records as places. */
interface Source {
  readonly database: Database
  readonly places: PlaceTable
}

/**
 * Answers where IP addresses are, from databases in memory. Opening validates and takes time; a lookup then
 * is synchronous and touches neither disk nor network.
 *
 * Of several databases the first that has a location for an address answers.
 */
export class Resolver {
  /** What is open, in the order given. */
  readonly databases: readonly DatabaseInfo[]
  #sources: readonly Source[] | null
  /** Every address is parsed into this one: methods are synchronous, so they never meet. */
  readonly #asked = new Address()

  /** Use {@link Resolver.open}. */
  protected constructor(databases: readonly Database[]) {
    this.#sources = databases.map((database) => ({ database, places: new PlaceTable(database) }))
    this.databases = Object.freeze(databases.map(({ metadata, path }) => databaseInfo(metadata, path)))
  }

  /**
   * Opens a database, or several as one: an IPv4 file and an IPv6 file for instance. Raw `.mmdb`, gzip and a
   * vendor's `.tar.gz` are told apart by their bytes. Given bytes are not copied and must not change.
   *
   * @throws InvalidDatabaseError when a source is damaged or no MMDB database
   * @throws TypeError when a source is of no supported kind, or there is none
   */
  static async open(source: ByteSource | readonly ByteSource[]): Promise<Resolver> {
    const databases: Database[] = []
    for (const each of atLeastOne(source)) {
      databases.push(new Database(unpack(await readBytes(each), gunzip)))
    }
    return new Resolver(databases)
  }

  /**
   * Where an address is.
   *
   * @param ip strict dotted decimal IPv4 or RFC 4291 IPv6, with nothing around it
   * @throws MalformedAddressError when the text is not an address
   * @throws UnresolvableAddressError when the address is not globally reachable or no database has a location
   *   for it; `reason` says which
   * @throws InvalidLocaleError when `locale` is not a BCP 47 tag
   * @throws InvalidDatabaseError when the lookup meets a damaged place in a database, or the databases hold
   *   no locations
   * @throws TypeError when `at` is not an instant, or the resolver is closed
   */
  lookup(ip: string, options?: LookupOptions): LocationRecord {
    const locale = localeOf(options?.locale)
    const at = instantOf(options?.at)
    const asked = this.#asked
    if (!asked.parse(ip)) throw new MalformedAddressError(describeMalformation(ip))
    if (asked.special !== null) {
      const message = describeSpecialPurpose(asked.text, asked.special)
      throw new UnresolvableAddressError(message, asked.special, asked.text)
    }
    const place = this.#place()
    if (place === null) throw new UnresolvableAddressError(this.#notFound(), 'not-found', asked.text)
    return place.record(asked.text, locale, at)
  }

  /**
   * Where many addresses are: for each item, in the order of the input and as many, its record or why there
   * is none. An item never throws, and a failing one costs no stack trace; see `isLookupFailure`.
   *
   * @throws InvalidLocaleError when `locale` is not a BCP 47 tag
   * @throws TypeError when `ips` is not an iterable of texts, `at` not an instant, or the resolver is closed
   */
  lookupMany(ips: Iterable<string>, options?: LookupOptions): LookupResult[] {
    if (typeof ips === 'string')
      throw new TypeError('lookupMany takes an array or other iterable of addresses')
    const locale = localeOf(options?.locale)
    const at = instantOf(options?.at)
    this.#open()
    const asked = this.#asked
    const results: LookupResult[] = []
    for (const ip of ips) {
      if (!asked.parse(ip)) {
        results.push(malformed(ip))
      } else if (asked.special !== null) {
        const message = describeSpecialPurpose(asked.text, asked.special)
        results.push(unresolvable(asked.text, asked.special, message))
      } else {
        const place = this.#placeOrFailure()
        if (place === null) results.push(unresolvable(asked.text, 'not-found', this.#notFound()))
        else results.push('error' in place ? place : place.record(asked.text, locale, at))
      }
    }
    return results
  }

  /**
   * The vendor's whole record for an address, as the file has it; `null` when there is none. Special-purpose
   * addresses are looked up too: this shows what the file says.
   *
   * @throws MalformedAddressError when the text is not an address
   * @throws InvalidDatabaseError when the record is damaged
   * @throws TypeError when the resolver is closed
   */
  raw(ip: string): MmdbValue | null {
    this.#parse(ip)
    for (const { database } of this.#open()) {
      const offset = this.#find(database)
      if (offset !== NO_RECORD) return database.record(offset)
    }
    return null
  }

  /**
   * The network around an address that the answer holds for, as CIDR text; also when nothing was found in
   * it. For 6to4, Teredo and NAT64 addresses it is that of the IPv4 address inside. `null` when no database
   * for the address's family is open.
   *
   * @throws MalformedAddressError when the text is not an address
   * @throws InvalidDatabaseError when the search tree is damaged
   * @throws TypeError when the resolver is closed
   */
  network(ip: string): string | null {
    this.#parse(ip)
    let empty: string | null = null
    for (const { database } of this.#open()) {
      if (this.#asked.family === 6 && database.metadata.ipVersion === 4) continue
      const found = this.#find(database) !== NO_RECORD
      const network = this.#networkIn(database)
      if (found) return network
      empty ??= network
    }
    return empty
  }

  /** Lets go of the databases' memory. Every later question throws a `TypeError`. */
  close(): void {
    this.#sources = null
  }

  #open(): readonly Source[] {
    if (this.#sources === null) throw new TypeError('the resolver is closed')
    return this.#sources
  }

  #parse(ip: string): void {
    if (!this.#asked.parse(ip)) throw new MalformedAddressError(describeMalformation(ip))
  }

  /** The place of the address last parsed. */
  #place(): Place | null {
    for (const { database, places } of this.#open()) {
      const offset = this.#find(database)
      if (offset === NO_RECORD) continue
      const place = places.at(offset)
      if (place !== null) return place
    }
    return null
  }

  #placeOrFailure(): Place | LookupFailure | null {
    try {
      return this.#place()
    } catch (error) {
      if (!(error instanceof InvalidDatabaseError)) throw error
      const { code, status, message } = error
      return { ip: this.#asked.text, error: { code, status, message } }
    }
  }

  #find({ tree }: Database): number {
    const asked = this.#asked
    return asked.family === 4 ? tree.findIPv4(asked.ipv4) : tree.findIPv6(asked.words)
  }

  #networkIn({ tree, metadata }: Database): string {
    const asked = this.#asked
    const { prefixLength } = tree
    if (asked.family === 6) return formatCidr(6, asked.words, prefixLength)
    if (metadata.ipVersion === 4) return formatCidr(4, Uint32Array.of(asked.ipv4), prefixLength)
    // IPv4 lives at ::/96 of an IPv6 tree; a shorter network there holds more than IPv4.
    if (prefixLength < 96) return formatCidr(6, IPV6_ZERO, prefixLength)
    return formatCidr(4, Uint32Array.of(asked.ipv4), prefixLength - 96)
  }

  #notFound(): string {
    const { text, family } = this.#asked
    const lacksFamily = family === 6 && this.databases.every(({ ipVersion }) => ipVersion === 4)
    return `${text} has no location: ${lacksFamily ? 'no database for IPv6 is open' : 'the database has none for it'}`
  }
}

/** @throws TypeError when there is no source */
export function atLeastOne<Source>(source: Source | readonly Source[]): readonly Source[] {
  const sources = isList(source) ? source : [source]
  if (sources.length === 0) throw new TypeError('at least one database is needed')
  return sources
}

function isList<Item>(value: Item | readonly Item[]): value is readonly Item[] {
  return Array.isArray(value)
}

function malformed(given: unknown): LookupFailure {
  const ip = typeof given === 'object' || typeof given === 'function' ? typeof given : String(given)
  return { ip, error: { code: 'MALFORMED_ADDRESS', status: 400, message: describeMalformation(given) } }
}

function unresolvable(
  ip: string,
  reason: UnresolvableAddressError['reason'],
  message: string,
): LookupFailure {
  return { ip, error: { code: 'UNRESOLVABLE_ADDRESS', status: 422, message, reason } }
}
