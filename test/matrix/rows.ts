// One row for each way in which programs with Geofix are built and run.

/** A program that is built in one folder and run in another, which has nothing else. */
export interface Row {
  readonly name: string
  /** Files of the project, by name. */
  readonly files: Readonly<Record<string, string>>
  /** Commands that build it into the folder `out`. `node` and the names of tools are replaced by their paths. */
  readonly build: readonly (readonly string[])[]
  /** The command that runs it in `out`. */
  readonly run: readonly string[]
  /** What it prints. */
  readonly prints: string | RegExp
  /** The databases in `out`, without what a bundler adds to their names. Not checked if absent. */
  readonly databases?: readonly string[]
}

/** Where each tool is in node_modules. */
export const TOOLS: Readonly<Record<string, string>> = {
  bun: '@oven/bun-linux-x64-baseline/bin/bun',
  deno: '@deno/linux-x64-glibc/deno',
  ncc: '@vercel/ncc/dist/ncc/cli.js',
  nft: '@vercel/nft/out/cli.js',
  node22: 'node22/bin/node',
  node24: 'node24/bin/node',
  postject: 'postject/dist/cli.js',
  vite: 'vite/bin/vite.js',
  workerd: '@cloudflare/workerd-linux-64/bin/workerd',
}

const MAIN = `main().catch((error) => console.log(error.code, error.message))`

type Format = 'esm' | 'cjs'
type Data = 'city' | 'country'

/** Opens a database of the package as an ES module or with `require`, and looks one address up. */
function programOf(format: Format, data: Data): string {
  const load = (name: string, from: string): string =>
    format === 'esm' ? `import ${name} from '${from}'\n` : `const ${name} = require('${from}')\n`
  const [country, open, field] =
    data === 'city' ? ['', '', 'city'] : [load('country', 'geofix/country'), 'country', 'country.code']
  return `${load('{ Resolver }', 'geofix')}${country}async function main() { console.log((await Resolver.open(${open})).lookup('81.2.69.142').${field}) }
${MAIN}`
}

const FORMATS: readonly Format[] = ['esm', 'cjs']
const DATA: readonly Data[] = ['city', 'country']
const PRINTS = { city: 'London\n', country: 'GB\n' } as const
/** `Resolver` brings the city database, which `open` uses by default. */
const COPIED = { city: ['city'], country: ['city', 'country'] } as const
/** The plugins copy what their option names. */
const NAMED = { city: ['city'], country: ['country'] } as const
const EXTENSIONS = { esm: 'mjs', cjs: 'cjs' } as const

const MISSING =
  /^INVALID_DATABASE .*the embedded database is missing, because this code was bundled without it/

/** CommonJS in an ES module needs a `require`, which esbuild leaves to its users. */
const BANNERS = {
  esm: 'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);',
  cjs: '',
} as const

/** Input format, output format and database of a bundler's rows: each pair of two of them. */
const COMBINATIONS = FORMATS.flatMap((from) =>
  FORMATS.map((to) => ({ from, to, data: from === to ? 'city' : 'country' }) as const),
)

/** Rows of a bundler that is a function, with the plugin of `geofix/bundler`. */
function bundlerRows(
  name: string,
  script: (entry: string, out: string, to: Format, plugin: string) => string,
): Row[] {
  return COMBINATIONS.map(({ from, to, data }) => {
    const [entry, out] = [`main.${EXTENSIONS[from]}`, `main.${EXTENSIONS[to]}`]
    return {
      name: `${name}, ${from} to ${to}, ${data}`,
      files: {
        [entry]: programOf(from, data),
        'build.mjs': script(entry, `out/${out}`, to, `geofix({ databases: ['${data}'] })`),
      },
      build: [['node', 'build.mjs']],
      run: ['node', out],
      prints: PRINTS[data],
      databases: NAMED[data],
    }
  })
}

