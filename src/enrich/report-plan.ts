// What a report counts beside the locations: when, who and what.
import { COUNTRY, type CountPlan, type Dimension, PLACE, plainPlan } from './count-plan.ts'
import type { FieldRole } from './counting/field-values.ts'
import { countingFields, definitionFor, type Plan } from './formats/formats.ts'

/** Paths can be long, and most of a scan's are asked for once. So can referrers. */
const MAX_PATHS = 100_000
/** A report parses each of them. */
const MAX_AGENTS = 20_000

const TIME: Dimension = { kind: 'time', columns: ['day', 'hour'] }
const DAY: Dimension = { kind: 'time', columns: ['day'] }
const ADDRESS: Dimension = { kind: 'address', columns: ['ip'], ipv4Bits: 32, ipv6Bits: 128 }

/** The tallies of a report, by their place in `tallies` of the plan. -1: the log has no such field. */
export interface ReportTallies {
  /** Country, name, region, its name, city, address. */
  readonly addresses: number
  /** Day, hour, country, name. The sums are those of the bytes of the answers. */
  readonly times: number
  /** Day. Distinct addresses are counted. */
  readonly days: number
  /** Day, hour, status. */
  readonly statuses: number
  /** Method. */
  readonly methods: number
  /** Path, status. The sums are those of the bytes of the answers. */
  readonly pages: number
  /** Referrer. */
  readonly referrers: number
  /** User agent. */
  readonly agents: number
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
  const { status, method, bytes, path, referrer, agent } = roles
  const fields = [
    ...new Set([status, method, bytes, path, referrer, agent].filter((name) => name !== undefined)),
  ]
  const of = (name: string | undefined, column: string): Dimension[] =>
    name === undefined ? [] : [{ kind: 'field', columns: [column], field: fields.indexOf(name) }]
  const all: CountPlan[] = []
  const add = (
    dimensions: readonly Dimension[],
    more: Partial<Pick<CountPlan, 'maxGroups' | 'summed' | 'unique'>> = {},
  ): number => all.push(plainPlan(dimensions, { fields, ...more })) - 1
  const summed = bytes === undefined ? null : fields.indexOf(bytes)
  const one = (name: string | undefined, column: string, maxGroups: number): number =>
    name === undefined ? -1 : add(of(name, column), { maxGroups })
  const tallies = {
    addresses: add([PLACE, ADDRESS]),
    times: add([TIME, COUNTRY], { summed }),
    days: add([DAY], { unique: true }),
    statuses: status === undefined ? -1 : add([TIME, ...of(status, 'status')]),
    methods: one(method, 'method', MAX_PATHS),
    pages:
      path === undefined
        ? -1
        : add([...of(path, 'path'), ...of(status, 'status')], { maxGroups: MAX_PATHS, summed }),
    referrers: one(referrer, 'referrer', MAX_PATHS),
    agents: one(agent, 'agent', MAX_AGENTS),
  }
  const badLineGroups = showsLines ? 'text' : 'fault'
  return { plan: { ...countingFields(plan, fields), tallies: all, badLineGroups }, tallies }
}
