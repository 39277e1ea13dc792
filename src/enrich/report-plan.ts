// What a report counts beside the locations: when, who and what.
import { COUNTRY, type CountPlan, type Dimension, PLACE, plainPlan } from './count-plan.ts'
import type { FieldRole } from './counting/field-values.ts'
import { countingFields, definitionFor, type Plan } from './formats/formats.ts'

/** Paths can be long, and most of a scan's are asked for once. */
const MAX_PATHS = 100_000

const TIME: Dimension = { kind: 'time', columns: ['day', 'hour'] }
const ADDRESS: Dimension = { kind: 'address', columns: ['ip'], ipv4Bits: 32, ipv6Bits: 128 }

/** The tallies of a report, by their place in `tallies` of the plan. -1: the log has no such field. */
export interface ReportTallies {
  /** Country, name, region, its name, city, address. */
  readonly addresses: number
  /** Day, hour, country, name. The sum is that of the bytes of all answers. */
  readonly times: number
  /** Status, method. */
  readonly statuses: number
  /** Path, status. */
  readonly pages: number
}

/** The fields that a report counts, by what they have. */
export type ReportFields = Readonly<Partial<Record<FieldRole, string>>>

/** The fields of an input that a report counts. */
export function reportFields(plan: Plan): ReportFields {
  return definitionFor(plan).usualFields?.(plan) ?? {}
}

/**
 * The plan of an input of which a report is made, and where its tallies are.
 *
 * @param showsLines whether the report can show the text of lines, which can have addresses
 * @param roles the fields of the first input: all inputs of a run have the same tallies
 */
export function withReport(
  plan: Plan,
  showsLines: boolean,
  roles: ReportFields = reportFields(plan),
): { readonly plan: Plan; readonly tallies: ReportTallies } {
  const { status, method, bytes, path } = roles
  const fields = [...new Set([status, method, bytes, path].filter((name) => name !== undefined))]
  const of = (name: string | undefined, column: string): Dimension[] =>
    name === undefined ? [] : [{ kind: 'field', columns: [column], field: fields.indexOf(name) }]
  const all: CountPlan[] = []
  const add = (
    dimensions: readonly Dimension[],
    more: Partial<Pick<CountPlan, 'maxGroups' | 'summed'>> = {},
  ): number => all.push(plainPlan(dimensions, { fields, ...more })) - 1
  const tallies = {
    addresses: add([PLACE, ADDRESS]),
    times: add([TIME, COUNTRY], { summed: bytes === undefined ? null : fields.indexOf(bytes) }),
    statuses: status === undefined ? -1 : add([...of(status, 'status'), ...of(method, 'method')]),
    pages:
      path === undefined ? -1 : add([...of(path, 'path'), ...of(status, 'status')], { maxGroups: MAX_PATHS }),
  }
  const badLineGroups = showsLines ? 'text' : 'fault'
  return { plan: { ...countingFields(plan, fields), tallies: all, badLineGroups }, tallies }
}
