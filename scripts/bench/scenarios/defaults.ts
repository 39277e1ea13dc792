// What people run by default, compared by the processor time of whole processes in turns: the embedded database packed and plain, one
// output beside another, and scripts that do the same job.
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parquetWriteBuffer } from 'hyparquet-writer'
import { installPython } from '../../engine-packages.ts'
import { randomPublicIPv4, seeded } from '../addresses.ts'
import { builtCli, embeddedAsn, embeddedCity, formsOf } from '../artifacts.ts'
import {
  FIGURES,
  geofixCommand,
  ONE,
  reportPrograms,
  SCRIPT,
  scriptCommand,
  type Task,
} from '../enrich/programs.ts'
import { type Program, takeTurns } from '../enrich/whole-process.ts'
import { atMost, DEFAULTS, measurement, type Row, ratioRow } from '../row.ts'
import type { Scenario, Stage, Subject } from '../stage.ts'
import { goal, logOf, pythonOf, withTask } from './enrich-task.ts'

/** The processor time of one program, at most as many times that of the other. */
type Comparison = readonly [ours: string, theirs: string, most: number | null]

/** What takes turns, and what is compared of it. */
interface Contest {
  readonly lines: number
  readonly programs: readonly Program[]
  readonly comparisons: readonly Comparison[]
}

const [APPEND, APPEND_PACKED] = ['--append', '--append, packed']
const [CITIES, CITIES_PACKED] = ['count --by city', 'count --by city, packed']
const [NDJSON, CSV, PARQUET] = ['access log to NDJSON', 'access log to CSV', 'access log to Parquet']

/** Outputs of an access log and counts of it, with the embedded database and its plain file. */
export const accessLog = contest('defaults: access log', async (task, stage) => {
  const { path } = await logOf(stage, 'access-log', stage.scale.lines)
  const { packed } = formsOf(stage.folder, embeddedCity(stage.folder))
  const enrich = (name: string, flags: readonly string[], extension = 'log', database = task.database) => {
    const output = join(task.folder, `output.${extension}`)
    const more = ['--threads', '1', '-o', output, ...flags]
    return programOf(name, geofixCommand({ ...task, database }, 'access-log', path, more), output)
  }
  const count = (name: string, database: string) => {
    const args = ['count', path, '--by', 'city', '--db', database, '--threads', '1', '--to', 'csv']
    return programOf(name, command(task.cli, ...args), join(task.folder, 'output.csv'))
  }
  return {
    lines: stage.scale.lines,
    programs: [
      enrich(APPEND, ['--append']),
      enrich(APPEND_PACKED, ['--append'], 'log', packed),
      count(CITIES, task.database),
      count(CITIES_PACKED, packed),
      enrich(NDJSON, [], 'ndjson'),
      enrich(CSV, [], 'csv'),
      enrich(PARQUET, [], 'parquet'),
      programOf(SCRIPT, scriptCommand(task, 'access-log', path), join(task.folder, 'output.log')),
    ],
    comparisons: [
      [APPEND_PACKED, APPEND, 1.2],
      [CITIES_PACKED, CITIES, 1.2],
      [CSV, NDJSON, 1.2],
      [PARQUET, NDJSON, 2],
      [CITIES, APPEND, 0.6],
      [APPEND, SCRIPT, 1 / 4],
      [NDJSON, SCRIPT, 1 / 3.2],
    ],
  }
})

const SKETCH = 'the sketch with everything in one buffer'

/** The least that a program does for --append. It reads only databases with records of 28 bits, such as GeoLite2-City. */
export const sketched = contest('defaults: sketch', async (task, stage, { database: { path: database } }) => {
  const { path } = await logOf(stage, 'access-log', stage.scale.lines)
  const sketch = join(import.meta.dirname, '../../../../shared/bench/arena/one.cjs')
  if (!existsSync(sketch)) throw new Error('../shared/bench is missing')
  const output = join(task.folder, 'output.log')
  const ours = '--append with GeoLite2-City'
  const more = ['--threads', '1', '-o', output, '--append']
  return {
    lines: stage.scale.lines,
    programs: [
      programOf(ours, geofixCommand({ ...task, database }, 'access-log', path, more), output),
      programOf(SKETCH, command(sketch, 'append', path, output, database), output),
    ],
    comparisons: [[ours, SKETCH, 1.1]],
  }
})

