import { InvalidDatabaseError } from '../errors.ts'

/** What the user of a damaged file can do, behind what is wrong with it. */
const ADVICE = '; the file is damaged: get it again'

/** The error for a damaged place of a file. */
export function damage(
  fault: string,
  offset: number | undefined,
  path: string | undefined,
): InvalidDatabaseError {
  return new InvalidDatabaseError(fault + ADVICE, { offset, path })
}

/** What is wrong, without the advice. */
export function faultOf({ fault }: InvalidDatabaseError): string {
  return fault.endsWith(ADVICE) ? fault.slice(0, -ADVICE.length) : fault
}
