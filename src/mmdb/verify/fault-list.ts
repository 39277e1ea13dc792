import { InvalidDatabaseError } from '../../errors.ts'

/** One thing that is wrong with a database. */
export interface DatabaseFault {
  /** What is wrong. */
  readonly message: string
  /** Where, in bytes from the start of the uncompressed file; `null` if it has no single location. */
  readonly offset: number | null
}

/** A damaged file can have millions of faults. */
const MAX_LISTED_FAULTS = 100

/** The first faults that were found, and how many there are in total. */
export class FaultList {
  readonly faults: DatabaseFault[] = []
  #count = 0

  get count(): number {
    return this.#count
  }

  /** Several records can lead to the same fault, which is listed once. */
  add(message: string, offset: number | null = null): void {
    const isListed = this.faults.some((each) => each.message === message && each.offset === offset)
    if (isListed) return
    this.#count++
    if (this.faults.length < MAX_LISTED_FAULTS) this.faults.push({ message, offset })
  }

  /**
   * Runs an action that throws at the first fault, and adds that fault.
   *
   * @returns whether the action ended without a fault
   */
  attempt(action: () => void): boolean {
    try {
      action()
      return true
    } catch (error) {
      if (!(error instanceof InvalidDatabaseError)) throw error
      this.add(error.fault, error.offset ?? null)
      return false
    }
  }
}
