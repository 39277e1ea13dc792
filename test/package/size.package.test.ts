// What a web page loads, as a bundler for browsers makes it.
import { join, relative } from 'node:path'
import { brotliCompressSync } from 'node:zlib'
import { build } from 'esbuild'
import { describe, expect, it } from 'vitest'
import { temporaryFolder } from '../temporary.ts'
import { linkPackage } from './programs.ts'

const folder = temporaryFolder()
linkPackage(folder)

/** Bundles a program for browsers, minified. @returns the code that loads with it, and the code that can follow */
async function bundle(program: string): Promise<{ first: Uint8Array; later: Uint8Array }> {
  const { outputFiles, metafile } = await build({
    stdin: { contents: program, resolveDir: folder },
    bundle: true,
    minify: true,
    format: 'esm',
    platform: 'browser',
    splitting: true,
    write: false,
    metafile: true,
    absWorkingDir: folder,
    outdir: 'bundle',
    logLevel: 'silent',
  })
  const first = new Set(
    Object.keys(metafile.outputs).filter((path) => metafile.outputs[path]?.entryPoint === '<stdin>'),
  )
  for (const path of first) {
    const imports = metafile.outputs[path]?.imports ?? []
    for (const { path: next, kind } of imports) if (kind === 'import-statement') first.add(next)
  }
  // The hashes in names of chunks, and so their order, depend on the folder: without them a size is the same everywhere.
  const codeOf = (isFirst: boolean): Uint8Array =>
    Buffer.from(
      outputFiles
        .filter(({ path }) => first.has(relative(folder, path)) === isFirst)
        .map(({ text }) => text.replaceAll(/-[A-Z0-9]{8}(?=\.js")/g, ''))
        .sort((one, other) => one.length - other.length)
        .join(''),
    )
  return { first: codeOf(true), later: codeOf(false) }
}

describe('a bundle for browsers', () => {
  it.each([
    ['all of the core', "export * from 'geofix/core'", 32_000],
    ['a resolver', "import { Resolver } from 'geofix/core'; console.log(Resolver)", 32_000],
    ['the URL of a database', "import city from 'geofix/city'; console.log(city)", 1000],
  ])('is small: %s', async (_, program, most) => {
    expect(brotliCompressSync((await bundle(program)).first).length).toBeLessThan(most)
  })

  it('loads the code for other files than plain databases, and for options, apart, which is small too', async () => {
    const { first, later } = await bundle("import { Resolver } from 'geofix/core'; console.log(Resolver)")
    for (const text of [
      'packed file',
      'overlays must be an array',
      'tar archive',
      'it has no location: give',
    ]) {
      expect(Buffer.from(first).toString()).not.toContain(text)
      expect(Buffer.from(later).toString()).toContain(text)
    }
    expect(brotliCompressSync(later).length).toBeLessThan(20_500)
  })

  it('has no trace of the databases if it does not use them', async () => {
    const { first, later } = await bundle("import { Resolver } from 'geofix'; console.log(Resolver.open)")
    const code = Buffer.concat([first, later]).toString()
    expect(code).not.toMatch(/new URL\([^)]*\.mmdb/)
    expect(code).not.toContain('country.mmdb')
  })

  it('has nothing of fflate in Node, which has zlib', async () => {
    const { metafile } = await build({
      stdin: { contents: "export * from 'geofix'", resolveDir: folder },
      bundle: true,
      format: 'esm',
      platform: 'node',
      write: false,
      metafile: true,
      outfile: join(folder, 'node.js'),
      logLevel: 'silent',
    })
    const inputs = Object.keys(metafile.inputs)
    expect(inputs.some((path) => path.includes('mmdb-lib'))).toBe(true)
    expect(inputs.filter((path) => path.includes('fflate'))).toEqual([])
  })
})
