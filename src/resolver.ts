import { Address } from './address/address.ts'
import { explainMalformed } from './address/explain-malformed.ts'
import { describeSpecialPurpose } from './address/special-purpose.ts'
import { signalOf } from './bytes/abort.ts'
import { maxBytesOf } from './bytes/byte-limit.ts'
import { type ByteSource, readBytes } from './bytes/byte-source.ts'
import { extractDatabase } from './bytes/extract.ts'
import { gunzip } from './bytes/gunzip.ts'
import { type ClientAddressOptions, ClientWalk } from './client/client-address.ts'
import type { DetectSource, PeerOptions } from './client/request-source.ts'
import { InvalidDatabaseError, MalformedAddressError, UnresolvableAddressError } from './errors.ts'
import { Database } from './mmdb/database.ts'
import type { MmdbValue } from './mmdb/record-decoder.ts'
import type { Verification } from './mmdb/verify/verify.ts'
import type { DatabaseInfo } from './record/database-info.ts'
import { DatabaseSet } from './record/database-set.ts'
import { instantOf } from './record/instant.ts'
import { type Locale, localeOf } from './record/locale.ts'
import type { LocationRecord, LookupFailure, LookupOptions, LookupResult } from './record/location-record.ts'
import { invalid, malformed, unresolvable } from './record/lookup-failure.ts'
import type { Place } from './record/place.ts'

/**
 * Names the method by which other parts of this package reach the databases of a resolver. Registered, because an
 * application can hold the ESM and the CommonJS build side by side. No public name.
 *
 * @internal
 */
export const DATABASE_SET: unique symbol = Symbol.for('geofix.databaseSet')

/**
 * Names the method by which a resolver that follows its files takes new ones. No public name.
 *
 * @internal
 */
export const REPLACE: unique symbol = Symbol('geofix.replace')

/** Options of `Resolver.open`: whose word `detect` takes about who the client is, and what a source may hold. */
export interface OpenOptions extends ClientAddressOptions {
  /**
   * The most bytes that one source may have, as it comes and unpacked: a positive safe integer. A file that is
   * larger is not read, a stream is stopped, and decompression too. Default: 2 ** 31, which lets every database
   * through that can be read. A lower one keeps memory in bounds where files come from others.
   */
  readonly maxBytes?: number | undefined
  /**
   * Aborts opening: it then fails at once with the signal's reason, such as an `AbortError` or a `TimeoutError`.
   * Without effect once the resolver is open, which `close()` ends.
   */
  readonly signal?: AbortSignal | undefined
}

export interface DetectOptions extends LookupOptions, PeerOptions {}

/**
 * Answers where IP addresses are, from databases in memory. Opening validates and takes time; a lookup then
 * is synchronous and touches neither disk nor network.
 *
 * Of several databases the first that has a location for an address answers.
 */
export class Resolver {
  /** What answers. Methods read it once and then keep to it, so that no answer mixes two sets of databases. */
  #set: DatabaseSet | null
  #databases: readonly DatabaseInfo[]
  /** Every address is parsed into this one: methods are synchronous, so they never meet. */
  readonly #asked = new Address()
  readonly #clients: ClientWalk

  /** Use {@link Resolver.open}. */
  protected constructor(set: DatabaseSet, clients: ClientWalk) {
    this.#clients = clients
    this.#set = set
    this.#databases = set.info
  }

  /** What is open, in the order given; after `close()` what was. */
  get databases(): readonly DatabaseInfo[] {
    return this.#databases
  }

  /**
   * Opens a database, or several as one: an IPv4 file and an IPv6 file for instance. Raw `.mmdb`, gzip and a
   * vendor's `.tar.gz` are told apart by their bytes. Given bytes are not copied and must not change.
   *
   * @throws InvalidDatabaseError when a source is damaged or no MMDB database
   * @throws TypeError when a source is of no supported kind, or there is none, or an option is wrong
   * @throws the reason of `signal`, or of a `fetch` that was aborted while its `Response` was read
   */
  static async open(source: ByteSource | readonly ByteSource[], options?: OpenOptions): Promise<Resolver> {
    const clients = new ClientWalk(options)
    const maxBytes = maxBytesOf(options?.maxBytes)
    const signal = signalOf(options?.signal)
    const databases: Database[] = []
    for (const each of atLeastOne(source)) {
      databases.push(
        new Database(extractDatabase(await readBytes(each, maxBytes, signal), gunzip, undefined, maxBytes)),
      )
    }
    return new Resolver(new DatabaseSet(databases), clients)
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
    const set = this.#open()
    const locale = localeOf(options?.locale)
    const at = instantOf(options?.at)
    this.#parse(ip)
    return this.#record(set, locale, at)
  }

  /**
   * Where the client of an HTTP request is: the socket's peer, or, behind a trusted proxy, whoever that names.
   * Whose word is taken is settled at opening, by `trustedProxies` and `forwardedHeader`; by default nobody's.
   * Call it at the start of a handler: runtimes forget the peer when the client has left.
   *
   * @param source a request of Node, Express, Fastify or Koa, or `{ headers, remoteAddress }`; of a Fetch
   *   `Request` the program gives the peer as `options.remoteAddress`
   * @throws AddressUnavailableError when there is no peer address, or header lines may be missing; `reason` says which
   * @throws MalformedAddressError when the field of a trusted proxy cannot be read where it decides
   * @throws UnresolvableAddressError as `lookup`, and when the trusted proxies do not say who the client is;
   *   it and MalformedAddressError carry `via`, where the address was found
   * @throws InvalidLocaleError, InvalidDatabaseError, TypeError as `lookup`
   */
  detect(source: DetectSource, options?: DetectOptions): LocationRecord {
    const set = this.#open()
    const locale = localeOf(options?.locale)
    const at = instantOf(options?.at)
    const via = this.#clients.find(source, options, this.#asked)
    return this.#record(set, locale, at, via)
  }

