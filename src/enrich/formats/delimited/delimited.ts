// Tables: CSV and TSV, and logs whose own lines name their columns: W3C Extended, Zeek, and tables separated by spaces.
import { quoted } from '../../../errors.ts'
import { wrongOption } from '../../../option-names.ts'
import { COMMA, HASH, SEMICOLON, SPACE, TAB } from '../../ascii.ts'
import { EnrichError, shownName } from '../../errors.ts'
import {
  addedMembers,
  checkedFields,
  columnNames,
  commonPlan,
  DEFAULT_RECORD_LINES,
  type LineOptions,
  MAX_LINE_BYTES,
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
import type { Sample } from '../../reading/sample.ts'
import { columnsTemplate, escapedColumnsTemplate, wordsTemplate } from '../../writing/column-templates.ts'
import { columnsForm, jsonForm, type RecordForm } from '../../writing/record-form.ts'
import type { FormatDefinition, KnownTable } from '../format-definition.ts'
import {
  type DirectiveRules,
  FIRST_LINE,
  type Header,
  isW3cFields,
  isZeekFields,
  looksLikeSpaces,
  NO_HEADER,
  type SampledTable,
  sampleByHeaders,
  startsWithDirectives,
  W3C_DIRECTIVES,
  ZEEK_DIRECTIVES,
} from './header.ts'
import { dataInHeader, looksLikeCsv, looksLikeTsv, MAX_COLUMNS, rowsOf, tableIn } from './table.ts'
import { type TablePlan, TableReader } from './table-reader.ts'

/**
 * Makes the plan for a table.
 *
 * @param rules of its header; `null` for CSV and TSV, whose names can be any
 * @throws EnrichError when the first record cannot be read, no line is a header, a header is too long, or it is data; when no
 *   column has addresses, or the named column does not exist, is not unique, or holds lists and no proxies are trusted; and when
 *   a column to be added exists already
 * @throws TypeError, InvalidLocaleError when an option is wrong
 */
export function planTable(
  sample: Sample,
  options: LineOptions,
  format: TablePlan['format'],
  rules: DirectiveRules | null,
): Planned<TablePlan> {
  const common = commonPlan(options)
  const fields = checkedFields(options)
  const { field, timeField } = options
  const isObject = options.to !== undefined
  const added = isObject ? addedMembers(common) : columnNames(fields, options)
  const notes: string[] = []
  const read =
    rules === null
      ? sampleDelimited(sample, options, format, common.maxLineBytes, notes)
      : sampleByHeaders(sample, format, rules, common.maxLineBytes)
  const { columns, titles, clock, checkHeader, ...known } = read
  const sampled = numberedFields(columns, rules === null ? COLUMN_WORDS : undefined)
  const chosen = columns.length === 0 ? null : chosenAddress(field, sampled, common, notes)
  if (chosen !== null) checkHeader?.(chosen.index)
  const isClock = clock !== null && (timeField === undefined || timeField === 'time')
  if (isClock) notes.push(clock.note)
  const time = isClock ? null : chosenTime(timeField, sampled, notes)
  if (rules !== null || isObject || !common.overwrite) {
    const [where, noun, remedy] = rules === null ? DELIMITED : HEADED
    refuseTaken(added, titles, where, noun, isObject ? undefined : remedy)
  }
  // A later header can move the field: keep its name, unless the user gave the number.
  const keyOf = ({ name, index }: SampleField, named?: string) =>
    rules === null || (named !== undefined && named !== name) ? index : name
  const plan: TablePlan = {
    ...common,
    ...known,
    format,
    hasPort: chosen?.hasPort ?? false,
    address: chosen === null ? 0 : keyOf(chosen, field),
    time: isClock ? clock.fields : time === null ? [] : [keyOf(time, timeField)],
    isClock,
    fields,
    columns: isObject ? [] : added,
    replaced: rules === null && !isObject ? replacedIn(titles, added) : [],
    isObject,
  }
  return { plan, notes }
}

/** The index in `added` of the new value of each column; none if all columns stay. */
function replacedIn(names: readonly string[], added: readonly string[]): readonly number[] {
  const replaced = names.map((name) => added.indexOf(name))
  return replaced.some((index) => index >= 0) ? replaced : []
}

/** Makes the plan for a table whose columns are known. Throws for columns to be added what `planTable` throws. */
function planKnown(
  { names, address, time, ...known }: KnownTable,
  options: LineOptions,
  format: TablePlan['format'],
): TablePlan {
  const common = commonPlan(options)
  const fields = checkedFields(options)
  const columns = columnNames(fields, options)
  if (!common.overwrite) refuseTaken(columns, names, ...DELIMITED)
  return {
    ...common,
    ...known,
    format,
    delimiter: format === 'csv' ? COMMA : TAB,
    quotes: true,
    hasSeparatorLine: false,
    headerLine: 1,
    // No line of it is foreign text: a bound would take parts of a record for records.
    maxLineBytes: MAX_LINE_BYTES,
    maxRecordLines: Number.MAX_SAFE_INTEGER,
    ...namedColumns(names),
    isClock: false,
    address,
    time: time === null ? [] : [time],
    fields,
    columns,
    replaced: replacedIn(names, columns),
    isObject: false,
  }
}

/** What has the columns, what one is called, and what to do about those that are there already. */
const DELIMITED = [
  'the table has',
  'column',
  'add --overwrite to replace it, or name other columns with --fields or --into (in a program: overwrite, fields, into)',
] as const
const HEADED = [
  'the header has',
  'field',
  'name other fields with --fields, or other names with --into (in a program: fields, into)',
] as const

/** Reads the sample of CSV or TSV. @throws EnrichError when the first record cannot be read, or is not a header */
function sampleDelimited(
  sample: Sample,
  options: LineOptions,
  format: TablePlan['format'],
  maxLineBytes: number,
  notes: string[],
): SampledTable {
  const { header: hasHeader = true, field, maxRecordLines = DEFAULT_RECORD_LINES } = options
  const table = tableIn(sample, format === 'tsv' ? 'tsv' : 'csv', maxLineBytes, maxRecordLines)
  const { dialect, width, separatorLine } = table
  const rows = rowsOf(table)
  const headerBytes = Math.max(hasHeader ? table.firstBytes : 0, separatorLine?.length ?? 0)
  const fault =
    width === 0 && table.misfits > 0
      ? 'the first record has a quote that is not closed'
      : headerBytes > maxLineBytes
        ? `the header is longer than ${maxLineBytes} bytes: allow longer lines`
        : width > MAX_COLUMNS
          ? `its first record has ${width} columns: ${MAX_COLUMNS} are the most that are read`
          : null
  if (fault !== null) throw new EnrichError('ENRICH_FORMAT_UNKNOWN', fault)
  if (separatorLine !== null)
    notes.push(`fields are separated by ${quoted(String.fromCharCode(dialect.delimiter))}`)
  else if (dialect.delimiter === SEMICOLON) notes.push('fields are separated by semicolons')
  if (!dialect.quotes) notes.push('quotes are text')
  const titles = hasHeader ? (rows[0] ?? []) : []
  const records = hasHeader ? rows.slice(1) : rows
  const columns = columnsOf(titles, records, width)
  const missingHeader = (what: string): EnrichError => headerFault(what, columnsOf([], rows, width))
  // If the user names a column, there is a header.
  const isNamed = field !== undefined && titles.includes(field)
  const data = isNamed || !hasHeader ? null : dataInHeader(columns, records)
  if (data !== null) throw missingHeader(`looks like data: ${data}`)
  return {
    ...dialect,
    ...namedColumns(hasHeader ? titles : Array.from({ length: width }, (_, column) => String(column + 1))),
    columns,
    titles,
    headerLine: hasHeader ? table.linesBefore + 1 : 0,
    hasSeparatorLine: separatorLine !== null,
    maxRecordLines,
    // If two columns have one name, use neither.
    requestFields: requestFieldsIn((name) => {
      const column = titles.indexOf(name)
      return column === -1 || titles.includes(name, column + 1) ? [] : records.map((record) => record[column])
    }),
    clock: null,
    checkHeader: (address) => {
      const title = titles[address]
      if (title !== undefined && kindOfValue(title) === 'address')
        throw missingHeader(`has an address, ${quoted(title)}`)
      if (title === '' && field === undefined && records.length > 0)
        throw missingHeader(`has nothing over the addresses of column ${address + 1}`)
    },
  }
}

/** What follows from the names of the columns of CSV and TSV. An empty value is unknown. */
function namedColumns(names: readonly string[]) {
  return { names, header: { ...NO_HEADER, names, unset: '' }, unset: '' }
}

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
  shown: ({ name, index }) => `column ${index + 1}${name === '' ? '' : `, ${shownName(name)}`}`,
  // A name that a shell could misread is replaced by the column's number.
  typed: ({ name, index }) =>
    /^[A-Za-z_]/.test(name) && shellWord(name) === name ? name : String(index + 1),
  // A number alone would read as a name, or as how many there are.
  listed: ({ name, index }) => (name === '' ? `column ${index + 1}` : `${index + 1} (${shownName(name)})`),
  remedy: '. Check the format and the header, or add --field with a column and --force',
}

