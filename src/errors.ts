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
 *
 * From `detect` only:
 * - `unidentified`: a trusted proxy knows the client but does not say who it is
 * - `trusted-proxy`: nobody but trusted proxies is known, and the client is none of them
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
  | 'unidentified'
  | 'trusted-proxy'

/**
 * Why `detect` was given no caller's address. All but the last are the program's matter, not the caller's:
 * - `no-remote-address`: the socket is closed, a stream without addresses, or a Fetch `Request` came without its
 *   peer's address
 * - `unix-socket`: the peer is a local process, and `unix:` is not among the trusted proxies
 * - `bad-remote-address`: what the program gave as the peer's address is not one
 * - `headers-truncated`: the request has so many header lines that Node may have left out the trusted proxy's
 */
export type UnavailableReason =
  | 'no-remote-address'
  | 'unix-socket'
  | 'bad-remote-address'
  | 'headers-truncated'

export type ErrorCode =
  | 'MALFORMED_ADDRESS'
  | 'UNRESOLVABLE_ADDRESS'
  | 'INVALID_LOCALE'
  | 'ADDRESS_UNAVAILABLE'
  | 'INVALID_DATABASE'
  | EnrichErrorCode

/** Of `geofix/enrich`: the input is not what the options say. See `EnrichError`. */
export type EnrichErrorCode =
  | 'ENRICH_INPUT_UNREADABLE'
  | 'ENRICH_FORMAT_UNKNOWN'
  | 'ENRICH_FIELD_UNKNOWN'
  | 'ENRICH_FIELD_IS_LIST'
  | 'ENRICH_FIELD_EXISTS'
  | 'ENRICH_HEADER_MISSING'
  | 'ENRICH_NO_ADDRESS'
  | 'ENRICH_BAD_LINE'

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
  /** Where `detect` found it: the lower-case name of a field. Not given by `lookup`. */
  readonly via: string | undefined

  constructor(message: string, via?: string) {
    super(message)
    this.via = via
  }
}

/** The text is an address, and it has no location: `reason` says why. */
export class UnresolvableAddressError extends GeofixError {
  override readonly name = 'UnresolvableAddressError'
  readonly code = 'UNRESOLVABLE_ADDRESS'
  readonly status = 422
  readonly reason: UnresolvableReason
  /** Canonical text (RFC 5952) of the address; not known when `reason` is `unidentified`. */
  readonly address: string | undefined
  /** Where `detect` found it: `'socket'` or the lower-case name of a field. Not given by `lookup`. */
  readonly via: string | undefined

  constructor(message: string, reason: UnresolvableReason, address: string | undefined, via?: string) {
    super(message)
    this.reason = reason
    this.address = address
    this.via = via
  }
}

/**
 * Nobody gave `detect` the caller's address: `reason` says why. Configuration, a client that has left, or a request
 * with too many header lines.
 */
export class AddressUnavailableError extends GeofixError {
  override readonly name = 'AddressUnavailableError'
  readonly code = 'ADDRESS_UNAVAILABLE'
  readonly status = null
  readonly reason: UnavailableReason

  constructor(message: string, reason: UnavailableReason) {
    super(message)
    this.reason = reason
  }
}

/** The `locale` option is not a BCP 47 language tag. */
export class InvalidLocaleError extends GeofixError {
  override readonly name = 'InvalidLocaleError'
  readonly code = 'INVALID_LOCALE'
  readonly status = 400
}

/** What is known about the fault in a database. */
export interface FaultLocation {
  /** Where the fault is in the uncompressed file, in bytes from its start. */
  readonly offset?: number | undefined
  /** The file's path, if the database was opened by path. */
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

  /** What is wrong, without path, offset and advice. */
  readonly fault: string

  /** @param advice what the user can do about it; part of the message only */
  constructor(fault: string, { offset, path, cause }: FaultLocation = {}, advice?: string) {
    const where = offset === undefined ? '' : ` (at byte ${offset})`
    const whatToDo = advice === undefined ? '' : `; ${advice}`
    super(
      `${path ?? 'The database'}: ${fault}${where}${whatToDo}`,
      cause === undefined ? undefined : { cause },
    )
    this.fault = fault
    this.offset = offset
    this.path = path
  }
}

/** The error for a file whose bytes break the rules of its format. */
export function damagedFile(fault: string, location?: FaultLocation): InvalidDatabaseError {
  return new InvalidDatabaseError(fault, location, 'the file is damaged: download it again')
}

/**
 * Whether a caught value is an error of this package. Works where `instanceof` does not: across the ESM
 * and the CommonJS build and across versions.
 */
export function isGeofixError(value: unknown): value is GeofixError {
  return typeof value === 'object' && value !== null && BRAND in value
}
