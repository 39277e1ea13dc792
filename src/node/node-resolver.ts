import { signalOf } from '../bytes/abort.ts'
import { cacheBytesOf, maxBytesOf } from '../bytes/byte-limit.ts'
import { progressMeter } from '../bytes/progress.ts'
import city from '../city-server.ts'
import { ClientWalk } from '../client/client-address.ts'
import { DatabaseSet, releaseAll } from '../location/database-set.ts'
import { type Overlays, openOverlays } from '../location/overlays.ts'
import { attachDatabases, type SharedDatabases } from '../location/shared-databases.ts'
import { mustBeAwaited, noConstructor } from '../misuse.ts'
import { checkOptionNames, type NamesOf } from '../option-names.ts'
import { atLeastOne, BORROW, OPEN_OPTIONS, type OpenOptions, REPLACE, Resolver } from '../resolver.ts'
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
import { openDatabase } from './packed-source.ts'
import type { ReloadOutcome } from './reloader.ts'
import { WATCH_OPTIONS, type WatchOptions, type WatchSettings, watchSettings } from './watch-options.ts'
import { type ResolverStatus, Watcher } from './watcher.ts'

/** Options of `Resolver.open` on Node. */
export interface NodeOpenOptions extends OpenOptions, WatchOptions {}

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
  private constructor(
    sources: readonly OpenSource[],
    clients: ClientWalk,
    overlays: Overlays | null,
    settings: WatchSettings,
    maxBytes: number,
    cacheBytes?: number,
  ) {
    if (!(clients instanceof ClientWalk)) throw noConstructor()
    const set = new DatabaseSet(
      sources.map(({ database }) => database),
      overlays,
    )
    super(set, clients)
    try {
      this.#watcher = new Watcher(
        sources.map(({ file }) => file),
        set,
        settings,
        {
          open: (path) =>
            openFile(path, maxBytes, undefined, undefined, cacheBytes, settings.intervalMs !== null),
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
   * @throws InvalidOverlayError when `overlays` are not valid
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
    checkOptionNames('Resolver.open', options, NODE_OPEN_OPTIONS)
    const clients = new ClientWalk(options)
    const overlays = openOverlays(options.overlays)
    const settings = watchSettings(options)
    const maxBytes = maxBytesOf(options.maxBytes)
    const cacheBytes = cacheBytesOf(options.cacheBytes)
    const signal = signalOf(options.signal)
    const given = absoluteIfWatched(atLeastOne(source), settings)
    const progress = progressMeter(options.onProgress, () => given.map(sourceSize))
    const sources: OpenSource[] = []
    const isWatched = settings.intervalMs !== null
    try {
      for (const each of given)
        sources.push(await openSource(each, maxBytes, signal, progress, cacheBytes, isWatched))
    } catch (error) {
      releaseAll(sources.map(({ database }) => database))
      throw error
    }
    return new NodeResolver(sources, clients, overlays, settings, maxBytes, cacheBytes)
  }

  /**
   * The synchronous form of {@link open}, for paths, `file:` URLs and bytes. Blocks until the database is decompressed. A
   * `signal` has an effect only if it is already aborted.
   */
  static openSync(
    source: SyncSource | readonly SyncSource[] = city,
    options: NodeOpenOptions = {},
  ): NodeResolver {
    checkOptionNames('Resolver.openSync', options, NODE_OPEN_OPTIONS)
    const clients = new ClientWalk(options)
    const overlays = openOverlays(options.overlays)
    const settings = watchSettings(options)
    const maxBytes = maxBytesOf(options.maxBytes)
    const cacheBytes = cacheBytesOf(options.cacheBytes)
    signalOf(options.signal)?.throwIfAborted()
    const given = absoluteIfWatched(atLeastOne(source), settings)
    const progress = progressMeter(options.onProgress, () => given.map(sourceSize))
    const sources: OpenSource[] = []
    const isWatched = settings.intervalMs !== null
    try {
      for (const each of given) {
        progress?.add(sourceSize(each) ?? 0)
        sources.push(openSourceSync(each, maxBytes, cacheBytes, isWatched))
      }
    } catch (error) {
      releaseAll(sources.map(({ database }) => database))
      throw error
    }
    return new NodeResolver(sources, clients, overlays, settings, maxBytes, cacheBytes)
  }

  /**
   * Opens the databases that a resolver in another thread has shared, without a copy, with its `overlays` unless the
   * options have others.
   *
   * @param shared what `share()` gave there
   * @throws TypeError when it is something else, or an option is invalid
   */
  static attach(shared: SharedDatabases, options: NodeOpenOptions = {}): NodeResolver {
    checkOptionNames('Resolver.attach', options, NODE_OPEN_OPTIONS)
    const cacheBytes = cacheBytesOf(options.cacheBytes)
    const databases = attachDatabases(shared, (bytes, path, tables) =>
      openDatabase(bytes, path, { cacheBytes }, tables),
    )
    const sources = databases.map((database) => ({ database, file: null }))
    const overlays = openOverlays(options.overlays ?? shared.overlays)
    const clients = new ClientWalk(options)
    return new NodeResolver(sources, clients, overlays, watchSettings(options), maxBytesOf(undefined))
  }

  /** How often databases were replaced and refused, and which are stale. */
  get status(): ResolverStatus {
    return this.#watcher.status
  }

  /**
   * Replaces the databases whose files have changed, with or without `watch`, and calls `onReload` or `onReloadError`. Bytes
   * stay as they are.
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

/** Makes the paths of watched files absolute, in case the program changes its working directory. */
function absoluteIfWatched<Source extends NodeSource>(
  sources: readonly Source[],
  { intervalMs }: WatchSettings,
): readonly (Source | string)[] {
  return intervalMs === null ? sources : sources.map(absolute)
}
