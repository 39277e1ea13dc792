// Rollup with the plugin on the built package, as `rollup main.js -o out/main.js` runs it. test/matrix runs the other bundlers.
import { readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { rollup } from 'rollup'
import { describe, expect, it } from 'vitest'
import { rollup as geofix } from '../src/bundler.ts'
import { linkPackage, output } from './package/programs.ts'
import { ROOT } from './package/project.ts'
import { temporaryFolder } from './temporary.ts'

const folder = temporaryFolder()
linkPackage(folder)

const urlOf = (file: string): string => pathToFileURL(join(ROOT, file)).href

/** Finds the entries for browsers, as @rollup/plugin-node-resolve does by default. Dependencies stay apart. */
const browserEntries = {
  name: 'browser-entries',
  resolveId: (source: string) => {
    if (source === 'fflate') return { id: urlOf('node_modules/fflate/esm/index.mjs'), external: true }
    if (source.endsWith('.cjs')) return { id: urlOf(`dist/${source}`), external: true }
    return source === 'geofix' ? join(ROOT, 'dist/core.js') : null
  },
}

describe('Rollup', () => {
  it('writes one file of the entry for Node, beside its database', async () => {
    const main = join(folder, 'main.js')
    writeFileSync(
      main,
      "import { Resolver } from 'geofix'; console.log((await Resolver.open()).lookup('81.2.69.142').country.code)",
    )
    const bundle = await rollup({ input: main, external: /^node:/, plugins: [geofix(), browserEntries] })
    // With `file`, more than one chunk is an error.
    await bundle.write({ file: join(folder, 'out/main.mjs'), format: 'es' })
    await bundle.close()
    expect(readdirSync(join(folder, 'out')).sort()).toEqual(['city.mmdb.packed', 'main.mjs'])
    expect(output(folder, process.execPath, 'out/main.mjs')).toBe('GB\n')
  })
})