/**
 * Makes the plan for rows.
 *
 * @throws TypeError when an option is wrong
 */
function planRows(options: RowLineOptions, format: 'csv' | 'tsv'): TablePlan {
  const { field = '', timeField, quoting = 'double' } = options
  const named = options.overwrite === true ? 'overwrite' : options.into === undefined ? null : 'into'
  if (options.to !== undefined) throw wrongOption`<to> is not for rows of ${format}`
  if (named !== null) throw wrongOption`<${named}> is for ndjson: the columns of rows have no names`
  const address = columnOfRows(field, 'field')
  const time = timeField === undefined ? null : columnOfRows(timeField, 'timeField')
  return {
    ...planKnown({ names: [], address, time }, options, format),
    // All rows get the same columns, whatever they hold.
    onBadLine: 'raw',
    quotes: quoting === 'double',
    headerLine: 0,
    maxLineBytes: commonPlan(options).maxLineBytes,
    maxRecordLines: 1,
    columns: [],
    isRows: true,
  }
}

function columnOfRows(field: string, option: 'field' | 'timeField'): number {
  const column = /^[1-9]\d{0,8}$/.test(field) ? Number(field) : 0
  if (column >= 1 && column <= MAX_COLUMNS) return column - 1
  throw wrongOption`<${option}> must be the number of a column, from 1 to ${MAX_COLUMNS}: rows have no header`
}