  /**
   * Where many addresses are: for each item, in the order of the input and as many, its record or why there
   * is none. An item never throws, and a failing one costs no stack trace; see `isLookupFailure`.
   *
   * @throws InvalidLocaleError when `locale` is not a BCP 47 tag
   * @throws TypeError when `ips` is not an iterable of texts, `at` not an instant, or the resolver is closed
   */
  lookupMany(ips: Iterable<string>, options?: LookupOptions): LookupResult[] {
    if (typeof ips === 'string' || typeof ips?.[Symbol.iterator] !== 'function') {
      throw new TypeError('lookupMany takes an array or another iterable of addresses')
    }
    const set = this.#open()
    const locale = localeOf(options?.locale)
    const at = instantOf(options?.at)
    const asked = this.#asked
    const results: LookupResult[] = []
    for (const ip of ips) {
      if (!asked.parse(ip)) {
        results.push(malformed(ip))
      } else if (asked.special !== null) {
        const message = describeSpecialPurpose(asked.text, asked.special)
        results.push(unresolvable(asked.text, asked.special, message))
      } else {
        const place = this.#placeOrFailure(set)
        if (place === null) results.push(unresolvable(asked.text, 'not-found', this.#notFound(set)))
        else results.push('error' in place ? place : place.record(asked.text, locale, at))
      }
    }
    return results
  }

  /**
   * The vendor's whole record for an address, as the file has it; `null` when there is none. Special-purpose
   * addresses are looked up too: this shows what the file says. Of several databases the one that answers
   * `lookup` is shown, else the first that has a record.
   *
   * @throws MalformedAddressError when the text is not an address
   * @throws InvalidDatabaseError when the record is damaged
   * @throws TypeError when the resolver is closed
   */
  raw(ip: string): MmdbValue | null {
    const set = this.#open()
    this.#parse(ip)
    return set.raw(this.#asked)
  }

  /**
   * The network around an address that the answer of `lookup` or `raw` holds for, as CIDR text; also when
   * nothing was found in it. For 6to4, Teredo and NAT64 addresses it is that of the IPv4 address inside.
   * `null` when no database for the address's family is open.
   *
   * @throws MalformedAddressError when the text is not an address
   * @throws InvalidDatabaseError when the search tree is damaged
   * @throws TypeError when the resolver is closed
   */
  network(ip: string): string | null {
    const set = this.#open()
    this.#parse(ip)
    return set.network(this.#asked)
  }

  /**
   * Checks all of each database, as `mmdbctl verify` does: the search tree has no loops and nothing left over,
   * every pointer lands, every record decodes, text is UTF-8, the metadata is plausible. For files that were
   * copied or made anew: lookups check what they read and need none of it. Blocks for seconds where a file is
   * large, and takes up to half its size in memory meanwhile.
   *
   * @returns one for each of `databases`, in their order; a sound one has no faults
   * @throws TypeError when the resolver is closed
   */
  verify(): Verification[] {
    return this.#open().verify()
  }

  /** Releases the databases' memory. Every later question throws a `TypeError`. */
  close(): void {
    this.#set = null
  }

  /**
   * Answers from other databases from now on. What is being answered ends with those it began with.
   *
   * @internal
   */
  [REPLACE](set: DatabaseSet): void {
    this.#open()
    this.#set = set
    this.#databases = set.info
  }

  /**
   * What answers, for bulk work that needs no records.
   *
   * @internal
   * @throws TypeError when the resolver is closed
   */
  [DATABASE_SET](): DatabaseSet {
    return this.#open()
  }

  #open(): DatabaseSet {
    if (this.#set === null) throw new TypeError('the resolver is closed')
    return this.#set
  }

  #parse(ip: string): void {
    if (!this.#asked.parse(ip)) throw new MalformedAddressError(explainMalformed(ip))
  }

  /** The record of the address last parsed, found by `via`. */
  #record(set: DatabaseSet, locale: Locale, at: number, via?: string): LocationRecord {
    const { text, special } = this.#asked
    if (special !== null) {
      throw new UnresolvableAddressError(describeSpecialPurpose(text, special), special, text, via)
    }
    if (set.unfit !== null) throw new InvalidDatabaseError(set.unfit.fault, set.unfit)
    const place = set.place(this.#asked)
    if (place === null) throw new UnresolvableAddressError(this.#notFound(set), 'not-found', text, via)
    return place.record(text, locale, at)
  }

  #placeOrFailure(set: DatabaseSet): Place | LookupFailure | null {
    if (set.unfit !== null) return invalid(this.#asked.text, set.unfit)
    try {
      return set.place(this.#asked)
    } catch (error) {
      if (!(error instanceof InvalidDatabaseError)) throw error
      return invalid(this.#asked.text, error)
    }
  }

  #notFound({ info }: DatabaseSet): string {
    const { text, family } = this.#asked
    const lacksFamily = family === 6 && info.every(({ ipVersion }) => ipVersion === 4)
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
