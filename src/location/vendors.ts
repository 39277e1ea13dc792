// How vendors write locations and autonomous systems: where the fields are in their records.
import { fieldsOf, sourcesOf, type VendorSchema } from './location-schema.ts'
import type { FieldKind, SampledFields } from './sampled-fields.ts'
import type { SchemaFields } from './schema.ts'

/** The name of the vendor in the guides. */
export type VendorName = 'GeoIP2' | 'IPinfo' | 'ip-location-db'

interface Vendor {
  readonly name: VendorName
  /** A database has this schema if its records have one of these fields. Its `database_type` is never looked at. */
  readonly recognisedBy: Readonly<Record<string, FieldKind>>
  readonly schema: SchemaFields
}

const NESTED: VendorSchema = {
  country: { code: ['country', 'iso_code'], name: { path: ['country', 'names'], type: 'names' } },
  region: {
    code: ['subdivisions', 0, 'iso_code'],
    name: { path: ['subdivisions', 0, 'names'], type: 'names' },
  },
  city: { path: ['city', 'names'], type: 'names' },
  postal_code: ['postal', 'code'],
  coordinates: { latitude: ['location', 'latitude'], longitude: ['location', 'longitude'] },
  timezone: { id: ['location', 'time_zone'] },
}

/**
 * GeoIP2 and GeoLite2 City, Country and Enterprise (MaxMind), DB-IP's own MMDB files, and the embedded databases: nested maps
 * with names by language. https://dev.maxmind.com/geoip/docs/databases/city-and-country
 */
const GEOIP2: Vendor = {
  name: 'GeoIP2',
  recognisedBy: {
    country: 'map',
    city: 'map',
    continent: 'map',
    location: 'map',
    postal: 'map',
    registered_country: 'map',
    subdivisions: 'array',
  },
  schema: /* @__PURE__ */ fieldsOf(NESTED, {
    code: ['registered_country', 'iso_code'],
    name: { path: ['registered_country', 'names'], type: 'names' },
  }),
}

/**
 * The flat records of IPinfo, which differ between its products. `country` is a code, or a name beside `country_code` (Lite).
 * https://ipinfo.io/developers/database-schemas
 */
const IPINFO: Vendor = {
  name: 'IPinfo',
  recognisedBy: { country: 'text', loc: 'text' },
  schema: /* @__PURE__ */ fieldsOf({
    country: {
      code: { any: ['country_code', { path: 'country', type: 'code' }] },
      name: { any: ['country_name', { path: 'country', type: 'not-code' }] },
    },
    region: { code: 'region_code', name: 'region' },
    city: 'city',
    postal_code: { any: ['postal_code', 'postal'] },
    coordinates: {
      latitude: { any: [{ path: 'loc', type: 'first' }, 'latitude', 'lat'] },
      longitude: { any: [{ path: 'loc', type: 'second' }, 'longitude', 'lng'] },
    },
    timezone: { id: 'timezone' },
  }),
}

/**
 * The flat records of ip-location-db, city and country: `""` for missing values, names in one language, no region codes.
 * https://github.com/sapics/ip-location-db
 */
const IP_LOCATION_DB: Vendor = {
  name: 'ip-location-db',
  recognisedBy: { state1: 'text', country_code: 'text' },
  schema: /* @__PURE__ */ fieldsOf({
    country: { code: 'country_code' },
    region: { name: 'state1' },
    city: 'city',
    postal_code: 'postcode',
    coordinates: { latitude: 'latitude', longitude: 'longitude' },
    timezone: { id: 'timezone' },
  }),
}

/** The first vendor whose fields a database has is used. To add one, describe it above and add it here. */
export const VENDORS: readonly Vendor[] = [GEOIP2, IPINFO, IP_LOCATION_DB]

/** The schema of the database that Geofix makes from the option `overlays`: GeoIP2, with names that are used in all languages. */
export const OVERLAYS: SchemaFields = /* @__PURE__ */ fieldsOf({
  ...NESTED,
  country: { code: ['country', 'iso_code'], name: { path: ['country', 'names', 'en'], type: 'name' } },
  region: { ...NESTED.region, name: { path: ['subdivisions', 0, 'names', 'en'], type: 'name' } },
})

/**
 * GeoLite2 ASN, GeoIP2 ISP, DB-IP ASN, ip-location-db and the embedded database have the first field of each. GeoIP2 Enterprise
 * has them in `traits`. IPinfo has `asn`, and a name or a domain.
 */
export const SYSTEMS = {
  number: /* @__PURE__ */ sourcesOf(
    {
      any: ['autonomous_system_number', ['traits', 'autonomous_system_number'], { path: 'asn', type: 'asn' }],
    },
    'number',
  ),
  organization: /* @__PURE__ */ sourcesOf(
    {
      any: [
        'autonomous_system_organization',
        ['traits', 'autonomous_system_organization'],
        'as_name',
        'name',
        'as_domain',
        'domain',
      ],
    },
    'text',
  ),
}

/** The vendor whose fields a database has; `undefined` for an unknown one. */
export function recognised(fields: SampledFields): Vendor | undefined {
  return VENDORS.find((vendor) => isOf(vendor, fields))
}

/** Whether a database has the fields of GeoIP2. More records cannot change which vendor is recognised. */
export function isGeoip2(fields: SampledFields): boolean {
  return isOf(GEOIP2, fields)
}

function isOf({ recognisedBy }: Vendor, fields: SampledFields): boolean {
  return Object.entries(recognisedBy).some(([field, kind]) => fields.has(field, kind))
}
