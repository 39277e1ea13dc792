import { resolve } from 'node:path'
import type { Bytes } from '../bytes/byte-source.ts'
import city from '../city-server.ts'
import { embedded } from '../embedded.ts'
import { BORROW, REPLACE, withDatabases } from '../location/database-set.ts'
import { type DetailsOptions, detailsOf, type LocationDetails } from '../location/details.ts'
import { attachDatabases, checkShared, type SharedDatabases } from '../location/shared-databases.ts'
import { detached, mustBeAwaited } from '../misuse.ts'
import type { OpenDatabase } from '../mmdb/database.ts'
import { type Verification, verify } from '../mmdb/verify.ts'
import {
  ATTACH_OPTIONS,
  type AttachOptions,
  asnSources,
  atLeastOne,
  type OpenSettings,
  openAllSync,
  openEach,
  openSettings,
} from '../opening.ts'
import type { PlatformUrl } from '../realm.ts'
import { type LocationResolver, Resolver } from '../resolver.ts'
import { fileStateSync, type SourceFile } from './file-state.ts'
import { NODE, type NodeOpenOptions, type NodeSource, type PathOrBytes, pathOrBytes } from './node-source.ts'
import { openDatabase, openFile } from './open-files.ts'
import { Reloader, type ReloadOutcome } from './reloader.ts'
import { type ResolverStatus, type WatchSettings, watchSettings } from './watching.ts'

/** The key of the method by which the command line reloads databases on demand. @internal */
export const RELOAD: unique symbol = Symbol('geofix.reload')

/**
 * A resolver that also opens files, by default the embedded city database. With the option `watch` it reloads files
 * that change.
 */
export class NodeResolver extends Resolver {
  readonly #reloader: Reloader

  /** Use {@link NodeResolver.open}. */
  private constructor(databases: readonly OpenDatabase[], settings: NodeSettings) {
    super(databases, settings)
    const { files, watch, isWatched, maxBytes, cacheBytes } = settings
    const set = this[BORROW]()
    try {
      this.#reloader = new Reloader(files, set, watch, {
        open: (path) => openFile(path, { maxBytes, cacheBytes, isWatched }),
        borrow: () => this[BORROW](),
        replace: (next) => this[REPLACE](next),
      })
    } catch (error) {
      super.close()
      throw error
    } finally {
      set.release()
    }
  }

  /**
   * Opens one database or several, such as an IPv4 file and an IPv6 file. Raw `.mmdb`, gzip and a vendor's `.tar.gz`
   * are recognised by their bytes, not by name. Bytes are not copied and must not change. Decompression runs on
   * another thread.
   *
   * @param source default: the embedded city database
   * @throws InvalidDatabaseError when a file cannot be read, is damaged or is not an MMDB database, or when a canary
   *   has no location
   * @throws InvalidOverlayError, InvalidSchemaError when `overlays` or `schema` are not valid
   * @throws TypeError when a source is of an unsupported kind, there is none, or an option is invalid
   * @throws the reason of `signal`, or of a `fetch` that is aborted while its `Response` is read
   */
  static open(
    source: NodeSource | readonly NodeSource[] = city,
    options: NodeOpenOptions = {},
  ): Promise<NodeResolver> {
    return mustBeAwaited(NodeResolver.#open(source, options))
  }

  static async #open(
    source: NodeSource | readonly NodeSource[],
    options: NodeOpenOptions,
  ): Promise<NodeResolver> {
    const { sources, settings } = prepare('Resolver.open', source, options)
    return new NodeResolver(await openEach(sources, (each) => NODE.open(each, settings)), settings)
  }

  /**
   * The synchronous form of {@link open}, for paths, `file:` URLs and bytes. Blocks until the database is decompressed. A
   * `signal` has an effect only if it is already aborted.
   */
  static openSync(
    source: SyncSource | readonly SyncSource[] = city,
    options: NodeOpenOptions = {},
  ): NodeResolver {
    const { sources, settings } = prepare('Resolver.openSync', source, options)
    return new NodeResolver(openAllSync(NODE, sources, settings), settings)
  }

  /**
   * Opens the databases that a resolver in another thread has shared, without a copy, with its `overlays` and `schema`
   * unless the options have others.
   *
   * @param shared what `share()` gave there
   * @throws TypeError when it is something else, or an option is invalid
   */
  static attach(shared: SharedDatabases, options: AttachOptions = {}): NodeResolver {
    const sources = checkShared(shared).databases.map(({ bytes }) => bytes)
    const settings = nodeSettings('Resolver.attach', options, sources, shared.asn, shared)
    return new NodeResolver(attachDatabases(shared, settings, openDatabase), settings)
  }

  /**
   * What the vendor knows of an address beyond its LocationRecord, in one shape for all vendors: continent, all subdivisions,
   * accuracy radius, GeoName ID, registered and represented country, metro code, network, and which database answered.
   * Decodes the whole record, of which `lookup` reads a few fields.
   *
   * @throws MalformedAddressError, UnresolvableAddressError, InvalidLocaleError, InvalidDatabaseError as `lookup`
   * @throws TypeError when an option is unknown or the resolver is closed
   */
  details(ip: string, options?: DetailsOptions): LocationDetails {
    if (this === undefined) throw detached('details')
    return withDatabases(this, (set) => detailsOf(set, ip, options))
  }

  /**
   * Checks each database completely, as `mmdbctl verify` does: the search tree has no loops and no unused nodes, all
   * pointers are valid, all records can be decoded, text is UTF-8, and the metadata is plausible. Lookups do not need
   * it, since they check what they read. Blocks for seconds with a large file, and needs up to its size in memory. A
   * packed database is unpacked for it: that takes about five times the unpacked size, 0.5 GB for the embedded city database.
   *
   * @returns a result for each of `databases`; a valid database has no faults
   * @throws InvalidDatabaseError when there is not enough memory to unpack a packed database
   * @throws TypeError when the resolver is closed
   */
  verify(): Verification[] {
    if (this === undefined) throw detached('verify', '')
    return withDatabases(this, ({ databases }) => databases.map(verify))
  }

  /** How often databases were replaced and refused, and which are stale. */
  get status(): ResolverStatus {
    return this.#reloader.status
  }

  /**
   * Replaces the databases whose files have changed, with or without `watch`. Calls `onReload` or `onReloadError`, which need
   * `watch`. Bytes stay as they are.
   *
   * @internal
   */
  [RELOAD](): Promise<ReloadOutcome> {
    return this.#reloader.reload()
  }

  /** Releases the databases' memory, closes and stops watching their files: see {@link Resolver.close}. */
  override close(): void {
    this.#reloader.stop()
    super.close()
  }
}

