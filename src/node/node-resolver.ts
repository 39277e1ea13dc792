import city from '../city-server.ts'
import { ClientWalk } from '../client/client-address.ts'
import { embedded } from '../embedded.ts'
import { DatabaseSet, releaseAll } from '../location/database-set.ts'
import { openOverlays } from '../location/overlays.ts'
import { attachDatabases, checkShared, type SharedDatabases } from '../location/shared-databases.ts'
import { mustBeAwaited, noConstructor } from '../misuse.ts'
import {
  asnSources,
  atLeastOne,
  type CommonOpenOptions,
  OPEN_OPTIONS,
  type OpenSettings,
  openSettings,
} from '../open-options.ts'
import type { NamesOf } from '../option-names.ts'
import { BORROW, REPLACE, Resolver } from '../resolver.ts'
import {
  absolute,
  type NodeSource,
  type OpenSource,
  openFile,
  openSource,
  openSourceSync,
  type SyncSource,
  sourceSize,
} from './node-source.ts'
import type { FileOptions, ReadOptions } from './open-files.ts'
import { openDatabase } from './packed-source.ts'
import type { ReloadOutcome } from './reloader.ts'
import { WATCH_OPTIONS, type WatchOptions, type WatchSettings, watchSettings } from './watch-options.ts'
import { type ResolverStatus, Watcher } from './watcher.ts'

/** Options of `Resolver.open` on Node. */
export interface NodeOpenOptions extends CommonOpenOptions, WatchOptions {
  /**
   * Databases of autonomous systems, for `asn`: `true` for the embedded one, or sources of others, as the first argument
   * has them. They are not asked for locations. With `watch`, their files are watched too. Default: none. Bundlers do not
   * see `true`: in a bundle, give the URL of `geofix/asn`.
   */
  readonly asn?: boolean | NodeSource | readonly NodeSource[] | undefined
}

/** The key of the method by which the command line reloads databases on demand. Not public. */
export const RELOAD: unique symbol = Symbol('geofix.reload')

const NODE_OPEN_OPTIONS: NamesOf<NodeOpenOptions> = { ...OPEN_OPTIONS, ...WATCH_OPTIONS }

/**
 * A resolver that also opens files, by default the embedded city database. With the option `watch` it reloads files
 * that change.
 */
export class NodeResolver extends Resolver {
  readonly #watcher: Watcher

  /** Use {@link NodeResolver.open}. */
  private constructor(sources: readonly OpenSource[], settings: NodeSettings) {
    // JavaScript can call it without arguments.
    if (!(settings?.clients instanceof ClientWalk)) throw noConstructor()
    const { clients, watch, set: options } = settings
    const databases = sources.map(({ database }) => database)
    const set = new DatabaseSet(databases, options)
    super(set, clients)
    try {
      this.#watcher = new Watcher(
        sources.map(({ file }) => file),
        set,
        watch,
        {
          open: (path) => openFile(path, forFiles(settings)),
          borrow: () => this[BORROW](),
          replace: (next) => this[REPLACE](next),
        },
      )
    } catch (error) {
      super.close()
      throw error
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
    const { sources, settings, read } = prepare('Resolver.open', source, options)
    const opened: OpenSource[] = []
    try {
      for (const each of sources) opened.push(await openSource(each, read))
    } catch (error) {
      releaseAll(opened.map(({ database }) => database))
      throw error
    }
    return new NodeResolver(opened, settings)
  }

  /**
   * The synchronous form of {@link open}, for paths, `file:` URLs and bytes. Blocks until the database is decompressed. A
   * `signal` has an effect only if it is already aborted.
   */
  static openSync(
    source: SyncSource | readonly SyncSource[] = city,
    options: NodeOpenOptions = {},
  ): NodeResolver {
    const { sources, settings, read } = prepare('Resolver.openSync', source, options)
    settings.signal?.throwIfAborted()
    const opened: OpenSource[] = []
    try {
      for (const each of sources) opened.push(openSourceSync(each, read))
    } catch (error) {
      releaseAll(opened.map(({ database }) => database))
      throw error
    }
    return new NodeResolver(opened, settings)
  }

  /**
   * Opens the databases that a resolver in another thread has shared, without a copy, with its `overlays` and `schema`
   * unless the options have others.
   *
   * @param shared what `share()` gave there
   * @throws TypeError when it is something else, or an option is invalid
   */
  static attach(shared: SharedDatabases, options: NodeOpenOptions = {}): NodeResolver {
    checkShared(shared)
    const settings = nodeSettings('Resolver.attach', options, shared.databases.length, shared.asn, shared)
    const { cacheBytes } = settings
    const databases = attachDatabases(shared, (bytes, path, tables) =>
      openDatabase(bytes, path, { cacheBytes }, tables),
    )
    return new NodeResolver(
      databases.map((database) => ({ database, file: null })),
      settings,
    )
  }

  /** How often databases were replaced and refused, and which are stale. */
  get status(): ResolverStatus {
    return this.#watcher.status
  }

  /**
   * Replaces the databases whose files have changed, with or without `watch`. Calls `onReload` or `onReloadError`, which need
   * `watch`. Bytes stay as they are.
   */
  [RELOAD](): Promise<ReloadOutcome> {
    return this.#watcher.reload()
  }

  /** Releases the databases' memory, closes and stops watching their files: see {@link Resolver.close}. */
  override close(): void {
    this.#watcher.stop()
    super.close()
  }
}

/** The options of opening and watching, checked. */
interface NodeSettings extends OpenSettings {
  readonly watch: WatchSettings
}

function nodeSettings(
  name: string,
  options: NodeOpenOptions,
  count: number,
  asnCount = 0,
  shared?: SharedDatabases,
): NodeSettings {
  const call = { name, names: NODE_OPEN_OPTIONS, options, openOverlays }
  return { ...openSettings(call, count, asnCount, shared), watch: watchSettings(options) }
}

/** Checks the sources and the options of a call. */
function prepare(
  name: string,
  source: NodeSource | readonly NodeSource[],
  options: NodeOpenOptions,
): {
  /** The databases of the option `asn` are the last ones. */
  readonly sources: readonly NodeSource[]
  readonly settings: NodeSettings
  readonly read: ReadOptions
} {
  const systems = asnSources(options.asn).map((each) => (each === true ? embedded.asn : each))
  const given = [...atLeastOne(source), ...systems]
  const settings = nodeSettings(name, options, given.length, systems.length)
  const read = forFiles(settings)
  // Absolute, in case the program changes its working directory.
  const sources = read.isWatched === true ? given.map(absolute) : given
  const progress = settings.meter(() => sources.map(sourceSize))
  return { sources, settings, read: { ...read, signal: settings.signal, progress } }
}

/** How files are opened, at first and when they are replaced. */
function forFiles({ maxBytes, cacheBytes, watch }: NodeSettings): FileOptions {
  return { maxBytes, cacheBytes, isWatched: watch.intervalMs !== null }
}
