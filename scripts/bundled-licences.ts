import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Options } from 'tsup'

type Plugin = NonNullable<Options['esbuildPlugins']>[number]

/** From `node_modules/…/wrap-ansi/index.js` the folder of the package, also of one inside another. */
const PACKAGE = /^.*node_modules\/(?:@[^/]+\/)?[^/]+/

/** Writes the licences of all packages whose code is in a bundle, in the order of their names. */
export function bundledLicences(file: string): Plugin {
  return {
    name: 'bundled-licences',
    setup(build) {
      build.initialOptions.metafile = true
      build.onEnd(({ metafile }) => {
        if (metafile === undefined) throw new Error('esbuild gave no metafile')
        const folders = Object.values(metafile.outputs).flatMap(({ inputs }) =>
          Object.entries(inputs)
            .filter(([, { bytesInOutput }]) => bytesInOutput > 0)
            .flatMap(([path]) => PACKAGE.exec(path)?.[0] ?? []),
        )
        const texts = new Map(folders.map((folder) => [titleOf(folder), licenceOf(folder)]))
        const sections = [...texts]
          .sort(([a], [b]) => (a < b ? -1 : 1))
          .map(([title, text]) => `${title}\n\n${text}\n`)
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
  // A package that may not be passed on must not be bundled.
  if (file === undefined) throw new Error(`${folder} has no licence`)
  return readFileSync(join(folder, file), 'utf8').trim()
}
