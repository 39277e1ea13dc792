import { answerOf } from '../child.ts'
import { amountRow, atMost, type Figure, type Row } from '../row.ts'
import type { Stage, Subject } from '../stage.ts'
import { measurement } from '../statistics.ts'
import type { Scenario } from './scenario.ts'

const MB = 1e6

/** What lookups may add. MB. */
const MOST_GROWTH = 48

/** What may still come on top in their second half: the collector's own to and fro. MB. */
const FLAT = 4

/** Resident memory of an empty module's process, after the same moment. */
const EMPTY = {
  name: 'an empty process',
  file: process.execPath,
  args: ['--input-type=module', '-e', 'setTimeout(() => console.log(process.memoryUsage.rss()), 1500)'],
}

/** Resident memory of fresh processes. */
export const memory: Scenario = { title: 'memory', onlyInFull: false, run }

/** What the worker tells. Bytes. */
interface Memory {
  readonly opened: number
  /** `null` where the system does not tell. */
  readonly peak: number | null
  /** In the course of lookups, at regular distances. */
  readonly samples: readonly number[]
}

async function run(stage: Stage, { database }: Subject): Promise<readonly Row[]> {
  const { starts, lookups } = stage.scale
  // Time plays no part, so they can run at once.
  const times = Array.from({ length: starts })
  const open = (count: number) => stage.job<Memory>('memory', database.packed, String(count))
  const [empties, opened, asked] = await Promise.all([
    Promise.all(times.map(() => answerOf<number>(EMPTY))),
    Promise.all(times.map(() => open(0))),
    open(lookups),
  ])
  const target = (most: number) => (database.hasTargets ? atMost(most) : null)
  const limit = Math.round((measurement(empties).median + 1.25 * database.size) / MB)
  const growth = asked.samples.map((sample) => sample - asked.opened)
  const half = growth.length >> 1
  const late = Math.max(...growth.slice(half)) - Math.max(...growth.slice(0, half))
  const peaks = opened.flatMap(({ peak }) => peak ?? [])
  const rows: (readonly [what: string, bytes: readonly number[], most: number | null])[] = [
    ['memory of an empty process', empties, null],
    ['memory after opening: empty process + 1.25 × file', opened.map((each) => each.opened), limit],
    ['memory while opening, at most', peaks, null],
    [`memory that ${lookups / 1e6} million random lookups add`, [Math.max(...growth)], MOST_GROWTH],
    ['of that, the second half of them', [late], FLAT],
  ]
  return rows
    .filter(([, bytes]) => bytes.length > 0)
    .map(([what, bytes, most]) => {
      return amountRow(database.name, what, megabytes(bytes), most === null ? null : target(most))
    })
}

function megabytes(bytes: readonly number[]): Figure {
  return { ...measurement(bytes.map((each) => each / MB)), unit: 'MB' }
}
