// Entries for React Server Components. test/matrix/next.long.test.ts builds programs with them.
import { afterEach, describe, expect, it, vi } from 'vitest'
import asn from '../src/asn.ts'
import city from '../src/city.ts'
import country from '../src/country.ts'
import { embeddedFileOf } from '../src/embedded.ts'

const ENTRIES = [
  { entry: '../src/asn-server.ts', database: asn },
  { entry: '../src/city-server.ts', database: city },
  { entry: '../src/country-server.ts', database: country },
]

afterEach(() => {
  vi.resetModules()
  Reflect.deleteProperty(process, 'turbopack')
})

describe('the entries for servers', () => {
  it.each(ENTRIES)('$entry is the URL of the database', async ({ entry, database }) => {
    const { default: url } = await import(entry)
    expect([url.href, embeddedFileOf(url)]).toEqual([database.href, embeddedFileOf(database)])
  })

  it.each(ENTRIES)('$entry is so for Turbopack', async ({ entry, database }) => {
    Object.assign(process, { turbopack: true })
    // As Turbopack writes it.
    vi.stubGlobal('__dirname', '/ROOT/node_modules/geofix/dist')
    const { default: url } = await import(entry)
    expect([url.href, embeddedFileOf(url)]).toEqual([database.href, embeddedFileOf(database)])
  })
})
