// Small databases with any bit flipped, cut short anywhere, and spliced together.
import { describe, expect, it } from 'vitest'
import { seeded } from '../../../scripts/bench/addresses.ts'
import { float, MmdbWriter } from '../../../src/writer.ts'
import { effort, sampled } from '../../effort.ts'
import { hasShared, sharedBytes } from '../../shared.ts'
import { ordeal } from './ordeal.ts'

const FEW = ['1.1.1.1', '81.2.69.142', '2001:4860:4860::8888']

const geoip2 = new MmdbWriter({ databaseType: 'A-City', languages: ['en'], recordSize: 24 })
  .insert('81.2.69.0/24', {
    country: { iso_code: 'GB', names: { en: 'Britain', de: 'Britannien' } },
    subdivisions: [{ iso_code: 'ENG', names: { en: 'England' } }],
    city: { names: { en: 'London' } },
    postal: { code: 'EC1A' },
    location: { latitude: float(51.5), longitude: -0.25, time_zone: 'Europe/London' },
  })
  .toBytes()
const flat = new MmdbWriter({ databaseType: 'b', ipVersion: 4, recordSize: 28 })
  .insert('0.0.0.0/1', {
    country_code: 'AU',
    state1: 'Queensland',
    city: '',
    postcode: '4000',
    latitude: 27.5,
    longitude: 153,
    timezone: 'Australia/Brisbane',
  })
  .toBytes()
const ipinfo = new MmdbWriter({ databaseType: 'c', ipVersion: 4, recordSize: 32 })
  .insert('0.0.0.0/1', { country: 'AU', region: 'Queensland', city: 'Brisbane', loc: '-27.5,153.0' })
  .toBytes()

const SMALL: [name: string, bytes: Uint8Array][] = [
  ['GeoIP2', geoip2],
  ['ip-location-db', flat],
  ['IPinfo', ipinfo],
]

const SPLICES = effort({ short: 150, long: 1500 })

describe.each(SMALL)('%s', (_, bytes) => {
  it('is valid before it is damaged', () => {
    expect(ordeal(bytes)).toBe('answers')
  })

  // An IPv6 tree starts with many similar nodes, so test every eleventh of them.
  it('with any single bit flipped', () => {
    const stages = { refused: 0, damaged: 0, answers: 0 }
    const all = Array.from(bytes.keys()).filter((at) => at >= bytes.length - 700 || at % 11 === 0)
    for (const at of sampled(all, 80)) {
      for (let bit = 0; bit < 8; bit++) {
        const damaged = bytes.slice()
        damaged[at] = (damaged[at] ?? 0) ^ (1 << bit)
        stages[ordeal(damaged, FEW)]++
      }
    }
    expect(Math.min(stages.refused, stages.damaged, stages.answers)).toBeGreaterThan(0)
  })

  it('with any byte 0x00 or 0xff', () => {
    for (const at of sampled([...bytes.keys()].slice(-500), 50)) {
      for (const value of [0x00, 0x3f, 0xff]) {
        const damaged = bytes.slice()
        damaged[at] = value
        ordeal(damaged, FEW)
      }
    }
  })

  it('cut short anywhere', () => {
    for (const length of sampled([...bytes.keys()], 200)) ordeal(bytes.slice(0, length), FEW)
    const starts = [...bytes.keys()].filter((start) => start % 7 === 1)
    for (const start of sampled(starts, 50)) ordeal(bytes.slice(start), FEW)
  })
})

/** Moves, doubles and drops ranges of a database, or joins it with another, by the given numbers. */
function spliced(random: () => number, pool: readonly Uint8Array[]): Uint8Array {
  const pick = (): Uint8Array => pool[Math.floor(random() * pool.length)] ?? new Uint8Array()
  let bytes = Buffer.from(pick())
  for (let edits = 1 + Math.floor(random() * 3); edits > 0; edits--) {
    // Mostly before the metadata, without which the file is refused at once.
    const end = random() < 0.8 ? Math.max(0, bytes.indexOf('MaxMind.com') - 3) : bytes.length
    const at = Math.floor(random() * (end + 1))
    const other = random() < 0.5 ? bytes : pick()
    const from = Math.floor(random() * other.length)
    const piece = Buffer.from(other.subarray(from, from + Math.ceil(random() ** 3 * 200)))
    const kind = Math.floor(random() * 5)
    if (kind === 0) bytes.set(piece.subarray(0, bytes.length - at), at)
    else if (kind === 1) bytes = Buffer.concat([bytes.subarray(0, at), piece, bytes.subarray(at)])
    else if (kind === 2) bytes = Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + piece.length)])
    else if (kind === 3) bytes = Buffer.concat([bytes.subarray(0, at), other.subarray(from)])
    else bytes.fill(Math.floor(random() * 256), at, Math.min(bytes.length, at + 8))
  }
  return new Uint8Array(bytes)
}

describe('databases spliced at random', () => {
  it('of the small ones', () => {
    const random = seeded(5)
    const pool = SMALL.map(([, bytes]) => bytes)
    for (let i = 0; i < SPLICES; i++) ordeal(spliced(random, pool), FEW)
  })

  it.skipIf(!hasShared)('of the fixtures', () => {
    const random = seeded(6)
    const names = ['string-value-entries', 'test-decoder', 'test-ipv4-24', 'test-mixed-28', 'test-nested']
    const pool = names.map((name) => sharedBytes(`fixtures/mmdb/MaxMind-DB-${name}.mmdb`))
    pool.push(sharedBytes('fixtures/mmdb/GeoIP2-City-Test.mmdb'))
    for (let i = 0; i < SPLICES; i++) ordeal(spliced(random, pool), FEW)
  })
})
