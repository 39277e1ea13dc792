import type { FieldPaths } from '../../mmdb/field-reader.ts'
import { defineSchema, type Schema } from '../schema.ts'
import { isCountry } from '../shared-parts.ts'

/** One of these maps, or an array `subdivisions`, identifies the schema. */
const MAPS = ['country', 'city', 'continent', 'location', 'postal', 'registered_country'] as const

/**
 * GeoIP2 and GeoLite2 City, Country and Enterprise (MaxMind), DB-IP's own MMDB files, and the embedded databases:
 * nested maps with names by language.
 * https://dev.maxmind.com/geoip/docs/databases/city-and-country
 */
export const geoip2 = defineGeoip2({})

/** The same, but a record without a country has the country that its network is registered in. */
export const geoip2OrRegistration = defineGeoip2({
  registeredCode: ['registered_country', 'iso_code'],
  registeredNames: ['registered_country', 'names'],
})

function defineGeoip2(registration: FieldPaths<'registeredCode' | 'registeredNames'>): Schema {
  return defineSchema(
    (fields) => fields.has('subdivisions', 'array') || MAPS.some((name) => fields.has(name, 'map')),
    {
      ...registration,
      countryCode: ['country', 'iso_code'],
      countryNames: ['country', 'names'],
      regionCode: ['subdivisions', 0, 'iso_code'],
      regionNames: ['subdivisions', 0, 'names'],
      cityNames: ['city', 'names'],
      postalCode: ['postal', 'code'],
      latitude: ['location', 'latitude'],
      longitude: ['location', 'longitude'],
      timeZone: ['location', 'time_zone'],
    },
    {
      parts: {
        from: [
          'countryCode',
          'countryNames',
          'regionCode',
          'regionNames',
          'timeZone',
          ...(registration.registeredCode === undefined
            ? []
            : (['registeredCode', 'registeredNames'] as const)),
        ],
        read: (fields, names) => {
          const countryCode = fields.text('countryCode')
          const countryNames = names.fromMap(fields, 'countryNames')
          const isRegistered =
            registration.registeredCode !== undefined && !isCountry(countryCode, countryNames)
          return {
            countryCode: isRegistered ? fields.text('registeredCode') : countryCode,
            countryNames: isRegistered ? names.fromMap(fields, 'registeredNames') : countryNames,
            regionCode: isRegistered ? null : fields.text('regionCode'),
            regionNames: names.fromMap(fields, 'regionNames'),
            timeZone: fields.text('timeZone'),
          }
        },
      },
      city: { from: ['cityNames'], read: (fields) => fields.defaultName('cityNames') },
      cityNames: 'cityNames',
      postalCode: { from: ['postalCode'], read: (fields) => fields.textOffset('postalCode') },
      coordinates: (fields) => [fields.number('latitude'), fields.number('longitude')],
    },
  )
}
