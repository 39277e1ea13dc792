// The packed form of a MaxMind DB: constants that its writer and its reader share. README.md has the whole format.

import { MAX_DEFLATE_RATIO } from '../bytes/extract.ts'

export const VERSION = 3

/** The header has the magic, the version, four fields, and the checksum of all of them. */
export const HEADER_BYTES = 32

/** The binary logarithm of the runs in a block, and of the records. The last block of a family has the rest. */
export const BLOCK_SHIFT = 12
export const BLOCK_ITEMS = 4096

/** The binary logarithm of the bytes in a block of data. The last block has the rest. */
export const DATA_SHIFT = 15
export const DATA_BLOCK_BYTES = 32_768

/** Runs of this length index have their length in the block. The other indexes are rows of the family's table. */
export const ESCAPE = 255

/** The value of a run without a record. */
export const NONE = 0
/** The value of a run that is one of the aliases of the IPv4 networks: see `IPV4_ALIASES`. */
export const ALIAS = 1
/** The value of a run with the first record of the record table; the others follow. */
export const FIRST_RECORD = 2

/**
 * Limit of the nodes that no path leads to. They are not packed, and unpacking makes no more bytes of them than inflating
 * the packed file could.
 */
export function mostUnreachable(packedBytes: number, recordSize: number): number {
  return (packedBytes * MAX_DEFLATE_RATIO) / (recordSize / 4)
}

/** Bytes of a number up to a limit. */
export function bytesOf(limit: number): number {
  return Math.max(1, Math.ceil(Math.log2(limit + 1) / 8))
}
