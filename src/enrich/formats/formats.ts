import { quoted } from '../../errors.ts'
import { checkValues, isGiven } from '../../option-kinds.ts'
import { wrongOption } from '../../option-names.ts'
import { type CountPlan, unknownKey } from '../count-plan.ts'
import { fieldIndex } from '../counting/field-values.ts'
import { EnrichError } from '../errors.ts'
import { OPTIONS } from '../line-options.ts'
import {
  commonPlan,
  INTO,
  type LineOptions,
  type LocationCells,
  type LocationField,
  OUTPUT_FORMS,
  type Planned,
} from '../options.ts'
import { kindOfValue } from '../reading/field-guess.ts'
import { NoAddressFieldError } from '../reading/field-messages.ts'
import type { Layout } from '../reading/layout.ts'
import { refuseUnreadable, sampleLines } from '../reading/sample.ts'
import { looksLikeVersions } from '../reading/sample-times.ts'
import { ACCESS_LOG } from './access-log/access-log.ts'
import { CSV, TSV } from './delimited/delimited.ts'
import type { FormatDefinition, InputFacts } from './format-definition.ts'
import { SSV, W3C, ZEEK } from './headed/headed.ts'
import { JSON_DOCUMENTS } from './json/json.ts'
import { LIST } from './list.ts'
import { NDJSON } from './ndjson/ndjson.ts'
import { AWS_ALB, AWS_ELB, AWS_S3, CUSTOM_LOG, SQUID } from './pattern/pattern.ts'
import { TEXT } from './text/text.ts'
import { addressInText, TEXT_FLAGS, versionInText } from './text/text-guess.ts'
import { type Enclosed, enclosedIn, inMember, planEnclosing } from './wrapped/member.ts'
import { unwrapped, WRITERS } from './wrapped/prefix.ts'
import { wrapped } from './wrapped/wrapped.ts'

/**
 * All formats, from the strictest to the most lenient: the first that recognises an input is used. To add a format, add
 * its definition here. The types and lists below, the options of the command and its messages follow from it.
 */
const DEFINITIONS = [
  JSON_DOCUMENTS,
  NDJSON,
  W3C,
  ZEEK,
  ACCESS_LOG,
  AWS_ALB,
  AWS_ELB,
  AWS_S3,
  SQUID,
  CUSTOM_LOG,
  SSV,
  LIST,
  TSV,
  CSV,
  TEXT,
] as const

/** The names of the formats. Has no annotation, so that the published types contain names and not definitions. */
export const FORMATS = DEFINITIONS.map(({ name }) => name)

/** The formats of input. `access-log` is the common and combined log format of Apache and nginx. */
export type Format = (typeof FORMATS)[number]

type PlanOf<Definition> = Definition extends FormatDefinition<infer Plan> ? Plan : never

type FormatPlan = PlanOf<(typeof DEFINITIONS)[number]>

/** A plan of any format. It is made before the first line is read. */
export type Plan = FormatPlan & {
  /** The plan for the lines that are in a member of each object; absent if the member is an address. */
  readonly inside?: FormatPlan
  /** The plan that locates another address, in the lines that this one writes; absent if there is none. */
  readonly next?: Plan
}

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

/** The definition of the format of a plan. If the plan has a wrapper, it is for lines after or in what the wrapper writes. */
export function definitionFor({ format, wrapper, inside }: Plan): FormatDefinition<Plan> {
  if (inside !== undefined) return inMember(inside, definitionOf(inside.format))
  const definition = definitionOf(format)
  return wrapper === undefined ? definition : wrapped(definition, wrapper)
}

/** The plan for objects that have the columns of a location as one text. */
export function withCells(plan: Plan, fields: readonly LocationField[], cells: LocationCells): Plan {
  const { next } = plan
  // A line that is kept could have a text of its own in place of the location.
  const onBadLine = plan.onBadLine === 'keep' ? 'raw' : plan.onBadLine
  const own = { ...plan, jsonFields: fields, cells, onBadLine }
  return next === undefined ? own : { ...own, next: withCells(next, fields, cells) }
}