const esbuildRows = bundlerRows(
  'esbuild',
  (entry, out, to, plugin) => `import { build } from 'esbuild'
import { esbuild as geofix } from 'geofix/bundler'
await build({ entryPoints: ['${entry}'], outfile: '${out}', format: '${to}', bundle: true, platform: 'node', banner: { js: '${BANNERS[to]}' }, plugins: [${plugin}] })`,
)

const rollupRows = bundlerRows(
  'Rollup',
  (entry, out, to, plugin) => `import commonjs from '@rollup/plugin-commonjs'
import nodeResolve from '@rollup/plugin-node-resolve'
import { rollup } from 'rollup'
import { rollup as geofix } from 'geofix/bundler'
const bundle = await rollup({ input: '${entry}', external: /^node:/, plugins: [${plugin}, nodeResolve({ exportConditions: ['node'] }), commonjs()] })
await bundle.write({ dir: 'out', entryFileNames: '${out.slice('out/'.length)}', format: '${to}' })`,
)

const rolldownRows = bundlerRows(
  'rolldown',
  (entry, out, to, plugin) => `import { rolldown } from 'rolldown'
import { rollup as geofix } from 'geofix/bundler'
const bundle = await rolldown({ input: '${entry}', platform: 'node', plugins: [${plugin}] })
await bundle.write({ dir: 'out', entryFileNames: '${out.slice('out/'.length)}', format: '${to}' })`,
)

const viteRows = bundlerRows(
  'Vite SSR',
  (entry, out, to, plugin) => `import { build } from 'vite'
import { rollup as geofix } from 'geofix/bundler'
await build({ logLevel: 'error', plugins: [${plugin}], ssr: { noExternal: true }, build: { ssr: '${entry}', outDir: 'out',
  rollupOptions: { output: { format: '${to}', entryFileNames: '${out.slice('out/'.length)}' } } } })`,
)

/** Without a tsconfig.json, the target of tsup is node16. esbuild then rewrites some of the private names of a class. */
const tsupRows = bundlerRows(
  'tsup',
  (entry, _, to, plugin) => `import { build } from 'tsup'
import { esbuild as geofix } from 'geofix/bundler'
await build({ config: false, silent: true, target: 'node16', entry: ['${entry}'], outDir: 'out', format: '${to}', noExternal: [/.*/], banner: { js: '${BANNERS[to]}' },
  outExtension: () => ({ js: '.${EXTENSIONS[to]}' }), esbuildPlugins: [${plugin}] })`,
)

/** Rows of a tool without the plugin, which finds the databases by itself, for each input format and database. */
function copyingRows(
  name: string,
  way: (from: Format, main: string) => Pick<Row, 'build'> & { files?: Row['files']; out: string },
  readsCommonJs = false,
): Row[] {
  return FORMATS.flatMap((from) =>
    DATA.map((data) => {
      const main = `main.${EXTENSIONS[from]}`
      const { build, files, out } = way(from, main)
      const isFound = readsCommonJs || from === 'esm'
      return {
        name: `${name}, ${from}, ${data}`,
        files: { [main]: programOf(from, data), ...files },
        build,
        run: ['node', out],
        // Most tools do not look for paths in CommonJS.
        prints: isFound ? PRINTS[data] : MISSING,
        databases: isFound ? COPIED[data] : [],
      }
    }),
  )
}

const webpackRows: Row[] = [
  ['webpack', "import pack from 'webpack'"],
  ['Rspack', "import { rspack as pack } from '@rspack/core'"],
].flatMap(([tool, load]) =>
  copyingRows(`${tool} without a warning`, (_, main) => ({
    files: {
      'build.mjs': `${load}
import { resolve } from 'node:path'
pack({ mode: 'production', target: 'node20', entry: './${main}', node: { __dirname: false },
  output: { path: resolve('out'), filename: 'main.cjs' } }, (error, stats) => {
  if (error ?? (stats.hasErrors() || stats.hasWarnings())) { console.error(error ?? stats.toString()); process.exit(1) }
})`,
    },
    build: [['node', 'build.mjs']],
    out: 'main.cjs',
  })),
)

