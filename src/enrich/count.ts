// `count` of `geofix/enrich`: counts the lines of a log instead of writing them.
import { areSystemsOpen } from '../location/autonomous-systems.ts'
import type { DatabaseSet } from '../location/database-set.ts'
import { checkValues } from '../option-kinds.ts'
import { checkOptionNames } from '../option-names.ts'
import {
  COUNTRY,
  type CountPlan,
  countPlan,
  countsSystems,
  type Dimension,
  PLACE,
  plainPlan,
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
import { OPTIONS, optionsOf } from './line-options.ts'
import type { RequestFields } from './options.ts'
import { Run } from './run.ts'
import { type LineInput, LineSource } from './streams.ts'

/** How lines are read and counted. */
export interface CountOptions
  extends Pick<
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
  /**
   * What lines are counted by: `country`, `region`, `city`, `timezone`, `asn`, `network` (also `network/16`, or
   * `network/16/48` for both families), `ip`, `hour`, `day`, `weekday`, `month`, `local_hour`, `reason`, or fields of the log
   * by their names. `asn` needs a resolver that was opened with the option `asn`. A field with the name of a key is written
   * with a slash: `/country`. One text has commas between the keys.
   */
  readonly by: string | readonly string[]
  /** Count the distinct addresses of each row too. Default: false. */
  readonly unique?: boolean | undefined
  /** How many rows are returned, the largest. With times and other keys: how many values of the other keys. Default: all. */
  readonly top?: number | undefined
  /** The IANA time zone of `hour`, `day`, `weekday` and `month`, such as `Europe/Berlin`. Default: UTC. */
  readonly timeZone?: string | undefined
  /** The most groups that are counted, which bounds memory. Lines of later groups are `other`. 1 to 10,000,000. Default: 1,000,000. */
  readonly maxGroups?: number | undefined
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
  const { by: _, unique: __, top, timeZone: ___, maxGroups: ____, ...lineOptions } = options
  if (countsSystems(plan) && !areSystemsOpen(set.systems)) {
    throw new TypeError(
      'to count by "asn", open the resolver with autonomous systems: Resolver.open(source, { asn: true })',
    )
  }
  const source = new LineSource(input)
  const notes: string[] = []
  const run = new Run({
    inputs: [source],
    plan: (sample, isWhole, isCut) => {
      const planned = makeCountPlan(sample, isWhole, lineOptions, plan, isCut)
      notes.push(...planned.notes)
      return planned.plan
    },
    maxLineBytes: lineOptions.maxLineBytes,
    set,
    executor: new LocalExecutor(),
  })
  try {
    await run.complete({ write: async () => {} })
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
  const { by, unique, top: _, timeZone, maxGroups, resolver: __, ...lineOptions } = options
  checkValues(options, OPTIONS)
  checkOptions(lineOptions)
  return countPlan({ by, unique, timeZone, maxGroups })
}

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

/** The fields of an input that a report counts. */
export function reportFields({ inside, requestFields }: Plan): RequestFields {
  return (inside === undefined ? requestFields : inside.requestFields) ?? {}
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
  roles: RequestFields = reportFields(plan),
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
