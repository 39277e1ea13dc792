// The MaxMind DB format, version 2.0: constants that reader and writer share.
// https://github.com/maxmind/MaxMind-DB/blob/main/MaxMind-DB-spec.md

/** Types of the section "Output Data Section". The number of an extended type is 7 plus its extra byte. */
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

/** Zero bytes between the search tree and the data section. */
export const SEPARATOR_BYTES = 16

// Limits of one record. The reader refuses a record beyond them as hostile; the writer does not make one.

/** Values in a record, keys of maps included, counted each time that a pointer leads to them. Real records hold a few hundred. */
export const MAX_VALUES = 65_536

/** Bytes of text and of byte strings in a record, counted each time that a pointer leads to them. */
export const MAX_CONTENT_BYTES = 16 * 1024 * 1024

/** Nested maps and arrays: more than any vendor uses, and far below what a call stack holds. */
export const MAX_DEPTH = 128

/**
 * Bytes of a key. V8 hashes strings over 16,383 characters by their length only, so that thousands of such keys
 * in one object or `Map` would take minutes.
 */
export const MAX_KEY_BYTES = 1024