const nccRows: Row[] = copyingRows('ncc', (from, main) => ({
  files: { 'package.json': JSON.stringify({ type: from === 'esm' ? 'module' : 'commonjs' }) },
  build: [['node', 'ncc', 'build', main, '-o', 'out', '-q']],
  out: from === 'esm' ? 'index.mjs' : 'index.cjs',
}))

const nftRows: Row[] = copyingRows(
  'nft',
  (_, main) => ({
    files: {
      'build.mjs': `import { nodeFileTrace } from '@vercel/nft'
import { cpSync } from 'node:fs'
import { resolve } from 'node:path'
const base = resolve('../..')
const { fileList } = await nodeFileTrace(['${main}'], { base })
for (const file of fileList) cpSync(resolve(base, file), resolve('out', file), { dereference: true })
cpSync('${main}', 'out/${main}')`,
    },
    build: [['node', 'build.mjs']],
    out: main,
  }),
  true,
)

/** The default options of node-resolve take the entry for browsers. */
const rollupDefaults: Row[] = [
  {
    plugins: 'geofix(), nodeResolve(), commonjs()',
    prints: PRINTS.city,
    databases: ['city'],
    name: 'with the plugin',
  },
  {
    plugins: 'nodeResolve(), commonjs()',
    prints: /^INVALID_DATABASE The database: none was given, and this is geofix\/core, .* rollup\(\) of /,
    databases: [],
    name: 'without the plugin',
  },
].map(({ plugins, prints, databases, name }) => ({
  name: `Rollup and node-resolve's default options, ${name}`,
  files: {
    'main.mjs': programOf('esm', 'city'),
    'build.mjs': `import commonjs from '@rollup/plugin-commonjs'
import nodeResolve from '@rollup/plugin-node-resolve'
import { rollup } from 'rollup'
import { rollup as geofix } from 'geofix/bundler'
const bundle = await rollup({ input: 'main.mjs', plugins: [${plugins}] })
await bundle.write({ dir: 'out', entryFileNames: 'main.mjs', format: 'es' })`,
  },
  build: [['node', 'build.mjs']],
  run: ['node', 'main.mjs'],
  prints,
  databases,
}))

/** The worker of the guide. Deno runs the page, whose only script starts it. */
const viteWorkerRows: Row[] = ['vite', 'vite7'].map((vite) => ({
  name: `a web worker of ${vite}`,
  files: {
    'index.html': '<script type="module" src="./main.js"></script>',
    'main.js': `const worker = new Worker(new URL('./worker.js', import.meta.url), { type: 'module' })
worker.onmessage = ({ data }) => { console.log(data); worker.terminate() }
worker.postMessage('81.2.69.142')`,
    'worker.js': `import country from 'geofix/country'
import { Resolver } from 'geofix/core'
const opening = fetch(country).then((response) => Resolver.open(response))
addEventListener('message', async ({ data }) => {
  const geo = await opening
  postMessage(geo.lookup(data).country.code)
})`,
    'build.mjs': `import { build } from '${vite}'
await build({ base: './', logLevel: 'error', worker: { format: 'es' },
  // Deno has no document.
  build: { outDir: 'out', modulePreload: { polyfill: false }, rollupOptions: { output: { entryFileNames: 'page.js' } } } })`,
  },
  build: [['node', 'build.mjs']],
  run: ['deno', 'run', '--allow-read', '--no-remote', 'page.js'],
  prints: PRINTS.country,
  databases: ['country'],
}))

