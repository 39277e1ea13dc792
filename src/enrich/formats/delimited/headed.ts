// Logs whose own lines name their columns: W3C Extended, Zeek, and tables separated by spaces.
import { wrongOption } from '../../../option-names.ts'
import { COMMA, HASH, SPACE, TAB } from '../../ascii.ts'
import { EnrichError, shownName } from '../../errors.ts'
import {
  addedMembers,
  checkedFields,
  columnNames,
  commonPlan,
  type LineOptions,
  type Planned,
} from '../../options.ts'
import { chosenAddress, chosenTime, numberedFields, refuseTaken } from '../../reading/chosen-fields.ts'
import { kindOfValue, SampleField } from '../../reading/field-guess.ts'
import { isAddressName, requestFieldsIn, w3cRequestFields } from '../../reading/known-names.ts'
import { lineFeedsIn, plainLayout } from '../../reading/layout.ts'
import { RecordFields } from '../../reading/record-fields.ts'
import { firstLines, sampleLines } from '../../reading/sample.ts'
import { columnsTemplate, wordsTemplate } from '../../writing/column-templates.ts'
import { columnsForm, jsonForm } from '../../writing/record-form.ts'
import type { FormatDefinition } from '../format-definition.ts'
import {
  type DirectiveRules,
  faultOfHeader,
  type Header,
  isW3cFields,
  isZeekFields,
  MAX_FIELDS,
  NO_DIRECTIVES,
  NO_HEADER,
  W3C_DIRECTIVES,
  ZEEK_DIRECTIVES,
} from './header.ts'
import { valuesOf } from './table.ts'
import { type TablePlan, TableReader } from './table-reader.ts'

export interface HeadedPlan extends TablePlan {
  readonly format: 'w3c' | 'zeek' | 'ssv'
}

/** Plans a log whose headers are directives, or, without `rules`, one whose first line is the header. */
function planHeaded(
  sample: Uint8Array,
  isWhole: boolean,
  options: LineOptions,
  format: HeadedPlan['format'],
  rules: DirectiveRules | null,
): Planned<HeadedPlan> {
  const common = commonPlan(options)
  const fields = checkedFields(options)
  const { field, timeField } = options
  const isObject = options.to !== undefined
  const quotes = format === 'w3c'
  const read = readSample(sample, isWhole, rules, quotes, common.maxLineBytes)
  const { columns, header, headerLine, delimiter, records } = read
  const names = columns.map(({ name }) => name)
  const added = isObject ? addedMembers(common) : columnNames(fields, options)
  const remedy = isObject
    ? 'name another with --into (in a program: into)'
    : 'name other fields with --fields, or other names with --into (in a program: fields, into)'
  refuseTaken(added, names, 'the header has', 'field', remedy)
  const notes: string[] = []
  const sampled = numberedFields(columns)
  const chosen = columns.length === 0 ? null : chosenAddress(field, sampled, common, notes)
  const clock = clockOf(columns, header, timeField)
  const time = clock ?? [chosenTime(timeField, sampled, notes)].flatMap(keyOf(timeField))
  if (clock !== null)
    notes.push(
      header.isLocal
        ? 'the times are local, as #Time Format: says, so that the offset is unknown unless --at says when (in a program: at)'
        : `the time of the event is in ${clock.length === 2 ? clock.join(' and ') : `${clock[0]}, its day in #Date:`}, in UTC`,
    )
  const plan: HeadedPlan = {
    ...common,
    format,
    delimiter,
    quotes,
    unset: format === 'zeek' ? header.unset : delimiter === COMMA ? '' : NO_HEADER.unset,
    header: rules === null ? header : NO_HEADER,
    headerLine,
    hasPort: chosen?.hasPort ?? false,
    address: keyOf(field)(chosen)[0] ?? 0,
    time,
    isClock: clock !== null,
    names,
    requestFields:
      format === 'w3c'
        ? w3cRequestFields(names, (name) => records.flatMap((record) => record.get(name) ?? []))
        : requestFieldsIn((name) => records.map((record) => record.get(name))),
    fields,
    columns: isObject ? [] : added,
    isObject,
  }
  return { plan, notes }
}

