import { newShareableBytes } from './bytes/byte-limit.ts'
import {
  asUint8Array,
  type ByteSource,
  type Bytes,
  byteSourceSize,
  isBytes,
  readBytes,
} from './bytes/byte-source.ts'
import { extractDatabase, extractUncompressed, isPacked } from './bytes/extract.ts'
import { gunzip } from './bytes/gunzip.ts'
import { isGzip } from './bytes/gzip-member.ts'
import { gunzipInPieces } from './bytes/platform-gunzip.ts'
import type { ProgressMeter } from './bytes/progress.ts'
import { CLIENT_ADDRESS_OPTIONS, type ClientAddressOptions } from './client/client-address.ts'
import { InvalidDatabaseError } from './errors.ts'
import { DatabaseSet } from './location/database-set.ts'
import type { Overlay } from './location/overlay-records.ts'
import type { Overlays } from './location/overlays.ts'
import { attachDatabases, checkShared, type SharedDatabases } from './location/shared-databases.ts'
import { mustBeAwaited } from './misuse.ts'
import { Database, type OpenDatabase } from './mmdb/database.ts'
import {
  asnSources,
  atLeastOne,
  OPEN_OPTIONS,
  type OpenOptions,
  type OpenSettings,
  openSettings,
} from './open-options.ts'
import type { NamesOf } from './option-names.ts'
import type { PackedOptions } from './packed/packed-database.ts'
import { Resolver } from './resolver.ts'

/** Loaded on demand: programs without packed databases do not need it. */
let packedReader: typeof import('./packed/open-packed.ts') | undefined

/** Loaded on demand, like the reader of packed databases. */
let overlayCode: typeof import('./location/overlays.ts') | undefined

/** @throws TypeError when the code is not loaded; InvalidOverlayError when the overlays are not valid */
function overlaysOf(overlays: readonly Overlay[] | undefined): Overlays | null {
  if (overlays === undefined) return null
  if (overlayCode !== undefined) return overlayCode.openOverlays(overlays)
  throw new TypeError(
    'overlays are given: call "await Resolver.loadOverlays()" before openSync or attach, or use Resolver.open',
  )
}

/** Opens an MMDB file, packed or not. @throws TypeError when it is packed, and the reader is not loaded */
function openBytes(
  bytes: Uint8Array,
  path?: string,
  options?: PackedOptions,
  tables?: SharedArrayBuffer,
): OpenDatabase {
  if (!isPacked(bytes)) return new Database(bytes, path, tables)
  if (packedReader !== undefined) return packedReader.openPacked(bytes, path, options, tables)
  throw new TypeError(
    'the database is packed: call "await Resolver.loadPackedReader()" before openSync or attach, or use Resolver.open',
  )
}

type AttachOptions = ClientAddressOptions &
  Pick<OpenOptions, 'cacheBytes' | 'overlays' | 'registeredCountry' | 'schema'>

const ATTACH_OPTIONS: NamesOf<AttachOptions> = {
  ...CLIENT_ADDRESS_OPTIONS,
  cacheBytes: true,
  overlays: true,
  registeredCountry: true,
  schema: true,
}

/**
 * Only the resolver of the Node entry opens a database by default.
 *
 * @throws InvalidDatabaseError with what to do, for a program that expected the Node entry
 */
function assertGiven(source: unknown): void {
  if (source !== undefined) return
  throw new InvalidDatabaseError(
    'none was given, and this is geofix/core, the entry for browsers, which opens none by itself',
    {},
    'pass a source, such as `await fetch(country)`, or if the program runs in Node, bundle the Node entry: with rollup() of ' +
      "geofix/bundler, nodeResolve({ exportConditions: ['node'] }), or platform: 'node'",
  )
}

