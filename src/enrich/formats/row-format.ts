import type { ByteSink } from '../../bytes/byte-sink.ts'
import type { LocationTemplate } from '../../location/rendered-locations.ts'
import type { LineLocator } from '../locating/line-locator.ts'
import type { LineOptions } from '../options.ts'

/**
 * What quotes mean in CSV and TSV:
 * - `double`: fields can be quoted, and a quote in them is doubled (RFC 4180)
 * - `none`: quotes are text. A backslash escapes what would end a value, and an unknown value is `\N`, as in
 *   `TabSeparated` of ClickHouse and the text format of Hive
 */
export type Quoting = (typeof QUOTING)[number]

export const QUOTING = ['double', 'none'] as const

/** How rows of one format are read and what is added to them. Nothing is guessed. */
export interface RowLineOptions
  extends Pick<
    LineOptions,
    | 'into'
    | 'fields'
    | 'append'
    | 'overwrite'
    | 'timeField'
    | 'at'
    | 'locale'
    | 'trustedProxies'
    | 'maxLineBytes'
  > {
  /**
   * Where the address is. NDJSON: a dotted path or a JSON pointer. CSV and TSV: the number of a column, from 1, because
   * rows have no header. Required for these formats.
   */
  readonly field?: string | undefined
  /** Required for CSV and TSV, and only for these. */
  readonly quoting?: Quoting | undefined
  /**
   * What to write for a row that cannot be read. `raw`: `{"raw":"…","location":null}` if rows are JSON, otherwise the
   * row without a location. `keep`: the row alone. Default: `raw`.
   */
  readonly onBadLine?: 'raw' | 'keep' | undefined
}

/** How the rows of a format are read, where these are not read as lines are. */
export interface RowsDefinition<Plan, Rows = unknown> {
  /**
   * @returns the plan of the format, of which only the common part is used, and a plan of the rows, as plain data
   * @throws TypeError when an option is wrong
   */
  plan(options: RowLineOptions): { readonly plan: Plan; readonly rows: Rows }
  /** How locations are written. */
  template(rows: Rows): LocationTemplate
  make(rows: Rows, locator: LineLocator): RowFormat
}

/** Reads and writes the rows of one format: one row for each, whatever it holds. */
export interface RowFormat {
  /** Whether line ends in a row are escaped. Otherwise the caller replaces them. */
  readonly escapes: boolean
  /** Writes the row in `bytes[start, end)`, which has no line feed at its end. */
  write(bytes: Uint8Array, start: number, end: number, out: ByteSink): void
  /** Writes a part of a row that is too long, with its line ends escaped. Only if `escapes`. */
  writeCells(bytes: Uint8Array, start: number, end: number, out: ByteSink): void
  /** Reads a part of a row that is too long, which the caller writes. Only if not `escapes`. */
  follow(bytes: Uint8Array, start: number, end: number): void
  /** Ends a row that came in parts. */
  writeEnd(out: ByteSink): void
}
