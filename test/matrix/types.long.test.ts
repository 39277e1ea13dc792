// Type-checks programs that use every entry, with the oldest and the newest TypeScript, as each way to resolve modules finds it.
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { writeProject } from '../package/project.ts'
import { describeMatrix, installTools, MATRIX, run, toolAt } from './tools.ts'

/** What passes from one entry to another: that fails if two declarations of the same class are found. */
const ACROSS_ENTRIES = `
export const geo = Resolver.openSync(embedded.country)
export const path: string = country.pathname + city.href
export const core: Promise<CoreResolver> = CoreResolver.open(new MmdbWriter({ databaseType: 'X' }).insert('::/0', { latitude: float(1) }).toBytes())
export const handlers: Handler[] = [createHandler(geo, { authenticate: null })]
export const keyed: Promise<Handler> = createKeyFile('keys.json').then((keys) => createHandler(geo, keys))
core.then((resolver) => createHandler(resolver, { authenticate: null }))
core.then((resolver) => enrich(new Blob().stream(), { resolver }).summary)
export const summary: Promise<EnrichSummary> = enrich(new Blob().stream(), { resolver: geo }).summary
export const rows = createRowEnricher({ resolver: geo, format: 'list' })
export const packed: Uint8Array = pack(new MmdbWriter({ databaseType: 'X' }).toBytes())
export const attached: Resolver = Resolver.attach(geo.share())
export const attachedCore: CoreResolver = CoreResolver.attach(geo.share())
export const plugins = [esbuild(), rollup({ databases: ['country'] })]
export const failures: LookupFailure[] = geo.lookupMany(['x']).filter(isLookupFailure)
export const lines: ReadableStream<Uint8Array> = new Blob().stream().pipeThrough(enrichStream({ resolver: geo }))
export const name: string | null = geo.lookup('81.2.69.142', { locale: 'de', at: new Date() }).country.name
export const value: WritableValue = { latitude: float(1) }
export const record: LocationRecord | null = isLookupFailure(geo.find('x')) ? null : geo.lookup('81.2.69.142')
export const databaseError: InvalidDatabaseError = new InvalidCoreDatabaseError('it is damaged')
// @ts-expect-error: options are checked
enrich(new Blob().stream(), { resolver: geo, formt: 'list' })
// @ts-expect-error: options are checked
enrich(new Blob().stream(), { resolver: geo, format: 'xml' })
// @ts-expect-error: the core has no files
CoreResolver.open('city.mmdb')
// @ts-expect-error: options are checked
Resolver.open(city, { trustedProxy: ['10.0.0.0/8'] })
// @ts-expect-error: parts of a record are shared and read-only
geo.lookup('81.2.69.142').country.code = 'XX'
`

const PROGRAM = `import { embedded, InvalidDatabaseError, isLookupFailure, type LocationRecord, type LookupFailure, Resolver } from 'geofix'
import { esbuild, rollup } from 'geofix/bundler'
import city from 'geofix/city'
import { InvalidDatabaseError as InvalidCoreDatabaseError, Resolver as CoreResolver } from 'geofix/core'
import country from 'geofix/country'
import { createRowEnricher, enrich, enrichStream, type EnrichSummary } from 'geofix/enrich'
import { createHandler, createKeyFile, type Handler } from 'geofix/http'
import { float, MmdbWriter, pack, type WritableValue } from 'geofix/writer'
${ACROSS_ENTRIES}`

/** As CommonJS programs can import what `module.exports` is. With node10, its type is in the member `default`. */
const REQUIRED = PROGRAM.replace(/^import (city|country) from ('.*')$/gm, 'import $1 = require($2)')
const REQUIRED_DEFAULT = REQUIRED.replaceAll(/(?<!\.)\b(city|country)\b(?=\.|, \{)/g, '$1.default')

interface Compiler {
  readonly name: string
  /** The folder in node_modules. */
  readonly folder: string
  /** Ways to resolve modules that it has, with the `module` that they need. */
  readonly resolutions: readonly (readonly [moduleResolution: string, module: string])[]
  /** Options that it needs to accept ways that the next version removes. */
  readonly options?: Readonly<Record<string, unknown>>
}

const OF_NODE = [
  ['node16', 'node16'],
  ['nodenext', 'nodenext'],
] as const
const NODE10 = [
  ['node10', 'commonjs'],
  ['node10', 'es2022'],
] as const
const BUNDLER = ['bundler', 'es2022'] as const

const COMPILERS: readonly Compiler[] = [
  // The oldest that is supported.
  { name: 'TypeScript 5.0', folder: 'typescript50', resolutions: [...NODE10, ...OF_NODE, BUNDLER] },
  { name: 'TypeScript 5.9', folder: 'typescript', resolutions: [...NODE10, ...OF_NODE, BUNDLER] },
  {
    name: 'TypeScript 6.0',
    folder: 'typescript60',
    resolutions: [...NODE10, ...OF_NODE, BUNDLER],
    options: { ignoreDeprecations: '6.0' },
  },
  // Has no node10 any more.
  { name: 'TypeScript 7.0', folder: 'typescript70', resolutions: [...OF_NODE, BUNDLER] },
]

const FILES = ['main.mts', 'main.cts', 'main.ts'] as const

const rows = COMPILERS.flatMap(({ name, folder, resolutions, options }) =>
  resolutions.flatMap(([moduleResolution, module]) =>
    FILES.map((file) => ({ name, folder, moduleResolution, module, file, options })),
  ),
)

/** The program of a file, whose extension says what kind of module it is. */
function programOf(file: string, moduleResolution: string, module: string): string {
  if (file !== 'main.cts' || module === 'es2022') return PROGRAM
  return moduleResolution === 'node10' ? REQUIRED_DEFAULT : REQUIRED
}

describeMatrix('a program with every entry', installTools() ? undefined : 'the matrix', () => {
  it.each(rows)('$name, $moduleResolution with module $module, $file', (row) => {
    const { folder, moduleResolution, module, file, options } = row
    const tsc = toolAt(`${folder}/bin/tsc`)
    if (tsc === undefined) throw new Error(`${folder} is not installed`)
    const project = join(MATRIX, 'projects', `types-${folder}-${moduleResolution}-${module}-${file}`)
    rmSync(project, { recursive: true, force: true })
    writeProject(project, {
      [file]: programOf(file, moduleResolution, module),
      'package.json': JSON.stringify({ type: file === 'main.ts' ? 'module' : 'commonjs' }),
      'tsconfig.json': JSON.stringify({
        compilerOptions: {
          module,
          moduleResolution,
          strict: true,
          target: 'es2022',
          lib: ['es2022', 'dom'],
          types: [],
          // Without it, CommonJS programs read the member `default`. TypeScript 6 has it always.
          ...(moduleResolution === 'node10' && options === undefined ? { esModuleInterop: false } : {}),
          ...options,
        },
        files: [file],
      }),
    })
    expect(run(project, process.execPath, tsc, '--noEmit')).toBe('')
    rmSync(project, { recursive: true })
  })
})
