import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { transform } from 'esbuild'
import { type PluginContext, type Plugin as RollupPlugin, rollup } from 'rollup'
import type { Options } from 'tsup'

type Plugin = NonNullable<Options['esbuildPlugins']>[number]
type Statement = ReturnType<PluginContext['parse']>['body'][number]
type TsupPlugin = NonNullable<Options['plugins']>[number]

/** The folder of the package in `node_modules/commander/lib/command.js`, also of a nested package. */
const PACKAGE_FOLDER = /^.*node_modules\/(?:@[^/]+\/)?[^/]+/

/**
 * Writes the licences of all bundled packages to a file, sorted by name.
 *
 * @param sources packages that files of `src` are made of
 */
export function bundledLicences(file: string, sources: readonly string[]): Plugin {
  return {
    name: 'bundled-licences',
    setup(build) {
      build.initialOptions.metafile = true
      build.onEnd(({ metafile }) => {
        if (metafile === undefined) throw new Error('esbuild gave no metafile')
        const folders = Object.values(metafile.outputs).flatMap(({ inputs }) =>
          Object.entries(inputs)
            .filter(([, { bytesInOutput }]) => bytesInOutput > 0)
            .flatMap(([path]) => PACKAGE_FOLDER.exec(path)?.[0] ?? []),
        )
        const all = [...folders, ...sources.map((name) => `node_modules/${name}`)]
        const texts = new Map(all.map((folder) => [titleOf(folder), licenceOf(folder)]))
        const sections = [...texts]
          .sort(([a], [b]) => (a < b ? -1 : 1))
          .map(([title, text]) => `${title}\n\n${text}\n`)
        mkdirSync(dirname(file), { recursive: true })
        writeFileSync(file, sections.join(`\n${'-'.repeat(78)}\n\n`))
      })
    },
  }
}

function titleOf(folder: string): string {
  const about: { name: string; version: string; license: string } = JSON.parse(
    readFileSync(join(folder, 'package.json'), 'utf8'),
  )
  return `${about.name} ${about.version} (${about.license})`
}

function licenceOf(folder: string): string {
  const file = readdirSync(folder).find((name) => /^licen[cs]e(\.(txt|md))?$/i.test(name))
  // Without a licence the package must not be redistributed.
  if (file === undefined) throw new Error(`${folder} has no licence`)
  return readFileSync(join(folder, file), 'utf8').trim()
}

/**
 * Replaces `node:child_process` by an empty module. commander imports it for commands that are separate executables,
 * which geofix has none of. So the command line cannot start programs, and does not load `net`.
 */
export function noChildProcess(): Plugin {
  return {
    name: 'no-child-process',
    setup(build) {
      build.onResolve({ filter: /^(node:)?child_process$/ }, ({ path }) => ({ path, namespace: 'absent' }))
      build.onLoad({ filter: /.*/, namespace: 'absent' }, () => ({ contents: 'module.exports = {}' }))
    },
  }
}

/** The end of the name that esbuild gives to a chunk. */
const HASH = /-[A-Z0-9]{8}\.js$/

/**
 * Joins chunks. esbuild makes a chunk of the code that the same entries use, and each costs every import of the package
 * time: 22 files take 8 ms of processor time more than 13. Code that is imported dynamically stays apart.
 *
 * @param prefix of the chunks' file names
 * @param format of the joined files. A process that loads no ES module starts in 6 ms less: `geofix IP` took 69 ms, an empty
 *   process 20
 * @param entries sets of entries, by the name of a joined chunk: it has the code that all entries of one of its sets use, and
 *   an entry that is a set alone; the first name that fits is taken
 * @param whole entries that get a copy of the code in their chunks, and share only the joined chunk `core`. With fewer files, a
 *   process to one answer takes 0.94 of the time: see `scripts/bench/README.md`
 */
export function joinedChunks(
  prefix: string,
  format: 'esm' | 'cjs',
  entries: Readonly<Record<string, readonly (readonly string[])[]>>,
  whole: readonly string[] = [],
): TsupPlugin {
  const extension = format === 'esm' ? '.js' : '.cjs'
  return {
    name: 'joined-chunks',
    async buildEnd({ writtenFiles }) {
      const paths = writtenFiles.map(({ name }) => name).filter((name) => name.endsWith('.js'))
      const names = paths.filter((path) => !HASH.test(path)).map((path) => basename(path))
      const external = /^node:|^fflate$|\.cjs$/
      const bundle = await rollup({
        input: names.map((name) => `dist/${name}`),
        external,
        // Otherwise the import of a Node module keeps two chunks apart.
        treeshake: { moduleSideEffects: 'no-external' },
        // Nobody reads the bundled packages of the command, and the tarball has a bound.
        plugins: prefix === '' ? [constants] : [constants, minified],
        logLevel: 'silent',
      })
      const { output } = await bundle.write({
        dir: 'dist',
        format,
        minifyInternalExports: true,
        generatedCode: 'es2015',
        entryFileNames: `[name]${extension}`,
        chunkFileNames: `${prefix}chunk-[hash]${extension}`,
        hoistTransitiveImports: false,
        // esbuild writes imports of all chunks that an entry uses, so their importers include all these entries.
        manualChunks(id, { getModuleInfo }) {
          const { importers = [], dynamicImporters = [] } = getModuleInfo(id) ?? {}
          const users = dynamicImporters.length > 0 ? [id, ...importers] : importers
          const names = users.map((path) => basename(path).replace(HASH, '.js'))
          return Object.keys(entries).find((name) =>
            entries[name]?.some((set) => set.every((entry) => names.includes(entry))),
          )
        },
      })
      await bundle.close()
      const shared = output.flatMap((each) => (each.name === 'core' ? each.fileName : []))
      for (const entry of whole) {
        const copy = await rollup({
          input: `dist/${entry}`,
          external: (id, importer) =>
            importer !== undefined && (external.test(id) || [...names, ...shared].includes(basename(id))),
          treeshake: { moduleSideEffects: 'no-external' },
          plugins: [constants],
          logLevel: 'silent',
        })
        await copy.write({ file: `dist/${entry}`, format, generatedCode: 'es2015' })
        await copy.close()
      }
      const kept = new Set(output.map(({ fileName }) => `dist/${fileName}`))
      for (const path of paths) if (!kept.has(path)) rmSync(path)
    },
  }
}

