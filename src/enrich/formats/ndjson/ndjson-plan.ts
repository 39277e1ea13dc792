import { quoted } from '../../../errors.ts'
import { EnrichError, shownName } from '../../errors.ts'
import { guessAddress, guessTime, kindOfValue, SampleField } from '../../guess.ts'
import { type CommonPlan, commonPlan, type LineOptions, type Planned } from '../../options.ts'
import { sampleLines } from '../../sample.ts'
import { pathOf, pathText, valueAt } from './member-path.ts'

export interface NdjsonPlan extends CommonPlan {
  readonly format: 'ndjson'
  /** Names of members, and indexes of arrays, from the object of the line to the address. */
  readonly path: readonly string[]
  /** The same for the time; `null` when there is none. */
  readonly timePath: readonly string[] | null
}

/** Lines checked. At least half must be JSON objects. */
const LINES_CHECKED = 20

/** Whether at least half of the first lines are JSON objects. */
export function looksLikeNdjson(sample: Uint8Array): boolean {
  const lines = sampleLines(sample, false, LINES_CHECKED)
  // The sample can end within the first line.
  if (lines.length === 1 && /^\s*\{\s*("|\}\s*$)/.test(lines[0] ?? '')) return true
  return lines.length > 0 && objectsIn(lines).length * 2 >= lines.length
}

/**
 * Makes the plan for JSON objects, one object a line.
 *
 * @throws EnrichError when no field has addresses, or the named one is not there; when it holds lists and no proxies
 *   are trusted; and when the member to be added is there already
 * @throws TypeError, InvalidLocaleError when an option is wrong
 */
export function planNdjson(sample: Uint8Array, isWhole: boolean, options: LineOptions): Planned<NdjsonPlan> {
  const common = commonPlan(options)
  const objects = objectsIn(sampleLines(sample, isWhole))
  const taken = objects.findIndex((object) => Object.hasOwn(object, common.into))
  if (taken !== -1 && !common.overwrite) {
    throw new EnrichError(
      'ENRICH_FIELD_EXISTS',
      `there are objects with a member ${quoted(common.into)} already: choose another name for what is added, or overwrite it`,
    )
  }
  const except = common.overwrite ? common.into : null
  const fields = fieldsOf(objects, except)
  const notes: string[] = []
  const path =
    namedPath('field', options.field, objects, fields, common.force) ??
    guessedPath(objects, fields, common, notes)
  if (common.trustedProxies === null && objects.some((object) => isList(valueAt(object, path)))) {
    throw new EnrichError(
      'ENRICH_FIELD_IS_LIST',
      `${shownName(pathText(path))} holds lists of addresses, whose left part any caller can write: say which proxies are trusted`,
    )
  }
  let timePath = namedPath('timeField', options.timeField, objects, fields)
  if (timePath === null) {
    timePath = guessTime(fields)?.path ?? null
    if (timePath !== null) notes.push(`the time of the event is in ${shownName(pathText(timePath))}`)
  }
  return { plan: { ...common, format: 'ndjson', path, timePath }, notes }
}

function isList(value: unknown): boolean {
  return typeof value === 'string' && kindOfValue(value) === 'list'
}

function guessedPath(
  objects: readonly object[],
  fields: readonly SampleField[],
  { trustedProxies }: CommonPlan,
  notes: string[],
): readonly string[] {
  const { best, others } = guessAddress(fields, trustedProxies !== null)
  if (best !== null) {
    const rest = others.length === 0 ? '' : ` (addresses are also in ${listed(others.slice(0, 3))})`
    notes.push(`the address is in ${shownName(pathText(best.path))}${rest}`)
    return best.path
  }
  // Without an object there is nothing to guess from: use the most usual name.
  if (objects.length === 0) return ['ip']
  const first = quoted(JSON.stringify(objects[0]))
  const found =
    others.length === 0
      ? `none holds any (the first is ${first})`
      : `some are in ${listed(others.slice(0, MAX_LISTED))}`
  throw new EnrichError(
    'ENRICH_FIELD_UNKNOWN',
    `no member with a usual name holds addresses; ${found}: name the field`,
  )
}

/** @returns `null` when no field is named */
function namedPath(
  option: 'field' | 'timeField',
  field: string | undefined,
  objects: readonly object[],
  fields: readonly SampleField[],
  isForced = false,
): readonly string[] | null {
  if (field === undefined) return null
  const path = pathOf(field, option)
  const isThere = (names: readonly string[]) => objects.some((object) => valueAt(object, names) !== undefined)
  if (objects.length === 0 || isThere(path)) return path
  // The name of one member can have dots in it.
  if (isThere([field])) return [field]
  if (isForced) return path
  const { best, others } = guessAddress(fields, true)
  const known = (best === null ? others : [best, ...others.slice(0, 3)]).slice(0, MAX_LISTED)
  const hint = option === 'field' && known.length > 0 ? `; addresses are in ${listed(known)}` : ''
  throw new EnrichError(
    'ENRICH_FIELD_UNKNOWN',
    `none of the first ${objects.length} objects has ${quoted(field)}${hint}`,
  )
}

function listed(fields: readonly SampleField[]): string {
  return fields.map(({ path }) => shownName(pathText(path))).join(', ')
}

/** Fields with addresses that a message lists, at most. */
const MAX_LISTED = 8
/** Levels of objects, and fields, that are considered in a sample, at most. */
const MAX_DEPTH = 5
const MAX_FIELDS = 2000
/** Fields with more characters in the names of their path are not considered. */
const MAX_PATH_CHARS = 256

/**
 * Collects the fields of objects: members with text, and members with a number and a usual name for a time. It
 * considers the first 2,000, up to five levels deep, with paths of up to 256 characters. Arrays are skipped.
 *
 * @param except name of a member of the outermost objects that is skipped, or `null`
 */
export function fieldsOf(objects: readonly object[], except: string | null): SampleField[] {
  const fields = new Map<string, SampleField>()
  const visit = (value: unknown, path: readonly string[], length: number): void => {
    if (typeof value === 'string' || typeof value === 'number') addValue(fields, path, value)
    else if (
      typeof value === 'object' &&
      value !== null &&
      !Array.isArray(value) &&
      path.length < MAX_DEPTH
    ) {
      for (const [name, inner] of Object.entries(value)) {
        const inside = length + name.length
        const isSkipped = inside > MAX_PATH_CHARS || (path.length === 0 && name === except)
        if (!isSkipped) visit(inner, [...path, name], inside)
      }
    }
  }
  for (const object of objects) visit(object, [], 0)
  return [...fields.values()]
}

function addValue(fields: Map<string, SampleField>, path: readonly string[], value: string | number): void {
  const key = pathText(path)
  let field = fields.get(key)
  if (field === undefined) {
    if (fields.size >= MAX_FIELDS) return
    field = new SampleField(path)
    if (typeof value === 'number' && field.timeRank === Number.POSITIVE_INFINITY) return
    fields.set(key, field)
  }
  field.add(value)
}

function objectsIn(lines: readonly string[]): object[] {
  const objects: object[] = []
  for (const line of lines) {
    let value: unknown
    try {
      value = JSON.parse(line)
    } catch {
      continue // a bad line, which the run will report
    }
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) objects.push(value)
  }
  return objects
}
