// The hooks of the plugins, on the sources, which name the databases as the built code does. test/matrix runs bundlers.
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { type BundlerOptions, esbuild, rollup } from '../src/bundler.ts'
import { temporaryFolder } from './temporary.ts'

const source = (name: string): string => fileURLToPath(new URL(`../src/${name}`, import.meta.url))
const CITY = source('city.ts')
const COUNTRY = source('country.ts')
const SIZE = statSync(new URL('../data/country.mmdb.gz', import.meta.url)).size

type Setup = Parameters<ReturnType<typeof esbuild>['setup']>[0]
type Loaded = Parameters<Setup['onLoad']>[1]
type Ended = Parameters<Setup['onEnd']>[0]

function hooksOf(
  folder: string,
  pluginOptions?: BundlerOptions,
  more: Setup['initialOptions'] = {},
): { load: Loaded; end: Ended; options: Setup['initialOptions'] } {
  const hooks: { load?: Loaded; end?: Ended } = {}
  const options: Setup['initialOptions'] = { absWorkingDir: folder, ...more }
  esbuild(pluginOptions).setup({
    initialOptions: options,
    onLoad: (_, load) => {
      hooks.load = load
    },
    onEnd: (end) => {
      hooks.end = end
    },
  })
  const { load = () => undefined, end = () => undefined } = hooks
  return { load, end, options }
}

const outputs = (inputs: Record<string, number>) => ({
  metafile: {
    outputs: {
      'out/a/main.js': {
        inputs: Object.fromEntries(
          Object.entries(inputs).map(([path, bytesInOutput]) => [path, { bytesInOutput }]),
        ),
      },
    },
  },
})

describe('the plugin for esbuild', () => {
  const folder = temporaryFolder()
  const other = temporaryFolder()
  const { load, end, options } = hooksOf(folder)

  it('writes the place beside the bundle, and leaves other modules alone', () => {
    expect(options.metafile).toBe(true)
    expect(load({ path: COUNTRY })?.contents).toContain("new URL('./country.mmdb.gz', import.meta.url)")
    for (const path of [source('errors.ts'), source('bundler.ts'), '/elsewhere/country.ts']) {
      expect(load({ path })).toBe(undefined)
    }
  })

  it('copies what is used beside each output', () => {
    end(outputs({ [COUNTRY]: 10, [CITY]: 0 }))
    expect(statSync(join(folder, 'out/a/country.mmdb.gz')).size).toBe(SIZE)
    expect(existsSync(join(folder, 'out/a/city.mmdb.packed'))).toBe(false)
  })

  it('writes a path in CommonJS, in which esbuild knows no import.meta.url', () => {
    for (const more of [{ format: 'cjs' }, { platform: 'node' }]) {
      const hooks = hooksOf(folder, undefined, more)
      expect(hooks.load({ path: COUNTRY })?.contents).toContain(
        "require('node:url').pathToFileURL(require('node:path').join(__dirname, './country.mmdb.gz'))",
      )
    }
    const esm = hooksOf(folder, undefined, { platform: 'node', format: 'esm' })
    expect(esm.load({ path: COUNTRY })?.contents).toContain("new URL('./country")
  })

  it('finds every copy of the package, also by a link', () => {
    const project = temporaryFolder()
    const copy = join(project, 'node_modules/geofix')
    for (const name of ['dist', 'data']) mkdirSync(join(copy, name), { recursive: true })
    copyFileSync(COUNTRY, join(copy, 'dist/country.js'))
    writeFileSync(join(copy, 'package.json'), '{ "name": "geofix" }')
    writeFileSync(join(copy, 'data/country.mmdb.gz'), 'its own')
    symlinkSync(copy, join(project, 'linked'))
    for (const path of ['node_modules/geofix/dist/country.js', 'linked/dist/country.js']) {
      rmSync(join(project, 'out'), { recursive: true, force: true })
      hooksOf(project).end(outputs({ [path]: 10 }))
      expect(readFileSync(join(project, 'out/a/country.mmdb.gz'), 'utf8')).toBe('its own')
    }
  })

  it('copies only the databases that its option names', () => {
    hooksOf(other, { databases: ['country'] }).end(outputs({ [COUNTRY]: 10, [CITY]: 10 }))
    expect(readdirSync(join(other, 'out/a'))).toEqual(['country.mmdb.gz'])
  })

  it.each([['country'], [['isp']], [[undefined]], [null]])('refuses the option %j', (databases) => {
    for (const make of [esbuild, rollup]) {
      expect(() => Reflect.apply(make, undefined, [{ databases }])).toThrow(
        new TypeError("databases must be an array of 'city', 'country' and 'asn'"),
      )
    }
  })

  it.each([
    [null, 'the options of the plugin must be an object'],
    [5, 'the options of the plugin must be an object'],
    [{ database: ['city'] }, 'the plugin has no option "database": did you mean "databases"?'],
  ])('refuses %j as options', (wrong, message) => {
    for (const make of [esbuild, rollup]) {
      expect(() => Reflect.apply(make, undefined, [wrong])).toThrow(message)
    }
  })

  it('adds it to the outputs that are not written', () => {
    const outputFiles: NonNullable<Parameters<Ended>[0]['outputFiles']> = []
    end({ ...outputs({ [COUNTRY]: 10 }), outputFiles })
    expect(outputFiles.map(({ path, contents }) => [path, contents.length])).toEqual([
      [join(folder, 'out/a/country.mmdb.gz'), SIZE],
    ])
    end({})
  })
})

