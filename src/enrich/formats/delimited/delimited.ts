// Tables whose records have as many columns as their header: CSV and TSV.
import { quoted } from '../../../errors.ts'
import { wrongOption } from '../../../option-names.ts'
import { COMMA, SEMICOLON, TAB } from '../../ascii.ts'
import { EnrichError, shownName } from '../../errors.ts'
import {
  addedMembers,
  checkedFields,
  columnNames,
  commonPlan,
  DEFAULT_RECORD_LINES,
  type LineOptions,
  type Planned,
  type RowLineOptions,
} from '../../options.ts'
import {
  chosenAddress,
  chosenTime,
  type NumberedWords,
  numberedFields,
  refuseTaken,
} from '../../reading/chosen-fields.ts'
import { kindOfValue, SampleField } from '../../reading/field-guess.ts'
import { shellWord } from '../../reading/field-messages.ts'
import { requestFieldsIn } from '../../reading/known-names.ts'
import { LineRecordEnds, plainLayout } from '../../reading/layout.ts'
import { columnsTemplate, escapedColumnsTemplate } from '../../writing/column-templates.ts'
import { columnsForm, jsonForm } from '../../writing/record-form.ts'
import type { FormatDefinition } from '../format-definition.ts'
import { NO_HEADER } from './header.ts'
import { dataInHeader, looksLikeCsv, looksLikeTsv, MAX_COLUMNS, rowsOf, tableIn } from './table.ts'
import { type DelimitedPlan, TableReader, TableRowReader } from './table-reader.ts'

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
  const { header: hasHeader = true, field, timeField, maxRecordLines = DEFAULT_RECORD_LINES } = options
  const table = tableIn(sample, isWhole, format, common.maxLineBytes, maxRecordLines)
  const { dialect, width, separatorLine } = table
  const rows = rowsOf(table)
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
  const missingHeader = (what: string): EnrichError => headerFault(what, columnsOf([], rows, width))
  // If the user names a column, there is a header.
  const isNamed = field !== undefined && names.includes(field)
  const data = isNamed || !hasHeader ? null : dataInHeader(columns, records)
  if (data !== null) throw missingHeader(`looks like data: ${data}`)
  const sampled = numberedFields(columns, COLUMN_WORDS)
  const chosen = width === 0 ? null : chosenAddress(field, sampled, common, notes)
  const address = chosen?.index ?? 0
  const title = names[address]
  if (title !== undefined && kindOfValue(title) === 'address') {
    throw missingHeader(`has an address, ${quoted(title)}`)
  }
  if (title === '' && field === undefined && records.length > 0) {
    throw missingHeader(`has nothing over the addresses of column ${address + 1}`)
  }
  const time = chosenTime(timeField, sampled, notes)
  const isObject = options.to !== undefined
  const added = isObject ? addedMembers(common) : columnNames(fields, options)
  const replaced = names.map((name) => added.indexOf(name))
  const isReplacing = replaced.some((index) => index >= 0)
  if (isObject) refuseTaken(added, names, 'the table has', 'column')
  else if (!common.overwrite) refuseTaken(added, names, 'the table has', 'column', REMEDY)
  // If two columns have one name, use neither.
  const requestFields = requestFieldsIn((name) => {
    const column = names.indexOf(name)
    return column === -1 || names.includes(name, column + 1) ? [] : records.map((record) => record[column])
  })
  const plan: DelimitedPlan = {
    ...common,
    requestFields,
    ...dialect,
    format,
    hasPort: chosen?.hasPort ?? false,
    hasSeparatorLine: separatorLine !== null,
    headerLine: hasHeader ? table.linesBefore + 1 : 0,
    maxRecordLines,
    ...namedColumns(hasHeader ? names : Array.from({ length: width }, (_, column) => String(column + 1))),
    address,
    time: time === null ? [] : [time.index],
    fields,
    columns: added,
    replaced: isReplacing ? replaced : [],
    isObject,
  }
  return { plan, notes }
}

/** The part of a plan that follows from the names of the columns. An empty value is unknown. */
function namedColumns(names: readonly string[]) {
  return { names, header: { ...NO_HEADER, names, unset: '' }, isClock: false, unset: '' }
}

/** What to do about columns that are there already. */
const REMEDY =
  'add --overwrite to replace it, or name other columns with --fields or --into (in a program: overwrite, fields, into)'

function columnsOf(
  names: readonly string[],
  rows: readonly (readonly string[])[],
  width: number,
): SampleField[] {
  return Array.from({ length: width }, (_, index) => {
    const column = new SampleField([names[index] ?? ''], index)
    for (const row of rows) column.add(row[index] ?? '')
    return column
  })
}

