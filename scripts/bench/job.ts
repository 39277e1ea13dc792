import type { WholeRun } from './enrich/whole-process.ts'
import { type Measurement, measurement } from './row.ts'

/** What one program took for a job, as a whole process. */
export interface ProgramResult {
  readonly name: string
  /** Seconds. */
  readonly wall: Measurement
  /** Seconds of all threads, in user and in system mode; `null` if the system does not report it. */
  readonly processor: Measurement | null
  /** MB; `null` if the system does not report it. */
  readonly peak: Measurement | null
}

/** The same job, done by several programs in turns. */
export interface Job {
  readonly title: string
  readonly lines: number
  /** Size of the input. */
  readonly bytes: number
  readonly programs: readonly ProgramResult[]
}

const MB = 1e6

export function programResult(name: string, runs: readonly WholeRun[]): ProgramResult {
  const known = (values: readonly (number | null)[]): Measurement | null => {
    const numbers = values.filter((value) => value !== null)
    return numbers.length === 0 ? null : measurement(numbers)
  }
  return {
    name,
    wall: measurement(runs.map(({ seconds }) => seconds)),
    processor: known(runs.map(({ processorSeconds }) => processorSeconds)),
    peak: known(runs.map(({ peak }) => (peak === null ? null : peak / MB))),
  }
}
