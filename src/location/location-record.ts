import type { UnavailableReason, UnresolvableReason } from '../errors.ts'
import type { NamesOf } from '../option-names.ts'
import type { CityNames } from './locale.ts'

/**
 * The location of an address. Every key is always present; `null` means unknown.
 *
 * The nested objects are frozen and shared between records; the record itself is a fresh object.
 */
export interface LocationRecord {
  /** Canonical text (RFC 5952) of the address that was looked up; for an IPv4-mapped address, the IPv4 address. */
  ip: string
  readonly country: Country
  readonly region: Region
  /** Name of the city, in English if the database has it. With `cityNames: 'locale'`, in the language of `locale`. */
  city: string | null
  /** Postal code, with leading zeros. */
  postal_code: string | null
  readonly coordinates: Coordinates
  readonly timezone: TimezoneAtInstant
}

/** The country that the address is in. It can differ from the country that the address is registered in. */
export interface Country {
  /** ISO 3166-1 alpha-2, upper case; `XK` for Kosovo. A database's `UK` is `GB`; `EU`, `AP`, `ZZ` and others are `null`. */
  readonly code: string | null
  /** The name in the language of `locale`. */
  readonly name: string | null
}

/** The largest subdivision of the country. */
export interface Region {
  /** The name in the language of `locale`. */
  readonly name: string | null
  /** ISO 3166-2, such as `US-CA`. */
  readonly code: string | null
}

/** WGS 84, both `null` or both numbers: the centre of the area of such addresses, not the position of a device. */
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
   * Offset from UTC at the instant `at`, including daylight saving: `+HH:MM` or `-HH:MM`, `+00:00` for UTC. `null`
   * when the database has no zone or the platform does not know it.
   */
  readonly offset: string | null
}

export interface LookupOptions {
  /** BCP 47 language tag for the names of country and region, such as `de` or `pt-BR`. Default: `en`. */
  readonly locale?: string | undefined
  /**
   * The language of `city`: `'en'` is English. `'locale'` is that of `locale`, if the database has the name, or else English.
   * Default: `'en'`.
   */
  readonly cityNames?: CityNames | undefined
  /** The instant for `timezone.offset`: a `Date`, or milliseconds since 1970. Default: now. */
  readonly at?: Date | number | undefined
}

export const LOOKUP_OPTIONS: NamesOf<LookupOptions> = { locale: true, cityNames: true, at: true }

/**
 * Why `find`, `findClient` or an item of `lookupMany` has no record. Plain data, which survives `structuredClone` and
 * JSON.
 */
export interface LookupFailure {
  /**
   * Canonical text of the address, or the item itself as text when it is not an address. From `findClient`: empty when
   * the client's address is not known.
   */
  ip: string
  error: {
    /** The code of the error. Only `findClient` gives `ADDRESS_UNAVAILABLE`. */
    code: 'MALFORMED_ADDRESS' | 'UNRESOLVABLE_ADDRESS' | 'INVALID_DATABASE' | 'ADDRESS_UNAVAILABLE'
    /** HTTP status 400 or 422; `null` when the fault is in the database or the program, not in the address. */
    status: 400 | 422 | null
    message: string
    /** Why there is no record, if the code is `UNRESOLVABLE_ADDRESS` or `ADDRESS_UNAVAILABLE`. */
    reason?: UnresolvableReason | UnavailableReason
    /** Where `findClient` found the address: `'socket'` or the lower-case name of a header field. */
    via?: string
  }
}

export type LookupResult = LocationRecord | LookupFailure

/** Whether a result of `find`, `findClient` or `lookupMany` is a failure and not a record. */
export function isLookupFailure(result: LookupResult): result is LookupFailure {
  return 'error' in result
}