/** NDJSON and CSV that get a location, beside scripts that do the same. */
export const scripted = (['ndjson', 'csv'] as const).map((format) =>
  contest(`defaults: ${format} in and out`, async (task, stage) => {
    const { path } = await logOf(stage, format, stage.scale.lines)
    const output = join(task.folder, `output.${format}`)
    const ours = `${format} in and out`
    return {
      lines: stage.scale.lines,
      programs: [
        programOf(ours, geofixCommand(task, format, path, ['--threads', '1', '-o', output]), output),
        programOf(SCRIPT, scriptCommand(task, format, path), output),
      ],
      comparisons: [[ours, SCRIPT, format === 'csv' ? 1 / 3.5 : 1 / 3.2]],
    }
  }),
)

const REPORT = 'report of an access log'

export const reportBesideScript = contest('defaults: report', async (task, stage) => {
  const log = await logOf(stage, 'access-log', stage.scale.lines)
  const programs = reportPrograms(task, log, pythonOf(stage), embeddedAsn(task.folder))
  return {
    lines: stage.scale.lines,
    programs: programs
      .filter(({ name }) => name === ONE || name === FIGURES)
      .map((program) => (program.name === ONE ? { ...program, name: REPORT } : program)),
    comparisons: [[REPORT, FIGURES, 1 / 2.2]],
  }
})

const [FIRST, EMPTY] = ['geofix IP', 'an empty process']
/** A process takes little, so each of a turn does it as often. */
const FIRST_PROCESSES = 50

export const firstOfCommand = contest('defaults: first answer', ({ cli, folder }) => {
  const output = join(folder, 'output.json')
  const often = (name: string, args: readonly string[]): Program => {
    const loop = `for i in $(seq ${FIRST_PROCESSES}); do "$@"; done`
    return programOf(name, { name, file: 'sh', args: ['-c', loop, 'sh', process.execPath, ...args] }, output)
  }
  return Promise.resolve({
    lines: Number.POSITIVE_INFINITY,
    programs: [often(FIRST, [cli, '81.2.69.142']), often(EMPTY, ['--eval', '0'])],
    comparisons: [[FIRST, EMPTY, 3]],
  })
})

const [COLUMNS, ENRICH_CSV, ENRICH_PARQUET] = ['engine columns', 'CSV in and out', 'Parquet in and out']
const POLARS = 'polars, ASOF join with the exported table'
const ONE_THREAD = ['--threads', '1', '--quiet', '--stats', 'none']
const FIELDS = ['--fields', 'country_code,city', '--at', '2026-07-01']
const GUIDE = join(import.meta.dirname, '../../../src/engines/README.md')

