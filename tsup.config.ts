import { defineConfig, type Options } from 'tsup'
import {
  bundledLicences,
  joinedChunks,
  literalPaths,
  noChildProcess,
  throughCommonJs,
} from './scripts/tsup-plugins.ts'

const shared: Options = {
  target: 'node20',
  platform: 'neutral',
  splitting: true,
  treeshake: true,
  silent: true,
  // Deno and edge runtimes need the `node:` prefix in imports.
  removeNodeProtocol: false,
  external: [/^node:/],
}

const entry = {
  index: 'src/index.ts',
  bundler: 'src/bundler.ts',
  core: 'src/core.ts',
  asn: 'src/asn.ts',
  city: 'src/city.ts',
  country: 'src/country.ts',
  details: 'src/details.ts',
  enrich: 'src/enrich.ts',
  http: 'src/http.ts',
  'http-core': 'src/http-core.ts',
  writer: 'src/writer.ts',
}

/** CommonJS needs none: there, bundlers see a path in city.ts, and publish nothing. */
const serverEntry = {
  'asn-server': 'src/asn-server.ts',
  'city-server': 'src/city-server.ts',
  'country-server': 'src/country-server.ts',
}

/** A CommonJS module has no `import.meta.url`. tsup's own shim breaks if the path contains "#" or "%". */
const commonJs: Options = {
  ...shared,
  format: ['cjs'],
  esbuildOptions: (options) => {
    options.define = { ...options.define, 'import.meta.url': 'importMetaUrl' }
    options.inject = [...(options.inject ?? []), 'scripts/import-meta-url.cjs.ts']
  },
}

/** Neither split nor passed through rollup (`treeshake`), which would change the expressions of literalPaths(). */
const commonJsWithPaths: Options = {
  ...commonJs,
  platform: 'node',
  splitting: false,
  treeshake: false,
  esbuildPlugins: [literalPaths()],
}

const { index, asn, city, country, ...others } = entry

/** Dependencies that are CommonJS. */
const COMMON_JS = { 'ipaddr.js': 'ipaddr.cjs', 'mmdb-lib/lib/decoder.js': 'mmdb-lib.cjs' }

export default defineConfig([
  {
    ...shared,
    entry: { ...entry, ...serverEntry },
    // joinedChunks() does that.
    treeshake: false,
    format: ['esm'],
    plugins: [
      throughCommonJs(COMMON_JS),
      joinedChunks(
        '',
        'esm',
        {
          embedded: [['core.js', 'country.js']],
          core: [
            ['core.js', 'index.js'],
            ['core.js', 'enrich.js'],
          ],
        },
        ['index.js', 'city-server.js'],
      ),
    ],
  },
  {
    ...shared,
    entry,
    format: ['esm', 'cjs'],
    cjsInterop: true,
    dts: { only: true, compilerOptions: { stripInternal: true } },
  },
  { ...commonJs, entry: others },
  { ...commonJsWithPaths, entry: { index } },
  // `require` gives the URL itself. TypeScript without `esModuleInterop` reads its member `default`.
  {
    ...commonJsWithPaths,
    entry: { asn, city, country },
    footer: {
      js: "Object.defineProperty((module.exports = module.exports.default), 'default', { value: module.exports })",
    },
  },
  {
    ...shared,
    entry: { cli: 'src/cli/main.ts', 'cli-enrich-worker': 'src/cli/enrich/worker.ts' },
    platform: 'node',
    treeshake: false,
    format: ['esm'],
    // Everything is bundled: users of the library do not install it, and the files of the command need no others.
    noExternal: [/./],
    // Node's modules are external anyway, except the one that noChildProcess() replaces.
    external: [],
    esbuildPlugins: [bundledLicences('dist/cli.LICENSE.txt', ['world-atlas']), noChildProcess()],
    plugins: [
      joinedChunks('cli-', 'cjs', {
        main: [['cli.js'], ['cli-program.js', 'cli-lookup-command.js']],
        program: [['cli-program.js']],
        lookup: [
          ['cli-lookup-command.js', 'cli-enrich-worker.js'],
          ['cli-lookup-command.js', 'cli-enrich-command.js'],
          ['cli-lookup-command.js', 'cli-info-command.js'],
        ],
        enrich: [['cli-enrich-command.js', 'cli-enrich-worker.js']],
        formats: [['cli-all-formats.js']],
        lines: [['cli-enrich-command.js'], ['cli-table-output.js', 'cli-count-command.js']],
      }),
    ],
    // The prefix distinguishes chunks of the command line from those of the library, which are made at the same time.
    esbuildOptions: (options) => {
      options.chunkNames = 'cli-[name]-[hash]'
      // Nobody reads the bundled packages here, and the tarball has a bound.
      options.minifyWhitespace = true
      options.minifyIdentifiers = true
      options.minifySyntax = true
    },
  },
])
