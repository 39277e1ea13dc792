// Opening: its options, checked once into one object, and the sources one after the other. Platforms differ in what a source can be,
// and in how its bytes are read.

import { cacheBytesOf, maxBytesOf } from './bytes/byte-limit.ts'
import type { ByteSource } from './bytes/byte-source.ts'
import { signalOf } from './bytes/long-work.ts'
import { CLIENT_ADDRESS_OPTIONS, type ClientAddressOptions, ClientWalk } from './client/client-address.ts'
import { releaseAll, type SetOptions } from './location/database-set.ts'
import type { LocationSchema } from './location/location-schema.ts'
import type { Overlay } from './location/overlays.ts'
import type { SchemaFields } from './location/schema.ts'
import { attachOverlays, type SharedDatabases } from './location/shared-databases.ts'
import type { OpenDatabase } from './mmdb/database.ts'
import { checkOptionNames, type NamesOf } from './option-names.ts'
import { isList, type SignalLike } from './realm.ts'

/** How much of a resolver's sources has been read. */
export interface OpenProgress {
  /** Bytes read so far from all sources, before decompression. */
  readonly loaded: number
  /** Bytes of all sources; `null` if the size of one is unknown before reading, as when a server compresses. */
  readonly total: number | null
}

/** Options of `Resolver.open`: the trusted proxies for `detect`, own networks, autonomous systems, and limits for the source. */
export interface OpenOptions extends ClientAddressOptions {
  /**
   * Locations of your own networks, at most 100,000. They replace those of all databases, and can be in special-purpose
   * networks such as 10.0.0.0/8. Of several networks with an address, the most specific one is used. The objects are
   * copied. Who is a trusted proxy does not change.
   */
  readonly overlays?: readonly Overlay[] | undefined
  /**
   * Where the fields of a LocationRecord are in the records of a database of your own. `lookup` and all that uses it then
   * read these fields, and the vendor is not recognised. One schema is for all sources; an array has one for each source, or
   * `null` to recognise its vendor. The objects are copied.
   */
  readonly schema?: LocationSchema | readonly (LocationSchema | null)[] | undefined
  /**
   * Use the country that a network is registered in where its record has no country: `registered_country` of GeoIP2 and
   * GeoLite2, which some million addresses of content networks have alone. It can be another country than the one where the
   * address is. With several databases, it also comes before what the next database has. Default: false; such an address has no
   * location, and the error's message says so.
   */
  readonly registeredCountry?: boolean | undefined
  /**
   * The maximum size of one source in bytes, compressed and decompressed: a whole number from 1 to the default. Reading and
   * decompression stop at the limit. Use a lower limit for files from others. Default: 2 ** 31, more than any readable
   * database has.
   */
  readonly maxBytes?: number | undefined
  /**
   * Databases of autonomous systems, for `asn`. They are not asked for locations. Default: none.
   */
  readonly asn?: ByteSource | readonly ByteSource[] | undefined
  /**
   * How many bytes of decoded blocks are kept for each packed database: a whole number; at least 4 MiB are kept, and the
   * blocks that were decoded the longest time ago are dropped. Other databases are kept whole. Default: 192 MiB, more than
   * the embedded databases have.
   */
  readonly cacheBytes?: number | undefined
  /**
   * Aborts opening, which then fails at once with the signal's reason, such as an `AbortError` or a `TimeoutError`. It
   * has no effect on an open resolver.
   */
  readonly signal?: SignalLike | undefined
  /**
   * Called after each piece that is read from the sources. If it throws, opening fails. Decompression is not counted. A
   * packed file on disk, of which opening reads little, counts as read.
   */
  readonly onProgress?: ((progress: OpenProgress) => void) | undefined
}

/** The names of the options of `Resolver.open` on every platform. */
export const OPEN_OPTIONS: NamesOf<OpenOptions> = {
  ...CLIENT_ADDRESS_OPTIONS,
  overlays: true,
  schema: true,
  registeredCountry: true,
  asn: true,
  maxBytes: true,
  cacheBytes: true,
  signal: true,
  onProgress: true,
}

/** The options of `Resolver.attach` on every platform: the databases are open already, so nothing reads or watches them. */
export type AttachOptions = ClientAddressOptions &
  Pick<OpenOptions, 'cacheBytes' | 'overlays' | 'registeredCountry' | 'schema'>

export const ATTACH_OPTIONS: NamesOf<AttachOptions> = {
  ...CLIENT_ADDRESS_OPTIONS,
  cacheBytes: true,
  overlays: true,
  registeredCountry: true,
  schema: true,
}

/** The options of opening, checked. */
export interface OpenSettings {
  readonly clients: ClientWalk
  readonly set: SetOptions
  readonly maxBytes: number
  /** `undefined`: as many as the reader of packed databases keeps by default. */
  readonly cacheBytes: number | undefined
  readonly signal: SignalLike | undefined
  /** Gets the number of bytes of each piece that is read; `undefined` without `onProgress`. */
  readonly onRead: ((bytes: number) => void) | undefined
}

