import { quoted } from '../../errors.ts'
import { EnrichError } from '../errors.ts'
import { AddressMask } from '../masking/address-mask.ts'
import { addedMembers, type Planned } from '../options.ts'
import { refuseTaken } from '../reading/chosen-fields.ts'
import { kindOfValue } from '../reading/field-guess.ts'
import { NoAddressFieldError } from '../reading/field-messages.ts'
import { type Sample, sampleLines } from '../reading/sample.ts'
import { looksLikeVersions } from '../reading/sample-times.ts'
import { WRAPPER } from '../writing/json-text.ts'
import { DEFINITIONS } from './definitions.ts'
import type { FormatDefinition, InputFacts } from './format-definition.ts'
import {
  definitionOf,
  type EnrichOptions,
  type Format,
  formatNote,
  type Plan,
  UNWRITTEN,
  useFormats,
} from './formats.ts'
import { NDJSON } from './ndjson/ndjson.ts'
import { CUSTOM_LOG } from './pattern/pattern.ts'
import { TEXT } from './text/text.ts'
import { textFlags, versionInText } from './text/text-guess.ts'
import { type Enclosed, enclosedIn, inMember, planEnclosing } from './wrapped/member.ts'
import { WRITERS } from './wrapped/prefix.ts'
import { unwrapped, wrapped } from './wrapped/wrapped.ts'

/** The definitions of all formats, in the order of `FORMATS`. */
export const FORMAT_DEFINITIONS: readonly FormatDefinition<Plan>[] = DEFINITIONS

useFormats({ definitions: FORMAT_DEFINITIONS, enclosed, makePlan, textFlags, maskOf: AddressMask.of })

/** The definition for lines after or in what a wrapper writes. */
function enclosed({ format, wrapper, inside }: Plan): FormatDefinition<Plan> {
  if (inside !== undefined) return inMember(inside, definitionOf(inside.format))
  const definition = definitionOf(format)
  return wrapper === undefined ? definition : wrapped(definition, wrapper)
}

/** Makes the plan of an input of any format; see `makePlan` of `formats.ts`, which has checked the options. */
function makePlan(
  sample: Sample,
  options: EnrichOptions & InputFacts,
  more: (format: Format) => EnrichOptions,
): Planned<Plan> {
  const { format, logFormat } = options
  const { bytes } = sample
  // The option `logFormat` decides the format.
  const given = format ?? (logFormat === undefined ? undefined : CUSTOM_LOG.name)
  const candidates = given === undefined ? FORMAT_DEFINITIONS : [definitionOf(given)]
  const mayEnclose = !options.isColumnar && candidates.some(({ name }) => name === NDJSON.name)
  const enclosed = mayEnclose ? enclosedIn(sample, options) : null
  if (enclosed !== null) return planEnclosed(enclosed, { ...options, ...more(NDJSON.name) })
  const inside = insideOf(bytes, options, candidates)
  const definition =
    inside?.definition ??
    (given === undefined ? candidates.find(({ recognise }) => recognise(bytes, options)) : candidates[0])
  if (definition === undefined) throw new EnrichError('ENRICH_FORMAT_UNKNOWN', describeUnknown(bytes))
  const content = inside?.bytes ?? bytes
  const all = { ...options, ...more(definition.name) }
  const make = (): Planned<Plan> => definition.plan({ ...sample, bytes: content }, all)
  const { plan, notes } = options.isColumnar ? make() : orNamingText(content, make)
  const what = sample.isWhole && bytes.length === 0 ? 'the input is empty' : formatNote(definition.name)
  const told = [
    ...(format === undefined ? [what] : []),
    ...(inside === null ? [] : [`each line comes after a prefix that ${WRITERS[inside.wrapper]} writes`]),
  ]
  const hasWrapperMember = all.to !== undefined
  if (inside !== null && (hasWrapperMember || definition.form(plan).kind === 'object'))
    refuseTaken(addedMembers(plan), [WRAPPER], 'a line has', 'member')
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
    const flags = error instanceof NoAddressFieldError ? textFlags(sample) : ''
    if (!(error instanceof NoAddressFieldError) || flags === '') throw error
    throw new EnrichError(error.code, `${error.message}. ${flags}`)
  }
}

/** Makes the plan for objects with lines in a member. Lines that no other format recognises are text. */
function planEnclosed(enclosed: Enclosed, options: EnrichOptions & InputFacts): Planned<Plan> {
  const { sample, wrapper, member } = enclosed
  const outer = planEnclosing(enclosed, options)
  const recognised = FORMAT_DEFINITIONS.find(
    ({ mayBeWrapped, recognise }) => mayBeWrapped && recognise(sample.bytes, options),
  )
  const definition = recognised ?? definitionOf(TEXT.name)
  // Only the location is used of the output for a line.
  const form = { ...UNWRITTEN, timeField: undefined, logFormat: undefined }
  const { plan, notes } = definition.plan(sample, { ...options, ...form })
  const told = `each object has a line in ${quoted(member)}, as ${wrapper} writes it; the format of the lines is ${definition.name}`
  return {
    plan: { ...outer.plan, inside: plan },
    notes: [
      ...(options.format === undefined ? [formatNote(outer.plan.format)] : []),
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
    const definition = wrappable.find(({ recognise }) => recognise(inside.bytes, options))
    if (definition !== undefined) return { ...inside, definition }
  }
  return null
}

/** The error message for an unknown format: what is wrong, and what to do about it. */
function describeUnknown(sample: Uint8Array): string {
  const lines = sampleLines({ bytes: sample, isWhole: true }, 100)
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
    textFlags(sample) || 'No address was found in them. geofix formats lists the formats that are read'
  return `no format fits the lines, the first of which is ${quoted(lines[0] ?? '')}. ${next}`
}
