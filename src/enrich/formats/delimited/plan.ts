import { quoted } from '../../../errors.ts'
import type { FieldRole } from '../../counting/field-values.ts'
import { EnrichError, shownName } from '../../errors.ts'
import {
  addedMembers,
  type CommonPlan,
  checkedFields,
  columnNames,
  commonPlan,
  type LineOptions,
  type LocationField,
  type Planned,
  recordLinesOf,
} from '../../options.ts'
import { guessAddress, guessTime, kindOfValue, SampleField } from '../../reading/field-guess.ts'
import {
  addressNotes,
  checkNamedTimes,
  type FieldWords,
  LIST_FLAGS,
  shellWord,
  timeNotes,
  unknownAddressField,
} from '../../reading/field-messages.ts'
import { requestFieldsIn } from '../../reading/request-fields.ts'
import { SampleTimes } from '../../reading/sample-times.ts'
import { QUOTING, type RowLineOptions } from '../row-options.ts'
import { dataInHeader } from './header.ts'
import { COMMA, csvTable, type Dialect, MAX_COLUMNS, SEMICOLON, TAB, tsvTable } from './table.ts'

export interface DelimitedPlan extends CommonPlan, Dialect {
  readonly format: 'csv' | 'tsv'
  /** Whether the first line names the delimiter, as in `sep=;`. It is kept. */
  readonly hasSeparatorLine: boolean
  /** The line with the names of the columns, from 1, counting empty lines. 0 if the table has no header. */
  readonly headerLine: number
  /** The most lines of a record. */
  readonly maxRecordLines: number
  /** Columns that have the parts of a request. */
  readonly requestFields: Readonly<Partial<Record<FieldRole, string>>>
  /** Columns of a record. Records with another number of columns are bad. */
  readonly width: number
  /** The names of the columns; their numbers from 1 without a header. Empty for rows. */
  readonly names: readonly string[]
  /** The column of the address, from 0. */
  readonly address: number
  /** The column of the time, from 0, or `null`. */
  readonly time: number | null
  /** The columns with the location. Each is appended, or replaces a column; see `replaced`. */
  readonly fields: readonly LocationField[]
  /** Their names in the header. */
  readonly columns: readonly string[]
  /** For each column the index in `fields` of its new value, or -1. Empty when no column is replaced. */
  readonly replaced: readonly number[]
  /** Whether records become objects. */
  readonly isObject: boolean
  /** Whether records are rows, which have any number of columns and no header. `width` is 0 then. */
  readonly isRows: boolean
}

/**
 * Makes the plan for CSV or TSV.
 *
 * @throws EnrichError when the first record has an open quote or too many columns, or the header is too long or missing;
 *   when no column has addresses, or the named column does not exist, is not unique, or holds lists and no proxies are
 *   trusted; and when a column to be added exists already
 * @throws TypeError, InvalidLocaleError when an option is wrong
 */
