import {
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  utimesSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import { Resolver as CoreResolver } from '../../src/core.ts'
import { InvalidDatabaseError } from '../../src/errors.ts'
import { embedded, Resolver } from '../../src/index.ts'
import { BORROW, withDatabases } from '../../src/location/database-set.ts'
import { lookAtFile } from '../../src/node/open-files.ts'
import type { Resolver as AnyResolver } from '../../src/resolver.ts'
import { MmdbWriter, pack } from '../../src/writer.ts'
import { heldMemory } from '../heap.ts'
import { offsetAt } from '../mmdb/questions.ts'
import { makeFile, temporaryFolder } from '../temporary.ts'
import { openFilesOf } from './file-descriptors.ts'
import { generation, KNOWN } from './watched-files.ts'

const folder = temporaryFolder()
const [IP] = KNOWN

let count = 0
const written = (bytes: Uint8Array): string => makeFile(join(folder, `${count++}.mmdb`), bytes)

const renamedOver = (path: string, bytes: Uint8Array): void => renameSync(written(bytes), path)

const databaseOf = (resolver: AnyResolver) => withDatabases(resolver, ({ databases }) => databases[0])

const forms = [
  ['packed', pack],
  ['raw', (bytes: Uint8Array) => bytes],
  ['gzip', (bytes: Uint8Array) => gzipSync(bytes)],
] as const

// Files that were written just now are not shared: see the last test.
const { now } = Date
beforeEach(() => void vi.spyOn(Date, 'now').mockImplementation(() => now() + 10_000))

describe('a closed packed database', () => {
  it.each<[string, (bytes: Uint8Array) => string | Uint8Array]>([
    ['a file', written],
    ['bytes', (bytes) => bytes],
  ])('is let go before the job ends: %s', (_, sourceOf) => {
    const source = sourceOf(pack(generation(1)))
    const openAndClose = (): void => {
      const geo = Resolver.openSync(source)
      expect(geo.lookup(IP).city).toBe('city 1')
      geo.close()
    }
    openAndClose()
    const before = heldMemory()
    // The table of an index has 4 MiB.
    for (let i = 0; i < 20; i++) openAndClose()
    expect(heldMemory() - before).toBeLessThan(2 * 4 * 1024 * 1024)
  })
})

describe.each(forms)('resolvers of the same file, %s', (form, made) => {
  it('share a database until the last one closes it', async () => {
    const path = written(made(generation(1)))
    const resolvers = [await Resolver.open(path), Resolver.openSync(path), await Resolver.open([path])]
    expect(new Set(resolvers.map(databaseOf)).size).toBe(1)
    if (form === 'packed') expect(openFilesOf(path)).toHaveLength(1)
    const onProgress = (): never => {
      throw new RangeError('mine')
    }
    await expect(Resolver.open(path, { onProgress })).rejects.toThrow('mine')
    for (const resolver of resolvers.splice(1)) {
      resolver.close()
      resolver.close()
      expect(resolvers[0]?.lookup(IP).city).toBe('city 1')
    }
    resolvers[0]?.close()
    expect(openFilesOf(path)).toHaveLength(0)
    const again = await Resolver.open(path)
    expect(again.lookup(IP).city).toBe('city 1')
    again.close()
    expect(openFilesOf(path)).toHaveLength(0)
  })

  it.each([
    ['renamed over it', renamedOver],
    ['written into it', writeFileSync],
  ])('have another database when a file was %s', async (_, replace) => {
    const path = written(made(generation(1)))
    const first = await Resolver.open(path)
    expect(first.lookup(IP).city).toBe('city 1')
    replace(path, made(generation(2)))
    // The same time and, but for compression, the same size.
    utimesSync(path, 1, 1)
    for (const second of [await Resolver.open(path), Resolver.openSync(path)]) {
      expect(second.lookup(IP).city).toBe('city 2')
      expect(databaseOf(second)).not.toBe(databaseOf(first))
      second.close()
    }
    // The packed file itself changes when it is written into.
    if (replace === renamedOver || form !== 'packed') expect(first.lookup(IP).city).toBe('city 1')
    first.close()
    expect(openFilesOf(path)).toHaveLength(0)
  })

  it('have databases of their own with other limits or another path', async () => {
    const path = written(made(generation(1)))
    const resolvers = [
      await Resolver.open(path),
      await Resolver.open(path, { cacheBytes: 0 }),
      await Resolver.open(path, { maxBytes: 1e6 }),
      await Resolver.open(
        join(folder, '.', '..', folder.split('/').at(-1) ?? '', path.split('/').at(-1) ?? ''),
      ),
    ]
    expect(new Set(resolvers.slice(0, 3).map(databaseOf)).size).toBe(3)
    await expect(Resolver.open(path, { maxBytes: 10 })).rejects.toThrow('it has more than 10 bytes')
    await expect(Resolver.open(path, { cacheBytes: -1 })).rejects.toThrow('cacheBytes must be a whole number')
    for (const resolver of resolvers) resolver.close()
    expect(openFilesOf(path)).toHaveLength(0)
  })

  it('do not share a file that was written just now', async () => {
    const path = written(made(generation(1)))
    const now = Date.now()
    const clock = vi.mocked(Date.now).mockImplementation(() => now - 10_000)
    const resolvers = [await Resolver.open(path), await Resolver.open(path)]
    clock.mockImplementation(() => now)
    expect(new Set(resolvers.map(databaseOf)).size).toBe(2)
    for (const resolver of resolvers) resolver.close()
    expect(openFilesOf(path)).toHaveLength(0)
  })
})

describe.each([
  ['the core', CoreResolver],
  ['Node', Resolver],
])('resolvers of the same packed bytes in %s', (_, Entry) => {
  it('share a database', async () => {
    const bytes = pack(generation(1))
    const resolvers = [await Entry.open(bytes), Entry.openSync(bytes), await Entry.open(bytes.buffer)]
    expect(new Set(resolvers.map(databaseOf)).size).toBe(1)
    resolvers[0]?.close()
    expect(resolvers[1]?.lookup(IP).city).toBe('city 1')
    expect(databaseOf(await Entry.open(bytes.slice()))).not.toBe(resolvers[1] && databaseOf(resolvers[1]))
  })

  it('have another one when the memory has another file', async () => {
    const [one, two] = [pack(generation(1)), pack(generation(2))]
    const memory = new Uint8Array(Math.max(one.length, two.length))
    const opened = []
    for (const bytes of [one, two]) {
      memory.fill(0)
      memory.set(bytes)
      const geo = await Entry.open(memory.subarray(0, bytes.length))
      expect(geo.lookup(IP).city).toBe(bytes === one ? 'city 1' : 'city 2')
      opened.push(geo)
    }
    expect(opened).toHaveLength(2)
  })
})

it('resolvers of the embedded database share what they read', async () => {
  const resolvers = [await Resolver.open(), await Resolver.open(), Resolver.openSync()]
  const sets = resolvers.map((each) => each[BORROW]())
  expect(new Set(sets.map(({ databases }) => databases[0])).size).toBe(1)
  expect(new Set(sets.map(({ locationTables }) => locationTables[0])).size).toBe(1)
  for (const [index, set] of sets.entries()) {
    set.release()
    resolvers[index]?.close()
  }
  const bytes = readFileSync(embedded.city)
  expect(new Set([Resolver.openSync(bytes), Resolver.openSync(bytes)].map(databaseOf)).size).toBe(1)
})

/** @param networks before the one with the city, so that opening does not read its block */
function packedWith(city: string, networks = 0): Uint8Array {
  const writer = new MmdbWriter({ databaseType: 'Test-City' })
  for (let i = 0; i < networks; i++)
    writer.insert(`1.${i >>> 8}.${i & 255}.0/24`, { country: { iso_code: 'AU', i } })
  writer.insert('81.2.69.0/24', { country: { iso_code: 'GB' }, city: { names: { en: city } } })
  return pack(writer.toBytes())
}

const LONDON = packedWith('London')

describe('a packed file on disk', () => {
  it('is read by blocks, by every way to open a path', async () => {
    const path = written(LONDON)
    for (const geo of [await Resolver.open(path), Resolver.openSync(path), await Resolver.open([path])]) {
      expect(geo.lookup(IP).city).toBe('London')
      expect(geo.databases[0]?.path).toBe(path)
      expect(geo.raw(IP)).toMatchObject({ city: { names: { en: 'London' } } })
      expect(geo.verify()[0]?.faultCount).toBe(0)
    }
  })

  it('fails lookups after a write into it, and mixes nothing', async () => {
    const path = written(packedWith('London', 5000))
    const geo = await Resolver.open(path, { cacheBytes: 0 })
    await new Promise((resolve) => setTimeout(resolve, 20))
    // Only the block of data differs.
    writeSync(openSync(path, 'r+'), packedWith('Berlin', 5000))
    expect(() => geo.lookup(IP)).toThrow(InvalidDatabaseError)
    expect(() => geo.lookup(IP)).toThrow('the file was changed while it is open')
    expect(() => geo.share()).toThrow('the file was changed while it is open')
    writeFileSync(path, '')
    expect(() => geo.raw(IP)).toThrow('the file was changed while it is open')
  })

  it('does not read another file that got its number', () => {
    const { database } = lookAtFile(written(LONDON), { cacheBytes: 0 })
    database?.release?.()
    expect(database).not.toBeNull()
    expect(() => database && offsetAt(database, 0x5102_458e)).toThrow('the file is closed')
  })

  it('is shared, and attached with a cache of its own', async () => {
    const geo = await Resolver.open(written(LONDON))
    const shared = structuredClone(geo.share())
    expect(Resolver.attach(shared, { cacheBytes: 0 }).lookup(IP)).toEqual(geo.lookup(IP))
    expect(geo.share().databases[0]?.bytes).toBe(geo.share().databases[0]?.bytes)
    expect(shared.databases[0]?.bytes).toEqual(LONDON)
    expect(() => Resolver.attach(shared, { cacheBytes: -1 })).toThrow('cacheBytes must be')
  })

  it('is not what other files, folders and missing files are', () => {
    expect(lookAtFile(written(new Uint8Array(100))).database).toBeNull()
    expect(lookAtFile(written(LONDON.subarray(0, 4))).database).toBeNull()
    expect(lookAtFile(folder).database).toBeNull()
    expect(lookAtFile(join(folder, 'missing')).database).toBeNull()
  })

  it('is not left open when it cannot be used', () => {
    const path = written(LONDON.subarray(0, 100))
    const open = (): number => readdirSync('/proc/self/fd').length
    const before = process.platform === 'linux' ? open() : 0
    for (let i = 0; i < 50; i++) expect(() => Resolver.openSync(path)).toThrow(InvalidDatabaseError)
    if (process.platform === 'linux') expect(open()).toBe(before)
  })
})

describe('a packed file on Windows', () => {
  const onWindows = (): void => {
    // Only what asks for the system sees it: the rest of the process is as it is.
    vi.stubGlobal('process', Object.create(process, { platform: { value: 'win32' } }))
  }

  it('is not kept open under watch, so that others can be renamed over it', async () => {
    const path = written(LONDON)
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
    const path = written(LONDON)
    onWindows()
    const geo = await Resolver.open(path)
    vi.unstubAllGlobals()
    expect(openFilesOf(path)).toHaveLength(1)
    geo.close()
    expect(openFilesOf(path)).toEqual([])
  })
})
