import { join } from 'node:path'
import { type BenchDatabase, builtModule } from '../artifacts.ts'
import { answerOf } from '../child.ts'
import { amountRow, type Figure, measurement, type Row, ratioRow, type Unit } from '../row.ts'
import type { Scenario, Stage, Subject } from '../stage.ts'

const PROGRAM = join(import.meta.dirname, '../start.mjs')

const PEERS = ['maxmind', 'geoip-lite', 'fast-geoip'] as const

const LOOKUPS = 100_000

/** fast-geoip reads its files again for each lookup, so that it needs milliseconds for one. */
const SLOW_LOOKUPS = 1000

/** A job of {@link PROGRAM}, and what it needs besides the library. */
interface StartJob {
  readonly name: string
  readonly unit: Unit
  readonly argsOf: (library: string, database: BenchDatabase) => readonly string[]
}

const pathOf = (library: string, { packed, path }: BenchDatabase): string =>
  library === 'geofix' ? packed : path

/** Processor time to load the code. Data is loaded with the code of geoip-lite, and with each lookup of fast-geoip. */
export const importing = startScenario('import, processor time', {
  name: 'import',
  unit: 'ms',
  argsOf: () => [],
})

/** How long a program that starts cannot do other work. */
export const starting = startScenario('start: longest block until the first answer', {
  name: 'block',
  unit: 'ms',
  argsOf: (library, database) => [pathOf(library, database)],
})

/** What each worker thread adds to a process that has the database open. */
export const threads = startScenario(`memory that a worker thread adds, ${LOOKUPS} lookups`, {
  name: 'worker',
  unit: 'MB',
  argsOf: (library, database) => [
    pathOf(library, database),
    String(library === 'fast-geoip' ? SLOW_LOOKUPS : LOOKUPS),
  ],
})

function startScenario(title: string, job: StartJob): Scenario {
  return { title, onlyInFull: false, run: (stage, subject) => run(title, job, stage, subject) }
}

async function run(
  title: string,
  { name, unit, argsOf }: StartJob,
  { scale, peers }: Stage,
  { database }: Subject,
): Promise<readonly Row[]> {
  const libraries = new Map([['geofix', builtModule('index.js')]])
  if (peers !== null) for (const peer of PEERS) libraries.set(peer, join(peers, 'node_modules', peer))
  if (name === 'worker') libraries.set('none', '')
  const rounds = new Map<string, number[]>()
  for (let start = 0; start < scale.starts; start++) {
    for (const [library, module] of libraries) {
      const args = [PROGRAM, name, library, module, ...argsOf(library, database)]
      const amount = await answerOf<number>({ name: library, file: process.execPath, args })
      rounds.set(library, [...(rounds.get(library) ?? []), amount])
    }
  }
  const [ours, ...others] = [...rounds].map(([library, amounts]) => ({
    name: library === 'none' ? 'an empty worker thread' : library,
    figure: { ...measurement(amounts), unit } satisfies Figure,
  }))
  if (ours === undefined) return []
  if (others.length === 0) return [amountRow(database.name, title, ours.figure, null)]
  return others.map((peer) => ratioRow(database.name, title, ours.figure, peer, null))
}
