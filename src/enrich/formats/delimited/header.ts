// The lines that name the columns of the records after them: `#Fields:` of W3C Extended, `#fields` of Zeek, the first of SSV.

import { quoted } from '../../../errors.ts'
import { COMMA, SPACE, TAB } from '../../ascii.ts'
import { EnrichError } from '../../errors.ts'
import type { LocationField, RequestFields } from '../../options.ts'
import { kindOfValue, SampleField } from '../../reading/field-guess.ts'
import { isAddressName, requestFieldsIn, w3cRequestFields } from '../../reading/known-names.ts'
import { lineFeedsIn } from '../../reading/layout.ts'
import { RecordFields } from '../../reading/record-fields.ts'
import { firstLines, type Sample, sampleLines } from '../../reading/sample.ts'
import { type Dialect, valuesOf } from './table.ts'

/** Records with more fields are bad. */
export const MAX_FIELDS = 4096

/** What the directives so far say about the lines after them. Plain data: it goes from block to block, to any thread. */
export interface Header {
  /** The names of the fields; empty before the first header. */
  readonly names: readonly string[]
  /** How an unknown value is written. */
  readonly unset: string
  /** How an empty value is written; '' if no bytes stand for it. */
  readonly empty: string
  /** The day of the last `#Date:` as `2000-10-09`, and its time as `16:44:49`; '' without one. */
  readonly date: string
  readonly time: string
  /** Whether times are of an unknown zone, and not in UTC. */
  readonly isLocal: boolean
}

export const NO_HEADER: Header = { names: [], unset: '-', empty: '', date: '', time: '', isLocal: false }

/** How a format writes directives. */
export interface DirectiveRules {
  /** The header after the directive in `text`. */
  next(header: Header, text: string): Header
  /**
   * What is written after a directive when columns are added to the records; '' if nothing.
   *
   * @param names of the columns
   * @param fields what each of them has
   */
  added(text: string, names: readonly string[], fields: readonly LocationField[]): string
  /** The byte between fields that a directive declares; `null` if it declares none. */
  separator(text: string): number | null
}

/** The first line is the header, and no other changes it. */
export const FIRST_LINE: DirectiveRules = {
  next: (_, text) => ({ ...NO_HEADER, names: text.split(' ') }),
  added: () => '',
  separator: () => null,
}

/** Windows Firewall writes `Local`. Other programs write times in UTC. */
const TIME_FORMAT = /^#Time Format:\s*(\w+)/i
const DATE = /^#Date:\s*(\d{4}-\d\d-\d\d)[ \t]+(\d\d:\d\d:\d\d)/i

/**
 * W3C Extended Log File Format (W3C working draft WD-logfile-960323). `#Fields:` names the fields, separated by white
 * space. Exchange separates them by commas, and the values too. `#Date:` gives the day of records that have only a time.
 */
export const W3C_DIRECTIVES: DirectiveRules = {
  next(header, text) {
    if (isW3cFields(text)) {
      const names = w3cNames(text)
      return { ...header, names: names.split(names.includes(',') ? /\s*,\s*/ : /\s+/) }
    }
    const [, format] = TIME_FORMAT.exec(text) ?? []
    if (format !== undefined) return { ...header, isLocal: format.toLowerCase() === 'local' }
    const [, date, time] = DATE.exec(text) ?? []
    return date === undefined || time === undefined ? header : { ...header, date, time }
  },
  added(text, names) {
    if (!isW3cFields(text)) return ''
    // CloudFront separates the names by spaces, and the values by tabs.
    const separator = [',', '\t'].find((each) => w3cNames(text).includes(each)) ?? ' '
    return names.map((name) => separator + name).join('')
  },
  separator: (text) => (isW3cFields(text) && w3cNames(text).includes(',') ? COMMA : null),
}

function w3cNames(text: string): string {
  return text.slice(text.indexOf(':') + 1).trim()
}

/** Whether a line names the fields of a W3C log. */
export function isW3cFields(text: string): boolean {
  return /^#Fields:\s*\S/i.test(text)
}

/** The Zeek types of the fields that are not strings. */
const ZEEK_TYPES: { readonly [Field in LocationField]?: string } = {
  latitude: 'double',
  longitude: 'double',
  asn_number: 'count',
}
const HEXADECIMAL = /^\\x([0-9a-f]{2})$/i

/**
 * Zeek's tab-separated logs (https://docs.zeek.org/en/master/log-formats.html). `#separator` declares the separator, also
 * of the directives after it, `#fields` the names, `#types` the type of each field, `#unset_field` and `#empty_field` how
 * values are written that are unknown or empty. Any of these can come again, as in rotated files that were joined.
 */
export const ZEEK_DIRECTIVES: DirectiveRules = {
  next(header, text) {
    const [name, ...values] = text.split(zeekSeparator(text))
    if (name === '#fields') return { ...header, names: values }
    if (name === '#unset_field') return { ...header, unset: values[0] ?? '' }
    return name === '#empty_field' ? { ...header, empty: values[0] ?? '' } : header
  },
  added(text, names, fields) {
    const separator = zeekSeparator(text)
    const [name] = text.split(separator)
    if (name === '#fields') return names.map((each) => separator + each).join('')
    if (name !== '#types') return ''
    return fields.map((field) => separator + (ZEEK_TYPES[field] ?? 'string')).join('')
  },
  separator(text) {
    const [, code] = /^#separator (\S+)$/.exec(text) ?? []
    if (code === undefined) return null
    const [, digits] = HEXADECIMAL.exec(code) ?? []
    return digits === undefined ? code.charCodeAt(0) : Number.parseInt(digits, 16)
  },
}

