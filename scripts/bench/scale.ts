import type { Course } from './race.ts'

/** How much is done. */
export interface Scale extends Course {
  /** Or only the one that the targets are about. */
  readonly everyDatabase: boolean
  /** Distinct random IPv4 addresses. */
  readonly addresses: number
  /** Addresses of a first pass. */
  readonly firstPass: number
  /** Processes that are started for what a process can do only once, such as opening. */
  readonly starts: number
  /** Random lookups before memory is measured again. */
  readonly lookups: number
  /** Lines of a file that is enriched. */
  readonly lines: number
  /** How often a process enriches it. */
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

/** For a look while working: 60 seconds on two cores. */
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
