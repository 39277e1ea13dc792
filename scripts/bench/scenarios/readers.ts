// Readers of other languages beside `find`, each on one core: whole records, warm and in the first pass of a process. Like `find`,
// these readers return a value for an address without a record, where `lookup` throws an error with a stack trace.
import { spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { randomIPv6, seeded } from '../addresses.ts'
import { Child, type Command } from '../child.ts'
import { type Runner, race } from '../race.ts'
import { buildReader, LANGUAGES } from '../readers.ts'
import { atLeast, type Figure, measurement, type Row, ratioRow } from '../row.ts'
import type { Scenario, Stage, Subject } from '../stage.ts'
import { logOf } from './enrich-task.ts'

const SEED = 20261124
/** At most: GeoLite2-City has 65,051 such networks, so compilers and time zones are most of a first pass over them. */
const IPV6_ADDRESSES = 200_000
/** An allocation of a registry is one network, as in the race of random IPv6 addresses. */
const LONGEST_PREFIX = 32

const OURS = 'find'
const THROWING = 'lookup'

/** How many times as fast as each of the readers a warm `find` should be. */
const TARGET = 1.5

export const readers: Scenario = {
  title: 'readers of other languages',
  onlyInFull: true,
  run: async (stage, subject) => {
    if (!subject.database.hasTargets) return []
    const rows: Row[] = []
    const others = LANGUAGES.map((language) =>
      stage.attempt(`the reader of ${language}`, () => buildReader(stage.folder, language)),
    ).filter((command) => command !== null)
    for (const [what, list] of await listsOf(stage, subject)) {
      const runners = runnersOf(stage, subject, others, list)
      const warm = new Map<string, Figure>()
      for (const [name, { figure, version }] of await race(runners, stage.scale, stage.skip)) {
        warm.set(name, figure)
        if (version !== null) stage.versions.add(version)
      }
      rows.push(...rowsOf(subject, `${readers.title}, ${what}`, warm, TARGET))
      const first = await firstPasses(runners, stage)
      rows.push(...rowsOf(subject, `${readers.title}, ${what}, first pass of a process`, first, null))
    }
    return rows
  },
}

/** Files of addresses, one a line, by what they are. */
async function listsOf(stage: Stage, { database, inputs }: Subject): Promise<[what: string, list: string][]> {
  const bytes = readFileSync(database.path)
  const ipv6 = randomIPv6(bytes, IPV6_ADDRESSES, LONGEST_PREFIX, seeded(SEED))
  mkdirSync(join(stage.folder, 'enrich'), { recursive: true })
  const log = await logOf(stage, 'access-log', stage.scale.lines)
  const words = readFileSync(log.path, 'latin1').match(/^\S+/gm) ?? []
  const write = (name: string, addresses: readonly string[]): string => {
    const path = join(stage.folder, `${database.name}-${name}.txt`)
    writeFileSync(path, addresses.map((address) => `${address}\n`).join(''))
    return path
  }
  return [
    ['random IPv4', inputs.ipv4],
    ['random IPv6', write('readers-ipv6', ipv6)],
    ['addresses of an access log', write('readers-log', words)],
  ]
}

/** The contenders, each kept on one core with all of its threads. */
function runnersOf(stage: Stage, { database }: Subject, others: readonly Command[], list: string): Runner[] {
  const ours = [OURS, THROWING].map((name) => stage.runner({ name, contender: name, list }, database))
  const c = stage.runner({ name: 'libmaxminddb (C)', contender: 'libmaxminddb fields', list }, database)
  const rest = others.map((command) => ({
    ...command,
    args: [...command.args, 'rounds', database.path, list],
    hasCache: true,
  }))
  return [...ours, c, ...rest].filter((runner) => runner !== null).map(onOneCore)
}

function onOneCore(runner: Runner): Runner {
  const hasTaskset = spawnSync('taskset', ['--version']).status === 0
  // The first pass fills caches, and lets compilers of other languages do their work.
  const warmedUp = { ...runner, hasCache: true }
  return hasTaskset
    ? { ...warmedUp, file: 'taskset', args: ['-c', '0', runner.file, ...runner.args] }
    : warmedUp
}

/** The first pass over the list in new processes, in turns. */
async function firstPasses(runners: readonly Runner[], { scale, skip }: Stage): Promise<Map<string, Figure>> {
  const rates = new Map<string, number[]>()
  for (let turn = 0; turn < scale.starts; turn++) {
    for (const runner of runners) {
      try {
        const child = new Child(runner)
        await child.read()
        const { items, seconds } = await child.ask<{ items: number; seconds: number }>('0')
        await child.stop()
        rates.set(runner.name, [...(rates.get(runner.name) ?? []), items / seconds])
      } catch (error) {
        if (!(error instanceof Error)) throw error
        skip(error)
      }
    }
  }
  return new Map([...rates].map(([name, each]) => [name, { ...measurement(each), unit: 'a second' }]))
}

function rowsOf(
  { database }: Subject,
  what: string,
  figures: ReadonlyMap<string, Figure>,
  target: number | null,
): Row[] {
  const own = figures.get(OURS)
  if (own === undefined) return []
  const targetFor = (name: string) => (target === null || name === THROWING ? null : atLeast(target))
  return [...figures]
    .filter(([name]) => name !== OURS)
    .map(([name, figure]) => ratioRow(database.name, what, own, { name, figure }, targetFor(name)))
}
