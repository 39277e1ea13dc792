// JSON objects, one object a line.
import { quoted } from '../../../errors.ts'
import { EnrichError, shownName } from '../../errors.ts'
import { addedMembers, commonPlan, type LineOptions, type Planned } from '../../options.ts'
import { chosenAddress, chosenTime, refuseTaken, type SampleFields } from '../../reading/chosen-fields.ts'
import { guessAddress, guessTime, kindOfValue, SampleField } from '../../reading/field-guess.ts'
import { type FieldWords, firstTexts, listFault, shellWord } from '../../reading/field-messages.ts'
import { requestFieldsIn } from '../../reading/known-names.ts'
import { plainLayout } from '../../reading/layout.ts'
import { sampleLines } from '../../reading/sample.ts'
import { jsonForm } from '../../writing/record-form.ts'
import type { FormatDefinition } from '../format-definition.ts'
import { fieldsOf, pathOf, pathText, valueAt } from './member-path.ts'
import { type ObjectPlan, ObjectReader } from './object-reader.ts'

export interface NdjsonPlan extends ObjectPlan {
  readonly format: 'ndjson'
  /** Whether a long line that is in a member can be in several objects. */
  readonly hasParts?: boolean
}

/** The levels of objects and arrays that are searched for an address, for a message. */
const MAX_DEPTH = 6
/** Lines checked. At least half must be JSON objects. */
const LINES_CHECKED = 20

