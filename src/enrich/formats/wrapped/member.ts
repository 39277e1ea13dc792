// Lines of other formats in a member of JSON objects, one object a line.

import type { CommonPlan, LineOptions, MemberWrapper, Planned } from '../../options.ts'
import { guessAddress } from '../../reading/field-guess.ts'
import { sampleLines } from '../../reading/sample.ts'
import type { FormatDefinition } from '../format-definition.ts'
import { fieldsOf, pathOf, valueAt } from '../ndjson/member-path.ts'
import { isIn, NDJSON, type NdjsonPlan, objectsIn, planNdjson } from '../ndjson/ndjson.ts'
import { ObjectReader } from '../ndjson/object-reader.ts'

/**
 * Where wrappers put a line and its time.
 * - `docker`: the json-file logging driver of Docker, and what Fluent Bit makes of it
 * - `journald`: systemd.io `JOURNAL_EXPORT_FORMATS`, Journal JSON Format
 */
const MEMBERS: Readonly<Record<MemberWrapper, { line: string; time: string; also: readonly string[] }>> = {
  docker: { line: 'log', time: 'time', also: ['stream'] },
  journald: { line: 'MESSAGE', time: '__REALTIME_TIMESTAMP', also: [] },
}

/** The share of the objects of a sample that must have the members. */
const SHARE = 0.9

/** Objects of a sample with lines in them. */
export interface Enclosed {
  readonly wrapper: MemberWrapper
  readonly objects: readonly object[]
  /** The name of the member with the line. */
  readonly member: string
  /** The lines. */
  readonly sample: Uint8Array
}

/** The lines in the objects of a sample; `null` if no wrapper writes such objects, or if they have a field for the address. */
export function enclosedIn(sample: Uint8Array, isWhole: boolean, options: LineOptions): Enclosed | null {
  const { field } = options
  const objects = objectsIn(sampleLines(sample, isWhole))
  if (objects.length === 0 || (field !== undefined && isIn(objects, pathOf(field, 'field')))) return null
  for (const wrapper of ['docker', 'journald'] as const) {
    const { line, time, also } = MEMBERS[wrapper]
    const having = objects.filter((object) =>
      [line, time, ...also].every((name) => Object.hasOwn(object, name)),
    )
    if (having.length < SHARE * objects.length) continue
    if (guessAddress(fieldsOf(objects, line), false).best !== null) return null
    const texts = having.map((object) => {
      const text = valueAt(object, [line])
      return typeof text === 'string' ? text.replace(/[\r\n]+/g, ' ') : ''
    })
    return { wrapper, objects, member: line, sample: new TextEncoder().encode(`${texts.join('\n')}\n`) }
  }
  return null
}

/** Makes the plan for the objects around lines. Throws what `planNdjson` does. */
export function planEnclosing(
  { wrapper, objects, member }: Enclosed,
  options: LineOptions,
): Planned<NdjsonPlan> {
  // Plan without the text of the lines: a list of addresses at the start of a line is not the value of a field.
  const without = objects.map((object) => ({ ...object, [member]: '' }))
  const { timeField = `/${MEMBERS[wrapper].time}` } = options
  return planNdjson(without, { ...options, field: `/${member}`, timeField, force: true }, false)
}

/** The definition for objects whose lines have a format of their own. */
export function inMember<Plan extends CommonPlan & { readonly format: string }>(
  inside: Plan,
  definition: FormatDefinition<Plan>,
): FormatDefinition<NdjsonPlan> {
  return {
    ...NDJSON,
    fieldNames: () => definition.fieldNames?.(inside) ?? null,
    usualFields: () => definition.usualFields?.(inside) ?? {},
    makeReader: (plan, wantsFields) =>
      new ObjectReader(plan, { content: definition.makeReader(inside, wantsFields) }),
  }
}
