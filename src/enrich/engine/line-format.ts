import type { ByteSink } from '../../bytes/byte-sink.ts'

/**
 * The result for a line:
 * - `resolved`: written with a location
 * - `unresolved`: written without a location; the locator has the reason
 * - `bad`: it cannot be read; `fault` says why, and the caller discards what was written
 * - `blank`: it has no content; the caller discards what was written
 */
export type LineResult = 'resolved' | 'unresolved' | 'bad' | 'blank'

/** Reads and writes lines, by a plan. */
export interface LineFormat {
  /** Whether lines are rewritten, so that the input's byte order mark and line ends are not kept. */
  readonly rewrites: boolean
  /**
   * Enriches the record in `bytes[start, end)`, which has no line end and no byte order mark, and writes it without a line end.
   * The record is not empty. `bytes[end]` can be read and is a line end. If the locator does not write lines, what is written is
   * discarded.
   */
  line(bytes: Uint8Array, start: number, end: number, out: ByteSink): LineResult
  /**
   * Only for rows that get the same columns whatever they hold. `line` then takes every row, also an empty one, and is never
   * `bad` or `blank`.
   */
  readonly rowParts?: RowParts
}

/** Writes a row that is not read, such as one that is too long, which comes in parts. */
export interface RowParts {
  /** Whether line ends in a row are escaped. Otherwise the caller replaces them. */
  readonly escapes: boolean
  /** Writes a part. */
  part(bytes: Uint8Array, start: number, end: number, out: ByteSink): void
  /** Writes what comes after the last part. */
  end(out: ByteSink): void
}
