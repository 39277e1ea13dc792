// The checks of the package that take long: the linters of packages, and its types in projects of users.
import { symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { publint } from 'publint'
import { formatMessage } from 'publint/utils'
import { beforeAll, describe, expect, it } from 'vitest'
import packageJson from '../../package.json' with { type: 'json' }
import { temporaryFolder } from '../temporary.ts'
import { output, typecheck } from './programs.ts'
import { ROOT, writeProject } from './project.ts'

const folder = temporaryFolder()
const user = join(folder, 'user')
const tarball = join(folder, `geofix-${packageJson.version}.tgz`)

beforeAll(() => {
  output(ROOT, 'npm', 'pack', '--ignore-scripts', '--pack-destination', folder)
  writeProject(user, { 'package.json': '{ "name": "user", "private": true }' })
  output(user, 'npm', 'install', '--no-audit', '--no-fund', '--prefer-offline', tarball)
})

describe('the tarball', () => {
  it('is clean to publint', async () => {
    const { messages, pkg } = await publint({ pkgDir: ROOT, level: 'suggestion', strict: true })
    expect(messages.map((message) => formatMessage(message, pkg))).toEqual([])
  })

  it('is clean to arethetypeswrong', () => {
    const attw = join(ROOT, 'node_modules/@arethetypeswrong/cli/dist/index.js')
    const report = output(folder, process.execPath, attw, tarball, '--format', 'ascii', '--no-color')
    expect(report).toMatch(/No problems found/i)
  })
})

describe('an installed package', () => {
  // Without esModuleInterop, TypeScript reads the member `default` of what `require` gives.
  it('gives the URL of a database to CommonJS in each form', () => {
    const program = `const country = require('geofix/country')
console.log(country.default === country, Object.keys(country), country.pathname.endsWith('country.mmdb.gz'))`
    expect(output(user, process.execPath, '-e', program)).toBe('true [] true\n')
  })

  it('has plugins that bundlers take', () => {
    const project = join(user, 'types-plugins')
    for (const name of ['esbuild', 'rollup'])
      symlinkSync(join(ROOT, 'node_modules', name), join(user, 'node_modules', name))
    writeProject(project, {
      'tsconfig.json': `{ "compilerOptions": { "module": "nodenext", "strict": true, "target": "es2022", "skipLibCheck": true, "types": []}, "files": ["consumer.mts"] }`,
      'consumer.mts': `import type { Plugin as EsbuildPlugin } from 'esbuild'
import { esbuild, rollup } from 'geofix/bundler'
import type { Plugin as RollupPlugin } from 'rollup'
export const plugins: [EsbuildPlugin, RollupPlugin] = [esbuild(), rollup({ databases: ['country'] })]
`,
    })
    expect(typecheck(project)).toBe('')
  })

  it('has types that need neither the library "DOM" nor those of Node', () => {
    const project = join(user, 'types-es2022')
    writeProject(project, {
      'tsconfig.json': JSON.stringify({
        compilerOptions: {
          module: 'nodenext',
          strict: true,
          target: 'es2022',
          lib: ['es2022'],
          types: [],
          skipLibCheck: false,
        },
        files: ['consumer.mts'],
      }),
      'consumer.mts': `import city from 'geofix/city'
import { type ByteSource, embedded, type OpenOptions as NodeOptions, Resolver, type SharedDatabases } from 'geofix'
import { type OpenOptions, Resolver as CoreResolver } from 'geofix/core'
import { enrich } from 'geofix/enrich'
import { createHandler } from 'geofix/http'
import { MmdbWriter } from 'geofix/writer'
const options: OpenOptions = { onProgress: ({ loaded, total }) => total === null || loaded < total }
// What the core takes, the entry for Node takes too.
export const forNode: NodeOptions = { ...options, asn: true }
const shared: Promise<SharedDatabases> = Resolver.open([city, embedded.country], options).then((geo) => geo.share())
export const text: string = city.href
export const handler = Resolver.open().then((geo) => createHandler(geo, { authenticate: (_, request) => ({ plan: 'free', id: request.url }) }))
export const open = (source: ByteSource) => CoreResolver.open(source, options)
export const all = [shared, CoreResolver.openSync(new MmdbWriter({ databaseType: 'X' }).toBytes()), enrich]
// @ts-expect-error: not a source
open(new Date())
`,
    })
    expect(typecheck(project)).toBe('')
  })
})