/** With the core, a program reads the URL itself. */
const readRows: Row[] = FORMATS.map((to) => ({
  name: `esbuild, the core, esm to ${to}`,
  files: {
    'main.mjs': `import { readFile } from 'node:fs/promises'
import { Resolver } from 'geofix/core'
import country from 'geofix/country'
async function main() { console.log((await Resolver.open(await readFile(country))).lookup('81.2.69.142').country.code) }
${MAIN}`,
    'build.mjs': `import { build } from 'esbuild'
import { esbuild as geofix } from 'geofix/bundler'
await build({ entryPoints: ['main.mjs'], outfile: 'out/main.${EXTENSIONS[to]}', format: '${to}', bundle: true, platform: 'node', plugins: [geofix()] })`,
  },
  build: [['node', 'build.mjs']],
  run: ['node', `main.${EXTENSIONS[to]}`],
  prints: PRINTS.country,
  databases: ['country'],
}))

/** Without the plugin, the error says what to do; a copy beside the bundle is enough. */
const bareRows: Row[] = FORMATS.flatMap((from) =>
  FORMATS.flatMap((to): Row[] => {
    const [entry, out] = [`main.${EXTENSIONS[from]}`, `main.${EXTENSIONS[to]}`]
    const files = {
      [entry]: programOf(from, 'country'),
      'build.mjs': `import { build } from 'esbuild'
import { copyFileSync } from 'node:fs'
await build({ entryPoints: ['${entry}'], outfile: 'out/${out}', format: '${to}', bundle: true, platform: 'node', banner: { js: '${BANNERS[to]}' }, logLevel: 'error' })
if (process.argv[2] === 'copy') copyFileSync('../../node_modules/geofix/data/country.mmdb.gz', 'out/country.mmdb.gz')`,
    }
    const row = { files, run: ['node', out] }
    return [
      {
        ...row,
        name: `esbuild without the plugin, ${from} to ${to}`,
        build: [['node', 'build.mjs']],
        prints: MISSING,
        databases: [],
      },
      {
        ...row,
        name: `esbuild and a copy, ${from} to ${to}`,
        build: [['node', 'build.mjs', 'copy']],
        prints: 'GB\n',
      },
    ]
  }),
)

/** The package and its dependencies, as npm installs them. */
const INSTALL = `import { cpSync } from 'node:fs'
for (const name of ['geofix', 'fflate', 'ipaddr.js', 'mmdb-lib']) cpSync('../../node_modules/' + name, 'out/node_modules/' + name, { recursive: true })
`

/** A program beside the installed package. */
function installedRow(name: string, main: string, program: string, command: readonly string[]): Row {
  return {
    name,
    files: {
      'build.mjs': `${INSTALL}cpSync('${main}', 'out/${main}'); cpSync('package.json', 'out/package.json')`,
      [main]: program,
      'package.json': '{ "dependencies": { "geofix": "*" } }',
    },
    build: [['node', 'build.mjs']],
    run: [...command, main],
    prints: PRINTS.city,
  }
}

const runtimeRows: Row[] = [
  { name: 'Node 20', command: ['node'] },
  { name: 'Node 22', command: ['node22'] },
  { name: 'Node 24', command: ['node24'] },
  { name: 'Bun', command: ['bun'] },
  { name: 'Deno', command: ['deno', 'run', '--allow-read', '--no-remote', '--node-modules-dir=manual'] },
].flatMap(({ name, command }) =>
  FORMATS.map((format) =>
    installedRow(`${name}, ${format}`, `main.${EXTENSIONS[format]}`, programOf(format, 'city'), command),
  ),
)

/** Asks the handler of geofix/http, mounted as its guide shows, by `ask`: for an address, the caller, and a batch. */
const served = (open: string, mount: string) => `import { Resolver } from 'geofix'
import { createHandler } from 'geofix/http'
${open}
const json = { 'content-type': 'application/json' }
async function main() {
  const handle = createHandler(await Resolver.open(database), { authenticate: null })
  ${mount}
  const lookup = await ask('/v1/ip/81.2.69.142')
  const batch = await ask('/v1/ip/batch', { method: 'POST', headers: json, body: '["81.2.69.142", "x"]' })
  console.log(lookup.country.code, (await ask('/v1/ip')).reason, batch[1].error.code)
}
`
const OPEN_COUNTRY = `import database from 'geofix/country'`