/** The plan keeps the name of a field, because a later header can move the field. It keeps the number if the user gave a number. */
function keyOf(named: string | undefined): (field: SampleField | null) => readonly (string | number)[] {
  return (field) =>
    field === null ? [] : [named === undefined || named === field.name ? field.name : field.index]
}

/**
 * Reads the records of a sample by the headers before them.
 *
 * @throws EnrichError when no line is a header, or the first header is too long
 */
function readSample(
  sample: Uint8Array,
  isWhole: boolean,
  rules: DirectiveRules | null,
  quotes: boolean,
  maxLineBytes: number,
) {
  const lines = sampleLines(sample, isWhole)
  const isHeader = (line: string, index: number): boolean =>
    rules === null ? index === 0 : line.startsWith('#')
  // Where records can have spaces, a tab in most of them is the separator.
  const ofRecords = lines.filter((line, index) => !isHeader(line, index))
  const declared = lines.map((line) => rules?.separator(line) ?? null).find((each) => each !== null)
  const tabbed = ofRecords.filter((line) => line.includes('\t')).length
  const delimiter = declared ?? (tabbed * 2 > ofRecords.length ? TAB : SPACE)
  /** The values of each record, by the name of the field, without those that are unknown. */
  const records: ReadonlyMap<string, string>[] = []
  /** The fields of all headers, each name once. */
  const columns = new Map<string, SampleField>()
  const encoder = new TextEncoder()
  let header = NO_HEADER
  for (const [index, line] of lines.entries()) {
    const bytes = encoder.encode(line)
    if (bytes.length > maxLineBytes) {
      if (columns.size > 0) continue
      throw unreadable(`a line of its header is longer than ${maxLineBytes} bytes: allow longer lines`)
    }
    if (isHeader(line, index)) {
      header = rules?.next(header, line) ?? { ...NO_HEADER, names: line.split(' ') }
      if (columns.size > 0 && header.names.length > MAX_FIELDS) continue
      for (const [at, name] of header.names.entries())
        columns.set(name, columns.get(name) ?? new SampleField([name], at))
      continue
    }
    const values = recordOf(bytes, delimiter, header.names.length, quotes)
    const known = new Map<string, string>()
    for (const [at, value] of values.entries()) {
      const name = header.names[at] ?? ''
      const isUnknown = value === header.unset || value === header.empty
      columns.get(name)?.add(isUnknown ? null : value)
      if (!isUnknown) known.set(name, value)
    }
    records.push(known)
  }
  if (columns.size === 0 && lines.length > 0) {
    throw new EnrichError('ENRICH_HEADER_MISSING', 'none of its first lines names the fields')
  }
  if (columns.size > MAX_FIELDS)
    throw unreadable(`its header has ${columns.size} fields: ${MAX_FIELDS} are the most that are read`)
  const [first] = rules === null ? firstLines(sample, isWhole, 1) : []
  /** The line of the header, from 1; 0 if directives are headers, or there is none. */
  const headerLine = first === undefined ? 0 : lineFeedsIn(sample.subarray(0, first.start)) + 1
  return { columns: [...columns.values()], header, headerLine, delimiter, records }
}

function unreadable(message: string): EnrichError {
  return new EnrichError('ENRICH_FORMAT_UNKNOWN', message)
}

/** The values of a record; none if it has another number of fields. */
function recordOf(bytes: Uint8Array, delimiter: number, width: number, quotes: boolean): string[] {
  for (const isQuoted of quotes ? [true, false] : [false]) {
    const fields = new RecordFields(delimiter, isQuoted, width)
    if (fields.read(bytes, 0, bytes.length) && fields.count === width && fields.textAfterQuote === 0)
      return valuesOf(bytes, fields)
  }
  return []
}