/** What to do if the first line is not a header. @param columns of all rows, without names */
function headerFault(what: string, columns: readonly SampleField[]): EnrichError {
  const holding = columns.filter((column) => column.holdsAddresses(true))
  const [only] = holding.length === 1 ? holding : []
  const which = only === undefined ? '' : ` --field ${only.index + 1}`
  return new EnrichError(
    'ENRICH_HEADER_MISSING',
    `its first line, where a header has names, ${what}. If the table has no header, add --no-header${which} (in a program: header: false). If it has one, add --field with the name of the column`,
  )
}

const COLUMN_WORDS: NumberedWords = {
  noun: 'column',
  shown: (column) => `column ${COLUMN_WORDS.listed(column)}`,
  // A name that a shell could misread is replaced by the column's number.
  typed: ({ name, index }) =>
    /^[A-Za-z_]/.test(name) && shellWord(name) === name ? name : String(index + 1),
  listed: ({ name, index }) => (name === '' ? String(index + 1) : `${index + 1}, ${shownName(name)}`),
  remedy: '. Check the format and the header, or add --field with a column and --force',
}

/**
 * Makes the plan for rows.
 *
 * @throws TypeError when an option is wrong
 */
export function planRows(options: RowLineOptions, format: DelimitedPlan['format']): DelimitedPlan {
  const { field = '', timeField, quoting = 'double' } = options
  const named = options.overwrite === true ? 'overwrite' : options.into === undefined ? null : 'into'
  if (options.to !== undefined) throw wrongOption`<to> is not for rows of ${format}`
  if (named !== null) throw wrongOption`<${named}> is for ndjson: the columns of rows have no names`
  const address = columnOfRows(field, 'field')
  const time = timeField === undefined ? [] : [columnOfRows(timeField, 'timeField')]
  return {
    ...commonPlan(options),
    // All rows get the same columns, whatever they hold.
    onBadLine: 'raw',
    format,
    delimiter: format === 'csv' ? COMMA : TAB,
    quotes: quoting === 'double',
    hasSeparatorLine: false,
    headerLine: 0,
    maxRecordLines: 1,
    ...namedColumns([]),
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
  throw wrongOption`<${option}> must be the number of a column, from 1 to ${MAX_COLUMNS}: rows have no header`
}

export const CSV: FormatDefinition<DelimitedPlan> = {
  name: 'csv',
  title: 'table with commas, semicolons or another separator (RFC 4180)',
  example: 'time,client_ip\n2026-07-01T12:00:00Z,81.2.69.142',
  requiredForRows: ['field', 'quoting', 'at'],
  recognise: looksLikeCsv,
  plan: (sample, isWhole, options) => planDelimited(sample, isWhole, options, 'csv'),
  layout: (plan) => {
    // A row is one line: a value with a line end has it escaped.
    if (plan.isRows === true) return plainLayout(plan)
    const { quotes, delimiter, maxRecordLines, maxLineBytes, hasSeparatorLine, headerLine, names } = plan
    return {
      recordEnds: quotes
        ? () => new LineRecordEnds({ delimiter, maxLines: maxRecordLines }, maxLineBytes)
        : null,
      maxLineBytes,
      hasPreamble: hasSeparatorLine,
      headerLine,
      columns: names.length,
      directives: null,
    }
  },
  addressPosition: ({ address }) => `in column ${address + 1}`,
  nextFormat: ({ format, isObject }) => (isObject ? 'ndjson' : format),
  form: (plan) => {
    const { isObject, fields, columns, replaced, delimiter, quotes, isRows = false } = plan
    if (isObject) return jsonForm(plan, 'object')
    const separator = String.fromCharCode(delimiter)
    const isEscaped = isRows && !quotes
    const template = isEscaped
      ? escapedColumnsTemplate(fields, separator)
      : columnsTemplate(fields, separator, quotes, !isRows)
    const table = { replaced, quotes, count: fields.length }
    return columnsForm(template, separator, columns, isEscaped ? '\\N' : '', table)
  },
  fieldNames: ({ names }) => names,
  makeReader: (plan, wantsFields) =>
    plan.isRows === true ? new TableRowReader(plan) : new TableReader(plan, wantsFields),
  planRows: (options) => planRows(options, 'csv'),
}

export const TSV: FormatDefinition<DelimitedPlan> = {
  ...CSV,
  name: 'tsv',
  title: 'table with tabs',
  example: 'time\tclient_ip\n2026-07-01T12:00:00Z\t81.2.69.142',
  recognise: looksLikeTsv,
  plan: (sample, isWhole, options) => planDelimited(sample, isWhole, options, 'tsv'),
  planRows: (options) => planRows(options, 'tsv'),
}
