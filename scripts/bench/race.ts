import { Child, type Command } from './child.ts'
import type { Figure } from './row.ts'
import { measurement } from './statistics.ts'

/** A contender of a race: a process that runs a round when it is told to. */
export interface Runner extends Command {
  /** Whether it has a cache that a pass over the whole list has to fill before anything is timed. */
  readonly remembers: boolean
}

/** How long a contender that remembers nothing warms up before the first round, for the compiler. ms */
const WARM_UP = 500

/** How long a race is. */
export interface Course {
  readonly rounds: number
  /** Of a round. */
  readonly milliseconds: number
}

/** What a runner is known for afterwards. */
export interface Finish {
  /** Name and version of a package; `null` for Geofix. */
  readonly version: string | null
  readonly figure: Figure
}

interface Round {
  readonly items: number
  readonly seconds: number
  readonly found: number
}

/**
 * Lets contenders take turns, each in a process of its own: no cache of one is a burden to the collector or
 * the compiler of another, and noise of the machine meets them all alike.
 *
 * @returns by name; a contender that cannot run is handed to `onFailure` and left out
 */
export async function race(
  runners: readonly Runner[],
  { rounds, milliseconds }: Course,
  onFailure: (error: Error) => void,
): Promise<Map<string, Finish>> {
  const starting = runners.map((runner) => start(runner))
  const started: Started[] = []
  for (const result of await Promise.allSettled(starting)) {
    if (result.status === 'fulfilled') started.push(result.value)
    else onFailure(result.reason)
  }
  for (let round = -1; round < rounds; round++) {
    for (const { child, done } of started) {
      const result = await child.ask<Round>(String(milliseconds))
      // The first round is to find back into caches after all have started.
      if (round >= 0) done.push(result)
    }
  }
  await Promise.all(started.map(({ child }) => child.stop()))
  return new Map(started.map(({ name, version, done }) => [name, finish(version, done)]))
}

/** A contender that is open and warm. */
interface Started {
  readonly name: string
  readonly child: Child
  readonly version: string | null
  readonly done: Round[]
}

async function start(runner: Runner): Promise<Started> {
  const child = new Child(runner)
  const { version } = await child.read<{ version: string | null }>()
  await child.ask<Round>(String(runner.remembers ? 0 : WARM_UP))
  return { name: runner.name, child, version, done: [] }
}

function finish(version: string | null, rounds: readonly Round[]): Finish {
  const sum = (pick: (round: Round) => number): number =>
    rounds.reduce((total, round) => total + pick(round), 0)
  const rates = measurement(rounds.map(({ items, seconds }) => items / seconds))
  const found = sum((round) => round.found) / sum((round) => round.items)
  return { version, figure: { ...rates, unit: 'a second', found } }
}