/** The plan for an input whose preamble and header are left out. */
export function withoutHeader(plan: Plan): Plan {
  const own = definitionOf(plan.format).withoutHeader?.(plan) ?? plan
  return plan.next === undefined ? own : { ...own, next: withoutHeader(plan.next) }
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

/** Nothing is added to lines that are not written, so nothing can be in its way. */
const UNWRITTEN = { into: INTO, overwrite: true, to: OUTPUT_FORMS[0] } as const

/**
 * Decides how to read an input whose lines are counted and not written. Throws what `makePlan` and {@link withCounted} do.
 */
export function makeCountPlan(
  sample: Uint8Array,
  isWhole: boolean,
  options: EnrichOptions & InputFacts,
  count: CountPlan,
  isCut = false,
): Planned<Plan> {
  const form = { ...UNWRITTEN, fields: undefined, onBadLine: 'drop' } as const
  const { plan, notes } = makePlan(sample, isWhole, { ...options, ...form }, isCut)
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
  return FORMATS.filter((format) => definitionOf(format).options.some((each) => each === option))
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
 * @param sample the first bytes of the input, decompressed; see `SampleSize`
 * @param isWhole whether the sample is the whole input
 * @param isCut whether the input paused before the sample was full
 * @param more options for lines of a format, once it is known
 * @returns the plan, and notes on what was guessed, to show to the user
 * @throws EnrichError when the input is not lines of UTF-8, its format or fields cannot be guessed, or a member or
 *   column to add exists already
 * @throws TypeError when an option is wrong
 * @throws InvalidLocaleError when `locale` is not a BCP 47 tag
 */
export function makePlan(
  sample: Uint8Array,
  isWhole: boolean,
  options: EnrichOptions & InputFacts,
  isCut = false,
  more: (format: Format) => EnrichOptions = () => ({}),
): Planned<Plan> {
  const { format, logFormat } = options
  checkValues(options, OPTIONS)
  checkFormat(format)
  refuseUnreadable(sample)
  // The option `logFormat` decides the format.
  const given = format ?? (logFormat === undefined ? undefined : CUSTOM_LOG.name)
  const candidates = given === undefined ? FORMAT_DEFINITIONS : [definitionOf(given)]
  const enclosed = candidates.some(({ name }) => name === NDJSON.name)
    ? enclosedIn(sample, isWhole, options)
    : null
  if (enclosed !== null) return planEnclosed(enclosed, isWhole, { ...options, ...more(NDJSON.name) }, isCut)
  const inside = insideOf(sample, options, candidates)
  const definition =
    inside?.definition ??
    (given === undefined ? candidates.find(({ recognise }) => recognise(sample, options)) : candidates[0])
  if (definition === undefined) throw new EnrichError('ENRICH_FORMAT_UNKNOWN', describeUnknown(sample))
  const content = inside?.sample ?? sample
  const all = { ...options, ...more(definition.name) }
  const { plan, notes } = orNamingText(content, () => definition.plan(content, isWhole, all, isCut))
  const told = [
    ...(format === undefined ? [`the format is ${definition.name}`] : []),
    ...(inside === null ? [] : [`each line is behind what ${WRITERS[inside.wrapper]} writes before it`]),
  ]
  const hasWrapperMember = all.to !== undefined
  return {
    plan: inside === null ? plan : { ...plan, wrapper: inside.wrapper, hasWrapperMember },
    notes: [...told, ...notes],
  }
}

/** Makes a plan. If no field has an address, but the text of one has, the error says how to read it. */
function orNamingText<Made>(sample: Uint8Array, make: () => Made): Made {
  try {
    return make()
  } catch (error) {
    if (!(error instanceof NoAddressFieldError) || addressInText(sample) === null) throw error
    throw new EnrichError(error.code, `${error.message}. ${TEXT_FLAGS}`)
  }
}

/** Makes the plan for objects with lines in a member. Lines that no other format recognises are text. */
function planEnclosed(
  enclosed: Enclosed,
  isWhole: boolean,
  options: EnrichOptions & InputFacts,
  isCut: boolean,
): Planned<Plan> {
  const { sample, wrapper, member } = enclosed
  const outer = planEnclosing(enclosed, options)
  const recognised = FORMAT_DEFINITIONS.find(
    ({ mayBeWrapped, recognise }) => mayBeWrapped && recognise(sample, options),
  )
  const definition = recognised ?? definitionOf(TEXT.name)
  // Only the location is used of the output for a line.
  const form = { ...UNWRITTEN, timeField: undefined, logFormat: undefined }
  const { plan, notes } = definition.plan(sample, isWhole, { ...options, ...form }, isCut)
  const told = `each object has a line in ${quoted(member)}, as ${wrapper} writes it; the format of the lines is ${definition.name}`
  return {
    plan: { ...outer.plan, inside: plan },
    notes: [
      ...(options.format === undefined ? [`the format is ${outer.plan.format}`] : []),
      told,
      ...notes,
      ...outer.notes,
    ],
  }
}

/** The lines after what a wrapper writes, and their format; `null` if the input has no wrapper, or no format reads the lines. */
function insideOf(sample: Uint8Array, options: EnrichOptions, candidates: readonly FormatDefinition<Plan>[]) {
  const wrappable = candidates.filter(({ mayBeWrapped }) => mayBeWrapped)
  if (wrappable.length === 0) return null
  for (const inside of unwrapped(sample)) {
    const definition = wrappable.find(({ recognise }) => recognise(inside.sample, options))
    if (definition !== undefined) return { ...inside, definition }
  }
  return null
}

/** The error message for an unknown format: what is wrong, and what to do about it. */
function describeUnknown(sample: Uint8Array): string {
  const lines = sampleLines(sample, true, 100)
  const texts = lines.map((line) => line.trim())
  if (looksLikeVersions(texts)) {
    const example = texts.find((text) => kindOfValue(text) === 'address') ?? ''
    return `the lines look like versions, for example ${quoted(example)}, and not like addresses. If they are addresses, add --format list (in a program: format: 'list')`
  }
  if (/^\s*\{\s*("|$)/.test(lines[0] ?? '')) {
    return 'the input looks like JSON, and no whole object is in its first bytes: check it, as `jq . FILE` does'
  }
  const version = versionInText(sample)
  if (version !== null) {
    return `the addresses in the lines look like versions, for example ${quoted(version)}. If they are addresses, add --format text (in a program: format: 'text')`
  }
  const next =
    addressInText(sample) === null
      ? 'No address was found in them. Lines that are an address each are read with --format list'
      : TEXT_FLAGS
  return `the first lines are none of ${FORMATS.join(', ')}; the first is ${quoted(lines[0] ?? '')}. ${next}`
}
