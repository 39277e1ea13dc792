import { Address, explainMalformed } from './address/address.ts'
import { ClientWalk, clientError } from './client/client-address.ts'
import { type DetectSource, PEER_OPTIONS, type PeerOptions } from './client/request-source.ts'
import { MalformedAddressError } from './errors.ts'
import type { AsnRecord } from './location/autonomous-systems.ts'
import { BORROW, CLIENT, DatabaseSet, REPLACE, withDatabases } from './location/database-set.ts'
import { localeOf } from './location/locale.ts'
import { type LocatedNetwork, type NetworksOptions, networksOf } from './location/located-networks.ts'
import {
  LOOKUP_OPTIONS,
  type LocationRecord,
  type LookupOptions,
  type LookupResult,
} from './location/location-record.ts'
import { BATCH_ITEMS, LookupBatch, lookupRecord, lookupResult, malformedFailure } from './location/lookup.ts'
import { type SharedDatabases, type ShareOptions, shareDatabases } from './location/shared-databases.ts'
import { instantOf } from './location/timezone.ts'
import type { DatabaseInfo } from './location/vendors.ts'
import { detached, noConstructor, refuseForeignMethods } from './misuse.ts'
import type { OpenDatabase } from './mmdb/database.ts'
import type { MmdbValue } from './mmdb/record-decoder.ts'
import type { OpenSettings } from './opening.ts'
import { checkOptionNames, type NamesOf } from './option-names.ts'
import type { PlatformDisposable } from './realm.ts'

/** The method by which Node, Bun and Deno print an object. */
const INSPECT: unique symbol = Symbol.for('nodejs.util.inspect.custom')

/** Engines put this text before "could not be cloned". */
const CANNOT_BE_CLONED = Symbol(
  'A Resolver cannot be cloned. Send resolver.share() and pass that to Resolver.attach() there. It',
)

export interface DetectOptions extends LookupOptions, PeerOptions {}

export interface RawOptions {
  /** The number of a database in `databases`, from 0. */
  readonly database?: number | undefined
}

const RAW_OPTIONS: NamesOf<RawOptions> = { database: true }

const SHARE_OPTIONS: NamesOf<ShareOptions> = { expand: true }

const DETECT_OPTIONS: NamesOf<DetectOptions> = { ...LOOKUP_OPTIONS, ...PEER_OPTIONS }

/**
 * What a program can do with an open resolver, in Node and elsewhere. Programs that take this instead of a `Resolver` can be
 * tested with an object of their own. Geofix's own functions, such as `enrich`, need a `Resolver`.
 */
export interface LocationResolver
  extends PlatformDisposable,
    Pick<
      Resolver,
      | 'databases'
      | 'lookup'
      | 'lookupMany'
      | 'find'
      | 'detect'
      | 'findClient'
      | 'asn'
      | 'network'
      | 'raw'
      | 'close'
    > {}

export interface Resolver extends PlatformDisposable {}

/**
 * Looks up the locations of IP addresses in databases. Opening validates a database and takes time. Lookups are
 * synchronous and never use the network. They read the disk only for packed databases that were opened by path.
 *
 * With several databases, the first one with a location for the address is used.
 */
// biome-ignore lint/suspicious/noUnsafeDeclarationMerging: it has the method of the interface where the platform has the symbol.
export abstract class Resolver {
  /**
   * Makes cloning fail, such as by `postMessage` to a worker: a symbol cannot be cloned. The clone would be an empty
   * object.
   *
   * @internal
   */
  readonly cloning = CANNOT_BE_CLONED
  /** Methods read it once, so that no result mixes the databases before and after a replacement. `null`: closed. */
  #set: DatabaseSet | null
  #databases: readonly DatabaseInfo[]
  /** Reused for every lookup, since methods are synchronous. */
  readonly #address = new Address()
  readonly #clients: ClientWalk
  readonly #batch = new LookupBatch()

  static {
    refuseForeignMethods(Resolver.prototype, Resolver)
    // Older browsers do not have the symbol.
    if (Symbol.dispose)
      Resolver.prototype[Symbol.dispose] = function (): void {
        this.close()
      }
  }

