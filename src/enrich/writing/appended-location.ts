// What access logs and lists append to a line that is kept: its location as JSON, or as columns.

import { OptionError } from '../../option-names.ts'
import { type CommonPlan, checkedFields, type LineOptions, type LocationField } from '../options.ts'
import { columnsTemplate, jsonTemplate } from './column-templates.ts'
import { JSON_TEMPLATE, type LocationTemplate, systemAfter } from './location-template.ts'

export interface AppendPlan {
  /** Whether lines are kept, each followed by its location. Otherwise lines become JSON objects. */
  readonly append: boolean
  /** The columns that are appended, with a tab before each; `null` to append a tab and the location as JSON. */
  readonly fields: readonly LocationField[] | null
}

/** @throws TypeError when `fields` is wrong, or `append` is given with `to` */
export function appendPlan(options: LineOptions, format: string): AppendPlan {
  const { append = false, fields, to } = options
  if (append && to !== undefined)
    throw new OptionError(({ the }) => `for ${format}, use one of ${the('append', 'to')}`)
  return { append, fields: fields === undefined ? null : checkedFields(options) }
}

/** A tab or a line end in a value becomes a space, as in TSV without quotes. */
export function appendTemplate({
  append,
  fields,
  asn,
}: AppendPlan & Pick<CommonPlan, 'asn'>): LocationTemplate {
  if (append && fields !== null) return columnsTemplate(fields, '\t', false)
  return append && asn !== undefined ? [...JSON_TEMPLATE, ...systemAfter('\t')] : jsonTemplate(fields, asn)
}

/**
 * What is appended to a line without a location: a tab and `null`, also for the autonomous system, or empty columns. `null` if
 * lines become objects.
 */
export function appendedNothing({
  append,
  fields,
  asn,
}: AppendPlan & Pick<CommonPlan, 'asn'>): Uint8Array | null {
  if (!append) return null
  const json = asn === undefined ? '\tnull' : '\tnull\tnull'
  return new TextEncoder().encode(fields === null ? json : '\t'.repeat(fields.length))
}