const mountRows: Row[] = [
  {
    name: 'HTTP in Bun',
    program: served(
      OPEN_COUNTRY,
      `const server = Bun.serve({ port: 0, fetch: (request, server) => handle(request, { remoteAddress: server.requestIP(request)?.address }) })
  setTimeout(() => server.stop(true), 1000)
  const ask = async (path, init) => (await fetch(new URL(path, server.url), init)).json()`,
    ),
    command: ['bun'],
  },
  {
    name: 'HTTP in Deno',
    program: served(
      OPEN_COUNTRY,
      `const server = Deno.serve({ port: 0, hostname: '127.0.0.1', onListen() {} }, (request, { remoteAddr }) => handle(request, { remoteAddress: remoteAddr.hostname }))
  setTimeout(() => server.shutdown(), 1000)
  const ask = async (path, init) => (await fetch('http://127.0.0.1:' + server.addr.port + path, init)).json()`,
    ),
    command: [
      ...['deno', 'run', '--allow-read', '--allow-net=127.0.0.1,0.0.0.0', '--no-remote'],
      '--node-modules-dir=manual',
    ],
  },
].map(({ name, program, command }) => ({
  ...installedRow(name, 'main.mjs', `${program}await main()`, command),
  prints: 'GB loopback MALFORMED_ADDRESS\n',
}))

/** A worker of workerd, with the database as a module of its own. */
function workerdRow(name: string, main: string, prints: RegExp): Row {
  return {
    name,
    files: {
      'main.mjs': main,
      'build.mjs': `import { copyFileSync } from 'node:fs'
import { build } from 'esbuild'
await build({ entryPoints: ['main.mjs'], outfile: 'out/main.js', format: 'esm', bundle: true, external: ['*.gz'], logLevel: 'error' })
copyFileSync('../../node_modules/geofix/data/country.mmdb.gz', 'out/country.mmdb.gz')
copyFileSync('config.capnp', 'out/config.capnp')`,
      'config.capnp': `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (services = [(name = "main", worker = .worker)]);
const worker :Workerd.Worker = (
  modules = [
    (name = "main.js", esModule = embed "main.js"),
    (name = "country.mmdb.gz", data = embed "country.mmdb.gz"),
  ],
  compatibilityDate = "2025-06-01",
);`,
    },
    build: [['node', 'build.mjs']],
    run: ['workerd', 'test', 'config.capnp'],
    prints,
  }
}

