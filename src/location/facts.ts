import type { Translations } from './translations.ts'

/** What a vendor's record says of a place, in one shape for all vendors. What it does not say is `null`. */
export interface RawLocation {
  /** ISO 3166-1 alpha-2, as the file spells it. */
  readonly countryCode: string | null
  readonly countryNames: Translations
  /** The part of the ISO 3166-2 code behind the country, or the whole code. */
  readonly regionCode: string | null
  readonly regionNames: Translations
  readonly city: string | null
  readonly postalCode: string | null
  /** Decimal degrees. */
  readonly latitude: number | null
  readonly longitude: number | null
  /** IANA time zone identifier. */
  readonly timeZone: string | null
}
