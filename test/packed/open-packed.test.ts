// The core without the reader of packed databases: it is loaded when a packed database is opened.
import { gzipSync } from 'node:zlib'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import { MmdbWriter, pack } from '../../src/writer.ts'
import { archive, entry } from '../bytes/tar-samples.ts'

const writer = new MmdbWriter({ databaseType: 'Test-City' })
writer.insert('81.2.69.0/24', { country: { iso_code: 'GB' }, city: { names: { en: 'London' } } })
const PACKED = pack(writer.toBytes())

/** A new copy of the core, which has loaded no reader. */
async function newCore() {
  vi.resetModules()
  return (await import('../../src/core.ts')).Resolver
}

describe('the core', () => {
  let Resolver: Awaited<ReturnType<typeof newCore>>
  beforeEach(async () => {
    Resolver = await newCore()
  })

  it('opens a packed database', async () => {
    const geo = await Resolver.open(PACKED)
    expect(geo.lookup('81.2.69.142').city).toBe('London')
  })

  it('opens one synchronously, and attaches one, after loading the reader', async () => {
    const tar = archive(entry({ name: 'x.mmdb', content: writer.toBytes() }))
    expect((await Resolver.open(tar)).lookup('81.2.69.142').city).toBe('London')
    expect(() => Resolver.openSync(tar)).toThrow('the database is in an archive: call "await')
    expect(() => Resolver.openSync(PACKED.subarray(1))).toThrow('no metadata found')
    expect(() => Resolver.openSync(gzipSync(PACKED))).toThrow('the database is compressed: call "await')
    expect(() => Resolver.openSync(PACKED)).toThrow(
      'the database is packed: call "await Resolver.loadDecompression()" before',
    )
    await Resolver.loadDecompression()
    expect(Resolver.openSync(tar).find('1.1.1.1')).toHaveProperty('error.reason', 'not-found')
    const geo = Resolver.openSync(PACKED, { cacheBytes: 0 })
    expect(geo.lookup('81.2.69.142').country.code).toBe('GB')
    expect(Resolver.openSync(gzipSync(geo.share().databases[0]?.bytes ?? '')).databases).toEqual(
      geo.databases,
    )
    expect(() => Resolver.attach(geo.share(), { cacheBytes: -1 })).toThrow('cacheBytes must be')
    const other = Resolver.attach(geo.share(), { cacheBytes: 0 })
    expect(other.lookup('81.2.69.142')).toEqual(geo.lookup('81.2.69.142'))
  })
})
