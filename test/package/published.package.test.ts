import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import packageJson from '../../package.json' with { type: 'json' }
import { writeCorePackage } from '../../scripts/core-package.ts'
import { deadLinks } from '../markdown.ts'
import { temporaryFolder } from '../temporary.ts'
import { output, typecheck } from './programs.ts'
import { ROOT, writeProject } from './project.ts'

const folder = temporaryFolder()
// A folder whose name means something in URLs.
const user = join(folder, 'user #1 100%20')
const tarball = join(folder, `geofix-${packageJson.version}.tgz`)
// A project with geofix-core.
const small = join(folder, 'small')

/** What the entries for Node and for browsers have both. */
const RESOLVING = [
  ...['AddressUnavailableError', 'GeofixError', 'InvalidDatabaseError', 'InvalidLocaleError'],
  ...['InvalidOverlayError', 'InvalidSchemaError', 'MalformedAddressError', 'Resolver'],
  ...['UnresolvableAddressError', 'createClientAddress', 'embedded', 'isGeofixError', 'isLookupFailure'],
  'parseAddress',
]

/** What every entry exports, in order. A change here is a change of the contract. */
const EXPORTS = {
  geofix: RESOLVING,
  'geofix/core': RESOLVING,
  'geofix/bundler': ['esbuild', 'rollup'],
  'geofix/details': ['details', 'verify'],
  'geofix/enrich': [
    'BadLineError',
    'EnrichError',
    'LOCATION_FIELDS',
    'count',
    'createRowEnricher',
    'enrich',
    'enrichStream',
  ],
  'geofix/http': ['KeyFileError', 'createHandler', 'createKeyFile', 'createNodeListener', 'nodeRequestInfo'],
  'geofix/writer': [
    ...['MmdbWriter', 'double', 'float', 'int32', 'overlay', 'pack', 'slim'],
    ...['uint128', 'uint16', 'uint32', 'uint64', 'unpack'],
  ],
}

let packed: { size: number; files: { path: string; size: number }[] }

beforeAll(() => {
  packed = JSON.parse(
    output(ROOT, 'npm', 'pack', '--ignore-scripts', '--json', '--pack-destination', folder),
  )[0]
  writeProject(user, { 'package.json': '{ "name": "user", "private": true }' })
  output(user, 'npm', 'install', '--no-audit', '--no-fund', '--prefer-offline', tarball)
  writeCorePackage(join(folder, 'core'))
  output(folder, 'npm', 'pack', '--ignore-scripts', './core')
  writeProject(small, { 'package.json': '{ "name": "small", "private": true }' })
  const core = join(folder, `geofix-core-${packageJson.version}.tgz`)
  output(small, 'npm', 'install', '--no-audit', '--no-fund', '--prefer-offline', core)
})

