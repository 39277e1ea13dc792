import type { UnresolvableReason } from '../errors.ts'

/**
 * Where an address is. Every key is always there; what is not known is `null`.
 *
 * The nested objects are frozen and shared between records; the record itself is the caller's own.
 */
export interface LocationRecord {
  /** Canonical text (RFC 5952) of the address asked for; of an IPv4-mapped address the IPv4 address. */
  ip: string
  readonly country: Country
  readonly region: Region
  /** City, by its English name where the database has one. */
  city: string | null
  /** Postal code, as text: leading zeros count. */
  postal_code: string | null
  readonly coordinates: Coordinates
  readonly timezone: TimezoneAtInstant
}

/** The country that the address is in; not the one that it is registered in. */
export interface Country {
  /** ISO 3166-1 alpha-2, upper case; `XK` for Kosovo. */
  readonly code: string | null
  /** In the language of `locale`. */
  readonly name: string | null
}

/** The first, largest subdivision of the country. */
export interface Region {
  /** In the language of `locale`. */
  readonly name: string | null
  /** ISO 3166-2, such as `US-CA`. */
  readonly code: string | null
}

/** Both `null` or both numbers, WGS 84: a place in the middle of where such addresses are, not a device. */
export interface Coordinates {
  /** Decimal degrees, -90 to 90. */
  readonly latitude: number | null
  /** Decimal degrees, -180 to 180. */
  readonly longitude: number | null
}

export interface TimezoneAtInstant {
  /** IANA time zone identifier, such as `Europe/Berlin`. */
  readonly id: string | null
  /**
   * Difference to UTC at the instant `at`, daylight saving included: `+HH:MM` or `-HH:MM`, `+00:00` for
   * UTC. `null` when the zone is not known, also to the platform.
   */
  readonly offset: string | null
}

export interface LookupOptions {
  /** BCP 47 language tag for the names of country and region, such as `de` or `pt-BR`. Default: `en`. */
  readonly locale?: string | undefined
  /** The instant for `timezone.offset`: a `Date`, or milliseconds since 1970. Default: now. */
  readonly at?: Date | number | undefined
}

/** Why one item of `lookupMany` has no record. Plain data: it survives `structuredClone` and JSON. */
export interface LookupFailure {
  /** Canonical text of the address; the text as it was given when it is not an address. */
  ip: string
  error: {
    code: 'MALFORMED_ADDRESS' | 'UNRESOLVABLE_ADDRESS' | 'INVALID_DATABASE'
    /** 400 or 422; `null` when the database is at fault, not the address. */
    status: 400 | 422 | null
    message: string
    /** Given with `UNRESOLVABLE_ADDRESS`. */
    reason?: UnresolvableReason
  }
}

export type LookupResult = LocationRecord | LookupFailure

/** Tells the failures in the answer of `lookupMany` from the records. */
export function isLookupFailure(result: LookupResult): result is LookupFailure {
  return 'error' in result
}
