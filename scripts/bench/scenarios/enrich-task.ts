import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { builtCli } from '../artifacts.ts'
import { accessLines } from '../enrich/access-lines.ts'
import { agreement } from '../enrich/agreement.ts'
import { firstLines, type GrownLog, grownLog, type LogFormat } from '../enrich/grown-log.ts'
import {
  geofixCommand,
  packageVersion,
  pythonWithMaxminddb,
  scriptCommand,
  type Task,
} from '../enrich/programs.ts'
import type { Row, Target } from '../row.ts'
import type { Stage, Subject } from '../stage.ts'

/** Runs a scenario with what it needs; leaves it out with a reason if something is missing. */
export async function withTask(
  stage: Stage,
  { database }: Subject,
  title: string,
  run: (task: Task) => Promise<readonly Row[]>,
): Promise<readonly Row[]> {
  const { peers, skipped } = stage
  if (!database.hasTargets || peers === null) return []
  stage.versions.add(packageVersion(peers, 'maxmind'))
  const folder = join(stage.folder, 'enrich')
  mkdirSync(folder, { recursive: true })
  const task: Task = { database: database.path, cli: builtCli(), peers, folder }
  const disagreement = await disagreementOf(task)
  if (disagreement === null) return run(task)
  skipped.add(`${title}: ${disagreement}`)
  return []
}

/** A Python with maxminddb; `null` if there is none, which the report then says. */
export function pythonOf({ versions, skipped }: Stage): string | null {
  const python = pythonWithMaxminddb()
  if (python === null) skipped.add('Python: apt-get install python3-maxminddb')
  else versions.add(python.version)
  return python?.file ?? null
}

/** The access log grown to a number of lines, in a format. */
export function logOf(stage: Stage, format: LogFormat, count: number): Promise<GrownLog> {
  const { lines, areReal } = accessLines()
  if (!areReal)
    stage.skipped.add('the real access log: it is not here, so lines of the same shape were generated')
  return grownLog(join(stage.folder, 'enrich'), format, lines, count)
}

/** Geofix and the script must agree on this share of the located lines in a sample. */
const SAMPLE_LINES = 2000
const MIN_AGREEMENT = 0.99

/** Checks that Geofix and the script find the same. @returns the difference, or `null` */
async function disagreementOf(task: Task): Promise<string | null> {
  const sample = join(task.folder, 'sample.log')
  writeFileSync(sample, firstLines('access-log', accessLines().lines, SAMPLE_LINES))
  const { located, same, onlyOne, difference } = await agreement(
    geofixCommand(task, 'access-log', sample, ['--append']),
    scriptCommand(task, 'access-log', sample),
  )
  const all = located + onlyOne
  if (located > 0 && same >= MIN_AGREEMENT * all) return null
  return `the script writes the same for ${same} of ${all} lines; ${difference ?? 'for the others only one has a location'}`
}

/** For shorter files the start of the process takes too large a part. */
const MIN_LINES_FOR_TARGETS = 1_000_000

/** The target, or `null` for a log that is too short. */
export function goal(lines: number, target: Target | null): Target | null {
  return lines < MIN_LINES_FOR_TARGETS ? null : target
}
