import type { LocationRecord } from '../../src/index.ts'

/** The fields of a GeoIP2 record that a LocationRecord uses, as in the JSON sources. */
export interface SourceRecord {
  readonly country?: {
    readonly iso_code?: string | undefined
    readonly names?: Readonly<Record<string, string>> | undefined
  }
  readonly subdivisions?: readonly {
    readonly iso_code?: string | undefined
    readonly names?: Readonly<Record<string, string>> | undefined
  }[]
  readonly city?: { readonly names?: Readonly<Record<string, string>> | undefined }
  readonly postal?: { readonly code?: string }
  readonly location?: {
    readonly latitude?: number
    readonly longitude?: number
    readonly time_zone?: string | undefined
  }
}

/** Northern summer, so that missing daylight saving time is noticed. */
export const SUMMER = Date.UTC(2026, 6, 1)

/** The LocationRecord of a whole record at {@link SUMMER}, mapped independently; with names in one language. */
export function mappedRecord(ip: string, source: SourceRecord, locale: 'en' | 'de'): LocationRecord {
  const { country, subdivisions, city, postal, location } = source
  const region = subdivisions?.[0]
  const pick = (names: Readonly<Record<string, string>> | undefined) => names?.[locale] ?? names?.en
  const { latitude, longitude, time_zone } = location ?? {}
  return {
    ip,
    country: {
      code: country?.iso_code ?? null,
      name: country?.names?.[locale] ?? platformName(country?.iso_code, locale) ?? country?.names?.en ?? null,
    },
    region: {
      name: pick(region?.names) ?? null,
      code: country?.iso_code && region?.iso_code ? `${country.iso_code}-${region.iso_code}` : null,
    },
    city: city?.names?.en ?? null,
    postal_code: postal?.code ?? null,
    coordinates: { latitude: shortest(latitude), longitude: shortest(longitude) },
    timezone: { id: time_zone ?? null, offset: time_zone === undefined ? null : offsetOf(time_zone) },
  }
}

/** Whether a whole record is a location. */
export function isLocation({ country, subdivisions, city, location }: SourceRecord): boolean {
  return (
    country !== undefined ||
    subdivisions?.[0] !== undefined ||
    city !== undefined ||
    location?.latitude !== undefined
  )
}

/** The shortest decimal with the same 32-bit float: 51.5142, not 51.514198303222656. */
function shortest(value: number | undefined): number | null {
  if (value === undefined || Math.fround(value) !== value) return value ?? null
  for (let digits = 1; ; digits++) {
    const decimal = Number(value.toPrecision(digits))
    if (Math.fround(decimal) === value) return decimal
  }
}

function platformName(code: string | undefined, locale: string): string | null {
  return code === undefined ? null : (new Intl.DisplayNames([locale], { type: 'region' }).of(code) ?? null)
}

const offsets = new Map<string, string>()

function offsetOf(timeZone: string): string {
  const known = offsets.get(timeZone)
  if (known !== undefined) return known
  const text = new Date(SUMMER).toLocaleString('en', { timeZone, timeZoneName: 'longOffset' })
  const offset = /GMT(.*)$/.exec(text)?.[1] || '+00:00'
  offsets.set(timeZone, offset)
  return offset
}
