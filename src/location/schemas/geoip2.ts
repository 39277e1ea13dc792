import { defineSchema } from '../schema.ts'

/** One of these maps, or an array `subdivisions`, identifies the schema. */
const MAPS = ['country', 'city', 'continent', 'location', 'postal', 'registered_country'] as const

/**
 * GeoIP2 and GeoLite2 City, Country and Enterprise (MaxMind), DB-IP's own MMDB files, and the embedded databases:
 * nested maps with names by language.
 * https://dev.maxmind.com/geoip/docs/databases/city-and-country
 */
export const geoip2 = defineSchema(
  (fields) => fields.has('subdivisions', 'array') || MAPS.some((name) => fields.has(name, 'map')),
  {
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
      from: ['countryCode', 'countryNames', 'regionCode', 'regionNames', 'timeZone'],
      read: (fields, names) => ({
        countryCode: fields.text('countryCode'),
        countryNames: names.fromMap(fields, 'countryNames'),
        regionCode: fields.text('regionCode'),
        regionNames: names.fromMap(fields, 'regionNames'),
        timeZone: fields.text('timeZone'),
      }),
    },
    city: { from: ['cityNames'], read: (fields) => fields.defaultName('cityNames') },
    postalCode: { from: ['postalCode'], read: (fields) => fields.textOffset('postalCode') },
    coordinates: (fields) => [fields.number('latitude'), fields.number('longitude')],
  },
)