export function planDelimited(
  sample: Uint8Array,
  isWhole: boolean,
  options: LineOptions,
  format: 'csv' | 'tsv',
): Planned<DelimitedPlan> {
  const common = commonPlan(options)
  const fields = checkedFields(options)
  const maxRecordLines = recordLinesOf(options)
  const { header: hasHeader = true, field, timeField } = options
  const read = format === 'csv' ? csvTable : tsvTable
  const table = read(sample, isWhole, common.maxLineBytes, maxRecordLines)
  const { dialect, width, rows, separatorLine } = table
  const headerBytes = Math.max(hasHeader ? table.firstBytes : 0, separatorLine?.length ?? 0)
  const fault =
    width === 0 && table.misfits > 0
      ? 'the first record has a quote that is not closed'
      : headerBytes > common.maxLineBytes
        ? `the header is longer than ${common.maxLineBytes} bytes: allow longer lines`
        : width > MAX_COLUMNS
          ? `its first record has ${width} columns: ${MAX_COLUMNS} are the most that are read`
          : null
  if (fault !== null) throw new EnrichError('ENRICH_FORMAT_UNKNOWN', fault)
  const notes: string[] = []
  if (separatorLine !== null)
    notes.push(`fields are separated by ${quoted(String.fromCharCode(dialect.delimiter))}`)
  else if (dialect.delimiter === SEMICOLON) notes.push('fields are separated by semicolons')
  if (!dialect.quotes) notes.push('quotes are text')
  const names = hasHeader ? (rows[0] ?? []) : []
  const records = hasHeader ? rows.slice(1) : rows
  const columns = columnsOf(names, records, width)
  // If the user names a column, there is a header.
  const isNamed = field !== undefined && names.includes(field)
  const data = isNamed || !hasHeader ? null : dataInHeader(names, records)
  if (data !== null) throw missingHeader(`looks like data: ${data}`, columnsOf([], rows, width))
  const address = width === 0 ? 0 : addressColumn(field, columns, common.trustedProxies !== null, notes)
  const title = names[address]
  if (title !== undefined && kindOfValue(title) === 'address') {
    throw missingHeader(`has an address, ${quoted(title)}`, columnsOf([], rows, width))
  }
  if (title === '' && field === undefined && records.length > 0) {
    throw missingHeader(`has nothing over the addresses of column ${address + 1}`, columnsOf([], rows, width))
  }
  const guessed = guessTime(columns)
  if (timeField === undefined) notes.push(...timeNotes(guessed, COLUMN_WORDS))
  const time = timeField === undefined ? (guessed.best?.column ?? null) : columnNamed(timeField, columns)
  if (timeField !== undefined && time !== null) {
    checkNamedTimes(timesIn(records, time), `column ${quoted(timeField)}`)
  }
  const isObject = options.to !== undefined
  const added = isObject ? addedMembers(common) : columnNames(fields, options)
  const replaced = names.map((name) => added.indexOf(name))
  const isReplacing = replaced.some((index) => index >= 0)
  if (isReplacing && isObject) {
    throw new EnrichError(
      'ENRICH_FIELD_EXISTS',
      `the table has a column ${quoted(added.find((each) => names.includes(each)) ?? '')} already: choose another name for what is added, as in --into geo (in a program: into)`,
    )
  }
  if (isReplacing && !common.overwrite) {
    const taken = added.filter((each) => names.includes(each))
    throw new EnrichError(
      'ENRICH_FIELD_EXISTS',
      `${taken.join(', ')}: the table already has such a column: add --overwrite to replace it, or name other columns with --fields or --into (in a program: overwrite, fields, into)`,
    )
  }
  // Of two columns with one name, none is meant.
  const requestFields = requestFieldsIn(records.length, (record, name) =>
    names.indexOf(name) === names.lastIndexOf(name) ? records[record]?.[names.indexOf(name)] : undefined,
  )
  const plan: DelimitedPlan = {
    ...common,
    requestFields,
    ...dialect,
    format,
    hasPort: columns[address]?.hasPort ?? false,
    hasSeparatorLine: separatorLine !== null,
    headerLine: hasHeader ? table.linesBefore + 1 : 0,
    maxRecordLines,
    width,
    names: hasHeader ? names : Array.from({ length: width }, (_, column) => String(column + 1)),
    address,
    time,
    fields,
    columns: added,
    replaced: isReplacing ? replaced : [],
    isObject,
    isRows: false,
  }
  return { plan, notes }
}

/** A column of the sample. Its name is '' when the file has no header. */
class Column extends SampleField {
  constructor(
    readonly name: string,
    /** From 0. */
    readonly column: number,
  ) {
    super([name])
  }
}

function columnsOf(names: readonly string[], rows: readonly (readonly string[])[], width: number): Column[] {
  return Array.from({ length: width }, (_, index) => {
    const column = new Column(names[index] ?? '', index)
    for (const row of rows) column.add(row[index] ?? '')
    return column
  })
}

/** What to do if the first line is not a header. @param columns of all rows, without names */
function missingHeader(what: string, columns: readonly Column[]): EnrichError {
  const holding = columns.filter((column) => column.holdsAddresses(true))
  const [only] = holding.length === 1 ? holding : []
  const which = only === undefined ? '' : ` --field ${only.column + 1}`
  return new EnrichError(
    'ENRICH_HEADER_MISSING',
    `its first line, where a header has names, ${what}. If the table has no header, add --no-header${which} (in a program: header: false). If it has one, add --field with the name of the column`,
  )
}

/** The times in a column. */
function timesIn(rows: readonly (readonly string[])[], column: number): SampleTimes {
  const times = new SampleTimes()
  for (const row of rows) {
    const value = row[column] ?? ''
    if (kindOfValue(value) !== 'missing') times.add(value)
  }
  return times
}