/** The options that each platform has in the same form. */
export type CommonOpenOptions = Omit<OpenOptions, 'asn'>

/**
 * Checks the options of a call.
 *
 * @param name of the call, as the user wrote it, for errors
 * @param asnCount how many of the sources, the last ones, are those of the option `asn`
 * @param shared what another thread has shared: its overlays and schemas are used unless the options have others
 * @throws TypeError when an option is unknown or invalid
 * @throws InvalidOverlayError, InvalidSchemaError when `overlays` or `schema` are not valid
 */
export function openSettings<Source>(
  { names, openOverlays, readSchemas, sizeOf }: Omit<Platform<Source>, 'open' | 'openSync'>,
  name: string,
  options: CommonOpenOptions = {},
  sources: readonly Source[],
  asnCount = 0,
  shared?: SharedDatabases,
): OpenSettings {
  checkOptionNames(name, options, names)
  const { onProgress, overlays, schema, registeredCountry = shared?.registeredCountry ?? false } = options
  if (typeof registeredCountry !== 'boolean') throw new TypeError('registeredCountry must be true or false')
  return {
    clients: new ClientWalk(options),
    set: {
      overlays: overlays === undefined ? attachOverlays(shared) : openOverlays(overlays),
      schemas:
        schema === undefined ? (shared?.schemas ?? []) : readSchemas(schema, sources.length - asnCount),
      asnCount,
      registeredCountry,
    },
    maxBytes: maxBytesOf(options.maxBytes),
    cacheBytes: cacheBytesOf(options.cacheBytes),
    signal: signalOf(options.signal),
    onRead: progressMeter(onProgress, () => sources.map(sizeOf)),
  }
}

/** @throws TypeError when there is no source */
export function atLeastOne<Source>(source: Source | readonly Source[]): readonly Source[] {
  const sources = isList(source) ? source : [source]
  if (sources.length === 0) throw new TypeError('no database was given: pass at least one source')
  return sources
}

/** The sources of the option `asn`; none for `false`. */
export function asnSources<Source>(
  option: Source | readonly Source[] | false | undefined,
): readonly Source[] {
  if (option === undefined || option === false) return []
  return isList(option) ? option : [option]
}

/** How a source becomes a database on a platform. The caller has one use of the database. */
export interface Platform<Source, Settings = OpenSettings> {
  /** The names of the options of opening. */
  readonly names: Readonly<Record<string, true>>
  readonly openOverlays: (overlays: readonly Overlay[]) => OpenDatabase | null
  readonly readSchemas: (schema: unknown, count: number) => readonly (SchemaFields | null)[]
  /** In bytes; `null` if it is unknown before reading. */
  readonly sizeOf: (source: Source) => number | null
  open(source: Source, settings: Settings): Promise<OpenDatabase>
  /** @throws TypeError for a source that cannot be read at once */
  openSync(source: Source, settings: Settings): OpenDatabase
}

/** Opens databases one after the other. If one fails, it releases the databases before it. */
export async function openEach<Item>(
  items: Iterable<Item>,
  open: (item: Item) => Promise<OpenDatabase>,
): Promise<OpenDatabase[]> {
  const databases: OpenDatabase[] = []
  try {
    for (const item of items) databases.push(await open(item))
    return databases
  } catch (error) {
    releaseAll(databases)
    throw error
  }
}

/** {@link openEach} for sources, at once. A signal has an effect only if it is already aborted. */
export function openAllSync<Source, Settings extends { readonly signal?: SignalLike | undefined }>(
  platform: Platform<Source, Settings>,
  sources: readonly Source[],
  settings: Settings,
): OpenDatabase[] {
  settings.signal?.throwIfAborted()
  const databases: OpenDatabase[] = []
  try {
    for (const source of sources) databases.push(platform.openSync(source, settings))
    return databases
  } catch (error) {
    releaseAll(databases)
    throw error
  }
}

/**
 * Makes the function for the option `onProgress` that gets the number of bytes of each piece that is read. It throws what the
 * program's function throws.
 *
 * @param sizes of the sources, `null` for unknown ones. Not called without the option
 * @returns `undefined` without the option
 * @throws TypeError when the option is not a function
 */
function progressMeter(
  option: ((progress: OpenProgress) => void) | undefined,
  sizes: () => readonly (number | null)[],
): ((bytes: number) => void) | undefined {
  if (option === undefined) return undefined
  if (typeof option !== 'function') throw new TypeError('onProgress must be a function')
  let total = sizes().reduce((sum, size) => (sum === null || size === null ? null : sum + size), 0)
  let loaded = 0
  return (bytes) => {
    loaded += bytes
    // A source can state a wrong size.
    if (total !== null && loaded > total) total = null
    option({ loaded, total })
  }
}
