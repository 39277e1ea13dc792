import { checkValues, isGiven } from '../../option-kinds.ts'
import { wrongOption } from '../../option-names.ts'
import { type CountPlan, unknownKey } from '../count-plan.ts'
import { fieldIndex } from '../counting/field-values.ts'
import { EnrichError } from '../errors.ts'
import { OPTIONS } from '../line-options.ts'
import type { AddressMask } from '../masking/address-mask.ts'
import {
  commonPlan,
  INTO,
  isMasked,
  type LineOptions,
  type LocationCells,
  type LocationField,
  OUTPUT_FORMS,
  type Planned,
} from '../options.ts'
import type { Layout } from '../reading/layout.ts'
import { refuseUnreadable, type Sample } from '../reading/sample.ts'
import { ACCESS_LOG, isAccessLog } from './access-log/access-log.ts'
import type { FormatPlan } from './definitions.ts'
import type { FormatDefinition, FormatOption, InputFacts } from './format-definition.ts'

/**
 * The formats, from the strictest to the most lenient, and the options that affect each, besides those that all have. A new format
 * has a line here and its definition in `definitions.ts`. The options of the command and its messages follow from it.
 */
const OPTIONS_OF = [
  ['json', ['field', 'timeField', 'overwrite']],
  ['ndjson', ['field', 'timeField', 'overwrite']],
  ['w3c', ['field', 'timeField']],
  ['zeek', ['field', 'timeField']],
  ['access-log', ['field', 'append']],
  ['aws-alb', ['field', 'timeField', 'append']],
  ['aws-elb', ['field', 'timeField', 'append']],
  ['aws-s3', ['field', 'timeField', 'append']],
  ['squid', ['field', 'timeField', 'append']],
  ['custom-log', ['field', 'timeField', 'append', 'logFormat']],
  ['ssv', ['field', 'timeField']],
  ['list', ['append']],
  ['tsv', ['field', 'timeField', 'header', 'overwrite', 'maxRecordLines']],
  ['csv', ['field', 'timeField', 'header', 'overwrite', 'maxRecordLines']],
  ['text', ['append', 'annotate', 'nth']],
] as const satisfies readonly (readonly [name: string, options: readonly FormatOption[]])[]

/** The names of the formats. Has no annotation, so that the published types contain names and not definitions. */
export const FORMATS = OPTIONS_OF.map(([name]) => name)

/** The formats of input. `access-log` is the common and combined log format of Apache and nginx. */
export type Format = (typeof FORMATS)[number]

/** A plan of any format. It is made before the first line is read. */
export type Plan = FormatPlan & {
  /** The plan for the lines that are in a member of each object; absent if the member is an address. */
  readonly inside?: FormatPlan
  /** The plans for other addresses of each line, whose locations follow the first; absent if there are none. */
  readonly others?: readonly Plan[]
}

/** How lines are read and what is added to them. */
export interface EnrichOptions extends LineOptions {
  /** Default: detected from the content. */
  readonly format?: Format | undefined
}

/**
 * What a run needs if it reads another format than access logs, or masks addresses. `all-formats.ts` gives it when it is
 * loaded.
 */
export interface AllFormats {
  readonly definitions: readonly FormatDefinition<Plan>[]
  /** The definition for lines after or in what a wrapper writes. */
  readonly enclosed: (plan: Plan) => FormatDefinition<Plan>
  readonly makePlan: (...args: Required<Parameters<typeof makePlan>>) => Planned<Plan>
  readonly textFlags: typeof textFlags
  readonly maskOf: typeof AddressMask.of
}

/** The definitions of all formats; `null` until they are loaded. */
let all: AllFormats | null = null

/** Something needs {@link AllFormats} before they are loaded. {@link withFormats} loads them. */
class MissingFormats extends Error {}

/** @throws MissingFormats */
function allFormats(): AllFormats {
  if (all === null) throw new MissingFormats('the formats besides access-log are not loaded')
  return all
}

/** Sets the definitions of all formats, which `all-formats.ts` does. */
export function useFormats(formats: AllFormats): void {
  all = formats
}

/**
 * Calls a function. If it needs more than access logs, loads {@link AllFormats} and calls the function once more. The
 * command loads them only then.
 *
 * @param load imports `all-formats.ts`
 */
export async function withFormats<Made>(use: () => Made, load: () => Promise<unknown>): Promise<Made> {
  try {
    return use()
  } catch (error) {
    if (!(error instanceof MissingFormats)) throw error
    await load()
    return use()
  }
}

/** How to read lines by the addresses in their text; '' if there are none. */
export function textFlags(sample: Uint8Array): string {
  return allFormats().textFlags(sample)
}

/** The definition of a format. @throws RangeError when there is none */
export function definitionOf(format: Format): FormatDefinition<Plan> {
  if (format === ACCESS_LOG.name) return ACCESS_LOG
  const definition = allFormats().definitions.find(({ name }) => name === format)
  if (definition === undefined) throw new RangeError(`the format ${format} has no definition`)
  return definition
}

/** The definition of the format of a plan. If the plan has a wrapper, it is for lines after or in what the wrapper writes. */
export function definitionFor(plan: Plan): FormatDefinition<Plan> {
  const isPlain = plan.wrapper === undefined && plan.inside === undefined
  return isPlain ? definitionOf(plan.format) : allFormats().enclosed(plan)
}

