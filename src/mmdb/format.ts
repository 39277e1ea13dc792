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

/** The position of a network in a search tree: the first `prefixLength` bits of its first address are the path. */
export type TreePath = {
  /** Big-endian 32-bit words of the first address: one in an IPv4 tree, four in an IPv6 tree. */
  readonly words: Uint32Array
  readonly prefixLength: number
}

/** `::/96`, where an IPv6 tree holds IPv4 addresses ("IPv4 addresses in an IPv6 tree"). */
export const IPV4_IN_IPV6: TreePath = { words: /* @__PURE__ */ new Uint32Array(4), prefixLength: 96 }

/** `::ffff:0:0/96`, IPv4-mapped addresses (RFC 4291 section 2.5.5.2). */
export const IPV4_MAPPED: TreePath = { words: Uint32Array.of(0, 0, 0xffff, 0), prefixLength: 96 }

/** Where other readers find the IPv4 networks again, in files that have these aliases. */
export const IPV4_ALIASES: readonly TreePath[] = [
  IPV4_MAPPED,
  // 6to4, 2002::/16
  { words: Uint32Array.of(0x2002_0000, 0, 0, 0), prefixLength: 16 },
  // Teredo, 2001::/32
  { words: Uint32Array.of(0x2001_0000, 0, 0, 0), prefixLength: 32 },
]

/** IPv6 networks that networks such as ::/0 do not cover: addresses in them are looked up as IPv4 addresses. */
export const LOOKED_UP_AS_IPV4: readonly TreePath[] = [
  IPV4_IN_IPV6,
  ...IPV4_ALIASES,
  // NAT64, 64:ff9b::/96
  { words: Uint32Array.of(0x0064_ff9b, 0, 0, 0), prefixLength: 96 },
]

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
