import { explainMalformed } from '../address/explain-malformed.ts'
import type { InvalidDatabaseError, UnresolvableAddressError } from '../errors.ts'
import type { LookupFailure } from './location-record.ts'

// What `lookupMany` answers where `lookup` throws: the same code, status and message, without a stack trace.

/** @param given what stood in the list of addresses, of any type */
export function malformed(given: unknown): LookupFailure {
  // Objects may throw where they are turned into text.
  const isPrimitive = given === null || (typeof given !== 'object' && typeof given !== 'function')
  const ip = isPrimitive ? String(given) : typeof given
  return { ip, error: { code: 'MALFORMED_ADDRESS', status: 400, message: explainMalformed(given) } }
}

export function unresolvable(
  ip: string,
  reason: UnresolvableAddressError['reason'],
  message: string,
): LookupFailure {
  return { ip, error: { code: 'UNRESOLVABLE_ADDRESS', status: 422, message, reason } }
}

export function invalid(ip: string, { code, status, message }: InvalidDatabaseError): LookupFailure {
  return { ip, error: { code, status, message } }
}
