import { quoted } from '../../address/quoted.ts'
import { kindOfValue } from '../address-field.ts'
import { type CommonPlan, commonPlan, type Planned } from '../common-plan.ts'
import { EnrichError } from '../errors.ts'
import type { EnrichOptions } from '../options.ts'
import { sampleLines } from '../sample.ts'
import { shownName } from '../shown-name.ts'
import { chooseAddress, chooseTime, type Leaves, leavesOf } from './candidates.ts'
import { pathOf, pathText, valueAt } from './path.ts'

export interface NdjsonPlan extends CommonPlan {
  readonly format: 'ndjson'
  /** Names of members, and indexes of arrays, from the object of the line to the address. */
  readonly path: readonly string[]
  /** The same to the time, or `null`. */
  readonly timePath: readonly string[] | null
}

/** Lines of which at least half must be objects. */
const LINES_TOLD_BY = 20

/** Whether at least half of the first lines are JSON objects. */
export function looksLikeNdjson(sample: Uint8Array): boolean {
  const lines = sampleLines(sample, false, LINES_TOLD_BY)
  // An only line can be cut off.
  if (lines.length === 1 && /^\s*\{\s*("|\}\s*$)/.test(lines[0] ?? '')) return true
  return lines.length > 0 && objectsIn(lines).length * 2 >= lines.length
}

/**
 * Plans for JSON objects, one a line.
 *
 * @throws EnrichError when no field has addresses or the one named is nowhere, when it holds lists and nobody is
 *   trusted, and when the member to be added is there already
 * @throws TypeError, InvalidLocaleError when an option is wrong
 */
export function planNdjson(
  sample: Uint8Array,
  isWhole: boolean,
  options: EnrichOptions,
): Planned<NdjsonPlan> {
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
  const leaves = leavesOf(objects, except)
  const notes: string[] = []
  const path =
    namedPath('field', options.field, objects, leaves, common.force) ??
    guessedPath(objects, leaves, common, notes)
  if (common.trustedProxies === null && objects.some((object) => isList(valueAt(object, path)))) {
    throw new EnrichError(
      'ENRICH_FIELD_IS_LIST',
      `${shownName(pathText(path))} holds lists of addresses, of which a caller can write the left part: say which proxies are trusted`,
    )
  }
  let timePath = namedPath('timeField', options.timeField, objects, leaves)
  if (timePath === null) {
    timePath = chooseTime(objects, except)
    if (timePath !== null) notes.push(`the time of the event is in ${shownName(pathText(timePath))}`)
  }
  return { plan: { ...common, format: 'ndjson', path, timePath }, notes }
}

function isList(value: unknown): boolean {
  return typeof value === 'string' && kindOfValue(value) === 'list'
}

function guessedPath(
  objects: readonly object[],
  leaves: Leaves,
  { trustedProxies }: CommonPlan,
  notes: string[],
): readonly string[] {
  const { best, others } = chooseAddress(leaves, trustedProxies !== null)
  if (best !== null) {
    const rest = others.length === 0 ? '' : ` (addresses are also in ${listed(others)})`
    notes.push(`the address is in ${shownName(pathText(best))}${rest}`)
    return best
  }
  // Without any object there is nothing to be enriched, and nothing to be guessed from.
  if (objects.length === 0) return ['ip']
  const first = quoted(JSON.stringify(objects[0]))
  const found =
    others.length === 0 ? `none holds any (the first is ${first})` : `some are in ${listed(others)}`
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
  leaves: Leaves,
  isForced = false,
): readonly string[] | null {
  if (field === undefined) return null
  const path = pathOf(field, option)
  const isThere = (names: readonly string[]) => objects.some((object) => valueAt(object, names) !== undefined)
  if (objects.length === 0 || isThere(path)) return path
  // A member whose own name has dots in it.
  if (isThere([field])) return [field]
  if (isForced) return path
  const { best, others } = chooseAddress(leaves, true)
  const known = best === null ? others : [best, ...others]
  const hint = option === 'field' && known.length > 0 ? `; addresses are in ${listed(known)}` : ''
  throw new EnrichError(
    'ENRICH_FIELD_UNKNOWN',
    `none of the first ${objects.length} objects has ${quoted(field)}${hint}`,
  )
}

function listed(paths: readonly (readonly string[])[]): string {
  return paths.map((path) => shownName(pathText(path))).join(', ')
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
