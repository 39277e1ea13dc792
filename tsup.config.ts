import { defineConfig, type Options } from 'tsup'
import { bundledLicences } from './scripts/bundled-licences.ts'
import { noChildProcess } from './scripts/no-child-process.ts'

const shared: Options = {
  target: 'node20',
  platform: 'neutral',
  splitting: true,
  treeshake: true,
  silent: true,
  // Keeps `node:` in imports, which Deno and edge runtimes need.
  removeNodeProtocol: false,
  external: [/^node:/],
}

const entry = {
  index: 'src/index.ts',
  core: 'src/core.ts',
  enrich: 'src/enrich.ts',
  writer: 'src/writer.ts',
}

export default defineConfig([
  { ...shared, entry, format: ['esm'] },
  { ...shared, entry, format: ['esm', 'cjs'], dts: { only: true, compilerOptions: { stripInternal: true } } },
  { ...shared, entry: { core: entry.core, enrich: entry.enrich, writer: entry.writer }, format: ['cjs'] },
  {
    ...shared,
    entry: { index: entry.index },
    format: ['cjs'],
    esbuildOptions: (options) => {
      // `import.meta.url` reaches the embedded databases. tsup's own shim breaks in folders with a "#" or a "%"
      // in their names, and where there is a `document`.
      options.define = { ...options.define, 'import.meta.url': 'importMetaUrl' }
      options.inject = [...(options.inject ?? []), 'scripts/import-meta-url.cjs.ts']
    },
  },
  {
    ...shared,
    entry: { cli: 'src/cli/main.ts', 'cli-enrich-worker': 'src/cli/enrich/worker.ts' },
    platform: 'node',
    format: ['esm'],
    // What only the command line needs is bundled, so that a user of the library does not install it.
    noExternal: ['commander', 'log-update'],
    // The platform's own modules are outside anyway, all but the one that a plugin takes away.
    external: [],
    esbuildPlugins: [bundledLicences('dist/cli.LICENSE.txt'), noChildProcess()],
    // Told from the library's files by their names.
    esbuildOptions: (options) => {
      options.chunkNames = 'cli-[name]-[hash]'
    },
    // commander is CommonJS and requires Node's own modules, which an ES module has no `require` for.
    banner: {
      js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);",
    },
  },
])
