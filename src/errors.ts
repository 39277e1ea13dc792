/** Marks the errors of every copy of this package: ESM, CommonJS or another version. */
const BRAND = Symbol.for('geofix.error')

/**
 * Why a well-formed address has no location.
 *
 * From the IANA registries, without a lookup in a database:
 * - `unspecified`: "this host" (`0.0.0.0`, `::`)
 * - `loopback`: the machine itself
 * - `private`: RFC 1918 networks and unique local IPv6 addresses
 * - `shared`: carrier-grade NAT (RFC 6598)
 * - `link-local`: valid on one link only
 * - `multicast`: a group of hosts
 * - `documentation`: for examples in documents
 * - `benchmarking`: for tests of network devices
 * - `reserved`: anything else that is not globally reachable
 *
 * From the database:
 * - `not-found`: it has no location for the address
 *
 * From `detect` only:
 * - `unidentified`: a trusted proxy hides the client's address (`unknown` or `_name`)
 * - `trusted-proxy`: all known addresses are trusted proxies
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
 * Why `detect` does not have the client's address:
 * - `no-remote-address`: the client has disconnected, the socket is a stream without addresses, or the program passed a
 *   Fetch `Request` without `remoteAddress`
 * - `unix-socket`: the peer is a local process, and `unix:` is not in `trustedProxies`
 * - `bad-remote-address`: the `remoteAddress` from the program is not an IP address
 * - `headers-truncated`: the request has so many header lines that Node may have dropped the trusted proxy's
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
  | 'INVALID_KEY_FILE'
  | 'INVALID_OVERLAY'
  | 'INVALID_SCHEMA'
  | EnrichErrorCode

/** Codes of `geofix/enrich`: the input does not match the options. See `EnrichError`. */
export type EnrichErrorCode =
  | 'ENRICH_INPUT_UNREADABLE'
  | 'ENRICH_FORMAT_UNKNOWN'
  | 'ENRICH_FIELD_UNKNOWN'
  | 'ENRICH_FIELD_IS_LIST'
  | 'ENRICH_FIELD_EXISTS'
  | 'ENRICH_HEADER_MISSING'
  | 'ENRICH_NO_ADDRESS'
  | 'ENRICH_BAD_LINE'

/** The base class of this package's errors. Invalid options are a `TypeError` instead. */
export abstract class GeofixError extends Error {
  /** Stable across versions: use it instead of the message to tell errors apart. */
  abstract readonly code: ErrorCode
  /** The HTTP status for a response to the client; `null` when the client did not cause the error. */
  abstract readonly status: 400 | 422 | null
}
Object.defineProperty(GeofixError.prototype, BRAND, { value: true })

/** The text is not an IP address. */
export class MalformedAddressError extends GeofixError {
  override readonly name = 'MalformedAddressError'
  readonly code = 'MALFORMED_ADDRESS'
  readonly status = 400
  /** Where `detect` found the text: the lower-case name of a header field. `lookup` leaves it out. */
  readonly via: string | undefined

  constructor(message: string, via?: string) {
    super(message)
    this.via = via
  }
}

/** The text is an IP address without a location: `reason` says why. */
export class UnresolvableAddressError extends GeofixError {
  override readonly name = 'UnresolvableAddressError'
  readonly code = 'UNRESOLVABLE_ADDRESS'
  readonly status = 422
  readonly reason: UnresolvableReason
  /** Canonical text (RFC 5952) of the address; `undefined` when none is known, as with `unidentified`. */
  readonly address: string | undefined
  /** Where `detect` found the address: `'socket'` or the lower-case name of a header field. `lookup` leaves it out. */
  readonly via: string | undefined

  constructor(message: string, reason: UnresolvableReason, address: string | undefined, via?: string) {
    super(message)
    this.reason = reason
    this.address = address
    this.via = via
  }
}

/**
 * `detect` does not have the client's address, because of the configuration, a closed connection, or a request with
 * too many header lines.
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

/** A network or record of `overlays` is not valid. The message says which one, why, and what to write. */
export class InvalidOverlayError extends GeofixError {
  override readonly name = 'InvalidOverlayError'
  readonly code = 'INVALID_OVERLAY'
  readonly status = null
}

/** The option `schema` is not valid. The message says which field, why, and what to write. */
export class InvalidSchemaError extends GeofixError {
  override readonly name = 'InvalidSchemaError'
  readonly code = 'INVALID_SCHEMA'
  readonly status = null
}

/** Where a fault in a database is, as far as known. */
export interface FaultLocation {
  /** Bytes from the start of the uncompressed file. */
  readonly offset?: number | undefined
  /** The file's path, if the database was opened by path. */
  readonly path?: string | undefined
  readonly cause?: unknown
}

/** The database is unusable: not an MMDB file, damaged, truncated, or without locations. */
export class InvalidDatabaseError extends GeofixError {
  override readonly name = 'InvalidDatabaseError'
  readonly code = 'INVALID_DATABASE'
  readonly status = null
  /** Bytes from the start of the uncompressed file, if known. */
  readonly offset: number | undefined
  /** The file's path, if the database was opened by path. */
  readonly path: string | undefined

  /** What is wrong, without path, offset and advice. */
  readonly fault: string

  /** @param advice what the user can do about it; part of the message only */
  constructor(fault: string, { offset, path, cause }: FaultLocation = {}, advice?: string) {
    const where = offset === undefined ? '' : ` (at byte ${offset})`
    const whatToDo = advice === undefined ? '' : `; ${advice}`
    super(
      `${path || 'The database'}: ${fault}${where}${whatToDo}`,
      cause === undefined ? undefined : { cause },
    )
    this.fault = fault
    this.offset = offset
    this.path = path
  }
}

/**
 * The operating system could not read the file, or the file changed while it was open. Its content can be sound, so code
 * that skips damaged parts must not skip these errors.
 */
export class ReadFailure extends InvalidDatabaseError {}

/** The error for a file whose bytes break the rules of its format. */
export function damagedFile(fault: string, location?: FaultLocation): InvalidDatabaseError {
  return new InvalidDatabaseError(fault, location, 'the file is damaged: download it again')
}

/**
 * Whether a caught value is an error of this package. Unlike `instanceof`, it works across the ESM and CommonJS
 * builds and across versions.
 */
export function isGeofixError(value: unknown): value is GeofixError {
  return typeof value === 'object' && value !== null && BRAND in value
}

/** The most characters of untrusted text that a message quotes. */
export const MAX_QUOTED_CHARS = 60

/** Printable ASCII that needs no escape in JSON. Most bad input matches, and is then quoted without JSON.stringify. */
const PLAIN = /^[ !#-[\]-~]*$/

/** Quotes untrusted text for a message: truncated, and in printable ASCII so that it cannot hide or forge log lines. */
export function quoted(text: string): string {
  if (text.length <= MAX_QUOTED_CHARS && PLAIN.test(text)) return `"${text}"`
  const printable = JSON.stringify(text.slice(0, MAX_QUOTED_CHARS)).replace(
    /[^\x20-\x7e]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
  return text.length > MAX_QUOTED_CHARS ? `${printable}...` : printable
}
