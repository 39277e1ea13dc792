// Locations as columns of a table.
import type { AutonomousSystem } from '../../location/autonomous-systems.ts'
import type { Locale } from '../../location/locale.ts'
import type { Location } from '../../location/location-table.ts'
import type { Offset } from '../../location/timezone.ts'
import { DELETE } from '../ascii.ts'
import type { CommonPlan, LocationField } from '../options.ts'
import {
  fixedText,
  JSON_HEAD,
  JSON_NUMBER,
  JSON_TEMPLATE,
  JSON_TEXT,
  type LocationTemplate,
  type PlainText,
  systemAfter,
  type TextPart,
  textOf,
} from './location-template.ts'
import { SEPARATORS } from './separated-values.ts'

type JsonPlan = Pick<CommonPlan, 'jsonFields'> & Partial<Pick<CommonPlan, 'asn' | 'cells'>>

/** A value of a location, as text; `null` if it is unknown. */
export function fieldText(
  field: LocationField,
  location: Location,
  locale: Locale,
  offset: Offset,
): string | null {
  const part = cellPart(field, (value) => value, JSON_TEXT)
  return textOf(part, location, locale, offset)
}

/** A location in JSON: the whole record after its `ip`, or an object with some columns. With `cells`, the columns as a text. */
export function jsonTemplate({ jsonFields: fields, asn, cells }: JsonPlan): LocationTemplate {
  if (fields !== null && cells !== undefined) {
    const { form, hasAddress } = cells
    if (form !== 'values') return columnsTemplate(fields, SEPARATORS[form], true)
    return hasAddress ? [fixedText(','), ...valuesTemplate(fields)] : valuesTemplate(fields)
  }
  const after = asn === undefined ? [] : systemAfter(`,${JSON.stringify(asn)}:`)
  if (fields === null) return [...JSON_TEMPLATE, ...after]
  const members = fields.flatMap((field, index) => {
    const isNumber = field === 'latitude' || field === 'longitude' || field === 'asn_number'
    const valueText = (value: string | null): string => (isNumber ? (value ?? 'null') : JSON.stringify(value))
    const plain = isNumber ? JSON_NUMBER : JSON_TEXT
    return [fixedText(`${index === 0 ? '{' : ','}"${field}":`), cellPart(field, valueText, plain)]
  })
  return [...members, fixedText('}'), ...after]
}

/** What is written before the address in JSON, if a whole record begins with it; `null` without an address. */
export function jsonHead({ jsonFields, cells }: JsonPlan): string | null {
  if (cells === undefined) return jsonFields === null ? JSON_HEAD : null
  return cells.hasAddress ? '' : null
}

/** What stands for a location in JSON if there is none. */
export function jsonNothing({ asn, cells }: Pick<CommonPlan, 'asn' | 'cells'>): string {
  return asn === undefined || cells !== undefined ? 'null' : `null,${JSON.stringify(asn)}:null`
}

