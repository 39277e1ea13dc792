import { writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { type BenchDatabase, builtCli } from '../artifacts.ts'
import type { Command } from '../child.ts'
import { agreement } from '../enrich/agreement.ts'
import { firstLines, type TrafficFile, type TrafficFormat, trafficFile } from '../enrich/traffic.ts'
import { takeTurns, type WholeRun } from '../enrich/whole-process.ts'
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

/** Geofix and the script must agree on this share of the located lines in a sample. */
const SAMPLE_LINES = 2000
const MIN_AGREEMENT = 0.99

/** `geofix enrich` compared with a script that does the same, as whole processes. */
export const enrichNdjson = enrichScenario('enrich NDJSON', 'ndjson')
export const enrichAccessLog = enrichScenario('enrich combined log', 'access-log')

function enrichScenario(title: string, format: TrafficFormat): Scenario {
  const run: Scenario['run'] = async (stage, { database }) => {
    const { scale, peers, folder, skipped } = stage
    if (!database.hasTargets || peers === null) return []
    stage.versions.add(maxmindVersion(peers))
    const task: Task = { format, database: database.path, cli: builtCli(), peers }
    const disagreement = await disagreementOf(stage, task)
    if (disagreement !== null) {
      skipped.add(`${title}: ${disagreement}`)
      return []
    }
    const hasTwo = availableParallelism() >= 2
    if (!hasTwo) skipped.add(`${title}, ${TWO}: there is one core`)
    const file = await trafficFile(folder, format, scale.lines)
    const commands = contenders(task, file, hasTwo)
    const runs = await takeTurns(commands, scale.turns, ({ message }) => skipped.add(`${title}, ${message}`))
    return enrichRows(title, database, scale.lines, runs)
  }
  return { title, onlyInFull: true, run }
}

function contenders(task: Task, { path, packed }: TrafficFile, hasTwo: boolean): Command[] {
  return [
    // First, so that the others find the file in the page cache.
    { name: 'cat', file: 'cat', args: [path] },
    { name: 'gzip -dc', file: 'gzip', args: ['-dc', packed] },
    geofix(task, path, ONE),
    ...(hasTwo ? [geofix(task, path, TWO)] : []),
    script(task, path, PEER),
    script(task, path, RAW),
  ]
}

/** Checks that Geofix and the script do the same. @returns the difference, or `null` */
async function disagreementOf({ folder, scale }: Stage, task: Task): Promise<string | null> {
  const sample = join(folder, `enrich-sample.${task.format}`)
  writeFileSync(sample, firstLines(task.format, SAMPLE_LINES, scale.lines))
  const { located, same, onlyOne, difference } = await agreement(
    geofix(task, sample, ONE),
    script(task, sample, PEER),
  )
  const all = located + onlyOne
  if (located > 0 && same >= MIN_AGREEMENT * all) return null
  return `the script writes the same for ${same} of ${all} lines; ${difference ?? 'for the others only one has a location'}`
}

function maxmindVersion(peers: string): string {
  const { version }: { version: string } = createRequire(join(peers, 'any.js'))('maxmind/package.json')
  return `maxmind ${version}`
}

const SCRIPT = join(import.meta.dirname, '../enrich/script.mjs')

/** Names of contenders. */
export const ONE = 'one thread'
export const TWO = 'two threads'
export const PEER = 'script with maxmind, same record'
export const RAW = 'script with maxmind, raw record'

/** The task of all contenders. */
export interface Task {
  readonly format: TrafficFormat
  /** Path of the uncompressed database. */
  readonly database: string
  /** Path of the command. */
  readonly cli: string
  /** Folder that has maxmind in its node_modules. */
  readonly peers: string
}

export function geofix(
  { format, database, cli }: Task,
  file: string,
  name: typeof ONE | typeof TWO,
): Command {
  const threads = name === ONE ? '1' : '2'
  const fields = format === 'ndjson' ? ['--field', 'client_ip', '--time-field', 'ts'] : []
  const how = ['--db', database, '--threads', threads, '--quiet', '--stats', 'none', ...fields]
  return { name, file: process.execPath, args: [cli, 'enrich', file, ...how] }
}

export function script(
  { format, database, peers }: Task,
  file: string,
  name: typeof PEER | typeof RAW,
): Command {
  const answer = name === PEER ? 'record' : 'raw'
  return { name, file: process.execPath, args: [SCRIPT, database, file, format, answer, peers] }
}

/** For shorter files the start of the process takes too large a part. */
const MIN_LINES_FOR_TARGETS = 1_000_000

/** Limit for memory in addition to the database. */
const MAX_MEMORY_MB = 300
const MB = 1e6

/** Rows for the contenders that ran, by name. */
export function enrichRows(
  title: string,
  database: BenchDatabase,
  lines: number,
  runs: ReadonlyMap<string, readonly WholeRun[]>,
): Row[] {
  const target = (wanted: Target): Target | null => (lines < MIN_LINES_FOR_TARGETS ? null : wanted)
  const beside = (ours: string, theirs: string, wanted: Target | null): Row[] => {
    const [own, other] = [runs.get(ours), runs.get(theirs)]
    if (own === undefined || other === undefined) return []
    const peer = { name: theirs, figure: rate(other, lines) }
    return [ratioRow(database.name, `${title}, ${ours}`, rate(own, lines), peer, wanted)]
  }
  const memory = (ours: string): Row[] => {
    const peaks = (runs.get(ours) ?? []).flatMap(({ peak }) => peak ?? [])
    if (peaks.length === 0) return []
    const figure: Figure = { ...measurement(peaks.map((bytes) => bytes / MB)), unit: 'MB' }
    const most = atMost(Math.round(MAX_MEMORY_MB + database.size / MB))
    return [amountRow(database.name, `${title}, ${ours}: peak memory`, figure, target(most))]
  }
  return [
    ...beside(ONE, PEER, target(atLeast(6))),
    ...beside(TWO, PEER, target(atLeast(10))),
    ...beside(TWO, ONE, target(atLeast(1.7))),
    ...beside(ONE, RAW, null),
    ...beside(ONE, 'cat', null),
    ...beside(ONE, 'gzip -dc', null),
    ...memory(ONE),
    ...memory(TWO),
  ]
}

function rate(runs: readonly WholeRun[], lines: number): Figure {
  return { ...measurement(runs.map(({ seconds }) => lines / seconds)), unit: 'a second' }
}
