import { defineSchema } from '../schema.ts'

/**
 * The flat records of ip-location-db, city and country: `""` for missing values, names in one language, no region
 * codes. https://github.com/sapics/ip-location-db
 */
export const ipLocationDb = defineSchema(
  (fields) =>
    fields.has('state1', 'text') || (fields.has('country_code', 'text') && !fields.has('country', 'text')),
  {
    countryCode: ['country_code'],
    region: ['state1'],
    city: ['city'],
    postalCode: ['postcode'],
    latitude: ['latitude'],
    longitude: ['longitude'],
    timeZone: ['timezone'],
  },
  {
    parts: {
      from: ['countryCode', 'region', 'timeZone'],
      read: (fields, names) => ({
        countryCode: fields.text('countryCode'),
        countryNames: names.ofText(null),
        regionCode: null,
        regionNames: names.ofText(fields.text('region')),
        timeZone: fields.text('timeZone'),
      }),
    },
    city: { from: ['city'], read: (fields) => fields.textOffset('city') },
    postalCode: { from: ['postalCode'], read: (fields) => fields.textOffset('postalCode') },
    coordinates: (fields) => [fields.number('latitude'), fields.number('longitude')],
  },
)
