import { quoted } from '../../../address/quoted.ts'
import { ByteSink } from '../../byte-sink.ts'
import { EnrichError, shownName } from '../../errors.ts'
import {
  guessAddress,
  guessTime,
  holdsAddresses,
  isAddressName,
  kindOfValue,
  SampleField,
} from '../../guess.ts'
import type { LineFormat, LineResult } from '../../line-format.ts'
import type { LineLocator } from '../../line-locator.ts'
import {
  type CommonPlan,
  commonPlan,
  type EnrichOptions,
  LOCATION_FIELDS,
  type LocationField,
  type Planned,
} from '../../options.ts'
import { startsJsonArray } from '../../sample.ts'
import type { FormatDefinition } from '../format-definition.ts'
import { RecordFields } from './fields.ts'
import { csvTable, MAX_COLUMNS, type SampleTable, SEMICOLON, TAB, tsvTable } from './table.ts'

export interface DelimitedPlan extends CommonPlan {
  readonly format: 'csv' | 'tsv'
  /** The byte between fields. */
  readonly delimiter: number
  /** Whether fields can be quoted. If not, quotes are text and every line is a record. */
  readonly quotes: boolean
  /** Whether the first line names the delimiter, as in `sep=;`. It is kept. */
  readonly hasSeparatorLine: boolean
  /** Number of the line that names the columns, from 1; empty lines before it count. 0 when there is no header. */
  readonly headerLine: number
  /** Columns of a record. Records with another number of columns are bad. */
  readonly width: number
  /** The column of the address, from 0. */
  readonly address: number
  /** The column of the time, from 0, or `null`. */
  readonly time: number | null
  /** The columns with the location: appended, or put in place of columns as `replaced` says. */
  readonly fields: readonly LocationField[]
  /** For each column the index in `fields` of its new value, or -1. Empty when no column is replaced. */
  readonly replaced: readonly number[]
}

/** Whether most of the first records have as many fields as the first one, two or more, separated by tabs. */
export function looksLikeTsv(sample: Uint8Array): boolean {
  if (startsJsonArray(sample)) return false
  const table = tsvTable(sample, false, sample.length)
  return isTable(table) && (table.separatorLine?.delimiter ?? TAB) === TAB
}

/**
 * Whether most of the first records have as many fields as the first one, two or more, separated by commas,
 * semicolons or the delimiter of a separator line. A file of one column is CSV if the column has a usual name for
 * addresses and holds addresses, or nothing.
 */
export function looksLikeCsv(sample: Uint8Array): boolean {
  // The commas of a JSON array look like those of a table.
  if (startsJsonArray(sample)) return false
  const table = csvTable(sample, false, sample.length)
  if (table.width !== 1) return isTable(table)
  return isAddressName(table.first[0] ?? '') && isColumnOfAddresses(table)
}

function isTable({ width, rows, misfits }: SampleTable): boolean {
  return width > 1 && rows.length > misfits
}

function isColumnOfAddresses({ rows, width }: SampleTable): boolean {
  return (
    rows.length === 1 || columnsOf([], rows.slice(1), width).some((column) => holdsAddresses(column, false))
  )
}

/**
 * Makes the plan for CSV or TSV.
 *
 * @throws EnrichError when the first record has an open quote or too many columns, or the header is too long; when no
 *   column has addresses, or the named one is not there or not unique; when it holds lists and no proxies are trusted;
 *   when there is no header; and when columns to be added are there already
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
  const columns = columnsOf(names, values, width)
  const address = width === 0 ? 0 : addressColumn(field, columns, common.trustedProxies !== null, notes)
  const title = names[address]
  if (title !== undefined && kindOfValue(title) === 'address') {
    throw new EnrichError(
      'ENRICH_HEADER_MISSING',
      `its first line has an address, ${quoted(title)}, where a header has a name: say that there is no header`,
    )
  }
  const time =
    timeField === undefined ? (guessTime(columns)?.column ?? null) : columnNamed(timeField, columns)
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
  columns: readonly Column[],
  isTrusting: boolean,
  notes: string[],
): number {
  if (field === undefined) {
    const { best: chosen } = guessAddress(columns, isTrusting)
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
  const holding = columns.filter((column) => holdsAddresses(column, true))
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

const QUOTE = 0x22
const LINE_FEED = 0x0a
const CARRIAGE_RETURN = 0x0d
const SPACE = 0x20

/**
 * Enriches records of CSV and TSV. A record keeps its bytes, and columns are appended. With `overwrite`, columns that
 * are there already get new values in place. Without a location the columns are empty.
 */
export class DelimitedLines implements LineFormat {
  readonly rewrites = false
  readonly header: LineFormat['header']
  #fault = ''
  readonly #plan: DelimitedPlan
  readonly #locator: LineLocator
  readonly #record: RecordFields
  /** The names of the appended columns, with a delimiter before each. */
  readonly #names: Uint8Array
  /** The same number of empty fields, for a record without a location. */
  readonly #nothing: Uint8Array
  /** Indexes in the plan's fields of the appended columns. */
  readonly #appended: readonly number[]
  /** Values of all of the plan's fields, quoted as in CSV. Used when they cannot be written to the output directly. */
  readonly #answer = new ByteSink(1024)
  readonly #answered: RecordFields

