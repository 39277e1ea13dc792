import { openSync, readdirSync, renameSync, writeFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { InvalidDatabaseError } from '../../src/errors.ts'
import { Resolver } from '../../src/index.ts'
import { lookAtFile } from '../../src/node/open-files.ts'
import { MmdbWriter, pack } from '../../src/writer.ts'
import { temporaryFolder } from '../temporary.ts'
import { openFilesOf } from './file-descriptors.ts'

const folder = temporaryFolder()
const at = (name: string): string => join(folder, name)

/** @param networks before the one with the city, so that opening does not read its block */
function packedWith(city: string, networks = 0): Uint8Array {
  const writer = new MmdbWriter({ databaseType: 'Test-City' })
  for (let i = 0; i < networks; i++)
    writer.insert(`1.${i >>> 8}.${i & 255}.0/24`, { country: { iso_code: 'AU', i } })
  writer.insert('81.2.69.0/24', { country: { iso_code: 'GB' }, city: { names: { en: city } } })
  return pack(writer.toBytes())
}

const LONDON = packedWith('London')
const BERLIN = packedWith('Berlin')
const IP = '81.2.69.142'

function written(name: string, bytes: Uint8Array): string {
  writeFileSync(at(name), bytes)
  return at(name)
}

describe('a packed file on disk', () => {
  it('is read by blocks, by every way to open a path', async () => {
    const path = written('city.packed', LONDON)
    for (const geo of [await Resolver.open(path), Resolver.openSync(path), await Resolver.open([path])]) {
      expect(geo.lookup(IP).city).toBe('London')
      expect(geo.databases[0]?.path).toBe(path)
      expect(geo.raw(IP)).toMatchObject({ city: { names: { en: 'London' } } })
      expect(geo.verify()[0]?.faultCount).toBe(0)
    }
  })

  it('stays the same when another file is renamed over it', async () => {
    const path = written('renamed.packed', LONDON)
    const geo = await Resolver.open(path)
    renameSync(written('other.packed', BERLIN), path)
    expect(geo.lookup(IP).city).toBe('London')
    expect((await Resolver.open(path)).lookup(IP).city).toBe('Berlin')
  })

  it('fails lookups after a write into it, and mixes nothing', async () => {
    const path = written('changed.packed', packedWith('London', 5000))
    const geo = await Resolver.open(path, { cacheBytes: 0 })
    await new Promise((resolve) => setTimeout(resolve, 20))
    writeSync(openSync(path, 'r+'), BERLIN)
    expect(() => geo.lookup(IP)).toThrow(InvalidDatabaseError)
    expect(() => geo.lookup(IP)).toThrow('the file was changed while it is open')
    writeFileSync(path, '')
    expect(() => geo.raw(IP)).toThrow('the file was changed while it is open')
  })

  it('does not read another file that got its number', () => {
    const { database } = lookAtFile(written('number.packed', LONDON), { cacheBytes: 0 })
    database?.release?.()
    expect(database).not.toBeNull()
    expect(() => database?.tree.findIPv4(0x5102_458e)).toThrow('number.packed: the file is closed')
  })

  it('is shared, and attached with a cache of its own', async () => {
    const geo = await Resolver.open(written('shared.packed', LONDON))
    const shared = structuredClone(geo.share())
    expect(Resolver.attach(shared, { cacheBytes: 0 }).lookup(IP)).toEqual(geo.lookup(IP))
    expect(geo.share().databases[0]?.bytes).toBe(geo.share().databases[0]?.bytes)
    expect(shared.databases[0]?.bytes).toEqual(LONDON)
    expect(() => Resolver.attach(shared, { cacheBytes: -1 })).toThrow('cacheBytes must be')
  })

  it('is not what other files, folders and missing files are', () => {
    expect(lookAtFile(written('other.mmdb', new Uint8Array(100))).database).toBeNull()
    expect(lookAtFile(written('short', LONDON.subarray(0, 4))).database).toBeNull()
    expect(lookAtFile(folder).database).toBeNull()
    expect(lookAtFile(at('missing')).database).toBeNull()
  })

  it('is not left open when it cannot be used', () => {
    const path = written('damaged.packed', LONDON.subarray(0, 100))
    const open = (): number => readdirSync('/proc/self/fd').length
    const before = process.platform === 'linux' ? open() : 0
    for (let i = 0; i < 50; i++) expect(() => Resolver.openSync(path)).toThrow(InvalidDatabaseError)
    if (process.platform === 'linux') expect(open()).toBe(before)
  })

  it('has a limit for what is kept', async () => {
    const path = written('limit.packed', LONDON)
    await expect(Resolver.open(path, { cacheBytes: -1 })).rejects.toThrow('cacheBytes must be a whole number')
    await expect(Resolver.open(path, { maxBytes: 100 })).rejects.toThrow('it has more than 100 bytes')
    expect(Resolver.openSync(path, { maxBytes: 100_000 }).lookup(IP).city).toBe('London')
  })
})

describe('a packed file on Windows', () => {
  afterEach(() => void vi.unstubAllGlobals())

  const onWindows = (): void => {
    // Only what asks for the system sees it: the rest of the process is as it is.
    vi.stubGlobal('process', Object.create(process, { platform: { value: 'win32' } }))
  }

  it('is not kept open under watch, so that others can be renamed over it', async () => {
    const path = written('windows.packed', LONDON)
    for (const open of [Resolver.open, Resolver.openSync]) {
      onWindows()
      const watching = await open(path, { watch: true })
      vi.unstubAllGlobals()
      expect(watching.lookup(IP).city).toBe('London')
      expect(openFilesOf(path)).toEqual([])
      watching.close()
    }
  })

  it.runIf(process.platform === 'linux')('is kept open without watch', async () => {
    const path = written('kept.packed', LONDON)
    onWindows()
    const geo = await Resolver.open(path)
    vi.unstubAllGlobals()
    expect(openFilesOf(path)).toHaveLength(1)
    geo.close()
    expect(openFilesOf(path)).toEqual([])
  })
})