/** Random IPv4 addresses in columns, Parquet and CSV, and the recipe of the guide for polars. */
export const columns = contest('defaults: columns of addresses', (task, stage) => {
  const python = installPython('columns', ['polars==2.1.0', 'pyarrow==26.0.1'])
  const at = (name: string): string => join(task.folder, name)
  const random = seeded(20261126)
  const addresses = Array.from({ length: stage.scale.lines }, () => randomPublicIPv4(random))
  writeFileSync(at('visits.csv'), `ip\n${addresses.join('\n')}\n`)
  writeFileSync(at('requests'), Buffer.concat(requestsOf(addresses)))
  const geofix = (...args: readonly string[]) => command(task.cli, ...args, '--db', task.database)
  const located = (name: string, input: string, output: string): Program => {
    const more = [...FIELDS, '--field', 'ip', '-o', at(output)]
    return programOf(name, geofix('enrich', at(input), ...ONE_THREAD, ...more), at(output))
  }
  const networks = ['--fields', 'country_code,city', '--as', 'integers', '-o', at('networks.parquet')]
  execFileSync(process.execPath, geofix('export', ...networks).args, { stdio: 'ignore' })
  const columnData = [{ name: 'ip', data: addresses, type: 'STRING' as const }]
  writeFileSync(at('visits.parquet'), new Uint8Array(parquetWriteBuffer({ columnData })))
  const recipes = readFileSync(GUIDE, 'utf8').matchAll(/^```python\n(# (ip_key\.py|polars:)[\s\S]*?)^```$/gm)
  for (const [, code = '', name] of recipes)
    writeFileSync(at(name === 'polars:' ? 'polars_recipe.py' : 'ip_key.py'), code)
  const { file, args } = geofix('engine', 'columns', '--times', 'none', ...FIELDS)
  const shell = (name: string, script: string, ...more: readonly string[]): Program =>
    programOf(name, { name, file: 'sh', args: ['-c', script, at('requests'), ...more] }, at('answers'))
  return Promise.resolve({
    lines: stage.scale.lines,
    programs: [
      shell(COLUMNS, 'exec "$@" < "$0"', file, ...args),
      located(ENRICH_CSV, 'visits.csv', 'located.csv'),
      located(ENRICH_PARQUET, 'visits.parquet', 'located.parquet'),
      shell(POLARS, 'cd "$1" && exec "$2" polars_recipe.py', task.folder, join(python, 'bin/python')),
    ],
    comparisons: [
      [COLUMNS, POLARS, 1],
      [ENRICH_CSV, POLARS, null],
      [ENRICH_PARQUET, COLUMNS, 1.5],
    ],
  })
})

/** The requests of `geofix engine columns --times none` for addresses, in batches as its clients send them. */
function requestsOf(addresses: readonly string[], rows = 100_000): Uint8Array[] {
  if (addresses.length === 0) return []
  const batch = addresses.slice(0, rows)
  let length = 0
  const ends = batch.map((address) => (length += address.length))
  const numbers = Uint32Array.from([0x31584647, batch.length, length, 0, 0, ...ends])
  return [
    new Uint8Array(numbers.buffer),
    Buffer.from(batch.join('')),
    ...requestsOf(addresses.slice(rows), rows),
  ]
}

const command = (...args: readonly string[]) => ({ name: 'node', file: process.execPath, args })

function programOf(name: string, whole: Program['processes'][number]['command'], output: string): Program {
  return { name, processes: [{ command: { ...whole, name }, output }] }
}

/** A scenario in which the programs of a contest take turns. Leaves itself out with a reason if something is missing. */
function contest(
  title: string,
  contestOf: (task: Task, stage: Stage, subject: Subject) => Promise<Contest>,
): Scenario {
  return {
    title,
    onlyInFull: true,
    run: (stage, subject) =>
      withTask(stage, subject, title, async (task) => {
        const { plain } = formsOf(stage.folder, embeddedCity(stage.folder))
        const skip = ({ message }: Error): unknown => stage.skipped.add(`${title}: ${message}`)
        try {
          const embedded = { ...task, database: plain, cli: builtCli() }
          const { lines, programs, comparisons } = await contestOf(embedded, stage, subject)
          const runs = await takeTurns(programs, stage.scale.turns, skip)
          const timeOf = (name: string) => {
            const seconds = (runs.get(name) ?? []).flatMap(({ processorSeconds }) => processorSeconds ?? [])
            return seconds.length === 0 ? null : { ...measurement(seconds), unit: 's' as const }
          }
          return comparisons.flatMap(([ours, theirs, most]): Row[] => {
            const [own, other] = [timeOf(ours), timeOf(theirs)]
            if (own === null || other === null) return []
            const target = goal(lines, most === null ? null : atMost(Number(most.toFixed(3))))
            return [
              ratioRow(DEFAULTS, `${ours}: processor time`, own, { name: theirs, figure: other }, target),
            ]
          })
        } catch (error) {
          skip(error instanceof Error ? error : new Error(String(error)))
          return []
        }
      }),
  }
}
