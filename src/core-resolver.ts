import { newShareableBytes } from './bytes/byte-limit.ts'
import {
  type ByteSource,
  type Bytes,
  byteSourceSize,
  bytesInMemory,
  isBytes,
  readBytes,
} from './bytes/byte-source.ts'
import { isArchive, isGzip, isMmdb, isPacked } from './bytes/file-kind.ts'
import { untilAborted } from './bytes/long-work.ts'
import { InvalidDatabaseError } from './errors.ts'
import { attachDatabases, checkShared, type SharedDatabases } from './location/shared-databases.ts'
import { mustBeAwaited } from './misuse.ts'
import { Database, type OpenDatabase } from './mmdb/database.ts'
import {
  ATTACH_OPTIONS,
  type AttachOptions,
  asnSources,
  atLeastOne,
  OPEN_OPTIONS,
  type OpenOptions,
  type OpenSettings,
  openAllSync,
  openEach,
  openSettings,
  type Platform,
} from './opening.ts'
import type { PackedOptions } from './packed/packed-database.ts'
import { Resolver } from './resolver.ts'

/** Loaded on demand: programs with plain databases do not need it. */
let decompression: typeof import('./packed/open-packed.ts') | undefined

/** Loaded on demand, like the reader of packed databases. */
let optionCode: typeof import('./location/overlays.ts') | undefined

/** Code that must be loaded already. @param why it is needed, for the error; `load` is the method that loads it */
function loaded<Code>(code: Code | undefined, why: string, load = 'loadDecompression'): Code {
  if (code !== undefined) return code
  throw new TypeError(
    `${why}: call "await Resolver.${load}()" before openSync or attach, or use Resolver.open`,
  )
}

/** Opens an MMDB file, packed or not. @throws TypeError when it is packed, and the reader is not loaded */
function openBytes(bytes: Uint8Array, path?: string, options?: PackedOptions): OpenDatabase {
  if (!isPacked(bytes)) return new Database(bytes, path)
  const { openPackedBytes, PORTABLE_CODEC } = loaded(decompression, 'the database is packed')
  return openPackedBytes(bytes, PORTABLE_CODEC, path, options)
}

/** The core opens bytes in memory, and what they can be read from. */
const CORE: Platform<ByteSource> = {
  names: OPEN_OPTIONS,
  openOverlays: (overlays) =>
    loaded(optionCode, 'the option overlays is given', 'loadOptions').openOverlays(overlays),
  readSchemas: (schema, count) =>
    loaded(optionCode, 'the option schema is given', 'loadOptions').readSchemas(schema, count),
  sizeOf: byteSourceSize,
  async open(source, settings) {
    const { maxBytes, signal } = settings
    let bytes = await readBytes(source, settings)
    if (isGzip(bytes)) {
      const { gunzipInPieces } = await untilAborted(signal, () => import('./bytes/gunzip.ts'))
      bytes = await gunzipInPieces(bytes, maxBytes, signal, newShareableBytes)
    }
    if (!isPacked(bytes) && !isMmdb(bytes)) {
      const { extractUncompressed } = await untilAborted(signal, () => import('./bytes/extract.ts'))
      bytes = extractUncompressed(bytes)
    }
    if (isPacked(bytes)) await CoreResolver.loadDecompression()
    return openBytes(bytes, undefined, settings)
  },
  openSync(source, settings) {
    if (!isBytes(source)) throw new TypeError('openSync takes Uint8Array, ArrayBuffer or SharedArrayBuffer')
    const bytes = bytesInMemory(source, settings)
    const unpacked = isGzip(bytes)
      ? loaded(decompression, 'the database is compressed').gunzip(bytes, undefined, settings.maxBytes)
      : bytes
    const code = isArchive(unpacked) ? loaded(decompression, 'the database is in an archive') : decompression
    return openBytes(code?.extractUncompressed(unpacked) ?? unpacked, undefined, settings)
  },
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
    if (options?.overlays !== undefined || options?.schema !== undefined) await CoreResolver.loadOptions()
    const { sources, settings } = prepare('Resolver.open', source, options)
    return new CoreResolver(await openEach(sources, (each) => CORE.open(each, settings)), settings)
  }

  /**
   * Loads the code for packed databases, gzip and archives, so that {@link openSync} and {@link attach} can open them.
   * {@link open} loads it when it meets one. With it, the error for another file says what that is. In Node, the resolver of
   * `geofix` always has it.
   */
  static async loadDecompression(): Promise<void> {
    decompression ??= await import('./packed/open-packed.ts')
  }

  /**
   * Loads the code for the options `overlays` and `schema`, so that {@link openSync} and {@link attach} can use them.
   * {@link open} loads it itself. In Node, the resolver of `geofix` always has it.
   */
  static async loadOptions(): Promise<void> {
    optionCode ??= await import('./location/overlays.ts')
  }

  /**
   * The synchronous form of {@link open}, for bytes. Blocks until the database is decompressed, which takes seconds for a
   * large one. A `signal` has an effect only if it is already aborted.
   */
  static openSync(source: Bytes | readonly Bytes[], options?: OpenOptions): CoreResolver {
    const { sources, settings } = prepare('Resolver.openSync', source, options)
    return new CoreResolver(openAllSync(CORE, sources, settings), settings)
  }

  /**
   * Opens the databases that a resolver in another thread has shared, without a copy, with its `overlays` and `schema`
   * unless the options have others.
   *
   * @param shared what `share()` gave there
   * @throws TypeError when it is something else, or an option is invalid
   */
  static attach(shared: SharedDatabases, options?: AttachOptions): CoreResolver {
    const sources = checkShared(shared).databases.map(({ bytes }) => bytes)
    const platform = { ...CORE, names: ATTACH_OPTIONS }
    const settings = openSettings(platform, 'Resolver.attach', options, sources, shared.asn, shared)
    return new CoreResolver(attachDatabases(shared, settings, openBytes), settings)
  }
}

/** Checks the sources and the options of a call. The databases of the option `asn` are the last sources. */
function prepare(
  name: string,
  source: ByteSource | readonly ByteSource[],
  options: OpenOptions | undefined,
): { readonly sources: readonly ByteSource[]; readonly settings: OpenSettings } {
  // A program can expect the Node entry, whose resolver opens a database by default.
  if (source === undefined) {
    throw new InvalidDatabaseError(
      'none was given, and this is geofix/core, the entry for browsers, which opens none by itself',
      {},
      'pass a source, such as `await fetch(country)`, or if the program runs in Node, bundle the Node entry: with rollup() of ' +
        "geofix/bundler, nodeResolve({ exportConditions: ['node'] }), or platform: 'node'",
    )
  }
  const systems = asnSources(options?.asn)
  const sources = [...atLeastOne(source), ...systems]
  const settings = openSettings(CORE, name, options, sources, systems.length)
  if (systems.some((each: unknown) => each === true)) {
    throw new TypeError(
      'this is geofix/core, which opens no database by itself: pass one as asn, such as await fetch(asn) with the URL of geofix/asn',
    )
  }
  return { sources, settings }
}
