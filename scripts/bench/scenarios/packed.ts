import { statSync } from 'node:fs'
import { join } from 'node:path'
import { builtModule, embeddedCity, type Forms, formsOf } from '../artifacts.ts'
import { answerOf } from '../child.ts'
import { packageVersion } from '../enrich/programs.ts'
import {
  amountRow,
  atLeast,
  atMost,
  type Figure,
  figureOf,
  measurement,
  PACKED,
  type Row,
  ratioRow,
  type Target,
  type Unit,
} from '../row.ts'
import type { Scenario, Stage, Subject } from '../stage.ts'
import { compare } from './throughput.ts'

const PROGRAMS = join(import.meta.dirname, '..')

const MB = 1e6

const [EMPTY, OURS, PLAIN] = ['an empty process', 'geofix, packed', 'geofix, plain']

/** Bytes on disk, with the smallest files that npm run build-data can make. */
export const sizes = packedScenario('size on disk', async (stage, subject) => {
  const row = (what: string, { packed }: Forms, name: string, path: string, target: Target | null): Row => {
    return ratioRow(PACKED, what, sizeOf(packed), { name, figure: sizeOf(path) }, target)
  }
  const city = embeddedForms(stage)
  const embedded = 'size on disk, embedded database'
  const other = `size on disk, ${subject.database.name}`
  const forms = formsOf(stage.folder, subject.database)
  return [
    amountRow(PACKED, embedded, sizeOf(city.packed), atMost(18)),
    row(embedded, city, '.mmdb.gz', city.gzip, null),
    row(embedded, city, '.mmdb', city.plain, null),
    row(other, forms, '.mmdb.gz', forms.gzip, atMost(0.6)),
    row(other, forms, '.mmdb', forms.plain, null),
  ]
})

/** Whole processes that start, open the embedded database or data of their own, and answer. */
export const firstAnswer = wholeProcesses('process to one answer', {
  lookups: 1,
  timesEmpty: 2.5,
  timesPeer: { 'geoip-lite': 1, 'fast-geoip': 1.3 },
  addedPeak: 25,
})
export const cold = wholeProcesses('process to 1,000 random answers', {
  lookups: 1000,
  laterTimesPlain: 1.5,
  added: 150,
  addedPeak: 60,
})
export const random = wholeProcesses('process to 100,000 random answers', {
  lookups: 100_000,
  timesPeer: { [PLAIN]: 1.4, 'geoip-lite': 1 },
  addedPeak: 150,
})

/** Random lookups after all blocks were read once. */
export const warm = packedScenario('packed, random IPv4', async (stage, subject) => {
  const embedded = embeddedCity(stage.folder)
  const rows: Row[] = []
  for (const database of [subject.database, embedded]) {
    const entry = { contender: 'lookup', list: subject.inputs.ipv4 }
    const { packed } = formsOf(stage.folder, database)
    const ours = { ...entry, name: 'packed', database: { ...database, path: packed } }
    const plain = { ...entry, name: 'plain', database, target: atLeast(0.8) }
    const name = database === embedded ? 'embedded database' : database.name
    rows.push(...(await compare(stage, subject, `${warm.title}, ${name}`, ours, [plain])))
  }
  return rows.map((row) => ({ ...row, database: PACKED }))
})

const EDGE_LOOKUPS = 100_000
const EDGE_CACHE_BYTES = 2 ** 24

/** What counts for the limit of an isolate, 128 MB. */
export const edge = packedScenario(
  'edge, heap and buffers',
  async (stage) => {
    const database = embeddedForms(stage).packed
    const isolate = ['isolate', 'geofix', builtModule('core.js'), database]
    const args = ['--expose-gc', join(PROGRAMS, 'start.mjs'), ...isolate]
    const counts = [String(EDGE_LOOKUPS), String(EDGE_CACHE_BYTES)]
    const command = { name: 'edge', file: process.execPath, args: [...args, ...counts] }
    const amount = figureOf([await answerOf<number>(command)], 'MB')
    return [
      amountRow(PACKED, `${edge.title} after 100,000 lookups, cacheBytes of 16 MiB`, amount, atMost(64)),
    ]
  },
  true,
)

/** Bounds of a job that whole processes do. */
interface WholeGoals {
  readonly lookups: number
  /** Processor time, as a multiple of that of an empty process. */
  readonly timesEmpty?: number
  /** Processor time, as a multiple of that of a library. */
  readonly timesPeer?: Readonly<Record<string, number>>
  /** Processor time after the first answer, as a multiple of that with the plain file. */
  readonly laterTimesPlain?: number
  /** Milliseconds of processor time over an empty process. */
  readonly added?: number
  /** Megabytes of peak memory over an empty process. */
  readonly addedPeak: number
}

