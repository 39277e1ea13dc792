import { defineSchema } from '../schema.ts'

/** Any of these as a map tells the schema; `subdivisions` is an array. */
const MAPS = ['country', 'city', 'continent', 'location', 'postal', 'registered_country'] as const

/**
 * GeoIP2 and GeoLite2 City, Country and Enterprise (MaxMind), DB-IP's own MMDB files, and the databases that
 * this package carries: nested maps, names by language.
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
  (fields, names) => ({
    countryCode: fields.text('countryCode'),
    countryNames: names.inMap(fields, 'countryNames'),
    regionCode: fields.text('regionCode'),
    regionNames: names.inMap(fields, 'regionNames'),
    city: fields.defaultName('cityNames'),
    postalCode: fields.text('postalCode'),
    latitude: fields.number('latitude'),
    longitude: fields.number('longitude'),
    timeZone: fields.text('timeZone'),
  }),
)
