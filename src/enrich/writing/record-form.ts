// The forms in which records are written, as data. The engine writes them.
import { wrongOption } from '../../option-names.ts'
import { type CommonPlan, checkedFields, type LineOptions, type LocationField } from '../options.ts'
import { columnsTemplate, jsonHead, jsonNothing, jsonTemplate } from './column-templates.ts'
import { JSON_HEAD, JSON_TEMPLATE, type LocationTemplate, systemAfter } from './location-template.ts'

/**
 * How a record and its location are written:
 * - `object`: an object of the fields of the record, and of its location
 * - `member`: the record, which is an object, with a member for the location
 * - `appended`: the record, and its location after it; with `columns`, some of its own columns are replaced
 * - `places`: the record, with a place at each of its addresses
 */
export interface RecordForm {
  readonly kind: 'object' | 'member' | 'appended' | 'places'
  /** How locations are written. */
  readonly template: LocationTemplate
  /** What is written before the address. What the template writes comes after the address. `null` to write no address. */
  readonly head: string | null
  /** Whether what the template writes is a text. It becomes a string of JSON after the address. */
  readonly isText?: boolean
  /** What is written between the record and its location. */
  readonly before: string
  /** What is written when a record has no location. `before` is then left out too. */
  readonly nothing: string
  /** What is written after the header of the records. */
  readonly header?: string
  /** For each column of the record the index of its new value, or -1; and how columns are written. */
  readonly columns?: ReplacedColumns
  /** Whether lines are rewritten, so that the input's byte order mark, header and line ends are not kept. */
  readonly rewrites: boolean
}

/** Stands for the address in a place. Neither values nor texts have control characters. */
export const ADDRESS_MARK = 0

export interface ReplacedColumns {
  readonly replaced: readonly number[]
  readonly count: number
  readonly delimiter: number
  readonly quotes: boolean
}

type MemberPlan = Pick<CommonPlan, 'into' | 'jsonFields' | 'asn' | 'cells'>

/** A record that becomes an object, or gets a member. */
export function jsonForm(plan: MemberPlan, kind: 'object' | 'member'): RecordForm {
  const before = `,${JSON.stringify(plan.into)}:`
  return {
    kind,
    template: jsonTemplate(plan),
    head: jsonHead(plan),
    isText: plan.cells !== undefined,
    before,
    nothing: before + jsonNothing(plan),
    rewrites: kind === 'object',
  }
}

/** The plan of a format whose lines become objects, or are kept with `append`. */
export interface AppendPlan {
  /** Whether lines are kept, each followed by its location. Otherwise lines become JSON objects. */
  readonly append: boolean
  /** The columns that are appended, with a tab before each; `null` to append a tab and the location as JSON. */
  readonly fields: readonly LocationField[] | null
}

/** @throws TypeError when `fields` is wrong, or `append` is given with `to` */
export function appendPlan(options: LineOptions, format: string): AppendPlan {
  const { append = false, fields, to } = options
  if (append && to !== undefined) throw wrongOption`for ${format}, use one of <append, to>`
  return { append, fields: fields === undefined ? null : checkedFields(options) }
}

/**
 * Lines that become objects, or are kept, each followed by a tab and the location as JSON, or by columns. Without a location,
 * a tab and `null` follow, also for the autonomous system, or empty columns. A tab or a line end in a column becomes a space,
 * as in TSV without quotes.
 */
export function lineForm(plan: AppendPlan & MemberPlan): RecordForm {
  const { append, fields, asn } = plan
  if (!append) return jsonForm(plan, 'object')
  const isJson = fields === null
  const json = asn === undefined ? JSON_TEMPLATE : [...JSON_TEMPLATE, ...systemAfter('\t')]
  return {
    kind: 'appended',
    template: isJson ? json : columnsTemplate(fields, '\t', false),
    head: isJson ? JSON_HEAD : null,
    before: '\t',
    nothing: isJson ? (asn === undefined ? '\tnull' : '\tnull\tnull') : '\t'.repeat(fields.length),
    rewrites: false,
  }
}

/**
 * Columns after the record, with a separator before each; or in place of those of the record that have these names.
 *
 * @param unset stands for an unknown value
 */
export function columnsForm(
  template: LocationTemplate,
  separator: string,
  names: readonly string[],
  unset: string,
  table: Omit<ReplacedColumns, 'delimiter'> | null = null,
): RecordForm {
  const isReplacing = table !== null && table.replaced.length > 0
  const appended = isReplacing ? names.filter((_, index) => !table.replaced.includes(index)) : names
  const count = table?.count ?? names.length
  return {
    kind: 'appended',
    template,
    head: null,
    before: separator,
    nothing: (separator + unset).repeat(count),
    header: appended.map((name) => separator + name).join(''),
    rewrites: false,
    ...(isReplacing && {
      columns: { replaced: table.replaced, count, delimiter: separator.charCodeAt(0), quotes: table.quotes },
    }),
  }
}
