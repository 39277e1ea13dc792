import {
  closeSync,
  mkdirSync,
  openSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { basename, join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import { describe, expect, it, onTestFinished } from 'vitest'
import { InvalidDatabaseError, type OpenOptions, type ReloadEvent, Resolver } from '../../src/index.ts'
import { MmdbWriter } from '../../src/writer.ts'
import { heldMemory } from '../heap.ts'
import { temporaryFolder } from '../temporary.ts'
import { CANARY, ConfigVolume, generation, KNOWN, replacements } from './watched-files.ts'

const INTERVAL_MS = 20

const folder = temporaryFolder()
let files = 0

/** A new path, with these bytes if given. */
function file(bytes?: Uint8Array): string {
  const path = join(folder, `city-${++files}.mmdb`)
  if (bytes !== undefined) writeFileSync(path, bytes)
  return path
}

/** A watching resolver and its events. */
async function watching(source: string | readonly string[], options: OpenOptions = {}) {
  const reloads: ReloadEvent[] = []
  const errors: InvalidDatabaseError[] = []
  const resolver = await Resolver.open(source, {
    watch: true,
    watchInterval: INTERVAL_MS,
    onReload: (event) => void reloads.push(event),
    onReloadError: (error) => void errors.push(error),
    ...options,
  })
  onTestFinished(() => resolver.close())
  return { resolver, reloads, errors }
}

/** Waits for a condition, for at most ten seconds. */
async function until(holds: () => boolean): Promise<void> {
  for (const end = Date.now() + 10_000; !holds(); await wait(5)) {
    if (Date.now() > end) throw new Error(`still false after ten seconds: ${holds}`)
  }
}

/** Long enough for further events to show up. */
const settle = (): Promise<void> => wait(10 * INTERVAL_MS)

const cityOf = (resolver: Resolver): (string | null)[] => KNOWN.map((ip) => resolver.lookup(ip).city)
const cities = (number: number): string[] => [`city ${number}`, `city ${number}`]

describe('a watched file', () => {
  it.each(Object.entries(replacements))('is reloaded when it is %s', async (_, replace) => {
    const path = file(generation(1))
    const { resolver, reloads, errors } = await watching(path)
    const before = resolver.status
    expect(before).toMatchObject({ watching: true, reloads: 0, refusals: 0, reloadError: null, stale: [] })
    replace(path, generation(2))
    await until(() => reloads.length > 0)
    expect(cityOf(resolver)).toEqual(cities(2))
    expect(reloads).toEqual([
      {
        previous: [expect.objectContaining({ type: 'Generation-1', path })],
        current: [expect.objectContaining({ type: 'Generation-2', path })],
      },
    ])
    expect(resolver.databases).toBe(reloads[0]?.current)
    expect(resolver.status).toMatchObject({ watching: true, reloads: 1, refusals: 0, reloadError: null })
    expect(resolver.status.openedAt.getTime()).toBeGreaterThan(before.openedAt.getTime())
    expect(resolver.status.openedAt).not.toBe(resolver.status.openedAt)
    await settle()
    expect([reloads.length, errors]).toEqual([1, []])
  })

  it('is reloaded when its symbolic link changes, as in Kubernetes', async () => {
    const volume = new ConfigVolume(join(folder, 'volume'))
    volume.publish(generation(1))
    const { resolver, reloads, errors } = await watching(volume.path)
    for (const number of [2, 3]) {
      volume.publish(generation(number))
      await until(() => reloads.length === number - 1)
      expect(cityOf(resolver)).toEqual(cities(number))
    }
    expect(errors).toEqual([])
  })

  it('is reloaded when it is deleted and created again', async () => {
    const path = file(generation(1))
    const { resolver, reloads, errors } = await watching(path)
    rmSync(path)
    await until(() => errors.length > 0)
    expect(errors[0]).toMatchObject({ code: 'INVALID_DATABASE', path, cause: { code: 'ENOENT' } })
    expect(resolver.status.reloadError).toBe(errors[0])
    await settle()
    expect(errors).toHaveLength(1)
    expect(cityOf(resolver)).toEqual(cities(1))
    writeFileSync(path, generation(2))
    await until(() => reloads.length > 0)
    expect(cityOf(resolver)).toEqual(cities(2))
    expect(resolver.status).toMatchObject({ reloads: 1, refusals: 1, reloadError: null })
  })

  it('is found by a relative path after the working directory changes', async () => {
    const path = file(generation(1))
    const before = process.cwd()
    process.chdir(folder)
    onTestFinished(() => process.chdir(before))
    const { resolver, reloads } = await watching(basename(path))
    process.chdir(before)
    writeFileSync(path, generation(2))
    await until(() => reloads.length > 0)
    expect(resolver.databases[0]?.path).toBe(realpathSync(path))
  })

  it('is not reloaded when it is moved away and back', async () => {
    const path = file(generation(1))
    const { resolver, errors } = await watching(path)
    renameSync(path, `${path}.away`)
    await until(() => errors.length > 0)
    renameSync(`${path}.away`, path)
    await until(() => resolver.status.reloadError === null)
    expect(cityOf(resolver)).toEqual(cities(1))
  })

  it('is not reloaded while it is being written', async () => {
    const path = file(generation(1))
    const { resolver, reloads, errors } = await watching(path, { watchInterval: 100 })
    const bytes = generation(2, { padding: 1000 })
    const descriptor = openSync(path, 'w')
    for (let at = 0; at < bytes.length; at += 50) {
      writeSync(descriptor, bytes.subarray(at, at + 50))
      await wait(15)
      expect(cityOf(resolver)).toEqual(cities(1))
    }
    closeSync(descriptor)
    await until(() => reloads.length > 0)
    expect(cityOf(resolver)).toEqual(cities(2))
    expect(errors).toEqual([])
  })

  it('is reloaded when it was replaced while it was opened', async () => {
    const path = file(generation(1, { padding: 5_000_000 }))
    const opening = watching(path)
    await wait(1)
    replacements['renamed over']?.(path, generation(2))
    const { resolver } = await opening
    await until(() => resolver.lookup(KNOWN[0]).city === 'city 2')
  })

  it('is reloaded after openSync too', async () => {
    const path = file(generation(1))
    const resolver = Resolver.openSync(path, { watch: true, watchInterval: INTERVAL_MS })
    onTestFinished(() => resolver.close())
    writeFileSync(path, generation(2))
    await until(() => resolver.status.reloads === 1)
    expect(cityOf(resolver)).toEqual(cities(2))
  })
})

describe('a replacement is refused', () => {
  const good = generation(2, { canary: true })
  const packed = gzipSync(good)
  const withoutLocations = new MmdbWriter({ databaseType: 'ASN' })
    .insert('81.2.69.0/24', { autonomous_system_number: 1 })
    .toBytes()
  // All nodes after the root point outside the tree.
  const brokenTree = good.slice()
  brokenTree.fill(0x7f, 30, 60)

  it.each<[string, Uint8Array, string]>([
    ['text', Buffer.from('not a database'), 'it is text, which begins with "not a database"'],
    ['empty', new Uint8Array(0), 'it is empty'],
    ['truncated', good.subarray(0, good.length - 40), ''],
    ['truncated gzip', packed.subarray(0, packed.length - 40), 'the file is damaged'],
    ['gzip with a wrong byte', Buffer.from(packed).fill(0x55, 60, 61), 'the file is damaged'],
    ['a database without locations', withoutLocations, 'it has no locations (type'],
    ['one without records', new MmdbWriter({ databaseType: 'Empty' }).toBytes(), 'it has no locations'],
    ['a database with a broken tree', brokenTree, 'the search tree'],
    ['a database that lacks a canary', generation(2), `no location for the canary ${CANARY}`],
    ['one larger than maxBytes', generation(2, { padding: 10_000 }), 'it has more than 10000 bytes'],
  ])('%s', async (_, bytes, fault) => {
    const path = file(generation(1, { canary: true }))
    const { resolver, reloads, errors } = await watching(path, {
      canaries: [KNOWN[0], CANARY],
      maxBytes: 10_000,
    })
    writeFileSync(path, bytes)
    await until(() => errors.length > 0)
    expect(errors[0]).toBeInstanceOf(InvalidDatabaseError)
    expect(errors[0]?.path).toBe(path)
    expect(errors[0]?.message).toContain(fault)
    expect(cityOf(resolver)).toEqual(cities(1))
    expect(resolver.status).toMatchObject({ reloads: 0, refusals: 1, reloadError: errors[0] })
    await settle()
    expect([errors.length, reloads.length]).toEqual([1, 0])

    writeFileSync(path, good)
    await until(() => reloads.length > 0)
    expect(cityOf(resolver)).toEqual(cities(2))
    expect(resolver.status).toMatchObject({ reloads: 1, refusals: 1, reloadError: null })
  })

  it('a folder', async () => {
    const path = file(generation(1))
    const { resolver, errors } = await watching(path)
    rmSync(path)
    mkdirSync(path)
    await until(() => errors.length > 0)
    expect(errors[0]?.message).toBe(`${path}: it is no longer a regular file`)
    expect(cityOf(resolver)).toEqual(cities(1))
  })

  it('and its memory is released', async () => {
    const path = file(generation(1, { canary: true }))
    const before = heldMemory()
    const { errors } = await watching(path, { canaries: [CANARY] })
    writeFileSync(path, generation(2, { padding: 16_000_000 }))
    await until(() => errors.length > 0)
    expect(errors[0]?.message).toContain('canary')
    expect(heldMemory() - before).toBeLessThan(10_000_000)
  })
})

describe('several watched files', () => {
  const only = (number: number, cidr: string, country: string): Uint8Array =>
    new MmdbWriter({ databaseType: `Part-${number}` })
      .insert(cidr, { country: { iso_code: country }, city: { names: { en: `city ${number}` } } })
      .toBytes()
  const first = (number: number): Uint8Array => only(number, '81.2.69.0/24', 'GB')
  const second = (number: number): Uint8Array => only(number, '2a01:e0a::/32', 'FR')

  it('are replaced together: none while one of them is bad', async () => {
    const paths = [file(first(1)), file(second(1))] as const
    const { resolver, reloads, errors } = await watching(paths)
    writeFileSync(paths[0], first(2))
    writeFileSync(paths[1], 'not a database')
    await until(() => errors.length === 1)
    expect(errors[0]?.path).toBe(paths[1])
    expect(cityOf(resolver)).toEqual(['city 1', 'city 1'])
    writeFileSync(paths[1], second(2))
    await until(() => reloads.length === 1)
    expect(cityOf(resolver)).toEqual(['city 2', 'city 2'])
  })

  it('are refused when one of them no longer has locations', async () => {
    const paths = [file(first(1)), file(second(1))] as const
    const { resolver, errors } = await watching(paths)
    writeFileSync(paths[1], new MmdbWriter({ databaseType: 'ASN' }).insert('2000::/3', { asn: 1 }).toBytes())
    await until(() => errors.length === 1)
    expect(errors[0]).toMatchObject({
      path: paths[1],
      fault: 'it has no locations, but the previous file had',
    })
    expect(cityOf(resolver)).toEqual(['city 1', 'city 1'])
  })

  it('can be combined with bytes, which stay the same', async () => {
    const path = file(second(1))
    const resolver = await Resolver.open([first(1), path], { watch: true, watchInterval: INTERVAL_MS })
    onTestFinished(() => resolver.close())
    writeFileSync(path, second(2))
    await until(() => resolver.status.reloads === 1)
    expect(cityOf(resolver)).toEqual(['city 1', 'city 2'])
  })
})

describe('close', () => {
  it('stops watching', async () => {
    const path = file(generation(1))
    const { resolver, reloads, errors } = await watching(path)
    resolver.close()
    expect(resolver.status.watching).toBe(false)
    writeFileSync(path, generation(2))
    await settle()
    writeFileSync(path, 'not a database')
    await settle()
    expect([reloads, errors]).toEqual([[], []])
  })

  it('stops watching while a replacement is read', async () => {
    const path = file(generation(1))
    const { resolver, reloads, errors } = await watching(path, { watchInterval: 1 })
    writeFileSync(path, gzipSync(generation(2, { padding: 10_000_000 })))
    for (let turn = 0; turn < 20 && reloads.length === 0; turn++) await wait(1)
    resolver.close()
    const before = reloads.length
    await settle()
    expect([reloads.length - before, errors]).toEqual([0, []])
  })

  it('can be called by onReload', async () => {
    const path = file(generation(1))
    const { resolver } = await watching(path, {
      staleAfter: 1,
      onReload: () => resolver.close(),
    })
    writeFileSync(path, generation(2))
    await until(() => !resolver.status.watching)
    expect(resolver.status.stale).toEqual([])
  })
})

describe('watch options', () => {
  const path = file(generation(1))

  it.each<[string, object, RegExp]>([
    ['watch', { watch: 'yes' }, /^watch must be true or false$/],
    ['watchInterval', { watchInterval: 0 }, /^watchInterval must be a number of milliseconds/],
    ['watchInterval', { watchInterval: Number.NaN }, /^watchInterval/],
    ['watchInterval', { watchInterval: '5' }, /^watchInterval/],
    ['watchInterval', { watchInterval: 2 ** 31 }, /^watchInterval/],
    ['canaries', { canaries: '8.8.8.8' }, /^canaries must be an array/],
    ['canaries', { canaries: ['8.8.8.08'] }, /^invalid canary: "8\.8\.8\.08"/],
    ['canaries', { canaries: [8] }, /^invalid canary: An IP address must be a string/],
    ['canaries', { canaries: ['10.0.0.1'] }, /^invalid canary: 10\.0\.0\.1/],
    ['onReload', { onReload: {} }, /^onReload must be a function$/],
    ['onReloadError', { onReloadError: 1 }, /^onReloadError must be a function$/],
    ['onStale', { onStale: 'x' }, /^onStale must be a function$/],
    ['onReload', { onReload: () => {} }, /^onReload has no effect without watch: true$/],
    [
      'onReloadError',
      { watch: false, onReloadError: () => {} },
      /^onReloadError has no effect without watch/,
    ],
    ['watchInterval', { watchInterval: 5 }, /^watchInterval has no effect without watch/],
    ['onStale', { watch: true, onStale: () => {} }, /^onStale has no effect without staleAfter/],
    ['staleAfter', { staleAfter: 0 }, /^staleAfter must be a number of days/],
    ['staleAfter', { staleAfter: Number.POSITIVE_INFINITY }, /^staleAfter/],
    ['staleAfter', { staleAfter: '30' }, /^staleAfter/],
  ])('%s cannot be %o', async (_, options, message) => {
    const expected = expect.objectContaining({ name: 'TypeError', message: expect.stringMatching(message) })
    await expect(Resolver.open(path, options)).rejects.toThrow(expected)
    expect(() => Resolver.openSync(path, options)).toThrow(expected)
  })

  it('need a file', async () => {
    await expect(Resolver.open(generation(1), { watch: true })).rejects.toThrow(/^watch needs a file/)
  })

  it('check canaries while opening too', async () => {
    await expect(Resolver.open(path, { canaries: [CANARY] })).rejects.toThrow(
      expect.objectContaining({
        code: 'INVALID_DATABASE',
        path,
        fault: `it has no location for the canary ${CANARY}`,
      }),
    )
    await expect(Resolver.open(path, { canaries: KNOWN })).resolves.toBeInstanceOf(Resolver)
  })

  it('accept a canary in any of several databases, and fail without locations', async () => {
    const none = new MmdbWriter({ databaseType: 'ASN' }).insert('2000::/3', { asn: 1 }).toBytes()
    await expect(Resolver.open(none, { canaries: KNOWN })).rejects.toThrow('it has no locations (type')
    const both = [generation(1), generation(2, { canary: true })]
    await expect(Resolver.open(both, { canaries: [CANARY] })).resolves.toBeInstanceOf(Resolver)
    await expect(Resolver.open([generation(1), none], { canaries: [CANARY] })).rejects.toThrow(
      `The database: it has no location for the canary ${CANARY}`,
    )
  })
})