describe('the tarball', () => {
  it('contains the build, the data and the documents, and nothing else', () => {
    const surprising = packed.files
      .map(({ path }) => path)
      .filter(
        (path) =>
          !/^(dist\/[\w-]+\.(js|cjs|d\.ts|d\.cts)|data\/[\w-]+\.(mmdb\.gz|mmdb\.packed|json|md)|dist\/(cli|http)\.LICENSE\.txt|dist\/sbom\.cdx\.json|package\.json|(src\/([a-z]+\/){0,2}|scripts\/bench\/)?README\.md|scripts\/examples\/(browser|electron|engines|fleet|service)\/[\w./-]+|src\/cli\/report\/(equal-earth\.ts|world\.json)|src\/engines\/geofix_(locator|spark)\.py|\.github\/CONTRIBUTING\.md|CHANGELOG\.md|SECURITY\.md|LICENSE)$/.test(
            path,
          ),
      )
    expect(surprising).toEqual([])
    const names = packed.files.map(({ path }) => path)
    expect(names).toEqual(
      expect.arrayContaining([
        ...'LICENSE README.md SECURITY.md scripts/bench/README.md src/README.md src/bundler/README.md'.split(
          ' ',
        ),
        ...'src/cli/README.md src/cli/enrich/README.md src/client/README.md src/enrich/README.md'.split(' '),
        ...'src/engines/README.md src/engines/geofix_locator.py src/engines/geofix_spark.py src/http/README.md src/node/README.md'.split(
          ' ',
        ),
        ...'src/packed/README.md data/asn.mmdb.packed data/city.mmdb.packed data/country.mmdb.gz'.split(' '),
        ...'dist/cli.cjs dist/cli-enrich-worker.cjs dist/cli.LICENSE.txt dist/sbom.cdx.json'.split(' '),
      ]),
    )
  })

  it('has documents whose links lead to its own files', () => {
    const installed = join(user, 'node_modules/geofix')
    const textOf = (document: string) => readFileSync(join(installed, document), 'utf8')
    const documents = packed.files.map(({ path }) => path).filter((path) => path.endsWith('.md'))
    expect(documents).toEqual(
      expect.arrayContaining(['scripts/examples/browser/README.md', 'scripts/examples/electron/README.md']),
    )
    const dead = documents.flatMap((document) =>
      deadLinks(installed, document, textOf).map((link) => `${document}: ${link}`),
    )
    expect(dead).toEqual([])
  })

  it('has recipes whose files are all there', () => {
    const installed = join(user, 'node_modules/geofix')
    const sources = packed.files
      .map(({ path }) => path)
      .filter((path) => /^scripts\/examples\/.*\.(ts|js|html)$/.test(path))
    expect(sources.length).toBeGreaterThan(8)
    const missing = sources.flatMap((source) => {
      const imported = readFileSync(join(installed, source), 'utf8').matchAll(
        /(?:from|URL\(|src=) ?['"](\.[^'"]*\.ts)['"]/g,
      )
      return Array.from(imported, ([, path = '']) => join(dirname(source), path)).filter(
        (path) => !existsSync(join(installed, path)),
      )
    })
    expect(missing).toEqual([])
  })

  it('has less than 24 MB', () => {
    expect(packed.size).toBeLessThan(24_000_000)
  })

  it('keeps each entry small', () => {
    const code = packed.files.filter(({ path }) => path.startsWith('dist/') && /\.(js|cjs)$/.test(path))
    const library = code.filter(({ path }) => !path.startsWith('dist/cli') && path.endsWith('.js'))
    const sizeOf = (files: typeof library) => files.reduce((sum, { size }) => sum + size, 0)
    const [enrich, others] = [true, false].map((is) =>
      library.filter(({ path }) => (path === 'dist/enrich.js') === is),
    )
    // dist/index.js has a copy of 100 kB, so that a process loads fewer files.
    expect(sizeOf(others ?? [])).toBeLessThan(600_000)
    expect(sizeOf(enrich ?? [])).toBeLessThan(505_000)
  })
})

const ASK = `
const geo = Resolver.openSync(embedded.country)
console.log(geo.lookup('81.2.69.142', { locale: 'de' }).country.name, parseAddress('::ffff:8.8.8.8').lookup)
const writer = new MmdbWriter({ databaseType: 'Mine' }).insert('8.8.8.0/24', { country: { iso_code: 'US' } })
console.log(Resolver.openSync(writer.toBytes()).lookup('8.8.8.8').country.code)
const { output, summary } = enrich(new Blob(['{"ip":"81.2.69.142"}']).stream(), { resolver: geo })
const handle = createHandler(geo, { authenticate: null })
new Response(output).json().then(async ({ location }) => {
  console.log(location.country.code, (await summary).resolved)
  console.log((await handle(new Request('http://x/v1/ip/10.0.0.1'))).status)
})
`
const ANSWER = 'Vereinigtes Königreich 8.8.8.8\nUS\nGB 1\n422\n'

describe('an installed package', () => {
  const ENTRIES = {
    geofix: '{ embedded, parseAddress, Resolver }',
    'geofix/enrich': '{ enrich }',
    'geofix/http': '{ createHandler }',
    'geofix/writer': '{ MmdbWriter }',
  }
  it.each([
    ['mjs', (names: string, entry: string) => `import ${names} from '${entry}'`],
    ['cjs', (names: string, entry: string) => `const ${names} = require('${entry}')`],
  ])('works from a program in .%s, and so does geofix-core', (extension, load) => {
    const head = Object.entries(ENTRIES).map(([entry, names]) => load(names, entry))
    const program = head.join('\n') + ASK
    writeProject(user, { [`program.${extension}`]: program })
    expect(output(user, process.execPath, `program.${extension}`)).toBe(ANSWER)
    writeProject(small, { [`program.${extension}`]: program.replaceAll("'geofix", "'geofix-core") })
    expect(output(small, process.execPath, `program.${extension}`)).toBe(ANSWER)
  })

  it('has the URL of each database as an entry', () => {
    writeProject(user, {
      'url.mjs': `import city from 'geofix/city'
import country from 'geofix/country'
import { embedded, Resolver } from 'geofix'
console.log(city.href === embedded.city.href, country.href === embedded.country.href)
console.log((await Resolver.open(country)).lookup('81.2.69.142').country.code)`,
      'url.cjs': `const city = require('geofix/city')
const country = require('geofix/country')
const { embedded, Resolver } = require('geofix')
console.log(city.href === embedded.city.href, country.href === require('geofix/core').embedded.country.href)
console.log(Resolver.openSync(country).lookup('81.2.69.142').country.code)`,
    })
    expect(output(user, process.execPath, 'url.mjs')).toBe('true true\nGB\n')
    expect(output(user, process.execPath, 'url.cjs')).toBe('true true\nGB\n')
  })

  it.each(Object.entries(EXPORTS))('exports exactly what it promises: %s', (entry, names) => {
    writeProject(user, {
      'exports.mjs': `console.log(JSON.stringify(Object.keys(await import('${entry}')).sort()))`,
      'exports.cjs': `console.log(JSON.stringify(Object.keys(require('${entry}')).sort()))`,
    })
    expect(JSON.parse(output(user, process.execPath, 'exports.mjs'))).toEqual(names)
    expect(JSON.parse(output(user, process.execPath, 'exports.cjs'))).toEqual(names)
    if (entry === 'geofix/bundler') return
    const core = entry.replace('geofix', 'geofix-core')
    writeProject(small, {
      'exports.mjs': `console.log(JSON.stringify(Object.keys(await import('${core}')).sort()))`,
    })
    expect(JSON.parse(output(small, process.execPath, 'exports.mjs'))).toEqual(names)
  })

  it('is small as geofix-core, which says what it does not have', () => {
    const files = readdirSync(join(small, 'node_modules'), { recursive: true, encoding: 'utf8' })
    const sizes = files.map((name) => statSync(join(small, 'node_modules', name)))
    expect(sizes.reduce((sum, stats) => sum + (stats.isFile() ? stats.size : 0), 0)).toBeLessThan(3_000_000)
    writeProject(small, {
      'city.mjs': `import { Resolver } from 'geofix-core'
await Resolver.open().catch(({ name, message }) => console.log(name, message))`,
      'types.mts': `import { type LocationResolver, Resolver } from 'geofix-core'
import { enrich } from 'geofix-core/enrich'
export const geo: LocationResolver = Resolver.openSync(new Uint8Array())
export { enrich }`,
      'tsconfig.json':
        '{ "compilerOptions": { "module": "nodenext", "strict": true, "lib": ["ES2022"], "types": [] }, "files": ["types.mts"] }',
    })
    expect(output(small, process.execPath, 'city.mjs')).toMatch(
      /^InvalidDatabaseError .*only the database of countries; pass embedded\.country/,
    )
    expect(typecheck(small)).toBe('')
  })

  const PORTABLE = ['core', 'details', 'enrich', 'http-core', 'writer'].flatMap((name) => [
    `${name}.js`,
    `${name}.cjs`,
  ])
  it.each(['asn.js', 'city.js', 'country.js', ...PORTABLE])('names no module of Node in %s', (file) => {
    const seen = new Set<string>()
    const visit = (name: string): void => {
      if (seen.has(name)) return
      seen.add(name)
      const code = readFileSync(join(ROOT, 'dist', name), 'utf8')
      expect(code).not.toMatch(/(from|require\()\s*['"]node:/)
      for (const [, chunk] of code.matchAll(/(?:from|require\()\s*['"]\.\/([^'"]+)['"]/g)) visit(chunk ?? '')
    }
    visit(file)
  })

  it('has a core that needs nothing of Node', () => {
    writeProject(user, {
      'core.mjs': `import { readFileSync } from 'node:fs'
const bytes = new Uint8Array(readFileSync('node_modules/geofix/data/country.mmdb.gz'))
const { log } = console
for (const name of ['Buffer', 'process', 'global', 'setImmediate', 'require']) delete globalThis[name]
const { Resolver } = await import('geofix/core')
const geo = await Resolver.open(new Blob([bytes]))
log(geo.lookup('81.2.69.142').country.code, typeof Buffer, geo.raw('81.2.69.142').country.iso_code)`,
    })
    expect(output(user, process.execPath, 'core.mjs')).toBe('GB undefined GB\n')
  })

  it('brings the command', () => {
    const bin = join(user, 'node_modules/.bin/geofix')
    expect(output(user, bin, '--version')).toBe(`${packageJson.version}\n`)
    expect(JSON.parse(output(user, bin, '81.2.69.142')).country.code).toBe('GB')
    expect(output(user, bin, 'info')).toMatch(/^type +Geofix-City\n/)
    writeProject(user, {
      'access.log': '81.2.69.142 - - [01/Jul/2026:10:00:00 +0200] "GET / HTTP/1.1" 200 5\n',
    })
    const enriched = output(user, bin, 'enrich', '--threads', '2', '--quiet', 'access.log')
    expect(JSON.parse(enriched).location.timezone.offset).toBe('+01:00')
    // A reader that has had enough is not an error.
    const many = `yes 81.2.69.142 | head -100000 | "${bin}" | head -1 >/dev/null; echo "\${PIPESTATUS[2]}"`
    expect(output(user, 'bash', '-c', many)).toBe('0\n')
  })
})
