import type { Metadata } from '../mmdb/metadata.ts'

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
