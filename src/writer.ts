// The entry `geofix/writer`: makes MMDB databases from networks and records, for tests and for your own data, and packs
// them.

export { overlay } from './edit/overlay.ts'
export type { LocationField } from './edit/slim.ts'
export { type SlimOptions, slim } from './edit/slim.ts'
export type { Overlay, OverlayRecord } from './location/overlays.ts'
export type { MmdbWriterOptions } from './mmdb/writer/mmdb-writer.ts'
export { MmdbWriter } from './mmdb/writer/mmdb-writer.ts'
export type { RecordSize } from './mmdb/writer/search-tree-encoder.ts'
export {
  double,
  float,
  int32,
  type NumberType,
  type TypedNumber,
  uint16,
  uint32,
  uint64,
  uint128,
  type WritableValue,
} from './mmdb/writer/value.ts'
export { pack, unpack } from './packed/pack.ts'
