import { COMMA, SPACE, TAB } from '../../ascii.ts'
import type { FieldRole } from '../../counting/field-values.ts'
import { EnrichError } from '../../errors.ts'
import {
  addedMembers,
  type CommonPlan,
  checkedFields,
  columnNames,
  commonPlan,
  type LineOptions,
  type LocationField,
  type Planned,
} from '../../options.ts'
import {
  chosenAddress,
  chosenTime,
  NumberedField,
  numberedFields,
  refuseTaken,
} from '../../reading/chosen-fields.ts'
import { lineFeedsIn } from '../../reading/layout.ts'
import { RecordFields } from '../../reading/record-fields.ts'
import { requestFieldsIn, w3cRequestFields } from '../../reading/request-fields.ts'
import { firstLines, sampleLines } from '../../reading/sample.ts'
import { valuesOf } from '../delimited/table.ts'
import { type DirectiveRules, type Header, MAX_FIELDS, NO_HEADER } from './header.ts'

export interface HeadedPlan extends CommonPlan {
  readonly format: 'w3c' | 'zeek' | 'ssv'
  /** The byte between the fields of a record. */
  readonly separator: number
  /** Whether values can be quoted. */
  readonly quotes: boolean
  /** How an unknown value is written. */
  readonly unset: string
  /** What is known before the first record: all if the first line is the header, nothing if directives are. */
  readonly header: Header
  /** The line of the header, from 1, counting empty lines; 0 if directives are headers, or the header is removed. */
  readonly headerLine: number
  /** The name of the field of the address, or its index. */
  readonly address: string | number
  /** The field of the time, or the fields of the day and of the time; empty if there is none. */
  readonly time: readonly (string | number)[]
  /** Whether the last of `time` is a time of the day, whose day is in the field before or in `#Date:`. */
  readonly isClock: boolean
  /** The names of the fields of all headers of the sample. */
  readonly names: readonly string[]
  /** The names of the fields of requests, by their roles. */
  readonly requestFields: Readonly<Partial<Record<FieldRole, string>>>
  /** The fields that are appended. */
  readonly fields: readonly LocationField[]
  /** Names of the appended fields in the header. */
  readonly columns: readonly string[]
  /** Whether records become objects. */
  readonly isObject: boolean
}

/** Plans a log whose headers are directives, or, without `rules`, one whose first line is the header. */
export function planHeaded(
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
  const { columns, header, headerLine, separator, records } = read
  const names = columns.map(({ name }) => name)
  if (headerLine === 0 && columns.length === 0 && sampleLines(sample, true, 1).length > 0) {
    throw new EnrichError('ENRICH_HEADER_MISSING', 'none of its first lines names the fields')
  }
  if (columns.length > MAX_FIELDS) {
    throw new EnrichError(
      'ENRICH_FORMAT_UNKNOWN',
      `its header has ${columns.length} fields: ${MAX_FIELDS} are the most that are read`,
    )
  }
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
    separator,
    quotes,
    unset: format === 'zeek' ? header.unset : separator === COMMA ? '' : NO_HEADER.unset,
    header: rules === null ? header : NO_HEADER,
    headerLine: rules === null ? headerLine : 0,
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

/** Headers can move a field: its name is kept, unless it was chosen by its number. */
function keyOf(named: string | undefined): (field: NumberedField | null) => readonly (string | number)[] {
  return (field) =>
    field === null ? [] : [named === undefined || named === field.name ? field.name : field.index]
}

interface ReadSample {
  /** The fields of all headers, each name once. */
  readonly columns: readonly NumberedField[]
  /** The values of each record, by the name of the field, without those that are unknown. */
  readonly records: readonly ReadonlyMap<string, string>[]
  /** The state of the headers after the sample, or the header in the first line. */
  readonly header: Header
  /** The line of the first header; 0 if there is none. */
  readonly headerLine: number
  readonly separator: number
}

/** Reads the records of a sample by the headers before them. @throws EnrichError when the first header is too long */
export function readSample(
  sample: Uint8Array,
  isWhole: boolean,
  rules: DirectiveRules | null,
  quotes: boolean,
  maxLineBytes: number,
): ReadSample {
  // Where records can have spaces, a tab in most of them is the separator.
  const lines = sampleLines(sample, isWhole)
  const ofRecords = lines.filter((line) => rules === null || !line.startsWith('#'))
  const declared = lines.map((line) => rules?.separator(line) ?? null).find((each) => each !== null) ?? null
  const tabbed = ofRecords.filter((line) => line.includes('\t')).length
  const separator = declared ?? (tabbed * 2 > ofRecords.length ? TAB : SPACE)
  const records: Map<string, string>[] = []
  const columns = new Map<string, NumberedField>()
  const encoder = new TextEncoder()
  let header = NO_HEADER
  let headerLine = 0
  const take = (next: Header): void => {
    header = next
    if (columns.size > 0 && next.names.length > MAX_FIELDS) return
    for (const [index, name] of next.names.entries()) {
      if (!columns.has(name)) columns.set(name, new NumberedField(name, index))
    }
  }
  for (const [index, line] of lines.entries()) {
    const bytes = encoder.encode(line)
    const isLong = bytes.length > maxLineBytes
    if (isLong && headerLine === 0) {
      throw new EnrichError(
        'ENRICH_FORMAT_UNKNOWN',
        `a line of its header is longer than ${maxLineBytes} bytes: allow longer lines`,
      )
    }
    if (isLong) continue
    if (rules === null && headerLine === 0) {
      const [first] = firstLines(sample, isWhole, 1)
      headerLine = lineFeedsIn(sample.subarray(0, first?.start)) + 1
      take({ ...NO_HEADER, names: line.split(' ') })
    } else if (rules !== null && line.startsWith('#')) {
      const next = rules.next(header, line)
      if (next.names !== header.names) headerLine ||= index + 1
      take(next)
    } else {
      const values = recordOf(bytes, separator, header.names.length, quotes)
      const known = new Map<string, string>()
      for (const [at, name] of header.names.entries()) {
        const value = values?.[at]
        if (value === undefined) continue
        const isUnknown = value === header.unset || value === header.empty
        columns.get(name)?.add(isUnknown ? null : value)
        if (!isUnknown) known.set(name, value)
      }
      records.push(known)
    }
  }
  return { columns: [...columns.values()], header, headerLine, separator, records }
}

/** The values of a record; `null` if it has another number of fields. */
function recordOf(bytes: Uint8Array, separator: number, width: number, quotes: boolean): string[] | null {
  for (const isQuoted of quotes ? [true, false] : [false]) {
    const fields = new RecordFields(separator, isQuoted, width)
    if (fields.read(bytes, 0, bytes.length) && fields.count === width && fields.textAfterQuote === 0)
      return valuesOf(bytes, fields)
  }
  return null
}

/** The fields of a W3C log that are a day and a time in UTC, or only a time if `#Date:` has the day. */
function clockOf(
  columns: readonly NumberedField[],
  header: Header,
  timeField: string | undefined,
): string[] | null {
  if (timeField !== undefined && timeField !== 'time') return null
  const has = (wanted: string): boolean => columns.some(({ name }) => name === wanted)
  if (!has('time')) return null
  if (has('date')) return ['date', 'time']
  return header.date === '' ? null : ['time']
}
