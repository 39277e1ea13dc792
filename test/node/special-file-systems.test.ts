// File systems that are not quite one: inside an Electron asar archive, and inside an executable of Bun.
import fs, { copyFileSync, readFileSync, statSync } from 'node:fs'
import promises from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'
import { join } from 'node:path'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { InvalidDatabaseError } from '../../src/errors.ts'
import { embedded, Resolver } from '../../src/index.ts'
import { temporaryFolder } from '../temporary.ts'

const folder = temporaryFolder()

/** A path in an archive, and the file that is really there. */
const INSIDE = join(folder, 'app.asar/data/country.mmdb.gz')
const OUTSIDE = join(folder, 'unpacked.gz')
copyFileSync(embedded.country, OUTSIDE)
const CONTENT = readFileSync(OUTSIDE)
const STATS = statSync(OUTSIDE)

const noEntry = (): Error =>
  Object.assign(new Error(`ENOENT: no such file, open '${INSIDE}'`), { code: 'ENOENT' })

afterEach(syncBuiltinESMExports)

/** As Electron patches `fs`: it opens a copy, and makes up another inode for each `stat`. */
function asElectron(): void {
  const { open } = promises
  const { openSync } = fs
  let inode = 0
  const copy = (path: unknown): string => {
    if (path !== INSIDE) return String(path)
    return OUTSIDE
  }
  const stats = () => Object.assign(Object.create(STATS), { ino: ++inode })
  vi.spyOn(promises, 'open').mockImplementation((path, ...rest) => open(copy(path), ...rest))
  vi.spyOn(fs, 'openSync').mockImplementation((path, ...rest) => openSync(copy(path), ...rest))
  vi.spyOn(promises, 'stat').mockImplementation(async () => stats())
  vi.spyOn(fs, 'statSync').mockImplementation(() => stats())
  syncBuiltinESMExports()
}

/** As in an executable of `bun build --compile`: nothing can be opened, but whole files can be read. */
function asBun(): void {
  vi.spyOn(promises, 'open').mockImplementation(async () => {
    throw noEntry()
  })
  vi.spyOn(fs, 'openSync').mockImplementation(() => {
    throw noEntry()
  })
  vi.spyOn(promises, 'readFile').mockImplementation(async (path) => {
    if (path === INSIDE) return CONTENT
    throw noEntry()
  })
  vi.spyOn(fs, 'readFileSync').mockImplementation((path) => {
    if (path === INSIDE) return CONTENT
    throw noEntry()
  })
  syncBuiltinESMExports()
}

describe.each([
  ['an Electron asar archive', asElectron],
  ['an executable of Bun', asBun],
])('a file in %s', (_, patch) => {
  it('is opened', async () => {
    patch()
    expect((await Resolver.open(INSIDE)).lookup('81.2.69.142').country.code).toBe('GB')
    expect(Resolver.openSync(INSIDE).lookup('81.2.69.142').country.code).toBe('GB')
    await expect(Resolver.open(INSIDE, { maxBytes: 1000 })).rejects.toThrow('the limit that maxBytes sets')
    expect(() => Resolver.openSync(INSIDE, { maxBytes: 1000 })).toThrow('the limit that maxBytes sets')
  })
})

describe('a file in an Electron asar archive', () => {
  it('cannot be watched, and says so', async () => {
    asElectron()
    const message = `watch cannot follow ${INSIDE}: its file system gives another state at each look, as inside an Electron asar archive; unpack the file (asarUnpack)`
    await expect(Resolver.open(INSIDE, { watch: true })).rejects.toThrow(message)
    expect(() => Resolver.openSync(INSIDE, { watch: true })).toThrow(TypeError)
  })
})

describe('a file that is missing in an executable of Bun', () => {
  it('has the error of opening it', async () => {
    asBun()
    await expect(Resolver.open('other.gz')).rejects.toThrow(InvalidDatabaseError)
    await expect(Resolver.open('other.gz')).rejects.toThrow('ENOENT')
    expect(() => Resolver.openSync('other.gz')).toThrow('ENOENT')
  })
})