/** What one process took: milliseconds and megabytes. */
export interface Whole {
  readonly processor: number
  /** Of that, after the first answer. */
  readonly later: number
  readonly peak: number
}

function wholeProcesses(title: string, goals: WholeGoals): Scenario {
  return packedScenario(title, async (stage) => {
    const runs = await wholeRuns(stage, goals.lookups)
    const of = (name: string, pick: keyof Whole): number[] => (runs.get(name) ?? []).map((run) => run[pick])
    const times = (name: string): Figure => figureOf(of(name, 'processor'), 'ms')
    const later = (name: string): Figure => figureOf(of(name, 'later'), 'ms')
    const added = (name: string, pick: keyof Whole, unit: Unit): Figure => {
      const { median } = measurement(of(EMPTY, pick))
      return figureOf(
        of(name, pick).map((amount) => amount - median),
        unit,
      )
    }
    const [time, peak] = [`${title}, processor time`, `${title}, peak memory over ${EMPTY}`]
    const limit = (most: number | undefined) => (most === undefined ? null : atMost(most))
    const plain = { name: PLAIN, figure: later(PLAIN) }
    const peers = [...runs.keys()].filter((name) => name !== OURS && name !== EMPTY)
    return [
      ratioRow(PACKED, time, times(OURS), { name: EMPTY, figure: times(EMPTY) }, limit(goals.timesEmpty)),
      ...peers.map((name) => {
        const peer = { name, figure: times(name) }
        return ratioRow(PACKED, time, times(OURS), peer, limit(goals.timesPeer?.[name]))
      }),
      ...(goals.laterTimesPlain === undefined
        ? []
        : [ratioRow(PACKED, `${time} after the first`, later(OURS), plain, limit(goals.laterTimesPlain))]),
      amountRow(PACKED, `${time} over ${EMPTY}`, added(OURS, 'processor', 'ms'), limit(goals.added)),
      amountRow(PACKED, peak, added(OURS, 'peak', 'MB'), atMost(goals.addedPeak)),
      ...peers.map((name) => {
        const peer = { name, figure: added(name, 'peak', 'MB') }
        return ratioRow(PACKED, peak, added(OURS, 'peak', 'MB'), peer, null)
      }),
    ]
  })
}

/** Runs the processes in turns. */
async function wholeRuns(stage: Stage, lookups: number): Promise<ReadonlyMap<string, readonly Whole[]>> {
  const { packed, plain } = embeddedForms(stage)
  const module = builtModule('index.js')
  const programs = new Map([
    [EMPTY, ['none']],
    [OURS, ['geofix', module, packed]],
    [PLAIN, ['geofix', module, plain]],
  ])
  if (stage.peers !== null) {
    // fast-geoip reads its files for each lookup: 100,000 take more than a minute.
    const slow = lookups > 1000 ? [] : ['fast-geoip']
    for (const name of ['maxmind', 'geoip-lite', ...slow]) {
      const key = name === 'maxmind' ? 'maxmind, plain' : name
      stage.versions.add(packageVersion(stage.peers, name))
      programs.set(key, [name, join(stage.peers, 'node_modules', name), plain])
    }
  }
  const runs = new Map<string, Whole[]>()
  for (let start = 0; start < stage.scale.starts; start++) {
    for (const [name, args] of programs) {
      const command = [join(PROGRAMS, 'whole.mjs'), ...args, String(lookups)]
      const run = await answerOf<Whole>({ name, file: process.execPath, args: command })
      runs.set(name, [...(runs.get(name) ?? []), run])
    }
  }
  return runs
}

/** A scenario that leaves itself out with a reason if a tool is missing. */
function packedScenario(
  title: string,
  run: (stage: Stage, subject: Subject) => Promise<readonly Row[]>,
  onlyInFull = false,
): Scenario {
  return {
    title,
    onlyInFull,
    run: async (stage, subject) => {
      try {
        return await run(stage, subject)
      } catch (error) {
        stage.skipped.add(`${title}: ${error instanceof Error ? error.message : String(error)}`)
        return []
      }
    },
  }
}

function embeddedForms({ folder }: Stage): Forms {
  return formsOf(folder, embeddedCity(folder))
}

function sizeOf(path: string): Figure {
  return figureOf([statSync(path).size / MB], 'MB')
}
