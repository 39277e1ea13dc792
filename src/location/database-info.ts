import type { Metadata } from '../mmdb/metadata.ts'

/** What an open database says of itself. */
export interface DatabaseInfo {
  /** The vendor's name for the kind of database, such as `GeoLite2-City`. */
  readonly type: string
  /** When the vendor built it; `null` when the file gives no possible date. */
  readonly buildDate: Date | null
  /** 6 can hold both families, 4 holds IPv4 only. */
  readonly ipVersion: 4 | 6
  /** Languages in which it has names, by its own word; flat databases say none. */
  readonly locales: readonly string[]
  /** Nodes of its search tree, a measure of its size. */
  readonly nodeCount: number
  /** Name of the data's licence, or `null` where it is not known. */
  readonly licence: string | null
  /** What the licence asks to be shown beside results, or `null` where that is not known. */
  readonly attribution: string | null
  /** The file, where it was opened by path; else `null`. */
  readonly path: string | null
}

type Terms = Pick<DatabaseInfo, 'licence' | 'attribution'>

/** Told by `database_type`: vendors whose free databases ask for an attribution. */
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
    // Every reader gets a date of its own, since dates cannot be frozen.
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
  // The databases that this package carries bring their own text, so that it travels with the data.
  if (databaseType === 'Geofix-City' || databaseType === 'Geofix-Country') {
    return { licence: 'CC BY 4.0', attribution: description.en ?? null }
  }
  const known = TERMS.find(([type]) => type.test(databaseType))
  return known?.[1] ?? { licence: null, attribution: null }
}
