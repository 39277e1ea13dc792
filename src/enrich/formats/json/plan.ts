import { wrongOption } from '../../../option-names.ts'
import { BRACE, SPACE } from '../../ascii.ts'
import { shownName } from '../../errors.ts'
import { type LineOptions, omittingOption, type Planned } from '../../options.ts'
import { guessAddress } from '../../reading/field-guess.ts'
import { markLength, sampleLines, startsJsonArray } from '../../reading/sample.ts'
import { fieldsOf, pathOf, pathText } from '../ndjson/member-path.ts'
import { addressIn, isIn, type ObjectPlan, objectsIn, planObjects } from '../ndjson/plan.ts'
import { JsonElements } from './json-elements.ts'
import { longestArray } from './longest-array.ts'

export interface JsonPlan extends ObjectPlan {
  readonly format: 'json'
  /** The names of members from a document to the array of objects; `null` if the documents are the objects. */
  readonly array: readonly string[] | null
  /** Whether objects are written as lines, without the documents around them. */
  readonly isSplit: boolean
}

/** Objects of the sample that are looked at. */
const MAX_OBJECTS = 1000

/**
 * Whether an input is JSON that is not one object a line: an array of objects, an object with a long array of objects in
 * which its addresses are, or objects over several lines or several in a line.
 */
export function looksLikeJson(sample: Uint8Array, { field }: LineOptions): boolean {
  if (startsJsonArray(sample)) return true
  if (!startsObject(sample)) return false
  const lines = sampleLines(sample, false)
  const inLines = objectsIn(lines)
  const isNdjson = inLines.length * 2 >= lines.length
  // If the lines have the member that the user named, the address is in it and not in an array.
  if (isNdjson && field !== undefined && isIn(inLines, pathOf(field, 'field'))) return false
  if (arrayOf(sample) !== null) return true
  const { records, objects } = elementsOf(sample, null)
  return !isNdjson && objects.length > 0 && objects.length * 2 >= records
}

/**
 * Makes the plan for JSON documents.
 *
 * @throws EnrichError as `planObjects` does
 * @throws TypeError, InvalidLocaleError when an option is wrong, or would leave out an element of a document
 */
export function planJson(
  sample: Uint8Array,
  _: boolean,
  options: LineOptions,
  isCut = false,
): Planned<JsonPlan> {
  const array = startsJsonArray(sample) ? [] : arrayOf(sample)
  const isSplit = options.to !== undefined
  const { plan, notes } = planObjects(elementsOf(sample, array).objects, options, isCut)
  if (!isSplit) refuseOmissions(options)
  const where =
    array === null
      ? []
      : [`the objects are in ${array.length === 0 ? 'an array' : `the array ${shownName(pathText(array))}`}`]
  return { plan: { ...plan, format: 'json', array, isSplit }, notes: [...where, ...notes] }
}

/** @throws TypeError when an option would remove elements but keep their commas */
function refuseOmissions(options: LineOptions): void {
  const option = omittingOption(options)
  if (option === undefined) return
  throw wrongOption`<${option}> leaves elements out, and the input is a JSON document, which is kept whole: write the objects as lines with --to ndjson (in a program: to: 'ndjson')`
}

function startsObject(sample: Uint8Array): boolean {
  const brace = sample.subarray(markLength(sample)).find((byte) => byte > SPACE)
  return brace === BRACE
}

/** The path to the array of a document that has the objects with addresses; `null` if there is none. */
function arrayOf(sample: Uint8Array): readonly string[] | null {
  const found = longestArray(sample)
  if (found === null || found.size * 2 < found.documentSize) return null
  // An address outside of the array is that of the whole object.
  if (guessAddress(fieldsOf(objectsIn([found.around]), null), true).best !== null) return null
  const { objects } = elementsOf(sample, found.path)
  return objects.some((object) => addressIn(object, []) !== null) ? found.path : null
}

/** The number of records in a sample, and the elements that are objects. */
function elementsOf(
  sample: Uint8Array,
  path: readonly string[] | null,
): { readonly records: number; readonly objects: readonly object[] } {
  const elements = new JsonElements(path)
  elements.reset(sample)
  const decoder = new TextDecoder()
  const texts: string[] = []
  for (let start = markLength(sample); start < sample.length && texts.length < MAX_OBJECTS; ) {
    const end = elements.next(start, sample.length, false)
    if (end === -1) break
    texts.push(decoder.decode(sample.subarray(elements.contentStart, end + 1)))
    start = end + 1
  }
  return { records: texts.length, objects: objectsIn(texts) }
}