const executableRows: Row[] = [
  {
    name: 'bun build, and a copy',
    files: {
      'main.mjs': programOf('esm', 'country'),
      'copy.mjs': `import { copyFileSync } from 'node:fs'
copyFileSync('../../node_modules/geofix/data/country.mmdb.gz', 'out/country.mmdb.gz')`,
    },
    build: [
      ['bun', 'build', 'main.mjs', '--target=bun', '--outdir=out'],
      ['node', 'copy.mjs'],
    ],
    run: ['bun', 'main.js'],
    prints: PRINTS.country,
  },
  {
    name: 'bun build --compile',
    files: {
      'main.mjs': `import { Resolver } from 'geofix'
import country from 'geofix/data/country.mmdb.gz' with { type: 'file' }
async function main() { console.log((await Resolver.open(country)).lookup('81.2.69.142').country.code) }
${MAIN}`,
    },
    build: [['bun', 'build', '--compile', 'main.mjs', '--outfile=out/main']],
    run: ['./main'],
    prints: PRINTS.country,
    databases: [],
  },
  {
    name: 'Node single executable (SEA)',
    files: {
      'main.mjs': `import { getRawAsset } from 'node:sea'
import { Resolver } from 'geofix'
async function main() { console.log((await Resolver.open(getRawAsset('country.mmdb.gz'))).lookup('81.2.69.142').country.code) }
${MAIN}`,
      'sea.json': JSON.stringify({
        main: 'main.cjs',
        output: 'main.blob',
        disableExperimentalSEAWarning: true,
        assets: { 'country.mmdb.gz': '../../node_modules/geofix/data/country.mmdb.gz' },
      }),
      'build.mjs': `import { copyFileSync } from 'node:fs'
import { build } from 'esbuild'
await build({ entryPoints: ['main.mjs'], outfile: 'main.cjs', format: 'cjs', bundle: true, platform: 'node', logLevel: 'error' })
copyFileSync(process.execPath, 'out/main')`,
    },
    build: [
      ['node22', 'build.mjs'],
      ['node22', '--experimental-sea-config', 'sea.json'],
      [
        'node',
        'postject',
        'out/main',
        'NODE_SEA_BLOB',
        'main.blob',
        '--sentinel-fuse',
        'NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2',
      ],
    ],
    run: ['./main'],
    prints: PRINTS.country,
    databases: [],
  },
  workerdRow(
    'workerd',
    `import { Resolver } from 'geofix'
import country from './country.mmdb.gz'
export default { async test() { console.log((await Resolver.open(country)).lookup('81.2.69.142').country.code) } }`,
    /\bGB\n/,
  ),
  workerdRow(
    'HTTP in workerd',
    `${served(
      `import database from './country.mmdb.gz'`,
      `const ask = async (path, init) => {
    const request = new Request('https://geo.example' + path, init)
    request.headers.set('cf-connecting-ip', '127.0.0.1')
    return (await handle(request, { remoteAddress: request.headers.get('cf-connecting-ip') })).json()
  }`,
    )}export default { test: main }`,
    /\bGB loopback MALFORMED_ADDRESS\n/,
  ),
  {
    name: 'Electron asar, with the data unpacked',
    files: {
      'build.mjs': `${INSTALL}import { createPackageWithOptions, extractFile, listPackage } from '@electron/asar'
import { rmSync, writeFileSync } from 'node:fs'
writeFileSync('out/main.js', '')
await createPackageWithOptions('out', 'app.asar', { unpack: '**/*.mmdb.*' })
rmSync('out', { recursive: true })
const inside = 'node_modules/geofix/dist/core.cjs'
const unpacked = listPackage('app.asar', { isPack: true }).includes('unpack : /node_modules/geofix/data/country.mmdb.gz')
cpSync('app.asar', 'out/app.asar'); cpSync('app.asar.unpacked', 'out/app.asar.unpacked', { recursive: true })
for (const name of ['fflate', 'ipaddr.js', 'mmdb-lib', 'geofix']) cpSync('../../node_modules/' + name, 'out/node_modules/' + name, { recursive: true })
rmSync('out/node_modules/geofix/data', { recursive: true })
writeFileSync('out/main.mjs', \`import { Resolver } from 'geofix'
const geo = await Resolver.open('app.asar.unpacked/node_modules/geofix/data/country.mmdb.gz')
console.log(geo.lookup('81.2.69.142').country.code, \${extractFile('app.asar', inside).length > 1000}, \${unpacked})\`)`,
    },
    build: [['node', 'build.mjs']],
    run: ['node', 'main.mjs'],
    prints: 'GB true true\n',
  },
]

export const ROWS: readonly Row[] = [
  ...esbuildRows,
  ...readRows,
  ...bareRows,
  ...rollupRows,
  ...rolldownRows,
  ...viteRows,
  ...tsupRows,
  ...rollupDefaults,
  ...viteWorkerRows,
  ...webpackRows,
  ...nccRows,
  ...nftRows,
  ...runtimeRows,
  ...mountRows,
  ...executableRows,
]
