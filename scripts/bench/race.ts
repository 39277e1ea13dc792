import { Child, type Command } from './child.ts'
import { type Figure, measurement } from './row.ts'

/** A contender: a process that runs a round for each line of its input. */
export interface Runner extends Command {
  /** Whether it has a cache, which a pass over the whole list fills before the first round. */
  readonly hasCache: boolean
}

/** How long a contender without a cache runs before the first round, to warm up the compiler. */
const WARM_UP_MS = 500

/** Length of a race. */
export interface RaceLength {
  readonly rounds: number
  /** Duration of a round. */
  readonly milliseconds: number
}

/** Result of a contender. */
export interface RaceResult {
  /** Name and version of the package; `null` for Geofix. */
  readonly version: string | null
  readonly figure: Figure
}

interface Round {
  readonly items: number
  readonly seconds: number
  readonly found: number
}

/**
 * Runs contenders in turns, each in its own process: the cache of one cannot slow down the garbage collector or the
 * compiler of another, and noise of the machine affects all of them.
 *
 * @returns results by name, without contenders that fail; `onFailure` gets their errors
 */
export async function race(
  runners: readonly Runner[],
  { rounds, milliseconds }: RaceLength,
  onFailure: (error: Error) => void,
): Promise<Map<string, RaceResult>> {
  const starting = runners.map((runner) => start(runner))
  const started: Started[] = []
  for (const result of await Promise.allSettled(starting)) {
    if (result.status === 'fulfilled') started.push(result.value)
    else onFailure(result.reason)
  }
  for (let round = -1; round < rounds; round++) {
    for (const { child, done } of started) {
      const result = await child.ask<Round>(String(milliseconds))
      // The first round only warms up the CPU caches again after all have started.
      if (round >= 0) done.push(result)
    }
  }
  await Promise.all(started.map(({ child }) => child.stop()))
  return new Map(started.map(({ name, version, done }) => [name, resultOf(version, done)]))
}

/** A contender after opening and warm-up. */
interface Started {
  readonly name: string
  readonly child: Child
  readonly version: string | null
  readonly done: Round[]
}

async function start(runner: Runner): Promise<Started> {
  const child = new Child(runner)
  const { version } = await child.read<{ version: string | null }>()
  await child.ask<Round>(String(runner.hasCache ? 0 : WARM_UP_MS))
  return { name: runner.name, child, version, done: [] }
}

function resultOf(version: string | null, rounds: readonly Round[]): RaceResult {
  const sum = (pick: (round: Round) => number): number =>
    rounds.reduce((total, round) => total + pick(round), 0)
  const rates = measurement(rounds.map(({ items, seconds }) => items / seconds))
  const found = sum((round) => round.found) / sum((round) => round.items)
  return { version, figure: { ...rates, unit: 'a second', found } }
}