function quotedCell(text: string, delimiter: string): string {
  return text.includes(delimiter) || /["\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

/**
 * Columns of a record, with the delimiter between them.
 *
 * @param quotes whether values can be quoted (RFC 4180 section 2). If not, a delimiter or a line end in a value becomes a
 *   space, because it would end the column
 * @param hasLines whether a value can have line ends. If not, each becomes a space
 */
export function columnsTemplate(
  columns: readonly LocationField[],
  delimiter: string,
  quotes: boolean,
  hasLines = quotes,
): LocationTemplate {
  const special = quotes ? `${delimiter}"` : delimiter
  return columnsOf(columns, delimiter, special, (value) => {
    const text = hasLines ? (value ?? '') : (value ?? '').replace(/[\r\n]/g, ' ')
    return quotes ? quotedCell(text, delimiter) : text.replaceAll(delimiter, ' ')
  })
}

/** Stands between values of {@link valuesTemplate}. It needs no escape in JSON. */
export const VALUE_SEPARATOR = String.fromCharCode(DELETE)

/**
 * Values for a program that makes columns of them, with {@link VALUE_SEPARATOR} between them. An unknown value is empty, and no other
 * value is. A separator in a value becomes a space.
 */
export function valuesTemplate(columns: readonly LocationField[]): LocationTemplate {
  return columnsTemplate(columns, VALUE_SEPARATOR, false, true)
}

/** Where the value of {@link valuesTemplate} ends that begins at `start`. @param end of all its values */
export function endOfValue(bytes: Uint8Array, start: number, end: number): number {
  let at = start
  while (at < end && bytes[at] !== DELETE) at++
  return at
}

const ESCAPES: Readonly<Record<string, string>> = { '\t': '\\t', '\n': '\\n', '\r': '\\r' }

/**
 * Columns without quotes: a backslash escapes characters that would end a value, and an unknown value is `\N`, as in `TabSeparated`
 * of ClickHouse and in the text tables of Hive.
 */
export function escapedColumnsTemplate(
  columns: readonly LocationField[],
  delimiter: string,
): LocationTemplate {
  const special = new RegExp(`[\\\\\\t\\n\\r${delimiter}]`, 'g')
  const escaped = (text: string): string => text.replace(special, (each) => ESCAPES[each] ?? `\\${each}`)
  return columnsOf(columns, delimiter, `${delimiter}\\`, (value) => (value === null ? '\\N' : escaped(value)))
}

/**
 * Columns of formats that write an unknown value as a word of its own, such as `-`. A value cannot hold the delimiter,
 * white space other than a blank, or that word.
 *
 * @param instead stands for the delimiter in a value
 */
export function wordsTemplate(
  columns: readonly LocationField[],
  delimiter: string,
  unset: string,
  instead: string,
): LocationTemplate {
  const word = (text: string): string => {
    const plain = text.replace(/[\t\r\n]/g, ' ').replaceAll(delimiter, instead)
    return plain === unset ? ` ${unset}`.replaceAll(delimiter, instead) : plain
  }
  const special = delimiter + unset
  return columnsOf(columns, delimiter, special, (value) =>
    value === null || value === '' ? unset : word(value),
  )
}

/** @param special characters with which a value is not written as it is, beside those that cannot be printed */
function columnsOf(
  columns: readonly LocationField[],
  delimiter: string,
  special: string,
  cellOf: (value: string | null) => string,
): LocationTemplate {
  return columns.flatMap((column, index) => {
    const cell = cellPart(column, cellOf, { quote: '', special })
    return index === 0 ? [cell] : [fixedText(delimiter), cell]
  })
}

function systemText(
  column: 'asn_number' | 'asn_organization',
  system: AutonomousSystem | null,
): string | null {
  if (system === null) return null
  return column === 'asn_number' ? String(system.number) : system.organization
}

function cellPart<Text>(
  column: LocationField,
  cellOf: (value: string | null) => Text,
  plain: PlainText,
): TextPart<Text> {
  switch (column) {
    case 'city':
      return { from: 'city', text: cellOf, plain }
    case 'postal_code':
      return { from: 'postalCode', text: cellOf, plain }
    case 'latitude':
    case 'longitude':
      return { from: column, text: (value) => cellOf(value === null ? null : String(value)), plain }
    case 'timezone_offset':
      return { from: 'offset', text: ({ text }) => cellOf(text) }
    case 'timezone_id':
      return { from: 'shared', text: ({ timezone }) => cellOf(timezone.id) }
    case 'country_code':
      return { from: 'shared', text: (shared, locale) => cellOf(shared.countryIn(locale).code) }
    case 'country_name':
      return { from: 'shared', text: (shared, locale) => cellOf(shared.countryIn(locale).name) }
    case 'region_code':
      return { from: 'shared', text: (shared, locale) => cellOf(shared.regionIn(locale).code) }
    case 'region_name':
      return { from: 'shared', text: (shared, locale) => cellOf(shared.regionIn(locale).name) }
    case 'asn_number':
    case 'asn_organization':
      return {
        from: 'location',
        hasOffset: false,
        text: (_, { system }) => cellOf(systemText(column, system)),
      }
  }
}
