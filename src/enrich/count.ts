// `count` of `geofix/enrich`: counts the lines of a log instead of writing them.
import { areSystemsOpen } from '../location/autonomous-systems.ts'
import type { DatabaseSet } from '../location/database-set.ts'
import { checkOptionNames } from '../option-names.ts'
import {
  COUNTRY,
  type CountPlan,
  type CountPlanOptions,
  countPlan,
  countsSystems,
  DETAILS,
  type Dimension,
  PLACE,
  plainPlan,
  type ReportQuery,
} from './count-plan.ts'
import { type CountTable, countNotes, countTable } from './counting/count-rows.ts'
import { type Counts, finishedCounts } from './counting/counts.ts'
import { GroupTotals } from './counting/totals.ts'
import { LocalExecutor } from './executor.ts'
import {
  checkOptions,
  countingFields,
  type EnrichOptions,
  type Format,
  makeCountPlan,
  type Plan,
} from './formats/formats.ts'
import { optionsOf } from './line-options.ts'
import { FIELD_ROLES, type FieldRole, type RequestFields } from './options.ts'
import { Run } from './run.ts'
import { type LineInput, LineSource } from './streams.ts'

/** How lines are read and counted. */
export interface CountOptions
  extends CountPlanOptions,
    Pick<
      EnrichOptions,
      | 'format'
      | 'field'
      | 'header'
      | 'nth'
      | 'logFormat'
      | 'timeField'
      | 'at'
      | 'locale'
      | 'cityNames'
      | 'trustedProxies'
      | 'force'
      | 'onlyCountries'
      | 'notCountries'
      | 'maxLineBytes'
      | 'maxRecordLines'
    > {
  /** How many rows are returned, the largest. With times and other keys: how many values of the other keys. Default: all. */
  readonly top?: number | undefined
}

/** The result of a count. */
export interface CountResult extends CountTable {
  /** All lines, also those that are in no row: blank and unreadable ones. */
  readonly counts: Counts
  readonly format: Format | null
  /** What was guessed, and what is not exact. Show these to the user. */
  readonly notes: readonly string[]
}

/** Counts an input. @param set used until the promise settles */
export async function countLines(
  set: DatabaseSet,
  input: LineInput,
  options: CountOptions,
  plan: CountPlan,
): Promise<CountResult> {
  // Copy: the caller can change the object before the sample has been read.
  const { top, ...lineOptions } = options
  if (countsSystems(plan) && !areSystemsOpen(set.systems)) {
    throw new TypeError(
      'to count by "asn", open the resolver with autonomous systems: Resolver.open(source, { asn: true })',
    )
  }
  const source = new LineSource(input)
  const notes: string[] = []
  const run = new Run({
    inputs: [source],
    plan: (sample) => {
      const planned = makeCountPlan(sample, lineOptions, plan)
      notes.push(...planned.notes)
      return planned.plan
    },
    maxLineBytes: lineOptions.maxLineBytes,
    set,
    executor: new LocalExecutor(),
  })
  try {
    await run.read({ write: async () => {} })
  } catch (error) {
    await source.release(error).catch(() => {})
    throw error
  }
  const totals = run.groups[0] ?? new GroupTotals(plan)
  return {
    ...countTable(totals, top),
    counts: finishedCounts(run.counts),
    format: run.format,
    notes: [...notes, ...countNotes(totals)],
  }
}

/** Checks the options of a count. @throws TypeError, InvalidLocaleError when one is wrong */
export function checkedCountPlan(options: CountOptions & { readonly resolver?: unknown }): CountPlan {
  checkOptionNames('count', options, { ...optionsOf('count'), resolver: true })
  checkOptions(options)
  return countPlan(options)
}

/** Bounds the memory for paths and referrers: they can be long, and a scanner asks for thousands of paths once. */
const MAX_PATHS = 100_000
/** Bounds the user agents: a report parses each of them. */
const MAX_AGENTS = 20_000

const TIME: Dimension = { kind: 'time', columns: ['clock', 'day', 'hour'] }
const DAY: Dimension = { kind: 'time', columns: ['clock', 'day'] }
const ADDRESS: Dimension = { kind: 'address', columns: ['ip'], ipv4Bits: 32, ipv6Bits: 128 }

/** A count of a report by dimensions and fields of requests. The log must have the first of these fields. */
interface ReportTally extends Partial<Pick<CountPlan, 'maxGroups' | 'unique'>> {
  readonly name: ReportQuery
  readonly by: readonly (Dimension | FieldRole)[]
  readonly sumsBytes?: boolean
}

const TALLIES: readonly ReportTally[] = [
  { name: 'addresses', by: [PLACE, ADDRESS] },
  { name: 'times', by: [TIME, COUNTRY], sumsBytes: true },
  { name: 'days', by: [DAY], unique: true },
  { name: 'statuses', by: [TIME, 'status'] },
  { name: 'methods', by: ['method'], maxGroups: MAX_PATHS },
  { name: 'pages', by: ['path', 'status'], maxGroups: MAX_PATHS, sumsBytes: true },
  { name: 'referrers', by: ['referrer'], maxGroups: MAX_PATHS },
  { name: 'agents', by: ['agent'], maxGroups: MAX_AGENTS },
]

/** The fields of an input that a report counts. */
export function reportFields({ inside, requestFields }: Plan): RequestFields {
  return (inside === undefined ? requestFields : inside.requestFields) ?? {}
}

/**
 * Makes the plan of an input for a report.
 *
 * @param showsLines whether the report can show the text of lines, which can have addresses
 * @param roles the fields of the first input: all inputs of a run are counted in the same way
 */
export function withReport(plan: Plan, showsLines: boolean, roles: RequestFields = reportFields(plan)): Plan {
  const fields = [...new Set(FIELD_ROLES.flatMap((role) => roles[role] ?? []))]
  const of = (role: FieldRole): Dimension[] => {
    const name = roles[role]
    return name === undefined ? [] : [{ kind: 'field', columns: [role], field: fields.indexOf(name) }]
  }
  const bytes = roles.bytes === undefined ? null : fields.indexOf(roles.bytes)
  const tallies = TALLIES.flatMap(({ by, sumsBytes = false, ...more }) => {
    const first = by.find((each) => typeof each === 'string')
    if (first !== undefined && roles[first] === undefined) return []
    const dimensions = by.flatMap((each) => (typeof each === 'string' ? of(each) : [each]))
    return [plainPlan(dimensions, { fields, summed: sumsBytes ? bytes : null, ...more })]
  })
  return {
    ...countingFields(plan, fields),
    tallies: [...DETAILS, ...tallies],
    badLineGroups: showsLines ? 'text' : 'fault',
  }
}
