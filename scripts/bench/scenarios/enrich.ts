import { availableParallelism } from 'node:os'
import { embeddedAsn } from '../artifacts.ts'
import type { LogFormat } from '../enrich/grown-log.ts'
import {
  COUNT,
  DISTINCT,
  FIGURES,
  GOACCESS,
  geofixPrograms,
  goaccessVersion,
  HALVES,
  ONE,
  reportPrograms,
  SCRIPT,
  SIX_FIELDS,
  scriptProgram,
  TWO,
} from '../enrich/programs.ts'
import { type Program, takeTurns, type WholeRun } from '../enrich/whole-process.ts'
import {
  amountRow,
  atLeast,
  atMost,
  type Figure,
  measurement,
  type Row,
  ratioRow,
  type Target,
} from '../row.ts'
import type { Scenario, Stage } from '../stage.ts'
import { goal, logOf, pythonOf, withTask } from './enrich-task.ts'

/** A comparison of two programs that did the same job, by the time that passed. */
interface Goal {
  readonly ours: string
  readonly theirs: string
  readonly target: Target | null
}

interface Kind {
  readonly title: string
  readonly format: LogFormat
  readonly flags: readonly string[]
  /** How many times as fast as the script with maxmind one thread and two threads must be. */
  readonly times: readonly [one: number, two: number] | null
  readonly lines?: 'lines' | 'moreLines'
  readonly onlyInFull?: boolean
}

const COLUMNS = ['--append', '--fields', SIX_FIELDS]

const KINDS: readonly Kind[] = [
  {
    title: 'access log, --append',
    format: 'access-log',
    flags: ['--append'],
    times: [4, 7],
    onlyInFull: false,
  },
  {
    title: 'access log, --append --fields',
    format: 'access-log',
    flags: COLUMNS,
    times: [4, 7],
    onlyInFull: false,
  },
  { title: 'access log to NDJSON', format: 'access-log', flags: [], times: [3, 5] },
  { title: 'NDJSON of 900 bytes a line', format: 'ndjson', flags: [], times: [5, 8] },
  { title: 'CSV', format: 'csv', flags: [], times: null },
  {
    title: 'long access log, --append',
    format: 'access-log',
    lines: 'moreLines',
    flags: ['--append'],
    times: [4, 7],
  },
]

/** `geofix enrich` beside a script that does the same, as whole processes. */
export const enrichments = KINDS.map(
  ({ title, format, flags, times, lines = 'lines', onlyInFull = true }): Scenario => ({
    title: `enrich: ${title}`,
    onlyInFull,
    run: (stage, subject) =>
      withTask(stage, subject, title, async (task) => {
        const log = await logOf(stage, format, stage.scale[lines])
        const programs = [...geofixPrograms(task, format, log, flags), scriptProgram(task, format, log)]
        const runs = await compete(stage, title, programs)
        const goals = [ONE, TWO].map((ours, index): Goal => {
          return { ours, theirs: SCRIPT, target: times === null ? null : atLeast(times[index] ?? 0) }
        })
        return enrichRows(title, subject.database.name, log.lines, runs, goals)
      }),
  }),
)

/** A report without any lines, beside other programs that count an access log. */
export const enrichReport: Scenario = {
  title: 'enrich: report only',
  onlyInFull: false,
  run: (stage, subject) =>
    withTask(stage, subject, enrichReport.title, async (task) => {
      const goaccess = goaccessVersion()
      if (goaccess !== null) stage.versions.add(`GoAccess ${goaccess}`)
      const log = await logOf(stage, 'access-log', stage.scale.lines)
      const programs = reportPrograms(task, log, pythonOf(stage), embeddedAsn(task.folder))
      const runs = await compete(stage, 'report of an access log', programs)
      const goals = [
        { ours: ONE, theirs: GOACCESS, target: atLeast(6) },
        { ours: ONE, theirs: FIGURES, target: atLeast(1.5) },
        { ours: ONE, theirs: DISTINCT, target: atLeast(1.5) },
        { ours: COUNT, theirs: DISTINCT, target: atLeast(1.5) },
      ]
      return enrichRows('report of an access log', subject.database.name, log.lines, runs, goals)
    }),
}

/** Runs the programs in turns. */
function compete(
  stage: Stage,
  title: string,
  programs: readonly Program[],
): Promise<Map<string, readonly WholeRun[]>> {
  if (availableParallelism() < 2) stage.skipped.add(`${title}: two threads share one core`)
  return takeTurns(programs, stage.scale.turns, ({ message }) => stage.skipped.add(`${title}: ${message}`))
}

const MAX_MEMORY_MB = 250
const MB = 1e6

/** Two threads should do this many times the work of one, or nearly what two processes do that share nothing. */
const MIN_OF_TWO_THREADS = 1.7
const SHARE_OF_TWO_PROCESSES = 0.9

/** Rows for the goals whose programs ran, and for the threads and the memory of Geofix. */
export function enrichRows(
  title: string,
  database: string,
  lines: number,
  runs: ReadonlyMap<string, readonly WholeRun[]>,
  goals: readonly Goal[],
): Row[] {
  const rateOf = (name: string): Figure | null => {
    const seconds = runs.get(name)?.map((run) => run.seconds) ?? []
    if (seconds.length === 0) return null
    return { ...measurement(seconds.map((each) => lines / each)), unit: 'a second' }
  }
  const compare = ({ ours, theirs, target }: Goal): Row[] => {
    const [own, other] = [rateOf(ours), rateOf(theirs)]
    if (own === null || other === null) return []
    const peer = { name: theirs, figure: other }
    return [ratioRow(database, `${title}, ${shortName(ours)}`, own, peer, goal(lines, target))]
  }
  const memory = (name: string): Row[] => {
    const peaks = (runs.get(name) ?? []).flatMap(({ peak }) => peak ?? [])
    if (peaks.length === 0) return []
    const figure: Figure = { ...measurement(peaks.map((bytes) => bytes / MB)), unit: 'MB' }
    const what = `${title}, ${shortName(name)}: peak memory`
    return [amountRow(database, what, figure, goal(lines, atMost(MAX_MEMORY_MB)))]
  }
  const [one, halves] = [rateOf(ONE), rateOf(HALVES)]
  const reachable = one === null || halves === null ? Number.POSITIVE_INFINITY : halves.median / one.median
  const twoThreads = Math.min(MIN_OF_TWO_THREADS, SHARE_OF_TWO_PROCESSES * reachable)
  return [
    ...goals.flatMap(compare),
    ...compare({ ours: TWO, theirs: ONE, target: atLeast(Number(twoThreads.toFixed(2))) }),
    ...compare({ ours: HALVES, theirs: ONE, target: null }),
    ...memory(ONE),
    ...memory(TWO),
  ]
}

/** The name without `geofix, `, for a table whose column says so. */
function shortName(name: string): string {
  return name.replace('geofix, ', '')
}