/** Whether at least half of the first lines are JSON objects. */
export function looksLikeNdjson(sample: Uint8Array): boolean {
  const lines = sampleLines({ bytes: sample }, LINES_CHECKED)
  // The sample can end within the first line.
  if (lines.length === 1 && /^\s*\{\s*("|\}\s*$)/.test(lines[0] ?? '')) return true
  return lines.length > 0 && objectsIn(lines).length * 2 >= lines.length
}

/**
 * Makes the plan for objects.
 *
 * @param objects those of the sample
 * @param isCut whether a pause cut the sample off
 * @throws EnrichError when no field has addresses, or the named one does not exist; when the field holds lists and no
 *   proxies are trusted; and when the member to be added exists already
 * @throws TypeError, InvalidLocaleError when an option is wrong
 */
export function planObjects<Format extends string>(
  format: Format,
  objects: readonly object[],
  options: LineOptions,
  isCut: boolean,
): Planned<ObjectPlan & { readonly format: Format }> {
  const common = commonPlan(options)
  const members = objects.flatMap((object) => Object.keys(object))
  const refuse = (name: string | undefined, remedy: string): void =>
    refuseTaken(name === undefined ? [] : [name], members, 'there are objects with', 'member', remedy)
  const [into, asn] = addedMembers(common)
  refuse(common.overwrite ? undefined : into, REPLACE)
  refuse(asn, 'add another name, as in --into geo, which adds geo and geo_asn (in a program: into)')
  const notes: string[] = []
  let all: readonly SampleField[] | undefined
  const sampled: SampleFields = {
    // Read only if a field must be guessed, because it finds all members of all objects.
    get fields() {
      all ??= fieldsOf(objects, common.overwrite ? common.into : null)
      return all
    },
    words: WORDS,
    named: (name, option) =>
      fieldAt(objects, namedPath(option, name, objects, sampled, { ...common, isCut }, notes)),
    nothing: () => nothingIn(objects),
  }
  const isEmpty = objects.length === 0 && options.field === undefined
  // Without an object there is nothing to guess from: use the most usual name.
  const address = isEmpty ? new SampleField(['ip']) : chosenAddress(options.field, sampled, common, notes)
  const { path, hasPort } = address
  if (common.trustedProxies === null && address.seen.kinds.list > 0) throw listFault(WORDS.shown(address))
  const timePath = chosenTime(options.timeField, sampled, notes, path)?.path ?? null
  const dotted = (named: string | undefined, names: readonly string[] | null) =>
    isCut && names !== null && names.length > 1 && names.join('.') === named && !isIn(objects, names)
      ? [named]
      : null
  const dottedPath = dotted(options.field, path)
  const dottedTimePath = dotted(options.timeField, timePath)
  const requestFields = requestFieldsIn((name) => {
    const path = pathOf(name, 'field')
    return objects.map((object) => valueAt(object, path))
  })
  const paths = { path, timePath, dottedPath, dottedTimePath }
  return { plan: { ...common, format, hasPort, ...paths, requestFields }, notes }
}

export function isIn(objects: readonly object[], path: readonly string[]): boolean {
  return objects.some((object) => valueAt(object, path) !== undefined)
}

/** The texts and numbers that objects have at a path. */
function fieldAt(objects: readonly object[], path: readonly string[]): SampleField {
  const field = new SampleField(path)
  for (const object of objects) {
    const value = valueAt(object, path)
    if (typeof value === 'string' || typeof value === 'number') field.add(value)
  }
  return field
}

const REPLACE =
  'add --overwrite to replace it, or another name, as in --into geo (in a program: overwrite, into)'

const WORDS: FieldWords = {
  noun: 'member',
  shown: ({ path }) => shownName(pathText(path)),
  typed: ({ path }) => shellWord(pathText(path)),
}

/** What to do if no member holds addresses: they can be in arrays, which are not searched. */
function nothingIn(objects: readonly object[]): string {
  for (const object of objects) {
    const path = addressIn(object, [])
    if (path === null) continue
    const example = shownName(String(valueAt(object, path)))
    return `there is one in an array, ${example}. If it is the client's, add --field ${shellWord(pathText(path))}`
  }
  const [first = {}] = objects
  // Without what is in inner objects and arrays, which can be too deep for `JSON.stringify`.
  const shown = JSON.stringify(first, (_, value: unknown) =>
    value !== first && typeof value === 'object' && value !== null ? '…' : value,
  )
  return `the first object is ${quoted(shown)}. If the address comes in later lines, name its member and add --force, as in --field client.ip --force`
}

/** The path to the first address in arrays or members of an object; `null` when there is none. */
export function addressIn(value: unknown, path: readonly string[]): readonly string[] | null {
  if (typeof value === 'string') return path.length > 0 && kindOfValue(value) === 'address' ? path : null
  if (typeof value !== 'object' || value === null || path.length >= MAX_DEPTH) return null
  for (const [name, inner] of Object.entries(value)) {
    const found = addressIn(inner, [...path, name])
    if (found !== null) return found
  }
  return null
}

/**
 * The path to a named field. The field can be missing in the sample and come later in two cases: `force` is given, or a pause cut
 * the sample off and nothing in it suggests that the user means another name.
 *
 * @throws EnrichError when no object has it otherwise
 */
function namedPath(
  option: 'field' | 'timeField',
  field: string,
  objects: readonly object[],
  sampled: SampleFields,
  { force, isCut }: { readonly force: boolean; readonly isCut: boolean },
  notes: string[],
): readonly string[] {
  const path = pathOf(field, option)
  if (objects.length === 0 || isIn(objects, path)) return path
  // The name of one member can have dots in it.
  if (isIn(objects, [field])) return [field]
  const message = `none of the first ${objects.length} objects has ${quoted(field)}`
  const others = likely(option, sampled.fields)
  if (force || (isCut && others.length === 0)) {
    notes.push(message)
    return path
  }
  const what = option === 'field' ? 'addresses are' : 'a time is'
  const flag = option === 'field' ? '--field' : '--time-field'
  const [other] = others
  const hint =
    other === undefined
      ? `: continue with --force if it comes later`
      : `; ${what} in ${firstTexts(others.map(WORDS.shown), MAX_LISTED)}: use ${flag} ${WORDS.typed(other)}, or continue with --force`
  throw new EnrichError('ENRICH_FIELD_UNKNOWN', message + hint)
}

/** The fields that can be meant by a name that the sample lacks. */
function likely(option: 'field' | 'timeField', fields: readonly SampleField[]): readonly SampleField[] {
  const time = guessTime(fields).best
  if (option === 'timeField') return time === null ? [] : [time]
  const { best, others } = guessAddress(fields, true)
  return best === null ? others : [best, ...others.slice(0, 3)]
}

/** Fields with addresses that a message lists, at most. */
const MAX_LISTED = 8

/** The objects of those texts that are JSON objects. */
export function objectsIn(texts: readonly string[]): object[] {
  return texts.flatMap((text) => {
    // Lines of other formats are not parsed, which would make an error of each.
    if (!/^\s*\{/.test(text)) return []
    try {
      const value: unknown = JSON.parse(text)
      return typeof value === 'object' && value !== null && !Array.isArray(value) ? [value] : []
    } catch {
      return [] // a bad line, which the run will report
    }
  })
}

export const NDJSON: FormatDefinition<NdjsonPlan> = {
  name: 'ndjson',
  title: 'JSON objects, one a line',
  example: '{"ts":"2026-07-01T12:00:00Z","client_ip":"81.2.69.142"}',
  mayBeWrapped: true,
  requiredForRows: ['field', 'at'],
  recognise: looksLikeNdjson,
  plan: (sample, options) =>
    planObjects('ndjson', objectsIn(sampleLines(sample)), options, sample.isCut ?? false),
  layout: plainLayout,
  addressPosition: ({ path }) => `in ${shownName(pathText(path))}`,
  fieldNames: () => null,
  form: (plan) => jsonForm(plan, 'member'),
  makeReader: (plan) => new ObjectReader(plan, { hasUsual: true }),
}
