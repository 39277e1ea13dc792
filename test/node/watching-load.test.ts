import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate as turn } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import { expect, it } from 'vitest'
import { isLookupFailure, type LocationRecord, Resolver } from '../../src/index.ts'
import { effort } from '../effort.ts'
import { heldMemory } from '../heap.ts'
import { temporaryFolder } from '../temporary.ts'
import { CANARY, generation, KNOWN, replacements } from './watched-files.ts'

const REPLACEMENTS = effort({ short: 40, long: 200 })
const LOOKUPS = effort({ short: 100_000, long: 2_000_000 })
/** Lookups between two turns of the event loop. */
const BATCH = 500
/** Makes a database large enough that a leaked one is noticed. */
const PADDING_BYTES = 1_000_000
/** Limit after the first fifth of the replacements, in which caches fill and code is compiled. */
const MAX_GROWTH_BYTES = 10_000_000

/** The generation of a record; all its fields must be of the same one. */
function generationOf({ city, country, region, coordinates }: LocationRecord): number {
  const number = Number(city?.replace('city ', ''))
  const { latitude, longitude } = coordinates
  const agree =
    country.name === `country ${number}` &&
    region.name === `region ${number}` &&
    latitude === 1 + number / 1000 &&
    longitude === 1 + number / 1000
  if (!agree)
    throw new Error(`a record of several databases: ${JSON.stringify([city, country, region, coordinates])}`)
  return number
}

/** Unusable files of alternating kinds. */
function bad(number: number): Uint8Array {
  const good = generation(number, { canary: true })
  const kinds = [
    () => Buffer.from(`no database ${number}`),
    () => good.subarray(0, good.length - number),
    () => gzipSync(good).fill(number, 100, 101),
    () => generation(number), // lacks the canary
    () => Buffer.from(good).fill(0xff, 40, 70),
  ]
  return kinds[number % kinds.length]?.() ?? new Uint8Array(0)
}

it(`answers ${LOOKUPS} lookups while the file is replaced ${REPLACEMENTS} times, a third of them bad`, async () => {
  const path = join(temporaryFolder(), 'city.mmdb')
  const make = (number: number): Uint8Array => generation(number, { canary: true, padding: PADDING_BYTES })
  writeFileSync(path, make(0))
  const resolver = await Resolver.open(path, { watch: true, watchInterval: 5, canaries: [...KNOWN, CANARY] })
  const ways = Object.values(replacements)
  const seen = new Set<number>()
  let lookups = 0
  let settled = 0

  /** Half of the lookups in one `lookupMany`, half one by one; nothing is replaced in between. */
  function ask(): void {
    const ips = Array.from({ length: BATCH / 2 }, (_, index) => KNOWN[index % 2] ?? '')
    const many = resolver.lookupMany(ips)
    const each = ips.map((ip) => resolver.lookup(ip))
    const numbers = new Set(
      [...many, ...each].map((result) => {
        if (isLookupFailure(result)) throw new Error(`${result.ip}: ${result.error.message}`)
        return generationOf(result)
      }),
    )
    expect(numbers.size).toBe(1)
    for (const number of numbers) seen.add(number)
    lookups += BATCH
  }

  let good = 0
  for (let number = 1; number <= REPLACEMENTS; number++) {
    const isBad = number % 3 === 0
    if (!isBad) good++
    const replace = ways[number % ways.length] ?? writeFileSync
    replace(path, isBad ? bad(number) : make(number))
    const answered = lookups
    while (resolver.status.reloads + resolver.status.refusals < number) {
      ask()
      await turn()
    }
    do ask()
    while (lookups - answered < LOOKUPS / REPLACEMENTS)
    if (number === REPLACEMENTS / 5) settled = heldMemory()
  }

  expect(resolver.status).toMatchObject({ reloads: good, refusals: REPLACEMENTS - good })
  expect(lookups).toBeGreaterThanOrEqual(LOOKUPS)
  expect(seen.size).toBe(1 + good)
  expect(heldMemory() - settled).toBeLessThan(MAX_GROWTH_BYTES)
  resolver.close()
}, 300_000)
