// Vendors: where the fields of locations and autonomous systems are in their records, and the licences of their databases.

import type { Path } from '../mmdb/field-reader.ts'
import type { Metadata } from '../mmdb/metadata.ts'
import { isList } from '../realm.ts'
import type { FieldKind, SampledFields } from './record-table.ts'
import { type FieldName, type FieldType, placed, type SchemaFields, type Source } from './schema.ts'

/** The name of the vendor in the guides. */
export type VendorName = 'GeoIP2' | 'IPinfo' | 'ip-location-db'

interface Vendor {
  readonly name: VendorName
  /** A database has this schema if its records have one of these fields. Its `database_type` is never looked at. */
  readonly recognisedBy: Readonly<Record<string, FieldKind>>
  readonly schema: SchemaFields
}

/** A path, alone or with the type of the value, as in the option `schema`. */
type VendorPlace = string | Path | { readonly path: string | Path; readonly type: FieldType }

/** A field of a vendor: a place, or the first of several that has a value. */
type VendorField = VendorPlace | { readonly any: readonly VendorPlace[] }

/** Where the fields of a location are in the records of a vendor. */
type VendorSchema = { readonly [Name in FieldName]?: VendorField }

function fieldsOf(schema: VendorSchema): SchemaFields {
  return Object.fromEntries(
    Object.entries(schema).map(([name, given]) => [
      name,
      sourcesOf(given, name === 'latitude' || name === 'longitude' ? 'number' : 'text'),
    ]),
  )
}

/** The places of a field, in order. @param type of those without one */
function sourcesOf(given: VendorField, type: FieldType): readonly Source[] {
  if (typeof given === 'string') return [placed([given], type)]
  if (isList(given)) return [placed(given, type)]
  if ('any' in given) return given.any.flatMap((each) => sourcesOf(each, type))
  return sourcesOf(given.path, given.type)
}

const NESTED: VendorSchema = {
  countryCode: ['country', 'iso_code'],
  countryName: { path: ['country', 'names'], type: 'names' },
  regionCode: ['subdivisions', 0, 'iso_code'],
  regionName: { path: ['subdivisions', 0, 'names'], type: 'names' },
  city: { path: ['city', 'names'], type: 'names' },
  postalCode: ['postal', 'code'],
  latitude: ['location', 'latitude'],
  longitude: ['location', 'longitude'],
  timeZone: ['location', 'time_zone'],
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
  schema: /* @__PURE__ */ fieldsOf({
    ...NESTED,
    registeredCode: ['registered_country', 'iso_code'],
    registeredName: { path: ['registered_country', 'names'], type: 'names' },
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
    countryCode: { any: ['country_code', { path: 'country', type: 'code' }] },
    countryName: { any: ['country_name', { path: 'country', type: 'not-code' }] },
    regionCode: 'region_code',
    regionName: 'region',
    city: 'city',
    postalCode: { any: ['postal_code', 'postal'] },
    latitude: { any: [{ path: 'loc', type: 'first' }, 'latitude', 'lat'] },
    longitude: { any: [{ path: 'loc', type: 'second' }, 'longitude', 'lng'] },
    timeZone: 'timezone',
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
    countryCode: 'country_code',
    regionName: 'state1',
    city: 'city',
    postalCode: 'postcode',
    latitude: 'latitude',
    longitude: 'longitude',
    timeZone: 'timezone',
  }),
}

/** The first vendor whose fields a database has is used. To add one, describe it above and add it here. */
export const VENDORS: readonly Vendor[] = [GEOIP2, IPINFO, IP_LOCATION_DB]

/** The schema of the database that Geofix makes from the option `overlays`: GeoIP2, with names that are used in all languages. */
export const OVERLAYS: SchemaFields = /* @__PURE__ */ fieldsOf({
  ...NESTED,
  countryName: { path: ['country', 'names', 'en'], type: 'name' },
  regionName: { path: ['subdivisions', 0, 'names', 'en'], type: 'name' },
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

/** The description of an open database, from its metadata. */
export interface DatabaseInfo {
  /** The vendor's name for the kind of database, such as `GeoLite2-City`. */
  readonly type: string
  /** When the vendor built it; `null` when the file has no valid date. */
  readonly buildDate: Date | null
  /** 6 can hold IPv4 and IPv6, 4 only IPv4. */
  readonly ipVersion: 4 | 6
  /** Language tags of its names according to its metadata; empty if it lists none. */
  readonly locales: readonly string[]
  /** Number of nodes in its search tree. */
  readonly nodeCount: number
  /** Name of the data's licence, or `null` if unknown. */
  readonly licence: string | null
  /** Text that the licence requires beside results, or `null` if unknown. */
  readonly attribution: string | null
  /** The path of its file, or `null` if it was not opened by path. */
  readonly path: string | null
}

type Terms = Pick<DatabaseInfo, 'licence' | 'attribution'>

/** Licences of free databases, by `database_type`. */
const TERMS: readonly (readonly [type: RegExp, terms: Terms])[] = [
  [
    /^GeoLite2-/,
    {
      licence: 'GeoLite End User License Agreement',
      attribution:
        'This product includes GeoLite Data created by MaxMind, available from https://www.maxmind.com',
    },
  ],
  [/^DBIP-.*Lite/i, { licence: 'CC BY 4.0', attribution: 'IP Geolocation by DB-IP, https://db-ip.com' }],
  [
    /^ipinfo.*lite/i,
    { licence: 'CC BY-SA 4.0', attribution: 'IP address data powered by IPinfo, https://ipinfo.io' },
  ],
]

export function databaseInfo(metadata: Metadata, path: string | undefined): DatabaseInfo {
  const { databaseType, buildDate, ipVersion, languages, nodeCount } = metadata
  return Object.freeze({
    type: databaseType,
    // Return a new Date each time, because dates cannot be frozen.
    get buildDate() {
      return buildDate === null ? null : new Date(buildDate)
    },
    ipVersion,
    locales: Object.freeze([...languages]),
    nodeCount,
    ...termsOf(metadata),
    path: path ?? null,
  })
}

function termsOf({ databaseType, description }: Metadata): Terms {
  // The embedded databases have the attribution in their metadata, so that it stays with the data.
  if (/^Geofix-(City|Country|ASN)$/.test(databaseType)) {
    return { licence: 'CC BY 4.0', attribution: description.en ?? null }
  }
  const known = TERMS.find(([type]) => type.test(databaseType))
  return known?.[1] ?? { licence: null, attribution: null }
}