const COLUMN_WORDS: FieldWords<Column> = {
  noun: 'column',
  shown: (column) => `column ${describe(column)}`,
  // A name that a shell could misread is replaced by the column's number.
  typed: ({ name, column }) =>
    /^[A-Za-z_]/.test(name) && shellWord(name) === name ? name : String(column + 1),
}

function addressColumn(
  field: string | undefined,
  columns: readonly Column[],
  isTrusting: boolean,
  notes: string[],
): number {
  if (field === undefined) {
    const guess = guessAddress(columns, isTrusting)
    if (guess.best === null) {
      const nothing = `the columns are ${listed(columns)}. Check the format and the header, or add --field with a column and --force`
      throw unknownAddressField(guess, COLUMN_WORDS, nothing)
    }
    notes.push(...addressNotes(guess, isTrusting, COLUMN_WORDS))
    return guess.best.column
  }
  const column = columnNamed(field, columns)
  if (!isTrusting && (columns[column]?.kinds.list ?? 0) > 0) {
    throw new EnrichError(
      'ENRICH_FIELD_IS_LIST',
      `column ${quoted(field)} holds lists of addresses, whose left part any caller can write: ${LIST_FLAGS}`,
    )
  }
  return column
}

/** Finds a column by its name in the header, or else by its number, from 1. @returns its index, from 0 */
function columnNamed(field: string, columns: readonly Column[]): number {
  const [named, another] = columns.filter(({ name }) => name === field && name !== '')
  if (named !== undefined && another === undefined) return named.column
  if (named !== undefined)
    throw unknownColumn(`several columns are called ${quoted(field)}: give a number`, [])
  const number = /^[1-9]\d{0,8}$/.test(field) ? Number(field) : 0
  if (number >= 1 && number <= columns.length) return number - 1
  throw unknownColumn(`there is no column ${quoted(field)} among ${columns.length}`, columns)
}

function unknownColumn(message: string, columns: readonly Column[]): EnrichError {
  const holding = columns.filter((column) => column.holdsAddresses(true))
  const [shown, what] = holding.length > 0 ? [holding, 'addresses are in'] : [columns, 'the columns are']
  const hint = shown.length === 0 ? '' : `; ${what} ${listed(shown)}`
  return new EnrichError('ENRICH_FIELD_UNKNOWN', `${message}${hint}`)
}

function listed(columns: readonly Column[]): string {
  const most = 12
  return columns.slice(0, most).map(describe).join('; ') + (columns.length > most ? '; …' : '')
}

function describe({ column, name }: Column): string {
  return name === '' ? String(column + 1) : `${column + 1}, ${shownName(name)}`
}

/**
 * Makes the plan for rows.
 *
 * @throws TypeError when an option is wrong
 */
export function planRows(options: RowLineOptions, format: DelimitedPlan['format']): DelimitedPlan {
  const { field = '', timeField, quoting = 'double' } = options
  if (!QUOTING.includes(quoting)) {
    throw new TypeError(`the option "quoting" must be one of ${QUOTING.join(', ')}`)
  }
  const named = options.overwrite === true ? 'overwrite' : options.into === undefined ? null : 'into'
  if (options.to !== undefined) throw new TypeError(`the option "to" is not for rows of ${format}`)
  if (named !== null)
    throw new TypeError(`the option "${named}" is for ndjson: the columns of rows have no names`)
  const address = columnOfRows(field, 'field')
  const time = timeField === undefined ? null : columnOfRows(timeField, 'timeField')
  return {
    ...commonPlan(options),
    format,
    delimiter: format === 'csv' ? COMMA : TAB,
    quotes: quoting === 'double',
    hasSeparatorLine: false,
    headerLine: 0,
    maxRecordLines: 1,
    width: 0,
    names: [],
    requestFields: {},
    address,
    time,
    fields: checkedFields(options),
    columns: [],
    replaced: [],
    isObject: false,
    isRows: true,
  }
}

function columnOfRows(field: string, option: 'field' | 'timeField'): number {
  const column = /^[1-9]\d{0,8}$/.test(field) ? Number(field) : 0
  if (column >= 1 && column <= MAX_COLUMNS) return column - 1
  throw new TypeError(
    `the option "${option}" must be the number of a column, from 1 to ${MAX_COLUMNS}: rows have no header`,
  )
}
