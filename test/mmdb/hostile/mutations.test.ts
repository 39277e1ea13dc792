// Small databases with any bit flipped and cut short anywhere. The fuzz target mmdb moves, doubles and drops their parts.
import { describe, expect, it } from 'vitest'
import { InvalidDatabaseError } from '../../../src/errors.ts'
import { Database } from '../../../src/mmdb/database.ts'
import { countNetworks } from '../../../src/mmdb/networks.ts'
import { float, MmdbWriter } from '../../../src/writer.ts'
import { sampled } from '../../effort.ts'
import { ordeal, type Stage } from './ordeal.ts'

const FEW = ['1.1.1.1', '81.2.69.142', '2001:4860:4860::8888']

/** Any error but InvalidDatabaseError fails the test. */
function tried(bytes: Uint8Array): Stage {
  try {
    countNetworks(new Database(bytes))
  } catch (error) {
    if (!(error instanceof InvalidDatabaseError)) throw error
  }
  return ordeal(bytes, FEW)
}

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

describe.each([
  ['GeoIP2', geoip2],
  ['ip-location-db', flat],
  ['IPinfo', ipinfo],
])('%s', (_, bytes) => {
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
        stages[tried(damaged)]++
      }
    }
    expect(Math.min(stages.refused, stages.damaged, stages.answers)).toBeGreaterThan(0)
  })

  it('with any byte 0x00 or 0xff', () => {
    for (const at of sampled([...bytes.keys()].slice(-500), 50)) {
      for (const value of [0x00, 0x3f, 0xff]) {
        const damaged = bytes.slice()
        damaged[at] = value
        tried(damaged)
      }
    }
  })

  it('cut short anywhere', () => {
    for (const length of sampled([...bytes.keys()], 200)) tried(bytes.slice(0, length))
    const starts = [...bytes.keys()].filter((start) => start % 7 === 1)
    for (const start of sampled(starts, 50)) tried(bytes.slice(start))
  })
})
