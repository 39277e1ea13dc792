// The entry `geofix/bundler`: plugins that copy the embedded databases of a bundle to its folder. Bundlers for
// browsers, webpack, and tracers such as @vercel/nft find the databases without a plugin.
import { copyFileSync, mkdirSync, readFileSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The folder of the built code, which has this file, too. */
const CODE = dirname(fileURLToPath(import.meta.url))

/** How the code names a database: in `new URL('…', import.meta.url)`, and in `path.join(__dirname, '…')`. */
const LITERAL = /(?<=new URL\(|join\(__dirname, )(["'])\.\.\/data\/([\w.-]+)\1/g

export interface BundlerOptions {
  /**
   * The embedded databases to copy. Default: those that the bundle refers to. `Resolver` of `geofix` refers to the city
   * database, so name another one here if the program opens only that.
   */
  readonly databases?: readonly ('city' | 'country')[] | undefined
}

/** What this plugin needs of esbuild's `PluginBuild`. */
interface EsbuildBuild {
  readonly initialOptions: {
    metafile?: boolean | undefined
    readonly absWorkingDir?: string | undefined
  }
  onLoad(
    options: { filter: RegExp },
    callback: (module: { readonly path: string }) => { contents: string } | undefined,
  ): void
  onEnd(callback: (result: EsbuildResult) => void): void
}

interface EsbuildResult {
  /** With `write: false`, as tsup sets. */
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
  contents: Uint8Array<ArrayBuffer>
  hash: string
  readonly text: string
}

/** A plugin for esbuild, and for tsup as one of its `esbuildPlugins`. @throws TypeError when an option is wrong */
export function esbuild(options?: BundlerOptions): { name: string; setup(build: EsbuildBuild): void } {
  const isCopied = filterOf(options)
  return {
    name: 'geofix',
    setup(build) {
      const { initialOptions } = build
      const folder = initialOptions.absWorkingDir ?? process.cwd()
      initialOptions.metafile = true
      build.onLoad({ filter: /[\\/]dist[\\/][^\\/]+\.c?js$/ }, ({ path }) => {
        if (databasesIn(path).length === 0) return undefined
        return { contents: besideTheBundle(readFileSync(path, 'utf8')) }
      })
      build.onEnd(({ metafile, outputFiles }) => {
        const copies = new Map<string, string>()
        for (const [output, { inputs }] of Object.entries(metafile?.outputs ?? {})) {
          for (const [input, { bytesInOutput }] of Object.entries(inputs)) {
            if (bytesInOutput === 0) continue
            for (const file of databasesIn(resolve(folder, input)).filter(isCopied)) {
              copies.set(resolve(folder, dirname(output), file), pathOf(file))
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
  /** Only in Vite. */
  readonly environment?: { readonly config: { readonly consumer: string } } | undefined
}

interface RollupChunk {
  readonly type: string
  readonly fileName: string
  readonly modules?: Readonly<Record<string, { readonly renderedLength: number }>> | undefined
}

/** A plugin for Rollup, rolldown and Vite. @throws TypeError when an option is wrong */
export function rollup(options?: BundlerOptions): {
  name: string
  config(): { optimizeDeps: { exclude: string[] } }
  transform(this: RollupContext, code: string, id: string): { code: string; map: null } | undefined
  generateBundle(this: RollupContext, options: unknown, bundle: Readonly<Record<string, RollupChunk>>): void
} {
  const isCopied = filterOf(options)
  return {
    name: 'geofix',
    // Vite's development server would move the code away from its data.
    config: () => ({ optimizeDeps: { exclude: ['geofix'] } }),
    transform(code, id) {
      // For browsers, Vite emits the databases itself.
      if (this.environment?.config.consumer === 'client' || databasesIn(id).length === 0) return undefined
      // No source map: only one line becomes shorter.
      return { code: besideTheBundle(code), map: null }
    },
    generateBundle(_, bundle) {
      if (this.environment?.config.consumer === 'client') return
      for (const { fileName, modules } of Object.values(bundle)) {
        for (const [id, { renderedLength }] of Object.entries(modules ?? {})) {
          if (renderedLength === 0) continue
          for (const file of databasesIn(id).filter(isCopied)) {
            const beside = [dirname(fileName), file].filter((part) => part !== '.').join('/')
            this.emitFile({ type: 'asset', fileName: beside, source: readFileSync(pathOf(file)) })
          }
        }
      }
    },
  }
}

function filterOf({ databases }: BundlerOptions = {}): (file: string) => boolean {
  if (databases === undefined) return () => true
  if (!Array.isArray(databases) || !databases.every((name) => name === 'city' || name === 'country')) {
    throw new TypeError("databases must be an array of 'city' and 'country'")
  }
  return (file) => databases.some((name) => file.startsWith(`${name}.`))
}

const known = new Map<string, readonly string[]>()

/** The names of the databases that a module of this package refers to; empty for other modules. */
function databasesIn(module: string): readonly string[] {
  // Plugins such as @rollup/plugin-commonjs add prefixes and queries.
  const path = module.replace(/^\0/, '').replace(/\?.*$/, '')
  if (resolve(dirname(path)) !== CODE || basename(path).startsWith('bundler.')) return []
  const files = known.get(path) ?? filesIn(readFileSync(path, 'utf8'))
  known.set(path, files)
  return files
}

function filesIn(code: string): string[] {
  return Array.from(code.matchAll(LITERAL), ([, , file = '']) => file)
}

function besideTheBundle(code: string): string {
  return code.replace(LITERAL, (_, quote: string, file: string) => `${quote}./${file}${quote}`)
}

function pathOf(file: string): string {
  return join(CODE, '../data', file)
}
