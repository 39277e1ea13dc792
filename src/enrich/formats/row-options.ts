import type { LineOptions, QUOTING } from '../options.ts'

/**
 * What quotes mean in CSV and TSV:
 * - `double`: fields can be quoted, and a quote in them is doubled (RFC 4180)
 * - `none`: quotes are text. A backslash escapes what would end a value, and an unknown value is `\N`, as in
 *   `TabSeparated` of ClickHouse and the text format of Hive
 */
export type Quoting = (typeof QUOTING)[number]

/** How rows of one format are read and what is added to them. Nothing is guessed. */
export interface RowLineOptions
  extends Omit<
    LineOptions,
    | 'field'
    | 'header'
    | 'force'
    | 'onBadLine'
    | 'onlyFailed'
    | 'dropUnresolved'
    | 'onlyCountries'
    | 'notCountries'
    | 'maxRecordLines'
    | 'details'
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
