/** Marks every error of this package, whichever copy of it (ESM, CommonJS, another version) threw it. */
const BRAND = Symbol.for('geofix.error')

/**
 * Why a well-formed address has no location.
 *
 * By the IANA registries, before any database is asked:
 * - `unspecified`: "this host" (`0.0.0.0`, `::`)
 * - `loopback`: the machine itself
 * - `private`: RFC 1918 networks and unique local IPv6 addresses
 * - `shared`: carrier-grade NAT (RFC 6598)
 * - `link-local`: valid on one link only
 * - `multicast`: a group of hosts
 * - `documentation`: examples in texts
 * - `benchmarking`: tests of network devices
 * - `reserved`: anything else that is not globally reachable
 *
 * By the database:
 * - `not-found`: it has no location for this address
 */
export type UnresolvableReason =
  | 'unspecified'
  | 'loopback'
  | 'private'
  | 'shared'
  | 'link-local'
  | 'multicast'
  | 'documentation'
  | 'benchmarking'
  | 'reserved'
  | 'not-found'

export type ErrorCode = 'MALFORMED_ADDRESS' | 'UNRESOLVABLE_ADDRESS' | 'INVALID_LOCALE' | 'INVALID_DATABASE'

/** What all errors of this package have in common. Wrong configuration is a `TypeError` instead. */
export abstract class GeofixError extends Error {
  /** Stable across versions: branch on this, not on the message. */
  abstract readonly code: ErrorCode
  /** The HTTP status that this outcome has in a service, or `null` where it is not the caller's doing. */
  abstract readonly status: 400 | 422 | null
}
Object.defineProperty(GeofixError.prototype, BRAND, { value: true })

/** The text is not an IP address. */
export class MalformedAddressError extends GeofixError {
  override readonly name = 'MalformedAddressError'
  readonly code = 'MALFORMED_ADDRESS'
  readonly status = 400
}

/** The text is an address, and it has no location: `reason` says why. */
export class UnresolvableAddressError extends GeofixError {
  override readonly name = 'UnresolvableAddressError'
  readonly code = 'UNRESOLVABLE_ADDRESS'
  readonly status = 422
  readonly reason: UnresolvableReason
  /** Canonical text (RFC 5952) of the address asked for. */
  readonly address: string

  constructor(message: string, reason: UnresolvableReason, address: string) {
    super(message)
    this.reason = reason
    this.address = address
  }
}

/** The `locale` option is not a BCP 47 language tag. */
export class InvalidLocaleError extends GeofixError {
  override readonly name = 'InvalidLocaleError'
  readonly code = 'INVALID_LOCALE'
  readonly status = 400
}

/** What is known of the fault in a database. */
export interface FaultLocation {
  /** Where in the uncompressed file the fault was met, in bytes from its start. */
  readonly offset?: number | undefined
  /** The file's path, where the database was opened by path. */
  readonly path?: string | undefined
  readonly cause?: unknown
}

/** The bytes are not a usable database: not an MMDB file, damaged, truncated, or without locations. */
export class InvalidDatabaseError extends GeofixError {
  override readonly name = 'InvalidDatabaseError'
  readonly code = 'INVALID_DATABASE'
  readonly status = null
  /** Bytes from the start of the uncompressed file, where known. */
  readonly offset: number | undefined
  /** The file's path, where the database was opened by path. */
  readonly path: string | undefined

  constructor(fault: string, { offset, path, cause }: FaultLocation = {}) {
    const where = offset === undefined ? '' : ` (at byte ${offset})`
    super(`${path ?? 'The database'}: ${fault}${where}`, cause === undefined ? undefined : { cause })
    this.offset = offset
    this.path = path
  }
}

/**
 * Whether a caught value is an error of this package. Works where `instanceof` does not: across the ESM
 * and the CommonJS build and across versions.
 */
export function isGeofixError(value: unknown): value is GeofixError {
  return typeof value === 'object' && value !== null && BRAND in value
}
