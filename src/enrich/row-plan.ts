import type { NamesOf } from '../option-names.ts'
import { COMMA, MAX_COLUMNS, TAB } from './formats/delimited/table.ts'
import type { RequiredRowOption } from './formats/format-definition.ts'
import { checkOptions, definitionOf, FORMAT_DEFINITIONS, type Format, type Plan } from './formats/formats.ts'
import { RAW } from './json-text.ts'
import { type LineOptions, LOCATION_FIELDS, type LocationField } from './options.ts'

/**
 * What quotes mean in CSV and TSV:
 * - `double`: fields can be quoted, and a quote in them is doubled (RFC 4180)
 * - `none`: quotes are text. A backslash escapes what would end a value, and an unknown value is `\N`, as in
 *   `TabSeparated` of ClickHouse and the text format of Hive
 */
export type Quoting = (typeof QUOTING)[number]

export const QUOTING = ['double', 'none'] as const

const LINE_FEED = 0x0a
const DASH = 0x2d

/** How rows are read and what is added to them. Nothing is guessed. */
export interface RowOptions
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
  readonly format: Format
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

/** With two options of lines that have an error of their own. */
export const ROW_OPTIONS: NamesOf<RowOptions & Pick<LineOptions, 'onlyFailed' | 'dropUnresolved'>> = {
  format: true,
  field: true,
  quoting: true,
  onBadLine: true,
  into: true,
  fields: true,
  append: true,
  overwrite: true,
  timeField: true,
  at: true,
  locale: true,
  trustedProxies: true,
  maxLineBytes: true,
  onlyFailed: true,
  dropUnresolved: true,
}

/** The required options that are missing. */
export function missingRowOptions(options: Partial<RowOptions>): ('format' | RequiredRowOption)[] {
  const { format, field, quoting, timeField, at } = options
  if (format === undefined) return ['format']
  const given = { field, quoting, at: at ?? timeField }
  const required = FORMAT_DEFINITIONS.find(({ name }) => name === format)?.requiredForRows ?? []
  return required.filter((name) => given[name] === undefined)
}

/** Whether `timeField` can be given in place of `at`. */
export function hasTimeField(format: Format): boolean {
  return definitionOf(format).options.includes('timeField')
}

/** How to read and write the rows of a table. */
export interface TablePlan {
  readonly delimiter: number
  readonly quoting: Quoting
  /** The column of the address, from 0. */
  readonly address: number
  /** The column of the time, from 0; `null` when there is none. */
  readonly time: number | null
  /** The columns that are appended. */
  readonly fields: readonly LocationField[]
}

export interface RowPlan {
  /** The plan of the format. For tables only its common part is used. */
  readonly plan: Plan
  /** `null` for formats other than CSV and TSV. */
  readonly table: TablePlan | null
  readonly keepsBadLines: boolean
}

/**
 * Checks the options and makes a plan without looking at a row.
 *
 * @throws TypeError when an option is missing or wrong
 * @throws InvalidLocaleError when `locale` is not a BCP 47 tag
 * @throws EnrichError when the format has no such field, or a row would have two members with one name
 */
export function makeRowPlan(options: RowOptions): RowPlan {
  const { format, quoting, onBadLine = 'raw' } = options
  for (const name of missingRowOptions(options)) {
    const otherwise = name === 'at' && hasTimeField(format) ? ' or "timeField"' : ''
    throw new TypeError(`the option "${name}"${otherwise} must be given for rows: nothing is guessed`)
  }
  checkOptions(options)
  if (onBadLine !== 'raw' && onBadLine !== 'keep') {
    throw new TypeError('the option "onBadLine" must be raw or keep: every input row needs an output row')
  }
  const { onlyFailed, dropUnresolved }: LineOptions = options
  if (onlyFailed === true || dropUnresolved === true) {
    throw new TypeError(
      'the options "onlyFailed" and "dropUnresolved" are not for rows: every input row needs an output row',
    )
  }
  if (options.append === true && options.into !== undefined) {
    throw new TypeError('the option "into" is not for "append": the location has no name then')
  }
  if (options.into === RAW) throw new TypeError(`the option "into" must not be ${RAW}`)
  const keepsBadLines = onBadLine === 'keep'
  if (isTable(format)) return { ...tablePlan(options, format), keepsBadLines }
  if (quoting !== undefined) throw new TypeError('the option "quoting" is for csv and tsv')
  const { plan } = definitionOf(format).plan(new Uint8Array(0), true, options)
  return { plan, table: null, keepsBadLines }
}

function tablePlan(options: RowOptions, format: 'csv' | 'tsv'): Pick<RowPlan, 'plan' | 'table'> {
  const { field = '', timeField, quoting = 'double', fields = LOCATION_FIELDS } = options
  if (!QUOTING.includes(quoting)) {
    throw new TypeError(`the option "quoting" must be one of ${QUOTING.join(', ')}`)
  }
  if (options.overwrite === true) {
    throw new TypeError('the option "overwrite" is for ndjson: the columns of rows have no names')
  }
  const delimiter = format === 'csv' ? COMMA : TAB
  const address = columnOf(field, 'field')
  const time = timeField === undefined ? null : columnOf(timeField, 'timeField')
  // Any sample will do: rows can have any number of columns, so only the common part of this plan is used.
  const sample = Uint8Array.of(DASH, LINE_FEED)
  const { plan } = definitionOf(format).plan(sample, true, {
    ...options,
    header: false,
    field: '1',
    timeField: undefined,
  })
  return { plan, table: { delimiter, quoting, address, time, fields: [...fields] } }
}

function isTable(format: Format): format is 'csv' | 'tsv' {
  return format === 'csv' || format === 'tsv'
}

function columnOf(field: string, option: 'field' | 'timeField'): number {
  const column = /^[1-9]\d{0,8}$/.test(field) ? Number(field) : 0
  if (column >= 1 && column <= MAX_COLUMNS) return column - 1
  throw new TypeError(
    `the option "${option}" must be the number of a column, from 1 to ${MAX_COLUMNS}: rows have no header`,
  )
}
