import { quoted } from '../../address/quoted.ts'
import { ADDRESS_FIELDS, kindOfValue, plainName } from '../address-field.ts'
import { type CommonPlan, commonPlan, type Planned } from '../common-plan.ts'
import { EnrichError } from '../errors.ts'
import { LOCATION_FIELDS, type LocationField } from '../location-field.ts'
import type { EnrichOptions } from '../options.ts'
import { shownName } from '../shown-name.ts'
import { type ColumnKinds, chooseColumn, columnKinds, holdsAddresses } from './address-column.ts'
import { csvTable, SEMICOLON, TAB, tsvTable } from './dialect.ts'
import { MAX_COLUMNS, type SampleTable } from './sample-table.ts'
import { chooseTimeColumn } from './time-column.ts'

export interface DelimitedPlan extends CommonPlan {
  readonly format: 'csv' | 'tsv'
  /** The byte between fields. */
  readonly delimiter: number
  /** Whether fields can be in quotes; else quotes are text, and every line is a record. */
  readonly quotes: boolean
  /** Whether the first line says what separates fields, as `sep=;`, and is kept. */
  readonly hasSeparatorLine: boolean
  /** The line that names the columns, from 1: after empty ones and that of the separator; 0 where there is none. */
  readonly headerLine: number
  /** Columns of a record; others are bad. */
  readonly width: number
  /** The column of the address, from 0. */
  readonly address: number
  /** The column of the time, from 0, or `null`. */
  readonly time: number | null
  /** What is added. */
  readonly fields: readonly LocationField[]
  /** For each column the index in `fields` of what takes its place, or -1; empty when none is replaced. */
  readonly replaced: readonly number[]
}

/** Whether the first lines are records of the same number of fields, with tabs between them. */
export function looksLikeTsv(sample: Uint8Array): boolean {
  const table = tsvTable(sample, false, sample.length)
  return isTable(table) && (table.separatorLine?.delimiter ?? TAB) === TAB
}

/**
 * Whether the first lines are records of the same number of fields, with commas or semicolons between them; or
 * addresses below the name of an only column.
 */
export function looksLikeCsv(sample: Uint8Array): boolean {
  const table = csvTable(sample, false, sample.length)
  if (table.width !== 1) return isTable(table)
  return isUsualName(table.first[0] ?? '') && isColumnOfAddresses(table)
}

function isTable({ width, rows, misfits }: SampleTable): boolean {
  return width > 1 && rows.length > misfits
}

function isUsualName(name: string): boolean {
  return ADDRESS_FIELDS.includes(plainName(name))
}

function isColumnOfAddresses({ rows, width }: SampleTable): boolean {
  return (
    rows.length === 1 || columnKinds([], rows.slice(1), width).some((column) => holdsAddresses(column, false))
  )
}

/**
 * Plans for CSV or TSV.
 *
 * @throws EnrichError when no column has addresses or the one named is not there, when there is no header, when it holds lists and nobody is
 *   trusted, and when columns to be added are there already
 * @throws TypeError, InvalidLocaleError when an option is wrong
 */