/** Replaces the addresses of the output; `null` if the plan keeps them. */
export function maskOf(plan: Plan): AddressMask | null {
  const { mask, dropAddress, pseudonymKey } = plan
  return mask === null && !dropAddress && pseudonymKey === null ? null : allFormats().maskOf(plan)
}

/** The plan for objects that have the columns of a location as one text. */
export function withCells(plan: Plan, fields: readonly LocationField[], cells: LocationCells): Plan {
  // A line that is kept could have a text of its own in place of the location.
  const onBadLine = plan.onBadLine === 'keep' ? 'raw' : plan.onBadLine
  const others = plan.others?.map((other) => withCells(other, fields, cells))
  return { ...plan, jsonFields: fields, cells, onBadLine, ...(others !== undefined && { others }) }
}

/**
 * The plan with the values of fields to be counted.
 *
 * @param fields names
 * @throws EnrichError when the records have no field of a name
 */
export function withCounted(plan: Plan, fields: readonly string[]): Plan {
  const names = definitionFor(plan).fieldNames?.(plan)
  const unknown = names === null ? undefined : fields.find((field) => fieldIndex(names ?? [], field) === -1)
  if (unknown !== undefined) throw new EnrichError('ENRICH_FIELD_UNKNOWN', unknownKey(unknown, names ?? []))
  return countingFields(plan, fields)
}

/** The plan with the values of fields to be counted. Records need not have the fields. */
export function countingFields(plan: Plan, fields: readonly string[]): Plan {
  const { inside } = plan
  return { ...plan, counted: fields, ...(inside !== undefined && { inside: { ...inside, counted: fields } }) }
}

/** Options for lines that are counted and not written: nothing is added to them, so no member can exist already. */
export const UNWRITTEN = { into: INTO, overwrite: true, to: OUTPUT_FORMS[0] } as const

/**
 * Decides how to read an input whose lines are counted and not written. Throws what `makePlan` and {@link withCounted} do.
 */
export function makeCountPlan(
  sample: Sample,
  options: EnrichOptions & InputFacts,
  count: CountPlan,
): Planned<Plan> {
  const form = { ...UNWRITTEN, fields: undefined, onBadLine: 'drop' } as const
  const { plan, notes } = makePlan(sample, { ...options, ...form })
  return { plan: { ...withCounted(plan, count.fields), count }, notes }
}

/** Where the header, the directives and the records of an input are. */
export function layoutOf(plan: Plan): Layout {
  return definitionFor(plan).layout(plan)
}

function checkFormat(format: Format | undefined): void {
  if (format !== undefined && !FORMATS.includes(format)) {
    throw wrongOption`<format> must be one of ${FORMATS.join(', ')}`
  }
}

/** The formats that have an option, if only some have it. */
export function formatsWith(option: string): Format[] {
  return OPTIONS_OF.flatMap(([name, options]) => (options.some((each) => each === option) ? [name] : []))
}

/**
 * Refuses options that have no effect on the format: the user has mistaken the option or the input.
 *
 * @param input its name; without it, the user has named the format
 * @throws OptionError when the format does not have a given option
 */
export function checkFit(options: EnrichOptions, format: Format, input?: string): void {
  for (const [name, definition] of Object.entries(OPTIONS)) {
    if (!isGiven(definition, Reflect.get(options, name))) continue
    const formats = formatsWith(name)
    if (formats.length === 0 || formats.includes(format)) continue
    const what = input === undefined ? `not for ${format}` : `and ${input} is ${format}`
    throw wrongOption`<${name}> is for ${formats.join(', ')}, ${what}`
  }
}

/**
 * Checks what can be checked before the input is read.
 *
 * @throws TypeError when an option is wrong, or has no effect on the format that is given
 * @throws InvalidLocaleError when `locale` is not a BCP 47 tag
 */
export function checkOptions(options: EnrichOptions): void {
  checkValues(options, OPTIONS)
  commonPlan(options)
  checkFormat(options.format)
  if (options.format !== undefined) checkFit(options, options.format)
}

/**
 * Decides how to read an input and what to add to it. An input without lines has the format `list`.
 *
 * @param more options for lines of a format, once it is known
 * @returns the plan, and notes on what was guessed, to show to the user
 * @throws EnrichError when the input is not lines of UTF-8, its format or fields cannot be guessed, or a member or
 *   column to add exists already
 * @throws TypeError when an option is wrong
 * @throws InvalidLocaleError when `locale` is not a BCP 47 tag
 */
export function makePlan(
  sample: Sample,
  options: EnrichOptions & InputFacts,
  more: (format: Format) => EnrichOptions = () => ({}),
): Planned<Plan> {
  checkValues(options, OPTIONS)
  checkFormat(options.format)
  refuseUnreadable(sample.bytes)
  if (isMasked(options) || !isAccessLog(sample.bytes, options))
    return allFormats().makePlan(sample, options, more)
  const { plan, notes } = ACCESS_LOG.plan(sample, { ...options, ...more(ACCESS_LOG.name) })
  return { plan, notes: [...(options.format === undefined ? [formatNote(ACCESS_LOG.name)] : []), ...notes] }
}

/** Says which format was recognised. */
export function formatNote(format: Format): string {
  return `the format is ${format}`
}
