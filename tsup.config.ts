import { defineConfig, type Options } from 'tsup'

const shared: Options = {
  target: 'node20',
  platform: 'neutral',
  splitting: true,
  treeshake: true,
  silent: true,
  // Keeps `node:` in imports, which Deno and edge runtimes need.
  removeNodeProtocol: false,
}

export default defineConfig([
  {
    ...shared,
    entry: { index: 'src/index.ts', core: 'src/core.ts', writer: 'src/writer.ts' },
    format: ['esm', 'cjs'],
    dts: true,
    // `import.meta.url` reaches the embedded database; the shim gives it to the CommonJS build.
    shims: true,
    external: [/^node:/],
    clean: true,
  },
  {
    ...shared,
    entry: { cli: 'src/cli/main.ts' },
    platform: 'node',
    format: ['esm'],
    // What only the command line needs is bundled, so that a user of the library does not install it.
    noExternal: ['commander'],
    // commander is CommonJS and requires Node's own modules, which an ES module has no `require` for.
    banner: {
      js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);",
    },
  },
])