export function planDelimited(
  sample: Uint8Array,
  isWhole: boolean,
  options: EnrichOptions,
  format: 'csv' | 'tsv',
): Planned<DelimitedPlan> {
  const common = commonPlan(options)
  const fields = checkedFields(options.fields ?? LOCATION_FIELDS)
  const { header: hasHeader = true, field, timeField } = options
  const read = format === 'csv' ? csvTable : tsvTable
  const table = read(sample, isWhole, common.maxLineBytes)
  const { dialect, width, first, rows, separatorLine } = table
  if (width === 0 && table.misfits > 0) {
    throw new EnrichError('ENRICH_FORMAT_UNKNOWN', 'the first record has a quote that is not closed')
  }
  const headerBytes = Math.max(hasHeader ? table.firstBytes : 0, separatorLine?.length ?? 0)
  if (headerBytes > common.maxLineBytes) {
    throw new EnrichError(
      'ENRICH_FORMAT_UNKNOWN',
      `the header is longer than ${common.maxLineBytes} bytes: allow longer lines`,
    )
  }
  if (width > MAX_COLUMNS) {
    throw new EnrichError(
      'ENRICH_FORMAT_UNKNOWN',
      `its first record has ${width} columns: ${MAX_COLUMNS} are the most that are read`,
    )
  }
  const notes: string[] = []
  if (separatorLine !== null)
    notes.push(`fields are separated by ${quoted(String.fromCharCode(dialect.delimiter))}`)
  else if (dialect.delimiter === SEMICOLON) notes.push('fields are separated by semicolons')
  if (!dialect.quotes) notes.push('quotes are text')
  const names = hasHeader ? first : []
  const values = hasHeader ? rows.slice(1) : rows
  const columns = columnKinds(names, values, width)
  const address = width === 0 ? 0 : addressColumn(field, columns, common.trustedProxies !== null, notes)
  const title = names[address]
  if (title !== undefined && kindOfValue(title) === 'address') {
    throw new EnrichError(
      'ENRICH_HEADER_MISSING',
      `its first line has an address, ${quoted(title)}, where a header has a name: say that there is no header`,
    )
  }
  const time = timeField === undefined ? chooseTimeColumn(names, values) : columnNamed(timeField, columns)
  const chosen = time === null || timeField !== undefined ? undefined : columns[time]
  if (chosen !== undefined) notes.push(`the time of the event is in column ${describe(chosen)}`)
  const wanted: readonly string[] = fields
  const replaced = names.map((name) => wanted.indexOf(name))
  const isReplacing = replaced.some((index) => index >= 0)
  if (isReplacing && !common.overwrite) {
    const taken = fields.filter((each) => names.includes(each))
    throw new EnrichError(
      'ENRICH_FIELD_EXISTS',
      `${taken.join(', ')}: such a column is there already: choose other columns to add, or overwrite`,
    )
  }
  const plan: DelimitedPlan = {
    ...common,
    format,
    delimiter: dialect.delimiter,
    quotes: dialect.quotes,
    hasSeparatorLine: separatorLine !== null,
    headerLine: hasHeader ? table.linesBefore + 1 : 0,
    width,
    address,
    time,
    fields,
    replaced: isReplacing ? replaced : [],
  }
  return { plan, notes }
}

function checkedFields(fields: readonly LocationField[]): readonly LocationField[] {
  const isList = Array.isArray(fields) && fields.length > 0
  if (!isList || fields.some((field) => !LOCATION_FIELDS.includes(field))) {
    throw new TypeError(`the option "fields" must be some of ${LOCATION_FIELDS.join(', ')}`)
  }
  if (new Set(fields).size < fields.length) throw new TypeError('the option "fields" names a column twice')
  return [...fields]
}

function addressColumn(
  field: string | undefined,
  columns: readonly ColumnKinds[],
  isTrusting: boolean,
  notes: string[],
): number {
  if (field === undefined) {
    const chosen = chooseColumn(columns, isTrusting)
    if (chosen === null) throw unknownColumn('no column with a usual name holds addresses', columns)
    const others = columns.filter((each) => each !== chosen && holdsAddresses(each, isTrusting))
    const rest = others.length === 0 ? '' : ` (addresses are also in ${listed(others)})`
    notes.push(`the address is in column ${describe(chosen)}${rest}`)
    return chosen.column
  }
  const column = columnNamed(field, columns)
  const kinds = columns[column]?.kinds
  if (!isTrusting && (kinds?.get('list') ?? 0) > 0) {
    throw new EnrichError(
      'ENRICH_FIELD_IS_LIST',
      `column ${quoted(field)} holds lists of addresses, of which a caller can write the left part: say which proxies are trusted`,
    )
  }
  return column
}

/** By its name, as the header has it; else by its number, from 1. */
function columnNamed(field: string, columns: readonly ColumnKinds[]): number {
  const [named, another] = columns.filter(({ name }) => name === field && name !== '')
  if (named !== undefined && another === undefined) return named.column
  if (named !== undefined)
    throw unknownColumn(`several columns are called ${quoted(field)}: give a number`, [])
  const number = /^[1-9]\d{0,8}$/.test(field) ? Number(field) : 0
  if (number >= 1 && number <= columns.length) return number - 1
  throw unknownColumn(`there is no column ${quoted(field)} among ${columns.length}`, columns)
}

function unknownColumn(message: string, columns: readonly ColumnKinds[]): EnrichError {
  const holding = columns.filter((column) => holdsAddresses(column, true))
  const [shown, what] = holding.length > 0 ? [holding, 'addresses are in'] : [columns, 'the columns are']
  const hint = shown.length === 0 ? '' : `; ${what} ${listed(shown)}`
  return new EnrichError('ENRICH_FIELD_UNKNOWN', `${message}${hint}`)
}

function listed(columns: readonly ColumnKinds[]): string {
  const most = 12
  return columns.slice(0, most).map(describe).join('; ') + (columns.length > most ? '; …' : '')
}

function describe({ column, name }: ColumnKinds): string {
  return name === '' ? String(column + 1) : `${column + 1}, ${shownName(name)}`
}