describe('the plugin for Rollup, rolldown and Vite', () => {
  const { transform, generateBundle, config } = rollup()
  const code = readFileSync(COUNTRY, 'utf8')

  /** A build for a server or, in Vite, for browsers. */
  const build = (consumer?: string) => {
    const emitted: [string, number][] = []
    const context = {
      emitFile: ({ fileName, source: bytes }: { fileName: string; source: Uint8Array }) => {
        emitted.push([fileName, bytes.length])
        return ''
      },
      ...(consumer === undefined ? {} : { environment: { config: { consumer } } }),
    }
    return { context, emitted }
  }
  const bundle = {
    'main.js': {
      type: 'chunk',
      fileName: 'main.js',
      modules: {
        [`\0${COUNTRY}?commonjs-module`]: { renderedLength: 5 },
        [`\0${COUNTRY}?commonjs-exports`]: { renderedLength: 5 },
      },
    },
    'a/b.js': {
      type: 'chunk',
      fileName: 'a/b.js',
      modules: { [COUNTRY]: { renderedLength: 5 }, [CITY]: { renderedLength: 0 } },
    },
    'x.css': { type: 'asset', fileName: 'x.css' },
  }

  it('writes the place beside the bundle', () => {
    const { context } = build()
    expect(transform.call(context, code, COUNTRY)?.code).toContain(
      "new URL('./country.mmdb.gz', import.meta.url)",
    )
    expect(transform.call(context, code, source('errors.ts'))).toBe(undefined)
    expect(config().optimizeDeps.exclude).toEqual(['geofix/asn', 'geofix/city', 'geofix/country'])
  })

  it('emits what is used beside each chunk', () => {
    const { context, emitted } = build('server')
    generateBundle.call(context, {}, bundle)
    expect(emitted).toEqual([
      ['country.mmdb.gz', SIZE],
      ['a/country.mmdb.gz', SIZE],
    ])
  })

  it('emits the databases that its option names, and no others', () => {
    const { context, emitted } = build('server')
    const modules = { [CITY]: { renderedLength: 5 }, [source('errors.ts')]: { renderedLength: 5 } }
    const chunk = { type: 'chunk', fileName: 'main.js', modules }
    rollup({ databases: ['country'] }).generateBundle.call(context, {}, { 'main.js': chunk })
    expect(emitted).toEqual([['country.mmdb.gz', SIZE]])
  })

  it('takes the Node entry where Rollup found that for browsers', async () => {
    const project = temporaryFolder()
    const dist = join(project, 'dist')
    mkdirSync(dist)
    writeFileSync(join(project, 'package.json'), '{ "name": "geofix" }')
    const resolved = (source: string, id: string, meta = {}): Promise<unknown> =>
      rollup().resolveId.call(
        { meta, resolve: async () => ({ id, external: false }) },
        source,
        join(project, 'main.js'),
      )
    for (const [source, found, taken] of [
      ['geofix', 'core.js', 'index.js'],
      ['geofix', 'core.cjs', 'index.cjs'],
      ['geofix', 'index.js', 'index.js'],
      ['geofix/http', 'http-core.js', 'http.js'],
    ] as const) {
      expect(await resolved(source, join(dist, found))).toEqual({ id: join(dist, taken), external: false })
    }
    // Of another package, which an alias gives this name.
    expect(await resolved('geofix', '/elsewhere/core.js')).toEqual({
      id: '/elsewhere/core.js',
      external: false,
    })
    for (const other of ['geofix/core', './core.js', 'constructor']) {
      expect(await resolved(other, join(dist, 'core.js'))).toBe(null)
    }
    expect(await resolved('geofix', join(dist, 'core.js'), { rolldownVersion: '1.3.2' })).toBe(null)
  })

  it('leaves what Vite and rolldown resolve, and what is external', async () => {
    const plugin = rollup()
    const external = { id: 'geofix', external: 'absolute' } as const
    for (const found of [external, null]) {
      const context = { meta: {}, resolve: async () => found }
      expect(await plugin.resolveId.call(context, 'geofix')).toBe(found)
    }
    plugin.config()
    expect(await plugin.resolveId.call({ meta: {}, resolve: async () => external }, 'geofix')).toBe(null)
  })

  it('leaves it to Vite to emit what browsers need', () => {
    const { context, emitted } = build('client')
    expect(transform.call(context, code, COUNTRY)).toBe(undefined)
    generateBundle.call(context, {}, bundle)
    expect(emitted).toEqual([])
  })
})
