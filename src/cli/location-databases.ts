import type { DatabaseSet } from '../record/database-set.ts'
import { CommandFailure, ExitStatus } from './terminal.ts'

/** @throws CommandFailure when a database would add nothing to the answers: one of ASNs, for instance */
export function checkLocations({ faults }: DatabaseSet): void {
  const [fault] = faults
  if (fault !== undefined) {
    throw new CommandFailure(`${fault.message}, or leave this one out`, ExitStatus.failed, fault)
  }
}
