import { copyFileSync, mkdirSync, realpathSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { PACKED_MAGIC } from '../../src/bytes/file-kind.ts'
import city from '../../src/city.ts'
import country from '../../src/country.ts'
import { embeddedFileOf, embeddedUrl } from '../../src/embedded.ts'
import { InvalidDatabaseError } from '../../src/errors.ts'
import { embedded, Resolver } from '../../src/index.ts'
import { embeddedPath } from '../../src/node/embedded-file.ts'
import { makeFile, temporaryFolder } from '../temporary.ts'

const folder = realpathSync(temporaryFolder())

/** What `geofix/country` is in a bundle that was moved away from its data. */
const moved = (): URL =>
  embeddedUrl('country', () => new URL('../data/x.gz', pathToFileURL(join(folder, 'a/b'))))

describe('the URLs of the embedded databases', () => {
  it('are the same in the entries and in `embedded`', () => {
    expect([city.href, country.href]).toEqual([embedded.city.href, embedded.country.href])
    expect(embeddedFileOf(city)).toBe('city.mmdb.packed')
    expect(embeddedFileOf(embedded.country)).toBe('country.mmdb.gz')
    expect(embeddedFileOf(new URL(city))).toBe(undefined)
  })

  it('do not throw where a module does not know its place, as in a CommonJS bundle', () => {
    const url = embeddedUrl('city', (file) => new URL(file, undefined))
    expect([url.protocol, embeddedFileOf(url)]).toEqual(['file:', 'city.mmdb.packed'])
  })

  it('open', async () => {
    expect(Resolver.openSync(country).lookup('81.2.69.142').country.code).toBe('GB')
    expect((await Resolver.open(country)).databases[0]?.path).toBe(fileURLToPath(country))
  })
})

describe('a bundle without its data', () => {
  const [, script = ''] = process.argv
  beforeEach(() => {
    process.argv[1] = join(folder, 'app/main.js')
  })
  afterEach(() => {
    process.argv[1] = script
  })

  it('is told what to do', async () => {
    const opening = Resolver.open(moved())
    await expect(opening).rejects.toBeInstanceOf(InvalidDatabaseError)
    await expect(opening).rejects.toThrow(
      /^.*: the embedded database is missing, because this code was bundled/,
    )
    await expect(opening).rejects.toThrow(
      'use the plugin esbuild() or rollup() of geofix/bundler, or copy node_modules/geofix/data/country.mmdb.gz there, or mark',
    )
    await expect(opening).rejects.toThrow(join(folder, 'app'))
    expect(() => Resolver.openSync(moved())).toThrow('pass a source to open; see https://')
  })

  it.each([
    ['is not of a file', 'app://bundle/'],
    ['is not known, as in a bundle', undefined],
  ])('names no path that nobody wrote if its URL %s', (_, base) => {
    const url = embeddedUrl('country', (file) => new URL(file, base))
    expect(() => embeddedPath(url, 'country.mmdb.gz')).toThrow(
      /^country.mmdb.gz: the embedded database is missing/,
    )
  })

  it.each(['app', 'app/data'])('finds them in %s, beside the main script', (beside) => {
    const copy = join(folder, beside, 'country.mmdb.gz')
    mkdirSync(dirname(copy), { recursive: true })
    copyFileSync(country, copy)
    const geo = Resolver.openSync(moved())
    expect(geo.lookup('81.2.69.142').country.code).toBe('GB')
    expect(geo.databases[0]?.path).toBe(join(folder, 'app/country.mmdb.gz'))
  })

  it.each([
    ['/_next/static/media/country.mmdb.2024a0be.gz', 'app/static/media/country.mmdb.2024a0be.gz'],
    ['/assets/50%25.gz', 'app/50%.gz'],
    ['/assets/a%E0.gz', 'app/a%E0.gz'],
  ])('finds them where the bundler gives the URL %s', (path, file) => {
    const copy = join(folder, file)
    mkdirSync(dirname(copy), { recursive: true })
    copyFileSync(country, copy)
    expect(embeddedPath(new URL(path, 'file:///'), 'no.gz')).toBe(copy)
    expect(embeddedPath(new URL(path, 'https://cdn.example/'), 'no.gz')).toBe(copy)
    expect(() => embeddedPath(new URL(`file:///other${path}x`), 'no.gz')).toThrow('is missing')
  })

  it('finds them in the packages of the project where it runs, and no other files there', () => {
    const was = process.cwd()
    const project = join(folder, 'project')
    const packaged = join(project, 'node_modules/geofix/data/other.gz')
    mkdirSync(dirname(packaged), { recursive: true })
    copyFileSync(country, packaged)
    copyFileSync(country, join(project, 'other.gz'))
    process.chdir(project)
    onTestFinished(() => process.chdir(was))
    const inRoot = new URL('file:///ROOT/node_modules/geofix/data/other.gz')
    expect(embeddedPath(inRoot, 'no.gz')).toBe(packaged)
    const elsewhere = new URL('file:///ROOT/data/other.gz')
    expect(() => embeddedPath(elsewhere, 'no.gz')).toThrow("serverExternalPackages: ['geofix']")
  })

  it('does not look for the files of others', async () => {
    await expect(Resolver.open(join(folder, 'data/country.mmdb.gz'))).rejects.toThrow('ENOENT')
  })
})

describe('bytes that were re-encoded as text', () => {
  it('are named, in a file and in memory', async () => {
    for (const [what, start] of [
      ['a gzip file', [0x1f, 0x8b, 8, 0, 0x80]],
      ['a packed database', [...PACKED_MAGIC, 1]],
    ] as const) {
      const text = Buffer.from(Buffer.from(start).toString('utf8'))
      const file = makeFile(join(folder, 'text.mmdb.gz'), text)
      for (const source of [file, text]) {
        await expect(Resolver.open(source)).rejects.toThrow(
          `it is ${what} that was re-encoded as text (UTF-8), by a bundler or a download, which destroys it: copy`,
        )
      }
    }
  })
})