/** The definition of a table. @param rules of its header; `null` for CSV and TSV */
function definition(
  name: TablePlan['format'],
  title: string,
  example: string,
  rules: DirectiveRules | null,
  recognise: (sample: Uint8Array) => boolean,
): FormatDefinition<TablePlan, Header> {
  const noun = rules === null ? 'column' : 'field'
  return {
    name,
    title,
    example,
    requiredForRows: rules === null ? ['field', 'quoting', 'at'] : [],
    recognise,
    plan: (sample, options) =>
      options.table === undefined
        ? planTable(sample, options, name, rules)
        : { plan: planKnown(options.table, options, name), notes: [] },
    layout: (plan) => ({
      ...plainLayout(plan),
      // A row is one line: a value with a line end has it escaped.
      recordEnds:
        rules === null && plan.quotes && plan.isRows !== true
          ? () =>
              new LineRecordEnds(
                { delimiter: plan.delimiter, maxLines: plan.maxRecordLines },
                plan.maxLineBytes,
              )
          : null,
      hasPreamble: plan.hasSeparatorLine,
      headerLine: plan.headerLine,
      columns: rules === null && plan.isRows !== true ? plan.names.length : null,
      directives:
        rules === null || rules === FIRST_LINE
          ? null
          : {
              firstByte: HASH,
              initial: plan.header,
              next: (header, bytes, start, end) =>
                rules.next(header, new TextDecoder().decode(bytes.subarray(start, end))),
            },
    }),
    addressPosition: ({ address }) =>
      typeof address === 'number' ? `in ${noun} ${address + 1}` : `in the field ${shownName(address)}`,
    form: (plan) => (plan.isObject ? jsonForm(plan, 'object') : tableForm(plan, rules)),
    fieldNames: ({ names }) => names,
    makeReader: (plan, wantsFields) => new TableReader(plan, wantsFields, rules),
    planRows: name === 'csv' || name === 'tsv' ? (options) => planRows(options, name) : null,
  }
}

/** How columns are added to the records of a table. */
function tableForm(plan: TablePlan, rules: DirectiveRules | null): RecordForm {
  const { fields, columns, replaced, delimiter, quotes, unset, isRows = false } = plan
  const separator = String.fromCharCode(delimiter)
  if (rules !== null) {
    // IIS writes a plus sign for a space in a value; Zeek writes the code of the separator.
    const template =
      delimiter === COMMA
        ? columnsTemplate(fields, separator, true)
        : wordsTemplate(fields, separator, unset, delimiter === SPACE ? '+' : ' ')
    return columnsForm(template, separator, columns, unset)
  }
  const isEscaped = isRows && !quotes
  const template = isEscaped
    ? escapedColumnsTemplate(fields, separator)
    : columnsTemplate(fields, separator, quotes, !isRows)
  const table = { replaced, quotes, count: fields.length }
  return columnsForm(template, separator, columns, isEscaped ? '\\N' : '', table)
}

export const CSV = definition(
  'csv',
  'table with commas, semicolons or another separator (RFC 4180)',
  'time,client_ip\n2026-07-01T12:00:00Z,81.2.69.142',
  null,
  looksLikeCsv,
)
export const TSV = definition(
  'tsv',
  'table with tabs',
  'time\tclient_ip\n2026-07-01T12:00:00Z\t81.2.69.142',
  null,
  looksLikeTsv,
)
export const W3C = definition(
  'w3c',
  'W3C Extended log (IIS, CloudFront, Blue Coat), also with commas (Exchange)',
  '#Fields: date time c-ip sc-status\n2026-07-01 12:00:00 81.2.69.142 200',
  W3C_DIRECTIVES,
  (sample) => startsWithDirectives(sample, isW3cFields),
)
export const ZEEK = definition(
  'zeek',
  'log of Zeek, with tabs',
  '#separator \\x09\n#fields\tts\tid.orig_h\n#types\ttime\taddr\n1782907200.5\t81.2.69.142',
  ZEEK_DIRECTIVES,
  (sample) => startsWithDirectives(sample, isZeekFields),
)
export const SSV = definition(
  'ssv',
  'table with spaces, whose first line names its columns (VPC flow logs of AWS)',
  'version srcaddr dstport action start\n2 81.2.69.142 443 ACCEPT 1782907200',
  FIRST_LINE,
  looksLikeSpaces,
)
