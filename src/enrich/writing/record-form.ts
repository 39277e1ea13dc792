// The forms in which records are written, as data. The engine writes them.
import { wrongOption } from '../../option-names.ts'
import { type CommonPlan, checkedFields, type LineOptions, type LocationField } from '../options.ts'
import { columnsTemplate, jsonNothing, jsonTemplate } from './column-templates.ts'
import { JSON_TEMPLATE, type LocationTemplate, systemAfter } from './location-template.ts'

/**
 * How a record and its location are written:
 * - `object`: an object of the fields of the record, and of its location
 * - `member`: the record, which is an object, with a member for the location
 * - `appended`: the record, and its location after it
 */
export interface RecordForm {
  readonly kind: 'object' | 'member' | 'appended'
  /** How locations are written. */
  readonly template: LocationTemplate
  /** Whether the address is written before what the template writes, as the start of a LocationRecord in JSON. */
  readonly hasAddress: boolean
  /** What is written between the record and its location. */
  readonly before: string
  /** What is written in place of that and the location if there is none. */
  readonly nothing: string
  /** What is written after the header of the records. */
  readonly header?: string
  /** Whether lines are rewritten, so that the input's byte order mark, header and line ends are not kept. */
  readonly rewrites: boolean
}

type MemberPlan = Pick<CommonPlan, 'into' | 'jsonFields' | 'asn' | 'cells'>

/** A record that becomes an object, or gets a member. */
export function jsonForm(plan: MemberPlan, kind: 'object' | 'member'): RecordForm {
  const before = `,${JSON.stringify(plan.into)}:`
  return {
    kind,
    template: jsonTemplate(plan),
    hasAddress: plan.jsonFields === null,
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
    hasAddress: isJson,
    before: '\t',
    nothing: isJson ? (asn === undefined ? '\tnull' : '\tnull\tnull') : '\t'.repeat(fields.length),
    rewrites: false,
  }
}
