// Facts of the MaxMind DB format, version 2.0, that reader and writer share.
// https://github.com/maxmind/MaxMind-DB/blob/main/MaxMind-DB-spec.md

/** Types of the section "Output Data Section". Extended types are counted from 7. */
export const DataType = {
  pointer: 1,
  utf8String: 2,
  double: 3,
  bytes: 4,
  uint16: 5,
  uint32: 6,
  map: 7,
  int32: 8,
  uint64: 9,
  uint128: 10,
  array: 11,
  boolean: 14,
  float: 15,
} as const

export type DataTypeNumber = (typeof DataType)[keyof typeof DataType]

/** Bytes of zeros between the search tree and the data section. */
export const SEPARATOR_LENGTH = 16

/** Stands before the metadata: `\xab\xcd\xefMaxMind.com`. */
export const METADATA_MARKER = Uint8Array.of(
  0xab,
  0xcd,
  0xef,
  0x4d,
  0x61,
  0x78,
  0x4d,
  0x69,
  0x6e,
  0x64,
  0x2e,
  0x63,
  0x6f,
  0x6d,
)
