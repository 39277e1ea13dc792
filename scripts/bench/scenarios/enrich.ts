import { writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import type { Command } from '../child.ts'
import { agreement } from '../enrich/agreement.ts'
import { builtCli } from '../enrich/built-cli.ts'
import { geofix, ONE, PEER, RAW, script, type Task, TWO } from '../enrich/commands.ts'
import { enrichRows } from '../enrich/rows.ts'
import type { TrafficFormat } from '../enrich/traffic.ts'
import { firstLines, type TrafficFile, trafficFile } from '../enrich/traffic-file.ts'
import { takeTurns } from '../enrich/whole-process.ts'
import type { Stage } from '../stage.ts'
import type { Scenario } from './scenario.ts'

/** Lines on which Geofix and the script have to agree, and on how many of those with a location. */
const SAMPLE = 2000
const AGREEING = 0.99

/** `geofix enrich` beside a script that does the same, as whole processes. */
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
    // First, so that no other has to wait for the disk.
    { name: 'cat', file: 'cat', args: [path] },
    { name: 'gzip -dc', file: 'gzip', args: ['-dc', packed] },
    geofix(task, path, ONE),
    ...(hasTwo ? [geofix(task, path, TWO)] : []),
    script(task, path, PEER),
    script(task, path, RAW),
  ]
}

/** That two do the same is not taken for granted. @returns what is wrong, or `null` */
async function disagreementOf({ folder, scale }: Stage, task: Task): Promise<string | null> {
  const sample = join(folder, `enrich-sample.${task.format}`)
  writeFileSync(sample, firstLines(task.format, SAMPLE, scale.lines))
  const { located, same, onlyOne, difference } = await agreement(
    geofix(task, sample, ONE),
    script(task, sample, PEER),
  )
  const all = located + onlyOne
  if (located > 0 && same >= AGREEING * all) return null
  return `the script writes the same for ${same} of ${all} lines; ${difference ?? 'of the others only one has a location'}`
}

function maxmindVersion(peers: string): string {
  const { version }: { version: string } = createRequire(join(peers, 'any.js'))('maxmind/package.json')
  return `maxmind ${version}`
}
