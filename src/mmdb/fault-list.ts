import { InvalidDatabaseError } from '../errors.ts'
import { faultOf } from './damage.ts'

/** One thing that is wrong with a database. */
export interface DatabaseFault {
  /** What is wrong, in words. */
  readonly message: string
  /** Where, in bytes from the start of the uncompressed file; `null` where it is at no one place. */
  readonly offset: number | null
}

/** Faults that are told one by one, at most: a damaged file can have millions. */
const MOST = 100

/** Faults as they are found: the first ones, and how many there are in all. */
export class FaultList {
  readonly faults: DatabaseFault[] = []
  #count = 0

  get count(): number {
    return this.#count
  }

  /** Several records can meet one fault, which is told once. */
  add(message: string, offset: number | null = null): void {
    const isTold = this.faults.some((each) => each.message === message && each.offset === offset)
    if (isTold) return
    this.#count++
    if (this.faults.length < MOST) this.faults.push({ message, offset })
  }

  /** Does something that ends at the first fault it meets. @returns whether it met none */
  attempt(action: () => void): boolean {
    try {
      action()
      return true
    } catch (error) {
      if (!(error instanceof InvalidDatabaseError)) throw error
      this.add(faultOf(error), error.offset ?? null)
      return false
    }
  }
}
