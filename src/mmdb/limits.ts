// What one record may ask of a decoder at most. Files beyond that are hostile; the writer makes none.

/** Values in a record, keys of maps included, counted each time that a pointer leads to them. Real ones hold some hundred. */
export const MAX_VALUES = 65_536

/** Bytes of text and of byte strings in a record, counted likewise. */
export const MAX_CONTENT = 16 * 1024 * 1024

/** Maps and arrays in each other: deeper than any vendor nests, and far from what a call stack holds. */
export const MAX_DEPTH = 128

/**
 * Bytes of a key. V8 tells texts of more than 16,383 characters apart by their length, and then one by one: thousands
 * of such keys in one object or `Map` would take minutes.
 */
export const MAX_KEY = 1024
