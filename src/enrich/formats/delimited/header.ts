// The lines that name the columns of the records after them: `#Fields:` of W3C Extended, `#fields` of Zeek.

import { quoted } from '../../../errors.ts'
import { COMMA } from '../../ascii.ts'
import type { LocationField } from '../../options.ts'

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
export const NO_DIRECTIVES: DirectiveRules = {
  next: (header) => header,
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
