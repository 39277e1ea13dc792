import { decimalOf, type FieldReader, NO_TEXT } from '../../mmdb/field-reader.ts'
import { defineSchema, type RawCoordinates } from '../schema.ts'

const COUNTRY_CODE = /^[A-Za-z]{2}$/

type Field =
  | 'country'
  | 'countryCode'
  | 'countryName'
  | 'region'
  | 'regionCode'
  | 'city'
  | 'postal'
  | 'postalCode'
  | 'lat'
  | 'lng'
  | 'latitude'
  | 'longitude'
  | 'loc'
  | 'timeZone'

/**
 * The flat records of IPinfo, which differ between its products. `country` is a code, or a name beside `country_code`
 * (Lite). Coordinates are `lat` and `lng`, `latitude` and `longitude`, or one text `loc`.
 * https://ipinfo.io/developers/database-schemas
 */
export const ipinfo = defineSchema<Field>(
  (fields) => fields.has('country', 'text') || fields.has('loc', 'text'),
  {
    country: ['country'],
    countryCode: ['country_code'],
    countryName: ['country_name'],
    region: ['region'],
    regionCode: ['region_code'],
    city: ['city'],
    postal: ['postal'],
    postalCode: ['postal_code'],
    lat: ['lat'],
    lng: ['lng'],
    latitude: ['latitude'],
    longitude: ['longitude'],
    loc: ['loc'],
    timeZone: ['timezone'],
  },
  {
    parts: {
      from: ['country', 'countryCode', 'countryName', 'region', 'regionCode', 'timeZone'],
      read: (fields, names) => {
        const country = fields.text('country')
        const isCode = country !== null && COUNTRY_CODE.test(country)
        return {
          countryCode: fields.text('countryCode') ?? (isCode ? country : null),
          countryNames: names.ofText(fields.text('countryName') ?? (isCode ? null : country)),
          regionCode: fields.text('regionCode'),
          regionNames: names.ofText(fields.text('region')),
          timeZone: fields.text('timeZone'),
        }
      },
    },
    city: { from: ['city'], read: (fields) => fields.textOffset('city') },
    postalCode: {
      from: ['postalCode', 'postal'],
      read: (fields) => {
        const offset = fields.textOffset('postalCode')
        return offset === NO_TEXT ? fields.textOffset('postal') : offset
      },
    },
    coordinates: readCoordinates,
  },
)

function readCoordinates(fields: FieldReader<Field>): RawCoordinates {
  const loc = fields.text('loc')?.split(',')
  if (loc?.length === 2) return [decimalOf(loc[0] ?? ''), decimalOf(loc[1] ?? '')]
  return [
    fields.number('latitude') ?? fields.number('lat'),
    fields.number('longitude') ?? fields.number('lng'),
  ]
}
