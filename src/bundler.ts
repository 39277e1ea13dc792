// The entry `geofix/bundler`: plugins that copy the embedded databases of a bundle into its folder. Bundlers for
// browsers, webpack, and tracers such as @vercel/nft find the databases without a plugin.
import { copyFileSync, mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { checkOptionNames, type NamesOf } from './option-names.ts'

/** How the built code names a database: `new URL('…', import.meta.url)`, or `path.join(__dirname, '…')` in CommonJS. */
const LITERAL = /(?<=new URL\(|join\(__dirname, )(["'])\.\.\/data\/([\w.-]+)\1/g

/** What {@link besideTheBundle} puts in its place: in ES modules, and in a CommonJS bundle. */
const BESIDE_URL = /new URL\((["']\.\/[\w.-]+["']), import\.meta\.url\)/g
const BESIDE_FILE = "require('node:url').pathToFileURL(require('node:path').join(__dirname, $1))"

/** The names of the embedded databases. */
const DATABASE_NAMES = ['city', 'country', 'asn'] as const

type DatabaseName = (typeof DATABASE_NAMES)[number]

export interface BundlerOptions {
  /**
   * The embedded databases to copy into a bundle of `geofix`. Default: those that it refers to. `Resolver` of `geofix` always
   * refers to the city database: a program that opens only the country database sets `['country']`. One that opens with
   * `asn: true` adds `'asn'`.
   */
  readonly databases?: readonly DatabaseName[] | undefined
}

const BUNDLER_OPTIONS: NamesOf<BundlerOptions> = { databases: true }

/** What this plugin needs of esbuild's `PluginBuild`. */
interface EsbuildBuild {
  readonly initialOptions: {
    metafile?: boolean | undefined
    readonly absWorkingDir?: string | undefined
    readonly format?: string | undefined
    readonly platform?: string | undefined
  }
  onLoad(
    options: { filter: RegExp },
    callback: (module: { readonly path: string }) => { contents: string } | undefined,
  ): void
  onEnd(callback: (result: EsbuildResult) => void): void
}

interface EsbuildResult {
  /** Present with `write: false`, which tsup sets. */
  readonly outputFiles?: EsbuildFile[] | undefined
  readonly metafile?:
    | {
        readonly outputs: Readonly<
          Record<string, { readonly inputs: Readonly<Record<string, { readonly bytesInOutput: number }>> }>
        >
      }
    | undefined
}

interface EsbuildFile {
  path: string
  contents: Uint8Array
  hash: string
  readonly text: string
}

/** A plugin for esbuild, and for tsup as one of its `esbuildPlugins`. @throws TypeError when an option is wrong */
export function esbuild(options?: BundlerOptions): { name: string; setup(build: EsbuildBuild): void } {
  const copiedFor = copiesOf(options)
  return {
    name: 'geofix',
    setup(build) {
      const { initialOptions } = build
      const { absWorkingDir: folder = process.cwd(), format, platform } = initialOptions
      // esbuild knows no `import.meta.url` in CommonJS, the default for Node.
      const isCommonJs = format === 'cjs' || (format === undefined && platform === 'node')
      initialOptions.metafile = true
      build.onLoad({ filter: /[\\/]dist[\\/][^\\/]+\.c?js$/ }, ({ path }) => {
        if (databasesIn(path).length === 0) return undefined
        const code = besideTheBundle(readFileSync(path, 'utf8'))
        return { contents: isCommonJs ? code.replace(BESIDE_URL, BESIDE_FILE) : code }
      })
      build.onEnd(({ metafile, outputFiles }) => {
        const copies = new Map<string, string>()
        for (const [output, { inputs }] of Object.entries(metafile?.outputs ?? {})) {
          for (const [input, { bytesInOutput }] of Object.entries(inputs)) {
            if (bytesInOutput === 0) continue
            for (const original of copiedFor(resolve(folder, input))) {
              copies.set(resolve(folder, dirname(output), basename(original)), original)
            }
          }
        }
        for (const [path, original] of copies) {
          if (outputFiles === undefined) {
            mkdirSync(dirname(path), { recursive: true })
            copyFileSync(original, path)
          } else {
            outputFiles.push({ path, contents: new Uint8Array(readFileSync(original)), hash: path, text: '' })
          }
        }
      })
    },
  }
}

/** What this plugin needs of the context of Rollup's hooks. */
interface RollupContext {
  emitFile(asset: { type: 'asset'; fileName: string; source: Uint8Array }): string
  /** Present in Vite. */
  readonly environment?: { readonly config: { readonly consumer: string } } | undefined
}

/** What this plugin needs of the context in which Rollup resolves an import. */
interface RollupResolver {
  /** `rollupVersion` is in both. Rollup's type has no `rolldownVersion`. */
  readonly meta: { readonly rollupVersion?: string; readonly rolldownVersion?: string | undefined }
  resolve(
    source: string,
    importer: string | undefined,
    options: { readonly skipSelf: true },
  ): Promise<RollupModule | null>
}

interface RollupModule {
  readonly id: string
  readonly external?: boolean | 'absolute' | 'relative' | undefined
}

/** Imports with a separate entry for Node: the file for other platforms, and the file for Node. */
const NODE_ENTRIES: Readonly<Record<string, { readonly core: RegExp; readonly node: string }>> = {
  geofix: { core: /core(?=\.c?js$)/, node: 'index' },
  'geofix/http': { core: /http-core(?=\.c?js$)/, node: 'http' },
}

interface RollupChunk {
  readonly type: string
  readonly fileName: string
  readonly modules?: Readonly<Record<string, { readonly renderedLength: number }>> | undefined
}

/**
 * A plugin for Rollup, rolldown and Vite. In Rollup the bundle is one for Node: `geofix` is the entry for Node, also with
 * the default options of `@rollup/plugin-node-resolve`, which take the entry for browsers. `geofix/core` stays as it is.
 *
 * @throws TypeError when an option is wrong
 */
export function rollup(options?: BundlerOptions): {
  name: string
  config(): { optimizeDeps: { exclude: string[] } }
  resolveId(this: RollupResolver, source: string, importer?: string): Promise<RollupModule | null>
  transform(this: RollupContext, code: string, id: string): { code: string; map: null } | undefined
  generateBundle(this: RollupContext, options: unknown, bundle: Readonly<Record<string, RollupChunk>>): void
} {
  const copiedFor = copiesOf(options)
  let isVite = false
  return {
    name: 'geofix',
    // Vite's development server moves modules away from their files, unless they are excluded. The other entries must be moved:
    // they import CommonJS, which it then converts.
    config: () => {
      isVite = true
      return { optimizeDeps: { exclude: ['geofix/asn', 'geofix/city', 'geofix/country'] } }
    },
    async resolveId(source, importer) {
      const entry = Object.hasOwn(NODE_ENTRIES, source) ? NODE_ENTRIES[source] : undefined
      // Vite and rolldown know the platform themselves.
      if (entry === undefined || isVite || this.meta.rolldownVersion !== undefined) return null
      const module = await this.resolve(source, importer, { skipSelf: true })
      if (module === null || module.external || !isOwnFolder(dirname(module.id))) return module
      return { ...module, id: module.id.replace(entry.core, entry.node) }
    },
    transform(code, id) {
      // Vite itself emits the databases for browsers.
      if (this.environment?.config.consumer === 'client' || databasesIn(id).length === 0) return undefined
      // The text gets shorter in one line; a source map is not worth its size.
      return { code: besideTheBundle(code), map: null }
    },
    generateBundle(_, bundle) {
      if (this.environment?.config.consumer === 'client') return
      const copies = new Map<string, string>()
      for (const { fileName, modules } of Object.values(bundle)) {
        for (const [id, { renderedLength }] of Object.entries(modules ?? {})) {
          if (renderedLength === 0) continue
          for (const original of copiedFor(id)) {
            const beside = [dirname(fileName), basename(original)].filter((part) => part !== '.').join('/')
            copies.set(beside, original)
          }
        }
      }
      for (const [fileName, original] of copies)
        this.emitFile({ type: 'asset', fileName, source: readFileSync(original) })
    },
  }
}

/** Makes a function from a module to the paths of the databases to copy for it. @throws TypeError when an option is wrong */
function copiesOf(options: BundlerOptions = {}): (module: string) => readonly string[] {
  checkOptionNames('the plugin', options, BUNDLER_OPTIONS)
  const { databases } = options
  if (databases === undefined) return databasesIn
  if (!Array.isArray(databases) || !databases.every((name) => DATABASE_NAMES.includes(name))) {
    throw new TypeError("databases must be an array of 'city', 'country' and 'asn'")
  }
  return (module) => {
    const [used] = databasesIn(module)
    if (used === undefined) return []
    const folder = dirname(used)
    const isNamed = (file: string): boolean => databases.some((name) => file.startsWith(`${name}.mmdb.`))
    return readdirSync(folder)
      .filter(isNamed)
      .map((file) => join(folder, file))
  }
}

/** The paths of the databases that a module of any copy of this package refers to; empty for other modules. */
function databasesIn(module: string): readonly string[] {
  // Plugins of Rollup, such as @rollup/plugin-commonjs, add prefixes and queries.
  const path = module.replace(/^\0/, '').replace(/\?.*$/, '')
  const folder = dirname(path)
  if (!isOwnFolder(folder)) return []
  const names = Array.from(readFileSync(path, 'utf8').matchAll(LITERAL), ([, , file = '']) => file)
  return [...new Set(names)].map((file) => join(folder, '../data', file))
}

const OWN_NAME = packageName(fileURLToPath(new URL('../package.json', import.meta.url)))

/** Whether a folder has the code of a copy of this package. A project can have several, and links can lead to one. */
function isOwnFolder(folder: string): boolean {
  return packageName(join(folder, '../package.json')) === OWN_NAME
}

function packageName(path: string): unknown {
  try {
    return JSON.parse(readFileSync(path, 'utf8')).name
  } catch {
    return null
  }
}

function besideTheBundle(code: string): string {
  return code.replace(LITERAL, (_, quote: string, file: string) => `${quote}./${file}${quote}`)
}