/** A resolver for every platform. It opens bytes and streams, not files. */
export class CoreResolver extends Resolver {
  /**
   * Opens one database or several, such as an IPv4 file and an IPv6 file. Raw `.mmdb`, gzip and a vendor's `.tar.gz`
   * are recognised by their bytes. Bytes are not copied and must not change. Decompression pauses for other work.
   *
   * @throws InvalidDatabaseError when a source is damaged or not an MMDB database, or when it is `undefined`
   * @throws InvalidOverlayError, InvalidSchemaError when `overlays` or `schema` are not valid
   * @throws TypeError when a source is of an unsupported kind, there is none, or an option is invalid
   * @throws the reason of `signal`, or of a `fetch` that is aborted while its `Response` is read
   */
  static open(source: ByteSource | readonly ByteSource[], options?: OpenOptions): Promise<CoreResolver> {
    return mustBeAwaited(CoreResolver.#open(source, options))
  }

  static async #open(
    source: ByteSource | readonly ByteSource[],
    options: OpenOptions | undefined,
  ): Promise<CoreResolver> {
    if (options?.overlays !== undefined) await CoreResolver.loadOverlays()
    const { sources, settings, progress } = prepare('Resolver.open', source, options)
    const { maxBytes, signal } = settings
    const databases: OpenDatabase[] = []
    for (const each of sources) {
      const bytes = await readBytes(each, maxBytes, signal, progress)
      const unpacked = isGzip(bytes)
        ? await gunzipInPieces(bytes, maxBytes, signal, newShareableBytes)
        : bytes
      const file = extractUncompressed(unpacked)
      if (isPacked(file)) await CoreResolver.loadPackedReader()
      databases.push(openBytes(file, undefined, settings))
    }
    return CoreResolver.#of(databases, settings)
  }

  static #of(databases: readonly OpenDatabase[], { set, clients }: OpenSettings): CoreResolver {
    return new CoreResolver(new DatabaseSet(databases, set), clients)
  }

  /**
   * Loads the code for packed databases, so that {@link openSync} and {@link attach} can open them. {@link open} loads it
   * when it meets one. In Node, the resolver of `geofix` always has it.
   */
  static async loadPackedReader(): Promise<void> {
    packedReader ??= await import('./packed/open-packed.ts')
  }

  /**
   * Loads the code for the option `overlays`, so that {@link openSync} and {@link attach} can use it. {@link open} loads
   * it itself. In Node, the resolver of `geofix` always has it.
   */
  static async loadOverlays(): Promise<void> {
    overlayCode ??= await import('./location/overlays.ts')
  }

  /**
   * The synchronous form of {@link open}, for bytes. Blocks until the database is decompressed, which takes seconds for a
   * large one. A `signal` has an effect only if it is already aborted.
   */
  static openSync(source: Bytes | readonly Bytes[], options?: OpenOptions): CoreResolver {
    const { sources, settings, progress } = prepare('Resolver.openSync', source, options)
    settings.signal?.throwIfAborted()
    const databases = sources.map((each) => {
      if (!isBytes(each)) throw new TypeError('openSync takes Uint8Array, ArrayBuffer or SharedArrayBuffer')
      progress?.add(each.byteLength)
      return openBytes(
        extractDatabase(asUint8Array(each), gunzip, undefined, settings.maxBytes),
        undefined,
        settings,
      )
    })
    return CoreResolver.#of(databases, settings)
  }

  /**
   * Opens the databases that a resolver in another thread has shared, without a copy, with its `overlays` and `schema`
   * unless the options have others.
   *
   * @param shared what `share()` gave there
   * @throws TypeError when it is something else, or an option is invalid
   */
  static attach(shared: SharedDatabases, options?: AttachOptions): CoreResolver {
    checkShared(shared)
    const call = { name: 'Resolver.attach', names: ATTACH_OPTIONS, options, openOverlays: overlaysOf }
    const settings = openSettings(call, shared.databases.length, shared.asn, shared)
    const databases = attachDatabases(shared, (bytes, path, tables) =>
      openBytes(bytes, path, { cacheBytes: settings.cacheBytes }, tables),
    )
    return CoreResolver.#of(databases, settings)
  }
}

/** Checks the sources and the options of a call. */
function prepare(
  name: string,
  source: ByteSource | readonly ByteSource[],
  options: OpenOptions | undefined,
): {
  /** The databases of the option `asn` are the last ones. */
  readonly sources: readonly ByteSource[]
  readonly settings: OpenSettings
  readonly progress: ProgressMeter | undefined
} {
  assertGiven(source)
  const given = atLeastOne(source)
  const call = { name, names: OPEN_OPTIONS, options, openOverlays: overlaysOf }
  const asnGiven = asnSources(options?.asn)
  const settings = openSettings(call, given.length + asnGiven.length, asnGiven.length)
  if (asnGiven.some((each: unknown) => each === true)) {
    throw new TypeError(
      'this is geofix/core, which opens no database by itself: pass one as asn, such as await fetch(asn) with the URL of geofix/asn',
    )
  }
  const sources = [...given, ...asnGiven]
  return {
    sources,
    settings,
    progress: settings.meter(() => sources.map(byteSourceSize)),
  }
}
