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
  /** Tools that may be missing, besides those in its commands. */
  readonly needs?: readonly string[]
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

/** Opens a database of the package as an ES module or with \`require\`, and looks one address up. */
const PROGRAMS = {
  esm: {
    city: `import { Resolver } from 'geofix'
async function main() { console.log((await Resolver.open()).lookup('81.2.69.142').city) }
${MAIN}`,
    country: `import { Resolver } from 'geofix'
import country from 'geofix/country'
async function main() { console.log((await Resolver.open(country)).lookup('81.2.69.142').country.code) }
${MAIN}`,
  },
  cjs: {
    city: `const { Resolver } = require('geofix')
async function main() { console.log((await Resolver.open()).lookup('81.2.69.142').city) }
${MAIN}`,
    country: `const { Resolver } = require('geofix')
const country = require('geofix/country')
async function main() { console.log((await Resolver.open(country)).lookup('81.2.69.142').country.code) }
${MAIN}`,
  },
} as const

type Format = keyof typeof PROGRAMS
type Data = keyof (typeof PROGRAMS)['esm']

const FORMATS: readonly Format[] = ['esm', 'cjs']
const DATA: readonly Data[] = ['city', 'country']
const PRINTS = { city: 'London\n', country: 'GB\n' } as const
/** `Resolver` brings the city database, which `open` uses by default. */
const COPIED = { city: ['city'], country: ['city', 'country'] } as const
const EXTENSIONS = { esm: 'mjs', cjs: 'cjs' } as const

const MISSING =
  /^INVALID_DATABASE .*the embedded database is missing, because this code was bundled without it/

/** CommonJS in an ES module needs a `require`, which esbuild leaves to its users. */
const BANNERS = {
  esm: 'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);',
  cjs: '',
} as const

/** Input format, output format and database of a bundler's rows. */
const COMBINATIONS = FORMATS.flatMap((from) =>
  FORMATS.flatMap((to) => DATA.map((data) => ({ from, to, data }))),
)

/** Rows of a bundler that is a function, with the plugin of `geofix/bundler`. */
function bundlerRows(name: string, script: (entry: string, out: string, to: Format) => string): Row[] {
  return COMBINATIONS.map(({ from, to, data }) => {
    const [entry, out] = [`main.${EXTENSIONS[from]}`, `main.${EXTENSIONS[to]}`]
    return {
      name: `${name}, ${from} to ${to}, ${data}`,
      files: { [entry]: PROGRAMS[from][data], 'build.mjs': script(entry, `out/${out}`, to) },
      build: [['node', 'build.mjs']],
      run: ['node', out],
      prints: PRINTS[data],
      databases: COPIED[data],
    }
  })
}

const esbuildRows = bundlerRows(
  'esbuild',
  (entry, out, to) => `import { build } from 'esbuild'
import { esbuild as geofix } from 'geofix/bundler'
await build({ entryPoints: ['${entry}'], outfile: '${out}', format: '${to}', bundle: true, platform: 'node', banner: { js: '${BANNERS[to]}' }, plugins: [geofix()] })`,
)

const rollupRows = bundlerRows(
  'Rollup',
  (entry, out, to) => `import commonjs from '@rollup/plugin-commonjs'
import nodeResolve from '@rollup/plugin-node-resolve'
import { rollup } from 'rollup'
import { rollup as geofix } from 'geofix/bundler'
const bundle = await rollup({ input: '${entry}', external: /^node:/, plugins: [geofix(), nodeResolve({ exportConditions: ['node'] }), commonjs()] })
await bundle.write({ dir: 'out', entryFileNames: '${out.slice('out/'.length)}', format: '${to}' })`,
)

const rolldownRows = bundlerRows(
  'rolldown',
  (entry, out, to) => `import { rolldown } from 'rolldown'
import { rollup as geofix } from 'geofix/bundler'
const bundle = await rolldown({ input: '${entry}', platform: 'node', plugins: [geofix()] })
await bundle.write({ dir: 'out', entryFileNames: '${out.slice('out/'.length)}', format: '${to}' })`,
)