/** The fields of a W3C log that are a day and a time in UTC, or only a time if `#Date:` has the day. */
function clockOf(
  columns: readonly SampleField[],
  header: Header,
  timeField: string | undefined,
): string[] | null {
  if (timeField !== undefined && timeField !== 'time') return null
  const has = (wanted: string): boolean => columns.some(({ name }) => name === wanted)
  if (!has('time')) return null
  if (has('date')) return ['date', 'time']
  return header.date === '' ? null : ['time']
}

/** Lines before the first record in which a header is looked for. */
const HEAD_LINES = 50

/** Whether the lines before the first record are directives, one of which names the fields. */
function startsWithDirectives(sample: Uint8Array, namesFields: (line: string) => boolean): boolean {
  for (const line of sampleLines(sample, false, HEAD_LINES)) {
    if (!line.startsWith('#')) return false
    if (namesFields(line)) return true
  }
  return false
}

/** A name of a field: the first line of a table has nothing else. */
const NAME = /^[A-Za-z_][\w.:()/-]*$/
/** A first line with fewer words could be a sentence. */
const MIN_NAMES = 4

/**
 * Whether the first line has four or more names, all different, separated by single spaces, one of which is usual for the
 * client's address, and most other lines have as many words, and addresses or `-` under that name.
 */
function looksLikeSpaces(sample: Uint8Array): boolean {
  const [first = '', ...lines] = sampleLines(sample, false)
  const names = first.split(' ')
  const isHeader =
    names.length >= MIN_NAMES &&
    names.length <= MAX_FIELDS &&
    names.every((name) => NAME.test(name) && kindOfValue(name) === 'other') &&
    new Set(names).size === names.length
  const column = isHeader ? names.findIndex(isAddressName) : -1
  if (column === -1) return false
  const fitting = lines.filter((line) => {
    const words = line.split(' ')
    return words.length === names.length && kindOfValue(words[column] ?? '') !== 'other'
  })
  return lines.length === 0 || fitting.length * 2 > lines.length
}

/** The part of the definition that is the same in all three formats. */
function definition(
  name: HeadedPlan['format'],
  title: string,
  example: string,
  rules: DirectiveRules | null,
  recognise: (sample: Uint8Array) => boolean,
): FormatDefinition<HeadedPlan, Header> {
  return {
    name,
    title,
    example,
    requiredForRows: [],
    recognise,
    plan: (sample, isWhole, options) => planHeaded(sample, isWhole, options, name, rules),
    layout: (plan) => ({
      ...plainLayout(plan),
      headerLine: plan.headerLine,
      directives:
        rules === null
          ? null
          : {
              firstByte: HASH,
              initial: plan.header,
              next: (header, bytes, start, end) =>
                rules.next(header, new TextDecoder().decode(bytes.subarray(start, end))),
            },
    }),
    addressPosition: ({ address }) =>
      typeof address === 'number' ? `in field ${address + 1}` : `in the field ${shownName(address)}`,
    nextFormat: ({ isObject, isClock }) => {
      if (isObject && isClock)
        throw wrongOption`where day and time are two fields, <to> takes one <field>: leave out <to>, and each address gets columns`
      return isObject ? 'ndjson' : name
    },
    stateAfterAdded: ({ address, columns }, header) =>
      faultOfHeader(header, address, columns) === ''
        ? { ...header, names: [...header.names, ...columns] }
        : header,
    form: (plan) => {
      const { fields, delimiter, unset, isObject, columns } = plan
      if (isObject) return jsonForm(plan, 'object')
      const text = String.fromCharCode(delimiter)
      // IIS writes a plus sign for a space in a value; Zeek writes the code of the separator.
      const template =
        delimiter === COMMA
          ? columnsTemplate(fields, text, true)
          : wordsTemplate(fields, text, unset, delimiter === SPACE ? '+' : ' ')
      return columnsForm(template, text, columns, unset)
    },
    fieldNames: (plan) => plan.names,
    makeReader: (plan, wantsFields) => new TableReader(plan, wantsFields, rules ?? NO_DIRECTIVES),
    planRows: null,
  }
}

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
  null,
  looksLikeSpaces,
)
