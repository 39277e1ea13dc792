// The embedded database of autonomous systems.
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Reader, type Response } from 'mmdb-lib'
import { afterAll, describe, expect, it } from 'vitest'
import { seeded } from '../../scripts/bench/addresses.ts'
import { ASN_PACKAGE, readAsnSource } from '../../scripts/build-data/asn.ts'
import type { Manifest } from '../../scripts/build-data/manifest.ts'
import { plainForm } from '../../scripts/build-data/packed-form.ts'
import asn from '../../src/asn.ts'
import { embedded, isLookupFailure, Resolver } from '../../src/index.ts'
import { effort } from '../effort.ts'
import { ROOT } from '../package/project.ts'

const geo = Resolver.openSync(embedded.country, { asn: true })
afterAll(() => geo.close())
const manifest: Manifest = JSON.parse(readFileSync(join(ROOT, 'data/manifest.json'), 'utf8'))
const random = seeded(20260617)
const SOURCE = join(ROOT, '.cache/build-data/node_modules', ASN_PACKAGE)
const hasSource = existsSync(SOURCE)
if (!hasSource)
  console.warn('skipped: comparing with the source of the data, which npm run build-data installs')

const SAMPLES = effort({ short: 10_000, long: 100_000 })

function randomAddress(isIPv6: boolean): string {
  const word = () => Math.floor(random() * 65_536)
  // Most allocated networks are in 2400::/6 and 2a00::/8.
  const first = [0x2001, 0x2400, 0x2600, 0x2800, 0x2a00][Math.floor(random() * 5)] ?? 0
  const start = first === 0x2001 ? first : first + Math.floor(random() * 256)
  return isIPv6
    ? [start, ...Array.from({ length: 7 }, word)].map((each) => each.toString(16)).join(':')
    : Array.from({ length: 4 }, () => Math.floor(random() * 256)).join('.')
}

describe('the embedded database of autonomous systems', () => {
  it.each([
    ['8.8.8.8', 15169, 'Google LLC'],
    ['2001:4860:4860::8888', 15169, 'Google LLC'],
    ['1.1.1.1', 13335, 'Cloudflare, Inc.'],
    ['9.9.9.9', 19281, 'Quad9'],
    ['99.240.1.1', 812, 'Rogers Communications Canada Inc.'],
    ['193.0.6.139', 3333, 'Reseaux IP Europeens Network Coordination Centre (RIPE NCC)'],
  ])('knows %s', (ip, number, organization) => {
    expect(geo.asn(ip)).toMatchObject({ number, organization })
  })

  it('says what it is, and what its licence asks for', () => {
    const info = geo.databases[1]
    expect(info).toMatchObject({ type: 'Geofix-ASN', ipVersion: 6, licence: 'CC BY 4.0' })
    expect(info?.buildDate?.toISOString()).toBe(
      manifest.files.find(({ file }) => /^asn/.test(file))?.buildDate,
    )
    for (const text of [
      'routeviews.org',
      'nro.net',
      'https://db-ip.com',
      'CC BY 4.0',
      'modified',
      'link back',
    ]) {
      expect(info?.attribution).toContain(text)
    }
    expect(info?.attribution).toContain(manifest.asn.attribution)
  })

  it(`has for ${SAMPLES} random addresses what mmdb-lib finds in its plain form`, () => {
    const reader = new Reader<Response>(plainForm(readFileSync(fileURLToPath(asn.href))))
    let found = 0
    for (let i = 0; i < SAMPLES; i++) {
      const ip = randomAddress(i % 2 === 1)
      const result = geo.find(ip)
      // A special-purpose address has none.
      if (isLookupFailure(result) && result.error.reason !== 'not-found') continue
      const [record, prefix] = reader.getWithPrefixLength(ip)
      const system = geo.asn(ip)
      if (system !== null) {
        found++
        expect([ip, system.network.split('/')[1]]).toEqual([ip, String(prefix)])
      }
      expect([ip, system?.number, system?.organization ?? undefined]).toEqual([
        ip,
        Reflect.get(Object(record), 'autonomous_system_number'),
        Reflect.get(Object(record), 'autonomous_system_organization'),
      ])
    }
    expect(found).toBeGreaterThan(SAMPLES / 4)
  })

  it.skipIf(!hasSource)('has the systems of the source at both ends of random ranges', () => {
    const source = readAsnSource(SOURCE)
    const { ipv4 } = source
    let compared = 0
    for (let i = 0; i < SAMPLES / 10; i++) {
      const index = Math.floor(random() * ipv4.length)
      const [range, next] = ipv4.slice(index, index + 2)
      if (range === undefined) continue
      for (const address of [range.first, range.last]) {
        // Of two ranges that overlap, the later one counts.
        if (next !== undefined && next.first <= address) continue
        const ip = [24n, 16n, 8n, 0n].map((shift) => (address >> shift) & 255n).join('.')
        const result = geo.find(ip)
        if (isLookupFailure(result) && result.error.reason !== 'not-found') continue
        expect(geo.asn(ip)).toMatchObject({ number: range.number, organization: range.organization })
        compared++
      }
    }
    expect(compared).toBeGreaterThan(SAMPLES / 10)
  })
})