const viteRows = bundlerRows(
  'Vite SSR',
  (entry, out, to) => `import { build } from 'vite'
import { rollup as geofix } from 'geofix/bundler'
await build({ logLevel: 'error', plugins: [geofix()], ssr: { noExternal: true }, build: { ssr: '${entry}', outDir: 'out',
  rollupOptions: { output: { format: '${to}', entryFileNames: '${out.slice('out/'.length)}' } } } })`,
)

const tsupRows = bundlerRows(
  'tsup',
  (entry, _, to) => `import { build } from 'tsup'
import { esbuild as geofix } from 'geofix/bundler'
await build({ config: false, silent: true, entry: ['${entry}'], outDir: 'out', format: '${to}', noExternal: [/.*/], banner: { js: '${BANNERS[to]}' },
  outExtension: () => ({ js: '.${EXTENSIONS[to]}' }), esbuildPlugins: [geofix()] })`,
)

const webpackRows: Row[] = FORMATS.flatMap((from) =>
  DATA.map((data) => ({
    name: `webpack, ${from}, ${data}`,
    files: {
      [`main.${EXTENSIONS[from]}`]: PROGRAMS[from][data],
      'build.mjs': `import webpack from 'webpack'
import { resolve } from 'node:path'
webpack({ mode: 'production', target: 'node20', entry: './main.${EXTENSIONS[from]}', node: { __dirname: false },
  output: { path: resolve('out'), filename: 'main.cjs' } }, (error, stats) => {
  if (error ?? stats.hasErrors()) { console.error(error ?? stats.toString()); process.exit(1) }
})`,
    },
    build: [['node', 'build.mjs']],
    run: ['node', 'main.cjs'],
    // webpack does not look for paths in CommonJS.
    prints: from === 'esm' ? PRINTS[data] : MISSING,
    databases: from === 'esm' ? COPIED[data] : [],
  })),
)

const nccRows: Row[] = FORMATS.flatMap((from) =>
  DATA.map((data) => ({
    name: `ncc, ${from}, ${data}`,
    files: {
      [`main.${EXTENSIONS[from]}`]: PROGRAMS[from][data],
      'package.json': JSON.stringify({ type: from === 'esm' ? 'module' : 'commonjs' }),
    },
    build: [['node', 'ncc', 'build', `main.${EXTENSIONS[from]}`, '-o', 'out', '-q']],
    run: ['node', from === 'esm' ? 'index.mjs' : 'index.cjs'],
    prints: PRINTS[data],
    databases: COPIED[data],
  })),
)

const nftRows: Row[] = FORMATS.flatMap((from) =>
  DATA.map((data) => ({
    name: `nft, ${from}, ${data}`,
    files: {
      [`main.${EXTENSIONS[from]}`]: PROGRAMS[from][data],
      'build.mjs': `import { nodeFileTrace } from '@vercel/nft'
import { cpSync } from 'node:fs'
import { resolve } from 'node:path'
const base = resolve('../..')
const { fileList } = await nodeFileTrace(['main.${EXTENSIONS[from]}'], { base })
for (const file of fileList) cpSync(resolve(base, file), resolve('out', file), { dereference: true })
cpSync('main.${EXTENSIONS[from]}', 'out/main.${EXTENSIONS[from]}')`,
    },
    build: [['node', 'build.mjs']],
    run: ['node', `main.${EXTENSIONS[from]}`],
    prints: PRINTS[data],
    databases: COPIED[data],
  })),
)

/** Without the plugin, the error says what to do; a copy beside the bundle is enough. */
const bareRows: Row[] = FORMATS.flatMap((from) =>
  FORMATS.flatMap((to): Row[] => {
    const [entry, out] = [`main.${EXTENSIONS[from]}`, `main.${EXTENSIONS[to]}`]
    const files = {
      [entry]: PROGRAMS[from].country,
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

export const ROWS: readonly Row[] = [
  ...esbuildRows,
  ...bareRows,
  ...rollupRows,
  ...rolldownRows,
  ...viteRows,
  ...tsupRows,
  ...webpackRows,
  ...nccRows,
  ...nftRows,
]
