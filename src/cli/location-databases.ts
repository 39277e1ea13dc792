import type { DatabaseSet } from '../location/database-set.ts'
import { CommandFailure, ExitStatus } from './terminal.ts'

/** @throws CommandFailure when a database would add nothing to the answers: one of ASNs, for instance */
export function checkLocations({ locationErrors }: DatabaseSet): void {
  const [error] = locationErrors
  if (error !== undefined) {
    throw new CommandFailure(`${error.message}, or leave this one out`, ExitStatus.failed, error)
  }
}
