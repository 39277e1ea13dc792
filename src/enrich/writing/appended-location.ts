// What access logs and lists append to a line that is kept: its location as JSON, or as columns.
import type { LocationTemplate } from '../../location/rendered-locations.ts'
import { checkedFields, type LineOptions, type LocationField } from '../options.ts'
import { columnsTemplate, jsonTemplate } from './column-templates.ts'

export interface AppendPlan {
  /** Whether lines are kept, each followed by its location. Otherwise lines become JSON objects. */
  readonly append: boolean
  /** The columns that are appended, with a tab before each; `null` to append a tab and the location as JSON. */
  readonly fields: readonly LocationField[] | null
}

/** @throws TypeError when `fields` is wrong, or `append` is given with `to` */
export function appendPlan({ append = false, fields, to }: LineOptions, format: string): AppendPlan {
  if (append && to !== undefined)
    throw new TypeError(`for ${format}, use one of the options "append" and "to"`)
  return { append, fields: fields === undefined ? null : checkedFields(fields) }
}

/** A tab or a line end in a value becomes a space, as in TSV without quotes. */
export function appendTemplate({ append, fields }: AppendPlan): LocationTemplate {
  return append && fields !== null ? columnsTemplate(fields, '\t', false) : jsonTemplate(fields)
}

/** What is appended to a line without a location: a tab and `null`, or empty columns. `null` if lines become objects. */
export function appendedNothing({ append, fields }: AppendPlan): Uint8Array | null {
  if (!append) return null
  return new TextEncoder().encode(fields === null ? '\tnull' : '\t'.repeat(fields.length))
}
