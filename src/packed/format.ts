// The packed form of a MaxMind DB: constants that its writer and its reader share. README.md has the whole format.

export const VERSION = 1

/** Magic, version, four fields and the checksum of those. */
export const HEADER_BYTES = 32

/** Leaves of a block; the last block can have fewer. */
export const LEAVES_PER_BLOCK = 4096
/** Bytes of a block's tokens, inflated: a leaf has a token, a long length, and three high bytes of a new value at most. */
export const MAX_TOKEN_BYTES = 5 * 4096

/** A data block of the writer has about this many bytes. The reader refuses a block over twice the size. */
export const DATA_BLOCK_BYTES = 2 ** 16
export const MAX_DATA_BLOCK_BYTES = 2 ** 17
/** The most bytes of its columns, with their description. */
export const MAX_COLUMN_BYTES = 2 ** 19

/** The value of a leaf without a record. */
export const NONE = 0
/** The value of a leaf that stands for the networks of another leaf. */
export const ALIAS = 1
/** The value of a leaf with the first record of the record table; the others follow. */
export const FIRST_RECORD = 2

// A token is one byte for each leaf: the bits by which its prefix is longer than the least in the high bits, and how
// recently its value was used in the low bits.
export const LENGTH_SHIFT = 6
/** The first of the length's values that continue in another stream. */
export const LONG_LENGTH = 3
export const RECENCY_MASK = 63
/** A value that the block uses for the first time, or again after many others. */
export const NEW_VALUE = 0
/** The first recency that continues in another stream. */
export const FAR_VALUE = 63
/** How many values of a block can be referred to by their recency. */
export const RECENT_VALUES = 256
