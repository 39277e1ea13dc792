import type { Format } from '../options.ts'
import { ACCESS_LOG } from './access-log/access-log.ts'
import type { AccessLogPlan } from './access-log/access-log-plan.ts'
import { CSV, TSV } from './delimited/delimited.ts'
import type { DelimitedPlan } from './delimited/delimited-plan.ts'
import type { FormatDefinition } from './format-definition.ts'
import { LIST, type ListPlan } from './list.ts'
import { NDJSON } from './ndjson/ndjson.ts'
import type { NdjsonPlan } from './ndjson/ndjson-plan.ts'

/** What is decided before the first line is read. Plain data: `structuredClone` passes it to worker threads. */
export type Plan = NdjsonPlan | DelimitedPlan | AccessLogPlan | ListPlan

/** All formats, from the strictest to the most lenient: the first that recognises an input is used. */
export const FORMAT_DEFINITIONS: readonly FormatDefinition<Plan>[] = [NDJSON, ACCESS_LOG, LIST, TSV, CSV]

/** The definition of a format. @throws RangeError when there is none */
export function definitionOf(format: Format): FormatDefinition<Plan> {
  const definition = FORMAT_DEFINITIONS.find(({ name }) => name === format)
  if (definition === undefined) throw new RangeError(`the format ${format} has no definition`)
  return definition
}
