import type { LineOptions } from '../options.ts'
import { ACCESS_LOG } from './access-log/access-log.ts'
import { CSV, TSV } from './delimited/delimited.ts'
import type { FormatDefinition } from './format-definition.ts'
import { LIST } from './list.ts'
import { NDJSON } from './ndjson/ndjson.ts'

/**
 * All formats, from the strictest to the most lenient: the first that recognises an input is used. To add a format, add
 * its definition here. The types and lists below, the options of the command and its messages follow from it.
 */
const DEFINITIONS = [NDJSON, ACCESS_LOG, LIST, TSV, CSV] as const

/** The names of the formats. Has no annotation, so that the published types contain names and not definitions. */
export const FORMATS = DEFINITIONS.map(({ name }) => name)

/** The formats of input. `access-log` is the common and combined log format of Apache and nginx. */
export type Format = (typeof FORMATS)[number]

type PlanOf<Definition> = Definition extends FormatDefinition<infer Plan> ? Plan : never

/** What is decided before the first line is read. */
export type Plan = PlanOf<(typeof DEFINITIONS)[number]>

export const FORMAT_DEFINITIONS: readonly FormatDefinition<Plan>[] = DEFINITIONS

/** How lines are read and what is added to them. */
export interface EnrichOptions extends LineOptions {
  /** Default: detected from the content. */
  readonly format?: Format | undefined
}

/** The definition of a format. @throws RangeError when there is none */
export function definitionOf(format: Format): FormatDefinition<Plan> {
  const definition = FORMAT_DEFINITIONS.find(({ name }) => name === format)
  if (definition === undefined) throw new RangeError(`the format ${format} has no definition`)
  return definition
}
