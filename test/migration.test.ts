// The tables of src/migration/README.md: each expression gives what its row says.
import { readFileSync } from 'node:fs'
import net from 'node:net'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { embedded, Resolver } from '../src/index.ts'
import { MmdbWriter, uint16, uint32, type WritableValue } from '../src/writer.ts'
import { textOf } from './documents.ts'
import { makeFile, temporaryFolder } from './temporary.ts'

const folder = temporaryFolder()

function written(name: string, record: WritableValue): string {
  const buildDate = new Date('2026-07-01')
  const path = join(folder, name)
  const writer = new MmdbWriter({ databaseType: 'GeoLite2-City', buildDate })
  return makeFile(path, writer.insert('81.2.69.0/24', record).toBytes())
}

const path = written('city.mmdb', {
  city: { geoname_id: uint32(2643743), names: { en: 'London', fr: 'Londres' } },
  continent: { code: 'EU', names: { en: 'Europe' } },
  country: {
    iso_code: 'GB',
    names: { en: 'United Kingdom', fr: 'Royaume-Uni', de: 'Vereinigtes Königreich' },
  },
  location: { accuracy_radius: uint16(10), latitude: 51.5, longitude: -0.1, time_zone: 'Europe/London' },
  postal: { code: 'EC1A' },
  registered_country: { iso_code: 'US' },
  subdivisions: [
    { iso_code: 'ENG', names: { en: 'England' } },
    { iso_code: 'LND', names: { en: 'City of London' } },
  ],
})
const asn = written('asn.mmdb', {
  autonomous_system_number: uint32(20712),
  autonomous_system_organization: 'Andrews & Arnold Ltd',
})
const isp = written('isp.mmdb', { isp: 'Andrews & Arnold' })
const geo = Resolver.openSync(path)

/** What the expressions can name. */
const NAMES = {
  ...{ Resolver, embedded, geo, net, path, asn, isp },
  ...{ bytes: new Uint8Array(readFileSync(path)), ip: '81.2.69.142', nowhere: '8.8.8.8', onReload: () => {} },
}

const ROWS = Array.from(
  textOf('src/migration/README.md').matchAll(/^\| .* \| `([^|]+?)`[^`|]* \| `([^|]+)` \|$/gm),
  ([, here = '', gives = '']) => ({ here, gives }),
)

describe('a program that comes from another library', () => {
  it('finds many rows', () => expect(ROWS.length).toBeGreaterThan(60))

  it.each(ROWS)('$here gives $gives', async ({ here, gives }) => {
    const run = (code: string): Promise<unknown> =>
      new Function(...Object.keys(NAMES), `return (async () => (${code}))()`)(...Object.values(NAMES))
    expect(await run(here)).toEqual(await run(gives))
  })
})
