// The packed form of a MaxMind DB: constants that its writer and its reader share. README.md has the whole format.

import { MAX_DEFLATE_RATIO } from '../bytes/gzip-member.ts'

/** What `pack` writes. */
export const VERSION = 2
/** Its record table is one block. */
export const FIRST_VERSION = 1

/** Magic, version, four fields, and the checksum of all these. */
export const HEADER_BYTES = 32

/** Leaves in a block. The last block can have fewer. */
export const LEAVES_PER_BLOCK = 4096
/** Limit of a block's inflated tokens: a leaf has at most a token, a long length and three high bytes of a value. */
export const MAX_TOKEN_BYTES = 5 * 4096

/** The binary logarithm of the records in a block of the record table. The last block can have fewer. */
export const RECORD_SHIFT = 12
/** The same in version 1: no table has more records. */
export const FIRST_RECORD_SHIFT = 31

/** The writer ends a data block at the first row that reaches this many bytes. No row has more. */
export const DATA_BLOCK_BYTES = 2 ** 15
/** The reader refuses a data block of more bytes. */
export const MAX_DATA_BLOCK_BYTES = 2 ** 17
/** Limit of a data block's inflated stream: its shapes, columns and texts. */
export const MAX_COLUMN_BYTES = 2 ** 19

/**
 * Limit of the nodes that no path leads to. They are not packed, and unpacking makes no more bytes of them than inflating
 * the packed file could.
 */
export function mostUnreachable(packedBytes: number, recordSize: number): number {
  return (packedBytes * MAX_DEFLATE_RATIO) / (recordSize / 4)
}

/** The value of a leaf without a record. */
export const NONE = 0
/** The value of a leaf that stands for a subtree which came before it. */
export const ALIAS = 1
/** The value of a leaf with the first record of the record table; the others follow. */
export const FIRST_RECORD = 2

// Each leaf has a token of one byte. Its high bits say how many bits longer the prefix is than the shortest one at the
// leaf's position. Its low bits say how recently the block used the value.
export const LENGTH_SHIFT = 6
/** A length of this or more has its rest in the stream of long lengths. */
export const LONG_LENGTH = 3
export const RECENCY_MASK = 63
/** The recency of a value that is not among the block's recent ones. */
export const NEW_VALUE = 0
/** A recency of this or more has its rest in the stream of far recencies. */
export const FAR_VALUE = 63
/** How many recent values a block remembers. */
export const RECENT_VALUES = 256
