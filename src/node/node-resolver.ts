import { signalOf } from '../bytes/abort.ts'
import { maxBytesOf } from '../bytes/byte-limit.ts'
import { ClientWalk } from '../client/client-address.ts'
import { embedded } from '../embedded.ts'
import { DatabaseSet } from '../record/database-set.ts'
import { atLeastOne, type OpenOptions, REPLACE, Resolver } from '../resolver.ts'
import {
  absolute,
  type NodeSource,
  type OpenSource,
  openFile,
  openSource,
  openSourceSync,
  type SyncSource,
} from './node-source.ts'
import { type ResolverStatus, Upkeep } from './upkeep.ts'
import { type WatchOptions, type WatchSettings, watchSettings } from './watch-options.ts'

/** Options of `Resolver.open` on Node: whose word `detect` takes, and how the files are followed. */
export interface NodeOpenOptions extends OpenOptions, WatchOptions {}

/**
 * A resolver that also opens files, and by default the city database that the package carries; with the option
 * `watch` it follows them as they are replaced.
 */
export class NodeResolver extends Resolver {
  readonly #upkeep: Upkeep

  /** Use {@link NodeResolver.open}. */
  private constructor(
    sources: readonly OpenSource[],
    clients: ClientWalk,
    settings: WatchSettings,
    maxBytes: number,
  ) {
    const set = new DatabaseSet(sources.map(({ database }) => database))
    super(set, clients)
    this.#upkeep = new Upkeep(sources, set, settings, {
      open: (path) => openFile(path, maxBytes),
      replace: (next) => this[REPLACE](next),
    })
  }

  /**
   * Opens a database, or several as one: an IPv4 file and an IPv6 file for instance. Raw `.mmdb`, gzip and a
   * vendor's `.tar.gz` are told apart by their bytes, not by names. Given bytes are not copied and must not
   * change. Decompression runs on another thread.
   *
   * @param source default: the embedded city database
   * @throws InvalidDatabaseError when a file cannot be read, is damaged, or is no MMDB database, or a canary has
   *   no location
   * @throws TypeError when a source is of no supported kind, or there is none, or an option is wrong
   * @throws the reason of `signal`, or of a `fetch` that was aborted while its `Response` was read
   */
  static override async open(
    source: NodeSource | readonly NodeSource[] = embedded.city,
    options: NodeOpenOptions = {},
  ): Promise<NodeResolver> {
    const clients = new ClientWalk(options)
    const settings = watchSettings(options)
    const maxBytes = maxBytesOf(options.maxBytes)
    const signal = signalOf(options.signal)
    const sources: OpenSource[] = []
    for (const each of followed(atLeastOne(source), settings)) {
      sources.push(await openSource(each, maxBytes, signal))
    }
    return new NodeResolver(sources, clients, settings, maxBytes)
  }

  /**
   * The same at once, for paths, `file:` URLs and bytes. Blocks until the database is decompressed, so that a `signal`
   * has an effect only when it is aborted before.
   */
  static openSync(
    source: SyncSource | readonly SyncSource[] = embedded.city,
    options: NodeOpenOptions = {},
  ): NodeResolver {
    const clients = new ClientWalk(options)
    const settings = watchSettings(options)
    const maxBytes = maxBytesOf(options.maxBytes)
    signalOf(options.signal)?.throwIfAborted()
    const sources = followed(atLeastOne(source), settings).map((each) => openSourceSync(each, maxBytes))
    return new NodeResolver(sources, clients, settings, maxBytes)
  }

  /** How the databases are doing: replaced, refused, stale. */
  get status(): ResolverStatus {
    return this.#upkeep.status
  }

  /** Releases the databases' memory, and follows the files no more. Every later question throws a `TypeError`. */
  override close(): void {
    super.close()
    this.#upkeep.stop()
  }
}

/** Files that are watched are looked for where they are now. */
function followed<Source extends NodeSource>(
  sources: readonly Source[],
  { interval }: WatchSettings,
): readonly (Source | string)[] {
  return interval === null ? sources : sources.map(absolute)
}