/** The separator of a directive is the byte after its name. */
function zeekSeparator(text: string): string {
  return /^#[a-z_]+(.)/.exec(text)?.[1] ?? '\t'
}

/** Whether a line names the fields of a Zeek log, which are two or more. */
export function isZeekFields(text: string): boolean {
  return /^#fields([\t,|; ])\S+\1/.test(text)
}

/** What is wrong with a header, as text that can follow "line 7: "; '' if nothing is. */
export function faultOfHeader({ names }: Header, address: string | number, added: readonly string[]): string {
  if (names.length === 0) return 'no line before it names its fields'
  if (names.length > MAX_FIELDS) return `its header has ${names.length} fields: ${MAX_FIELDS} are the most`
  const taken = added.find((field) => names.includes(field))
  if (taken !== undefined) return `its header has a field ${taken} already`
  if (typeof address === 'number')
    return address < names.length ? '' : `its header has only ${names.length} fields`
  const count = names.filter((name) => name === address).length
  if (count === 1) return ''
  return count === 0
    ? `its header has no field ${quoted(address)}`
    : `its header has ${count} fields ${quoted(address)}`
}

/** What a sample tells of a table. */
export interface SampledTable extends Dialect {
  /** Whether the first line names the delimiter, as in `sep=;`. It is kept. */
  readonly hasSeparatorLine: boolean
  /** The line with the names of the columns, from 1, counting empty lines; 0 if there is none, or directives name them. */
  readonly headerLine: number
  /** The most lines of a record. */
  readonly maxRecordLines: number
  /** The names of the columns, those of all headers of the sample if directives name them; numbers from 1 without a header. */
  readonly names: readonly string[]
  /** What is known before the first record: nothing if directives name the columns. */
  readonly header: Header
  /** What the added columns have for an unknown value. */
  readonly unset: string
  readonly requestFields: RequestFields
  readonly columns: readonly SampleField[]
  /** The names in the header. */
  readonly titles: readonly string[]
  /** Fields that are a day and a time in UTC together, and a note about them. */
  readonly clock: { readonly fields: readonly string[]; readonly note: string } | null
  /** @throws EnrichError when the header is not one. @param address the index of the column with the address */
  checkHeader?(address: number): void
}

/**
 * Reads the records of a sample by the headers before them.
 *
 * @throws EnrichError when no line is a header, or the first header is too long
 */
export function sampleByHeaders(
  sample: Sample,
  format: string,
  rules: DirectiveRules,
  maxLineBytes: number,
): SampledTable {
  const quotes = format === 'w3c'
  const lines = sampleLines(sample)
  const isHeader = (line: string, index: number): boolean =>
    rules === FIRST_LINE ? index === 0 : line.startsWith('#')
  // Where records can have spaces, a tab in most of them is the separator.
  const ofRecords = lines.filter((line, index) => !isHeader(line, index))
  const declared = lines.map((line) => rules.separator(line)).find((each) => each !== null)
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
      header = rules.next(header, line)
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
  const [first] = rules === FIRST_LINE ? firstLines(sample, 1) : []
  const names = [...columns.keys()]
  return {
    delimiter,
    quotes,
    names,
    titles: names,
    columns: [...columns.values()],
    header: rules === FIRST_LINE ? header : NO_HEADER,
    headerLine: first === undefined ? 0 : lineFeedsIn(sample.bytes.subarray(0, first.start)) + 1,
    hasSeparatorLine: false,
    maxRecordLines: 1,
    unset: format === 'zeek' ? header.unset : delimiter === COMMA ? '' : NO_HEADER.unset,
    requestFields: quotes
      ? w3cRequestFields(names, (name) => records.flatMap((record) => record.get(name) ?? []))
      : requestFieldsIn((name) => records.map((record) => record.get(name))),
    clock: clockOf(names, header),
  }
}

/** The fields of a W3C log that are a day and a time in UTC, or only a time if `#Date:` has the day. */
function clockOf(names: readonly string[], { date, isLocal }: Header): SampledTable['clock'] {
  const hasDay = names.includes('date')
  if (!names.includes('time') || (!hasDay && date === '')) return null
  return {
    fields: hasDay ? ['date', 'time'] : ['time'],
    note: isLocal
      ? 'the times are local, as #Time Format: says, so that the offset is unknown unless --at says when (in a program: at)'
      : `the time of the event is in ${hasDay ? 'date and time' : 'time, its day in #Date:'}, in UTC`,
  }
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

/** Lines before the first record in which a header is looked for. */
const HEAD_LINES = 50

/** Whether the sample begins with directives, and one of them names the fields. */
export function startsWithDirectives(sample: Uint8Array, namesFields: (line: string) => boolean): boolean {
  for (const line of sampleLines({ bytes: sample }, HEAD_LINES)) {
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
 * Whether a sample is a table separated by single spaces. Its first line then has four or more different names, and one of them is
 * usual for the client's address. Most other lines have as many words, with an address or `-` under that name.
 */
export function looksLikeSpaces(sample: Uint8Array): boolean {
  const [first = '', ...lines] = sampleLines({ bytes: sample })
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
