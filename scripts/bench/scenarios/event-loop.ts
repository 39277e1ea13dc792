import { amountRow, atMost, type Figure, type Row } from '../row.ts'
import type { Stage, Subject } from '../stage.ts'
import { measurement } from '../statistics.ts'
import type { Scenario } from './scenario.ts'

/** ms. */
const LONGEST = 50

/** How long the event loop stands still while a database is opened, in a fresh process each time. */
export const eventLoop: Scenario = { title: 'event loop', onlyInFull: false, run }

/** What the worker tells. Milliseconds. */
interface Block {
  /** Between two turns of the loop. */
  readonly longest: number
  /** As `perf_hooks` measures it. */
  readonly histogram: number
  /** How long the first lookup took, the platform's loading of time zones included. */
  readonly firstLookup: number
}

async function run(stage: Stage, { database, inputs }: Subject): Promise<readonly Row[]> {
  const opening: Block[] = []
  const idle: Block[] = []
  for (let start = 0; start < stage.scale.starts; start++) {
    opening.push(await stage.job<Block>('event-loop', 'open', database.packed, inputs.hit))
    idle.push(await stage.job<Block>('event-loop', 'idle'))
  }
  const target = database.hasTargets ? atMost(LONGEST) : null
  const figure = (values: readonly number[]): Figure => ({ ...measurement(values), unit: 'ms' })
  return [
    amountRow(
      database.name,
      'event loop: longest block by opening',
      figure(opening.map(({ longest }) => longest)),
      target,
    ),
    amountRow(
      database.name,
      'the same by monitorEventLoopDelay',
      figure(opening.map(({ histogram }) => histogram)),
      target,
    ),
    amountRow(
      database.name,
      'the first lookup, for which the platform loads its time zones',
      figure(opening.map(({ firstLookup }) => firstLookup)),
      null,
    ),
    amountRow(database.name, 'the same of an idle process', figure(idle.map(({ longest }) => longest)), null),
  ]
}
