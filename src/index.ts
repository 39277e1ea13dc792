// Entry for Node: as core.ts, with a resolver that also opens files and follows them.

export { type ParsedAddress, parseAddress } from './address/address.ts'
export type { ByteSource, Bytes } from './bytes/byte-source.ts'
export {
  type ClientAddress,
  type ClientAddressOptions,
  createClientAddress,
} from './client/client-address.ts'
export type { DetectSource, HeaderSource, PeerOptions, PeerSocket } from './client/request-source.ts'
export { embedded } from './embedded.ts'
export {
  AddressUnavailableError,
  type ErrorCode,
  GeofixError,
  InvalidDatabaseError,
  InvalidLocaleError,
  InvalidOverlayError,
  InvalidSchemaError,
  isGeofixError,
  MalformedAddressError,
  type UnavailableReason,
  UnresolvableAddressError,
  type UnresolvableReason,
} from './errors.ts'
export type { AsnRecord } from './location/autonomous-systems.ts'
export type { Continent, DetailsOptions, LocationDetails, Subdivision } from './location/details.ts'
export type { LocatedNetwork, NetworksOptions } from './location/located-networks.ts'
export {
  type Coordinates,
  type Country,
  isLookupFailure,
  type LocationRecord,
  type LookupFailure,
  type LookupOptions,
  type LookupResult,
  type Region,
  type TimezoneAtInstant,
} from './location/location-record.ts'
export type { LocationSchema, SchemaField, SchemaPath } from './location/location-schema.ts'
export type { Overlay, OverlayRecord } from './location/overlays.ts'
export type { SharedDatabase, SharedDatabases, ShareOptions } from './location/shared-databases.ts'
export type { DatabaseInfo } from './location/vendors.ts'
export type { MmdbValue } from './mmdb/record-decoder.ts'
export type { DatabaseFault, Verification } from './mmdb/verify.ts'
export {
  type NodeLocationResolver as LocationResolver,
  NodeResolver as Resolver,
} from './node/node-resolver.ts'
export type { NodeOpenOptions as OpenOptions, NodeSource } from './node/node-source.ts'
export type { ReloadEvent, ResolverStatus, StaleEvent } from './node/watching.ts'
export type { OpenProgress } from './opening.ts'
export type { BlobLike, ResponseLike, SignalLike, StreamLike, UrlLike } from './realm.ts'
export type { DetectOptions, RawOptions } from './resolver.ts'