  constructor(plan: DelimitedPlan, locator: LineLocator) {
    this.#plan = plan
    this.#locator = locator
    this.#record = new RecordFields(plan.delimiter, plan.quotes, plan.width)
    this.#answered = new RecordFields(plan.delimiter, true, plan.fields.length)
    this.#appended = [...plan.fields.keys()].filter((index) => !plan.replaced.includes(index))
    const delimiter = String.fromCharCode(plan.delimiter)
    const names = this.#appended.map((index) => delimiter + plan.fields[index])
    this.#names = new TextEncoder().encode(names.join(''))
    this.#nothing = new Uint8Array(this.#appended.length).fill(plan.delimiter)
    if (plan.headerLine > 0)
      this.header = (bytes, start, end, out) => this.#writeHeader(bytes, start, end, out)
  }

  get fault(): string {
    return this.#fault
  }

  line(bytes: Uint8Array, start: number, end: number, out: ByteSink): LineResult {
    const { address, time, width, replaced } = this.#plan
    const record = this.#record
    if (!record.read(bytes, start, end)) {
      this.#fault = record.fault
      return 'bad'
    }
    if (record.count !== width) {
      this.#fault = `it has ${record.count} ${record.count === 1 ? 'column' : 'columns'}, not ${width}`
      return 'bad'
    }
    record.findValue(bytes, address)
    const isLocated = this.#locator.locate(bytes, record.valueStart, record.valueEnd)
    if (time !== null) {
      record.findValue(bytes, time)
      this.#locator.time(bytes, record.valueStart, record.valueEnd)
    }
    if (replaced.length > 0) this.#replace(bytes, isLocated, out)
    else {
      out.writeRange(bytes, start, end)
      if (isLocated) this.#append(out)
      else out.writeRange(this.#nothing, 0, this.#nothing.length)
    }
    return isLocated ? 'resolved' : 'unresolved'
  }

  #writeHeader(bytes: Uint8Array, start: number, end: number, out: ByteSink): void {
    out.writeRange(bytes, start, end)
    out.writeRange(this.#names, 0, this.#names.length)
  }

  #append(out: ByteSink): void {
    const { fields, delimiter, quotes } = this.#plan
    out.writeByte(delimiter)
    const before = out.length
    this.#locator.writeColumns(out, fields, delimiter)
    // If quotes are text, a value must not be quoted.
    if (quotes || !hasQuote(out.room(0), before, out.length)) return
    out.length = before - 1
    this.#ask()
    for (const index of this.#appended) this.#writeAnswered(index, out)
  }

  /** Writes the record with new values in the replaced columns, and then the appended columns. */
  #replace(bytes: Uint8Array, isLocated: boolean, out: ByteSink): void {
    const { width, replaced, delimiter } = this.#plan
    if (isLocated) this.#ask()
    for (let column = 0; column < width; column++) {
      const index = replaced[column] ?? -1
      if (index < 0) {
        if (column > 0) out.writeByte(delimiter)
        out.writeRange(bytes, this.#record.start(column), this.#record.end(column))
      } else if (isLocated) this.#writeAnswered(index, out, column > 0)
      else if (column > 0) out.writeByte(delimiter)
    }
    if (isLocated) for (const index of this.#appended) this.#writeAnswered(index, out)
    else out.writeRange(this.#nothing, 0, this.#nothing.length)
  }

  /** Writes the values of all fields to `#answer` and finds where each of them is. */
  #ask(): void {
    const answer = this.#answer
    answer.length = 0
    this.#locator.writeColumns(answer, this.#plan.fields, this.#plan.delimiter)
    this.#answered.read(answer.room(0), 0, answer.length)
  }

  #writeAnswered(index: number, out: ByteSink, isDelimited = true): void {
    const { quotes, delimiter } = this.#plan
    const bytes = this.#answer.room(0)
    const [start, end] = [this.#answered.start(index), this.#answered.end(index)]
    if (isDelimited) out.writeByte(delimiter)
    if (quotes || bytes[start] !== QUOTE) {
      out.writeRange(bytes, start, end)
      return
    }
    for (let at = start + 1; at < end - 1; at++) {
      const byte = bytes[at] ?? 0
      // Without quotes, a delimiter or a line end in a value would end the field: write a space.
      const isEnd = byte === delimiter || byte === LINE_FEED || byte === CARRIAGE_RETURN
      out.writeByte(isEnd ? SPACE : byte)
      if (byte === QUOTE) at++
    }
  }
}

function hasQuote(bytes: Uint8Array, start: number, end: number): boolean {
  for (let at = start; at < end; at++) if (bytes[at] === QUOTE) return true
  return false
}

export const CSV: FormatDefinition<DelimitedPlan> = {
  name: 'csv',
  options: ['field', 'timeField', 'fields', 'header', 'overwrite'],
  recognise: looksLikeCsv,
  plan: (sample, isWhole, options) => planDelimited(sample, isWhole, options, 'csv'),
  quotedDelimiter: ({ quotes, delimiter }) => (quotes ? delimiter : null),
  addressPosition: ({ address }) => `in column ${address + 1}`,
  makeLines: (plan, locator) => new DelimitedLines(plan, locator),
}

export const TSV: FormatDefinition<DelimitedPlan> = {
  ...CSV,
  name: 'tsv',
  recognise: looksLikeTsv,
  plan: (sample, isWhole, options) => planDelimited(sample, isWhole, options, 'tsv'),
}
