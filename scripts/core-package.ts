// Makes the package `geofix-core` of the build: npm run core-package [-- FOLDER]. It is the library without the command, the city
// database and CommonJS, minified.
import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { transformSync } from 'esbuild'
import packageJson from '../package.json' with { type: 'json' }

const ROOT = join(import.meta.dirname, '..')

/** The entries of the package by their names there. Those of Node have another file elsewhere. */
const ENTRIES = {
  '.': { node: 'index', default: 'core' },
  './core': { default: 'core' },
  './country': { default: 'country' },
  './details': { default: 'details' },
  './enrich': { default: 'enrich' },
  './http': { node: 'http', default: 'http-core' },
  './writer': { default: 'writer' },
} as const

/** The module that holds the part of fflate that the library uses. */
const FFLATE = 'fflate.js'

/** Writes the package into a folder, which is emptied. @returns how many bytes it has */
export function writeCorePackage(folder: string): number {
  rmSync(folder, { recursive: true, force: true })
  for (const name of ['dist', 'data']) mkdirSync(join(folder, name), { recursive: true })
  const entries = Object.values(ENTRIES).flatMap((each) => Object.values(each))
  for (const name of reachable(entries.flatMap((each) => [`${each}.js`, `${each}.d.ts`]))) {
    const text = textOf(`dist/${name}`)
    writeFileSync(join(folder, 'dist', name), /\.(?:cjs|d\.ts)$/.test(name) ? text : minified(text))
  }
  const fflate = 'node_modules/fflate'
  const licence = textOf(`${fflate}/LICENSE`).replaceAll('*/', '')
  writeFileSync(
    join(folder, 'dist', FFLATE),
    `/*\n${licence}*/\n${minified(textOf(`${fflate}/esm/browser.js`))}`,
  )
  for (const name of ['data/country.mmdb.gz', 'data/LICENSES.md', 'LICENSE'])
    copyFileSync(join(ROOT, name), join(folder, name))
  writeFileSync(join(folder, 'README.md'), README)
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(manifest(), null, 2)}\n`)
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => statSync(join(folder, name)))
    .reduce((sum, stats) => sum + (stats.isFile() ? stats.size : 0), 0)
}

function manifest(): object {
  const { name, version, license, type, homepage, keywords, dependencies } = packageJson
  const { fflate: _, ...others } = dependencies
  const fileOf = (entry: string): string => `./dist/${entry}.js`
  const exports = Object.entries(ENTRIES).map(([path, files]) => [
    path,
    {
      types: fileOf('node' in files ? files.node : files.default).replace(/js$/, 'd.ts'),
      ...Object.fromEntries(Object.entries(files).map(([condition, entry]) => [condition, fileOf(entry)])),
    },
  ])
  return {
    ...{ name: `${name}-core`, version, license, type, homepage, keywords },
    description: 'The library geofix without its command and its city database: locations of IP addresses.',
    // The first versions whose require() loads ES modules.
    engines: { node: '^20.19.0 || >=22.12.0' },
    sideEffects: false,
    exports: { ...Object.fromEntries(exports), './data/*': './data/*', './package.json': './package.json' },
    dependencies: others,
  }
}

/** The files of the build that some files import, and these. */
function reachable(names: readonly string[]): Set<string> {
  const found = new Set<string>()
  const visit = (name: string): void => {
    if (found.has(name)) return
    found.add(name)
    for (const [, path = ''] of textOf(`dist/${name}`).matchAll(
      /(?:from|import\(|import)\s*['"]\.\/([^'"]+)['"]/g,
    ))
      visit(name.endsWith('.d.ts') ? path.replace(/\.js$/, '.d.ts') : path)
  }
  names.forEach(visit)
  return found
}

function minified(code: string): string {
  const own = code.replaceAll(/(from\s*)['"]fflate['"]/g, `$1'./${FFLATE}'`)
  // Users see the names of classes.
  return transformSync(own, {
    minify: true,
    keepNames: true,
    format: 'esm',
    target: 'node20',
    legalComments: 'none',
  }).code
}

function textOf(path: string): string {
  return readFileSync(join(ROOT, path), 'utf8')
}

const README = `# geofix-core

The library [geofix](https://www.npmjs.com/package/geofix) without its command and its city database: under 3 MB installed. It has the same names:
\`geofix-core\`, \`geofix-core/core\`, \`/country\`, \`/details\`, \`/enrich\`, \`/http\` and \`/writer\`. Take it if you open a file of your
own, or need countries only. It is ES modules, which \`require\` loads too in Node 20.19, 22.12 and later.

\`\`\`js
import { embedded, Resolver } from 'geofix-core'

const countries = await Resolver.open(embedded.country)
console.log(countries.lookup('81.2.69.142').country.code) // GB
const cities = await Resolver.open('GeoLite2-City.mmdb')
\`\`\`

The embedded countries are data of [DB-IP](https://db-ip.com) under CC BY 4.0: **web pages that show results must link to DB-IP.com**.
All notices are in data/LICENSES.md. The guides are those of geofix.
`

if (process.argv[1] === import.meta.filename) {
  const folder = process.argv[2] ?? join(ROOT, '.cache/geofix-core')
  console.log(`${folder}: ${writeCorePackage(folder).toLocaleString('en')} bytes`)
}
