import { answerOf } from '../child.ts'
import {
  amountRow,
  atMost,
  type Figure,
  figureOf,
  measurement,
  type Row,
  ratioRow,
  type Target,
} from '../row.ts'
import type { Scenario, Stage, Subject } from '../stage.ts'

/** From a compressed file to the first lookup, compared with decompression alone, in a new process each time. */
export const opening: Scenario = {
  title: 'Resolver.open to first answer',
  onlyInFull: false,
  run: runOpening,
}

async function runOpening(stage: Stage, { database, inputs }: Subject): Promise<readonly Row[]> {
  // A packed database is not decompressed as a whole.
  if (!database.packed.endsWith('.gz')) return []
  const once = async (how: string): Promise<number> => {
    const { packed } = database
    const { milliseconds } = await stage.job<{ milliseconds: number }>('opening', how, packed, inputs.hit)
    return milliseconds
  }
  const [ours, blocking, background]: [number[], number[], number[]] = [[], [], []]
  for (let start = 0; start < stage.scale.starts; start++) {
    ours.push(await once('open'))
    blocking.push(await once('gunzipSync'))
    background.push(await once('gunzip'))
  }
  const figure = (times: readonly number[]): Figure => figureOf(times, 'ms')
  const target = database.hasTargets ? atMost(1.25) : null
  return [
    { name: 'node:zlib gunzipSync', figure: figure(blocking) },
    { name: 'node:zlib gunzip', figure: figure(background) },
  ].map((peer) => ratioRow(database.name, opening.title, figure(ours), peer, target))
}

const MAX_BLOCK_MS = 50

/** How long opening a database blocks the event loop, in a new process each time. */
export const eventLoop: Scenario = { title: 'event loop', onlyInFull: false, run: runEventLoop }

/** The answer of the worker, in milliseconds. */
interface LoopDelay {
  /** Between two turns of the loop. */
  readonly longest: number
  /** The same, measured by `perf_hooks`. */
  readonly histogram: number
  /** Duration of the first lookup, including the loading of time zones by the platform. */
  readonly firstLookup: number
}

async function runEventLoop(stage: Stage, { database, inputs }: Subject): Promise<readonly Row[]> {
  const opening: LoopDelay[] = []
  const idle: LoopDelay[] = []
  for (let start = 0; start < stage.scale.starts; start++) {
    opening.push(await stage.job<LoopDelay>('event-loop', 'open', database.packed, inputs.hit))
    idle.push(await stage.job<LoopDelay>('event-loop', 'idle'))
  }
  const target = database.hasTargets ? atMost(MAX_BLOCK_MS) : null
  const row = (
    what: string,
    delays: readonly LoopDelay[],
    key: keyof LoopDelay,
    most: Target | null,
  ): Row => {
    const figure = figureOf(
      delays.map((each) => each[key]),
      'ms',
    )
    return amountRow(database.name, what, figure, most)
  }
  return [
    row('event loop: longest block while opening', opening, 'longest', target),
    row('the same by monitorEventLoopDelay', opening, 'histogram', target),
    row('the first lookup, including the time zones of the platform', opening, 'firstLookup', null),
    row('the same for an idle process', idle, 'longest', null),
  ]
}

const MB = 1e6

/** Limit for the memory that lookups add. */
const MAX_GROWTH_MB = 40

/** Limit for the second half of the lookups: fluctuations of the garbage collector. */
const MAX_LATE_GROWTH_MB = 4

/** Resident memory of a process with an empty module, after the same delay. */
const EMPTY = {
  name: 'an empty process',
  file: process.execPath,
  args: ['--input-type=module', '-e', 'setTimeout(() => console.log(process.memoryUsage.rss()), 1500)'],
}

/** Resident memory of new processes. */
export const memory: Scenario = { title: 'memory', onlyInFull: false, run: runMemory }

/** The answer of the worker, in bytes. */
interface Memory {
  readonly opened: number
  /** `null` if the system does not report it. */
  readonly peak: number | null
  /** During the lookups, at regular intervals. */
  readonly samples: readonly number[]
}

async function runMemory(stage: Stage, { database }: Subject): Promise<readonly Row[]> {
  const { starts, lookups } = stage.scale
  // Time is not measured, so these can run at once.
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
    [`memory that ${lookups / 1e6} million random lookups add`, [Math.max(...growth)], MAX_GROWTH_MB],
    ['of which the second half adds', [late], MAX_LATE_GROWTH_MB],
  ]
  return rows
    .filter(([, bytes]) => bytes.length > 0)
    .map(([what, bytes, most]) => {
      const figure = figureOf(
        bytes.map((each) => each / MB),
        'MB',
      )
      return amountRow(database.name, what, figure, most === null ? null : target(most))
    })
}