/** What a program can do with an open resolver in Node; see {@link LocationResolver}. */
export interface NodeLocationResolver extends LocationResolver, Pick<NodeResolver, 'details' | 'status'> {}

/** A source that can be opened synchronously. */
type SyncSource = string | PlatformUrl | Bytes

/** The options of opening and watching, checked. */
interface NodeSettings extends OpenSettings {
  readonly watch: WatchSettings
  readonly isWatched: boolean
  /** The path of each source; `null` for bytes. */
  readonly files: readonly (SourceFile | null)[]
}

function nodeSettings(
  name: string,
  options: NodeOpenOptions,
  sources: readonly PathOrBytes[],
  asnCount?: number,
  shared?: SharedDatabases,
): NodeSettings {
  const platform = shared === undefined ? NODE : { ...NODE, names: ATTACH_OPTIONS }
  const settings = openSettings(platform, name, options, sources, asnCount, shared)
  const watch = watchSettings(options)
  const files = sources.map((each) =>
    typeof each === 'string' ? { path: each, state: fileStateSync(each) } : null,
  )
  return { ...settings, watch, isWatched: watch.intervalMs !== null, files }
}

/** Checks the sources and the options of a call. The databases of the option `asn` are the last sources. */
function prepare(
  name: string,
  source: NodeSource | readonly NodeSource[],
  options: NodeOpenOptions,
): { readonly sources: readonly PathOrBytes[]; readonly settings: NodeSettings } {
  const systems = asnSources(options?.asn).map((each) => (each === true ? embedded.asn : each))
  const given = [...atLeastOne(source), ...systems].map(pathOrBytes)
  // Absolute, in case the program changes its working directory.
  const sources =
    options?.watch === true ? given.map((each) => (typeof each === 'string' ? resolve(each) : each)) : given
  return { sources, settings: nodeSettings(name, options, sources, systems.length) }
}