  /** Use `Resolver.open`. */
  protected constructor(none: never)
  /**
   * @internal
   * @param databases the resolver takes over one use of the caller of each, and gives it back in `close()`
   */
  protected constructor(databases: readonly OpenDatabase[], settings: OpenSettings)
  protected constructor(databases: readonly OpenDatabase[], settings?: OpenSettings) {
    // JavaScript can call it without arguments.
    if (!(settings?.clients instanceof ClientWalk)) throw noConstructor()
    this.#clients = settings.clients
    this.#set = new DatabaseSet(databases, settings.set)
    this.#databases = this.#set.info
  }

  /** The open databases in the order of the sources. Still available after `close()`. */
  get databases(): readonly DatabaseInfo[] {
    return this.#databases
  }

  /**
   * Looks up the location of an address.
   *
   * @param ip strict dotted decimal IPv4 or RFC 4291 IPv6, without spaces, brackets or a port
   * @throws MalformedAddressError when the text is not an address
   * @throws UnresolvableAddressError when the address is not globally reachable or no database has a location for it;
   *   `reason` says which
   * @throws InvalidLocaleError when `locale` is not a BCP 47 tag
   * @throws InvalidDatabaseError when the lookup meets damaged bytes, or when the databases have no locations
   * @throws TypeError when an option is unknown, `at` is not an instant or the resolver is closed
   */
  lookup(ip: string, options?: LookupOptions): LocationRecord {
    if (this === undefined) throw detached('lookup')
    checkOptionNames('lookup', options, LOOKUP_OPTIONS)
    const set = this.#open()
    const locale = localeOf(options?.locale, options?.cityNames)
    const at = instantOf(options?.at)
    this.#parse(ip)
    return lookupRecord(set, this.#address, locale, at)
  }

  /**
   * Looks up the location of the client of an HTTP request: the socket's peer, or the address that a trusted proxy
   * reports. By default no proxy is trusted; see the options `trustedProxies` and `forwardedHeader` of `open`. Call it
   * at the start of a handler: the peer's address is lost when the connection is closed.
   *
   * @param source a request of Node, Express, Fastify or Koa, or `{ headers, remoteAddress }`, or a Fetch `Request`
   *   with the peer's address as `options.remoteAddress`
   * @throws AddressUnavailableError when there is no peer address or header lines may be missing;
   *   `reason` says which
   * @throws MalformedAddressError when the client's address in a trusted proxy's header field is malformed
   * @throws UnresolvableAddressError as `lookup`, and when the trusted proxies do not report the client's address;
   *   both errors have `via`, where the address was found
   * @throws InvalidLocaleError, InvalidDatabaseError, TypeError as `lookup`
   */
  detect(source: DetectSource, options?: DetectOptions): LocationRecord {
    if (this === undefined) throw detached('detect', 'request')
    checkOptionNames('detect', options, DETECT_OPTIONS)
    this.#open()
    const locale = localeOf(options?.locale, options?.cityNames)
    const at = instantOf(options?.at)
    const via = this.#clients.find(source, options, this.#address)
    if (typeof via !== 'string') throw clientError(via)
    // Check only now: a getter of the request can close the resolver.
    return lookupRecord(this.#open(), this.#address, locale, at, via)
  }

  /**
   * `lookup` that returns a `LookupFailure` where `lookup` throws for the address: a failure costs no stack trace. For
   * programs that answer every request. Use `isLookupFailure` to tell the results apart.
   *
   * @throws InvalidLocaleError when `locale` is not a BCP 47 tag
   * @throws TypeError when an option is unknown, `at` is not an instant or the resolver is closed
   */
  find(ip: string, options?: LookupOptions): LookupResult {
    if (this === undefined) throw detached('find')
    checkOptionNames('find', options, LOOKUP_OPTIONS)
    const set = this.#open()
    const locale = localeOf(options?.locale, options?.cityNames)
    const at = instantOf(options?.at)
    return this.#address.parse(ip) ? lookupResult(set, this.#address, locale, at) : malformedFailure(ip)
  }

  /**
   * `detect` that returns a `LookupFailure` where `detect` throws for the address: a failure costs no stack trace.
   *
   * @throws InvalidLocaleError when `locale` is not a BCP 47 tag
   * @throws TypeError when the source is not a request, an option is unknown, `at` is not an instant, or the resolver is closed
   */
  findClient(source: DetectSource, options?: DetectOptions): LookupResult {
    if (this === undefined) throw detached('findClient', 'request')
    checkOptionNames('findClient', options, DETECT_OPTIONS)
    this.#open()
    const locale = localeOf(options?.locale, options?.cityNames)
    const at = instantOf(options?.at)
    const via = this.#clients.find(source, options, this.#address)
    if (typeof via !== 'string') return via
    return lookupResult(this.#open(), this.#address, locale, at, via)
  }

  /**
   * Looks up many addresses. The result has a record or a `LookupFailure` for each item, in the order of the input: an
   * item never throws. Use `isLookupFailure` to tell them apart. Calls with some 1,000 items whose results are not kept take
   * three quarters of the time of one call with all, because the garbage collector has less to do.
   *
   * @throws InvalidLocaleError when `locale` is not a BCP 47 tag
   * @throws TypeError when `ips` is a string or not iterable, an option is unknown, `at` is not an instant, or the
   *   resolver is closed
   */
  lookupMany(ips: Iterable<string>, options?: LookupOptions): LookupResult[] {
    if (typeof ips === 'string' || typeof ips?.[Symbol.iterator] !== 'function') {
      throw new TypeError('lookupMany needs an array or another iterable of addresses')
    }
    if (this === undefined) throw detached('lookupMany', 'ips')
    checkOptionNames('lookupMany', options, LOOKUP_OPTIONS)
    // The iterable may call close().
    return withDatabases(this, (set) => {
      const locale = localeOf(options?.locale, options?.cityNames)
      const at = instantOf(options?.at)
      const results: LookupResult[] = []
      let batch: unknown[] = []
      for (const ip of ips) {
        if (batch.push(ip) < BATCH_ITEMS) continue
        this.#batch.lookup(set, batch, locale, at, results)
        batch = []
      }
      this.#batch.lookup(set, batch, locale, at, results)
      return results
    })
  }

  /**
   * The vendor's whole record for an address; `null` when there is none. Special-purpose addresses are looked up too.
   * With several databases, the record is from the one that `lookup` uses, or else from the first one with a record. An
   * address with a location of `overlays` has none. With the option `database`, only that database is asked. The type is that
   * of the argument, `geo.raw<CityResponse>(ip)`: nothing checks it.
   *
   * @throws MalformedAddressError when the text is not an address
   * @throws InvalidDatabaseError when the record is damaged
   * @throws TypeError when an option is unknown, no database has the number, or the resolver is closed
   */
  raw<Value = MmdbValue>(ip: string, options?: RawOptions): Value | null
  raw(ip: string, options?: RawOptions): unknown {
    if (this === undefined) throw detached('raw')
    checkOptionNames('raw', options, RAW_OPTIONS)
    const set = this.#open()
    this.#parse(ip)
    return set.raw(this.#address, options?.database)
  }

  /**
   * The autonomous system that announces the network of an address: who operates it. `null` for an address without one, such
   * as a private one. The databases of the option `asn` are asked, then the sources that have autonomous systems too. Vendors
   * are told apart by the fields of their records. For 6to4, Teredo and NAT64 addresses, it is that of the embedded IPv4
   * address.
   *
   * @throws MalformedAddressError when the text is not an address
   * @throws InvalidDatabaseError when the lookup meets damaged bytes
   * @throws TypeError when no open database has autonomous systems, or the resolver is closed
   */
  asn(ip: string): AsnRecord | null {
    if (this === undefined) throw detached('asn')
    const set = this.#open()
    this.#parse(ip)
    return set.systems.record(this.#address)
  }

  /**
   * A network around an address, as CIDR text. `lookup` and `raw` have the same result for all its addresses, even if they
   * find nothing: it can be smaller than the network of a database. For 6to4, Teredo and NAT64 addresses, it is that of the
   * embedded IPv4 address. `null` when no database for the address's family is open, and no network of `overlays` has the
   * address.
   *
   * @throws MalformedAddressError when the text is not an address
   * @throws InvalidDatabaseError when the search tree is damaged
   * @throws TypeError when the resolver is closed
   */
  network(ip: string): string | null {
    if (this === undefined) throw detached('network')
    const set = this.#open()
    this.#parse(ip)
    return set.network(this.#address)
  }

  /**
   * The networks that have a location, in the order of their addresses, IPv4 first: the database as a table. Each has what
   * `lookup` finds for its addresses. They are found while you iterate. The addresses that `lookup` answers by the IPv4 address
   * inside, such as 6to4, are in no network.
   *
   * @throws InvalidDatabaseError when the databases have no locations; while you iterate, when one is damaged
   * @throws InvalidLocaleError, TypeError when an option is wrong, or the resolver is closed
   */
  networks(options?: NetworksOptions): IterableIterator<LocatedNetwork> {
    if (this === undefined) throw detached('networks', 'options')
    return networksOf(this.#open(), () => this[BORROW](), options)
  }

  /**
   * Shares the databases with other threads. Send the result to a worker with `postMessage`, which does not copy the
   * databases, and pass it to `Resolver.attach` there. Databases that were given as bytes, or are compressed, are
   * first copied into shared memory, once. The decoded blocks of packed databases are shared too, unless `expand` is
   * `false`. This resolver then uses the copies. Needs `SharedArrayBuffer`: in browsers, the page must be cross-origin isolated.
   *
   * @throws TypeError when there is no `SharedArrayBuffer`, `expand` is not true or false, an option is unknown, or the resolver
   *   is closed
   * @throws InvalidDatabaseError when there is not enough memory for the copy, or a file is damaged or cannot be read
   */
  share(options?: ShareOptions): SharedDatabases {
    if (this === undefined) throw detached('share', 'options')
    checkOptionNames('share', options, SHARE_OPTIONS)
    const set = this.#open()
    const { shared, set: copies } = shareDatabases(set, options)
    // Use the copies, so that the originals can be closed.
    this.#set = copies
    set.release()
    return shared
  }

  /**
   * Releases the databases' memory and closes the files of packed ones. `using geo = await Resolver.open()` calls it at the end
   * of the block. Later calls throw a `TypeError`. A file that is still in use, such as by a stream of `geofix/enrich` or another
   * resolver, is closed when its last user has finished.
   */
  close(): void {
    const set = this.#set
    this.#set = null
    set?.release()
  }

  /**
   * Uses other databases from now on. Calls in progress finish with the previous ones.
   *
   * @internal
   * @param set the resolver takes over one use of the caller
   * @throws TypeError when the resolver is closed
   */
  [REPLACE](set: DatabaseSet): void {
    const previous = this.#open()
    this.#set = set
    this.#databases = set.info
    previous.release()
  }

  /**
   * The databases, with the caller as one more user: they stay open after `close()` or a replacement, until the caller
   * releases the set. {@link withDatabases} releases it by itself.
   *
   * @internal
   * @throws TypeError when the resolver is closed
   */
  [BORROW](): DatabaseSet {
    return this.#open().retain()
  }

  /**
   * The text of the address that `findClient` locates; empty if it is not known.
   *
   * @internal
   * @throws TypeError when the resolver is closed
   */
  [CLIENT](source: DetectSource): string {
    this.#open()
    const found = this.#clients.find(source, undefined, this.#address)
    return typeof found === 'string' ? this.#address.text : found.ip
  }

  /**
   * Prints the databases, and nothing internal.
   *
   * @internal
   */
  [INSPECT](_depth: number, options: object, inspect: (value: unknown, options: object) => string): string {
    // A proxy around a resolver has this method and no fields. Printing must not throw.
    if (!(#set in this)) return 'Resolver {}'
    const state = this.#set === null ? ', closed' : ''
    return `Resolver { databases: ${inspect(this.#databases, options)}${state} }`
  }

  #open(): DatabaseSet {
    if (this.#set === null) throw new TypeError('the resolver is closed')
    return this.#set
  }

  #parse(ip: string): void {
    if (!this.#address.parse(ip)) throw new MalformedAddressError(explainMalformed(ip))
  }
}