/**
 * Declares variables of modules that are never assigned again as `const`. esbuild makes them `var`. V8's optimising compiler
 * takes a `const` as its value, and reads a `var` each time: a line of NDJSON or CSV, or of an access log that becomes an
 * object, takes 0.85 to 0.92 of the time. Leaves out the comments that name the source of each module.
 */
const constants: RollupPlugin = {
  name: 'constants',
  renderChunk(code) {
    const { body } = this.parse(code)
    const assigned = new Set<string>()
    visit(body, (node) => addAssigned(node, assigned))
    const starts = body.flatMap((statement) =>
      'start' in statement && isConstant(statement, assigned) ? [Number(statement.start)] : [],
    )
    let result = ''
    let from = 0
    for (const start of starts) {
      result += `${code.slice(from, start)}const`
      from = start + 'var'.length
    }
    return (result + code.slice(from)).replace(/^\/\/ (?:src|node_modules)\/.*\n/gm, '')
  },
}

const minified: RollupPlugin = {
  name: 'minified',
  renderChunk: (code) =>
    transform(code, { minify: true, format: 'cjs', target: 'node20', legalComments: 'none' }),
}

/** Whether a statement declares variables that get their only values at once. */
function isConstant(statement: Statement, assigned: ReadonlySet<string>): boolean {
  if (statement.type !== 'VariableDeclaration' || statement.kind !== 'var') return false
  return statement.declarations.every(
    ({ id, init }) => id.type === 'Identifier' && init && !assigned.has(id.name),
  )
}

/** Adds the names that a node assigns, in any scope, and some that it only reads. */
function addAssigned(node: object, names: Set<string>): void {
  const type = 'type' in node ? node.type : ''
  const add = (target: unknown): void =>
    visit(target, (inner) => {
      if ('type' in inner && inner.type === 'Identifier' && 'name' in inner) names.add(String(inner.name))
    })
  if (type === 'AssignmentExpression' && 'left' in node) add(node.left)
  if (type === 'UpdateExpression' && 'argument' in node) add(node.argument)
  if ((type === 'ForInStatement' || type === 'ForOfStatement') && 'left' in node) add(node.left)
}

/** Calls a function with all nodes of a syntax tree. */
function visit(tree: unknown, use: (node: object) => void): void {
  if (typeof tree !== 'object' || tree === null) return
  if (!Array.isArray(tree)) use(tree)
  for (const inner of Object.values(tree)) visit(inner, use)
}

/**
 * In ES modules, imports packages that are CommonJS through a small CommonJS file of this package. Node scans each CommonJS
 * file that an ES module imports for the names of its exports; for ipaddr.js and mmdb-lib that takes 60 ms of processor
 * time and 16 MB, four times as much as loading all the rest.
 *
 * @param files the file of each package, which is written beside the chunks
 */
export function throughCommonJs(files: Readonly<Record<string, string>>): TsupPlugin {
  return {
    name: 'through-commonjs',
    renderChunk: (code) => ({
      code: code.replace(/( from )["']([^"']+)["'];/g, (all, from: string, name: string) =>
        files[name] === undefined ? all : `${from}'./${files[name]}';`,
      ),
    }),
    buildEnd() {
      for (const [name, file] of Object.entries(files)) {
        // Node would scan the package after "module.exports = require(…)".
        writeFileSync(join('dist', file), `const loaded = require('${name}')\nmodule.exports = loaded\n`)
      }
    },
  }
}

/**
 * In CommonJS, writes the paths of the embedded databases as `path.join(__dirname, '…')`: bundlers and tracers of
 * CommonJS look for that expression, as those of ES modules look for `new URL('…', import.meta.url)`.
 */
export function literalPaths(): Plugin {
  return {
    name: 'literal-paths',
    setup(build) {
      build.onLoad({ filter: /[\\/]src[\\/](asn|city|country)(-server)?\.ts$/ }, ({ path }) => {
        const code = readFileSync(path, 'utf8')
        const contents = code.replace(
          /new URL\(('[^']+'), import\.meta\.url\)/,
          'pathToFileURL(path.join(__dirname, $1))',
        )
        if (contents === code) throw new Error(`${path} has no URL of a database`)
        // @vercel/nft looks for `path.join`.
        const imports = "const path = require('node:path'); const { pathToFileURL } = require('node:url')"
        return { contents: `${imports}\n${contents}`, loader: 'ts' }
      })
    },
  }
}
