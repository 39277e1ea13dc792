import type { LocationRecord } from '../../src/index.ts'

/** The parts of a GeoIP2 record that a LocationRecord comes from, as the JSON sources spell them. */
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

/** Summer in the north, so that a forgotten daylight saving time shows. */
export const SUMMER = Date.UTC(2026, 6, 1)

/** The LocationRecord that a whole record means on {@link SUMMER}, put down by hand; names in one language only. */
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

/** Whether a whole record says where an address is. */
export function isLocation({ country, subdivisions, city, location }: SourceRecord): boolean {
  return (
    country !== undefined ||
    subdivisions?.[0] !== undefined ||
    city !== undefined ||
    location?.latitude !== undefined
  )
}

/** A float of 32 bits is the shortest decimal that is rounded to it: 51.5142 rather than 51.514198303222656. */
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
