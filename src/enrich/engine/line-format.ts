import type { ByteSink } from '../../bytes/byte-sink.ts'
import type { FieldValues } from '../counting/field-values.ts'
import type { FusedLoop } from './fused-loop.ts'
import type { RecordLoop } from './record-loop.ts'

/**
 * The result for a line:
 * - `resolved`: written with a location
 * - `unresolved`: written without a location; the locator has the reason
 * - `bad`: it cannot be read; `fault` says why, and the caller discards what was written
 * - `blank`: it has no content; the caller discards what was written
 */
export type LineResult = 'resolved' | 'unresolved' | 'bad' | 'blank'

/** Reads and writes the lines of one format, by a plan. */
export interface LineFormat<State = unknown> {
  /** Whether lines are rewritten, so that the input's byte order mark and line ends are not kept. */
  readonly rewrites: boolean
  /** After `bad`: what is wrong with the line, as text that can follow "line 7: ". */
  readonly fault: string
  /** After a result other than `bad`: why a user should look at the line, in the same way; '' if nothing is unusual. */
  readonly doubt?: string
  /**
   * Writes the header with the added names; absent if the input has no header line. Called instead of `line`, with
   * the same arguments. Not called for an empty input.
   */
  readonly header?: ((bytes: Uint8Array, start: number, end: number, out: ByteSink) => void) | undefined
  /** Sets the state for the next lines, at the start of a block and after each directive. Only with directives. */
  use?(state: State): void
  /** Writes a directive without its line end, as `header` writes a header. Absent if directives are kept as they are. */
  readonly directive?: ((bytes: Uint8Array, start: number, end: number, out: ByteSink) => void) | undefined
  /**
   * Enriches the record in `bytes[start, end)`, which has no line end and no byte order mark, and writes it
   * without a line end. The record is not empty. `bytes[end]` can be read and is a line end. If the locator
   * does not write lines, what is written is discarded.
   */
  line(bytes: Uint8Array, start: number, end: number, out: ByteSink): LineResult
  /** The values of the `counted` fields of the plan; absent if it has none. */
  readonly values?: FieldValues | undefined
  /**
   * Makes the loop that enriches usual lines faster; `null` if the plan needs what the loop does not do. Before it counts a
   * line, the loop gives {@link values} the `counted` fields.
   */
  makeLoop?(): FusedLoop | RecordLoop | null
  /**
   * Only for rows that get the same columns whatever they hold. `line` then takes every row, also an empty one, and is
   * never `bad` or `blank`.
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
