// What a web page loads, as a bundler for browsers makes it.
import { join } from 'node:path'
import { brotliCompressSync } from 'node:zlib'
import { build } from 'esbuild'
import { describe, expect, it } from 'vitest'
import { temporaryFolder } from '../temporary.ts'
import { linkPackage } from './project.ts'

const folder = temporaryFolder()
linkPackage(folder)

/** Bundles a program for browsers, minified. */
async function bundle(program: string): Promise<Uint8Array> {
  const { outputFiles } = await build({
    stdin: { contents: program, resolveDir: folder },
    bundle: true,
    minify: true,
    format: 'esm',
    platform: 'browser',
    write: false,
    outfile: join(folder, 'bundle.js'),
    logLevel: 'silent',
  })
  return outputFiles[0]?.contents ?? new Uint8Array()
}

describe('a bundle for browsers', () => {
  it.each([
    ['all of the core', "export * from 'geofix/core'", 40_000],
    ['a resolver', "import { Resolver } from 'geofix/core'; console.log(Resolver)", 40_000],
    ['the URL of a database', "import city from 'geofix/city'; console.log(city)", 1000],
  ])('is small: %s', async (_, program, most) => {
    expect(brotliCompressSync(await bundle(program)).length).toBeLessThan(most)
  })

  it('has no trace of the databases if it does not use them', async () => {
    const code = Buffer.from(
      await bundle("import { Resolver } from 'geofix'; console.log(Resolver.open)"),
    ).toString()
    expect(code).not.toMatch(/new URL\([^)]*\.mmdb/)
    expect(code).not.toContain('country.mmdb')
  })

  it('has of fflate in Node only what inflates blocks of packed databases: zlib unpacks gzip', async () => {
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
    const sizes = Object.values(metafile.outputs).flatMap(({ inputs }) => Object.entries(inputs))
    const fflate = sizes.filter(([path]) => path.includes('fflate'))
    expect(fflate.reduce((sum, [, { bytesInOutput }]) => sum + bytesInOutput, 0)).toBeLessThan(10_000)
    expect(sizes.some(([path]) => path.includes('ipaddr.js'))).toBe(true)
  })
})
