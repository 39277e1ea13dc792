import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { ROOT } from './project.ts'

interface LockedPackage {
  readonly version?: string
  readonly integrity?: string
  readonly resolved?: string
  readonly link?: boolean
  readonly dev?: boolean
  readonly devOptional?: boolean
  readonly hasInstallScript?: boolean
  readonly dependencies?: Readonly<Record<string, string>>
  readonly devDependencies?: Readonly<Record<string, string>>
}

interface PackageJson {
  readonly license?: string
  readonly scripts?: Readonly<Record<string, string>>
  readonly dependencies?: Readonly<Record<string, string>>
  readonly devDependencies?: Readonly<Record<string, string>>
}

/** Folders with a package.json and a package-lock.json. */
const FOLDERS = ['.', 'scripts/build-data/packages', 'scripts/bench/packages', 'test/matrix/packages']

/** What npm runs by itself, on somebody's machine or when something is published. */
const LIFECYCLE = /^(pre|post)?(install|prepare|prepublish|prepublishOnly|pack|publish|dependencies)$/

const textOf = (file: string) => readFileSync(join(ROOT, file), 'utf8')
const packageIn = (folder: string): PackageJson => JSON.parse(textOf(join(folder, 'package.json')))
const lockIn = (folder: string): Record<string, LockedPackage> =>
  JSON.parse(textOf(join(folder, 'package-lock.json'))).packages
const installed = Object.entries(lockIn('.')).filter(([path]) => path !== '')
const atRuntime = installed.filter(([, { dev, devOptional }]) => dev !== true && devOptional !== true)

describe.each(FOLDERS)('the packages that %s asks for', (folder) => {
  const { dependencies = {}, devDependencies = {} } = packageIn(folder)
  const lock = lockIn(folder)

  it('are of exact versions, those of the lock file', () => {
    expect({ dependencies: {}, devDependencies: {}, ...lock[''] }).toMatchObject({
      dependencies,
      devDependencies,
    })
    for (const [name, asked] of Object.entries({ ...dependencies, ...devDependencies })) {
      // One package in several versions needs other names: `npm:NAME@VERSION`.
      const version = asked.replace(/^npm:.+@/, '')
      expect([name, version]).toEqual([name, expect.stringMatching(/^\d+\.\d+\.\d+(-[\w.]+)?$/)])
      expect([name, lock[`node_modules/${name}`]?.version]).toEqual([name, version])
    }
  })

  it('come from the registry, with a SHA-512 for each', () => {
    const all = Object.entries(lock).filter(([path]) => path !== '')
    expect(all.length).toBeGreaterThan(3)
    const strange = all.filter(
      ([, { integrity, resolved, link }]) =>
        !/^sha512-[A-Za-z0-9+/]{86}==$/.test(integrity ?? '') ||
        link === true ||
        // Left out, it is the registry that npm is set to.
        !(resolved ?? 'https://registry.npmjs.org/').startsWith('https://registry.npmjs.org/'),
    )
    expect(strange).toEqual([])
  })
})

describe('installing', () => {
  it('brings three packages, which depend on nothing', () => {
    const names = Object.keys(packageIn('.').dependencies ?? {}).sort()
    expect(names).toEqual(['fflate', 'ipaddr.js', 'mmdb-lib'])
    expect(atRuntime.map(([path]) => path).sort()).toEqual(names.map((name) => `node_modules/${name}`))
    expect(atRuntime.flatMap(([, { dependencies = {} }]) => Object.keys(dependencies))).toEqual([])
  })

  it('runs no code of Geofix, nor does packing or publishing', () => {
    const names = Object.keys(packageIn('.').scripts ?? {})
    expect(names).toContain('build')
    expect(names.filter((name) => LIFECYCLE.test(name))).toEqual([])
  })

  it('runs no install scripts, except those that .npmrc blocks', () => {
    const scripted = installed.filter(([, { hasInstallScript }]) => hasInstallScript === true)
    expect(
      scripted.map(([path]) => path).filter((path) => !/(^|\/)node_modules\/esbuild$/.test(path)),
    ).toEqual([])
    expect(scripted.every(([, { dev }]) => dev === true)).toBe(true)
    expect(textOf('.npmrc')).toMatch(/^ignore-scripts=true$/m)
  })
})

describe('the tables of dependencies in src/README.md', () => {
  const readme = textOf('src/README.md')
  const rows = Array.from(
    readme.matchAll(
      /^\| \[([\w.@/-]+)\]\(https:\/\/github\.com\/[\w./-]+\) ([\d.]+) \| ([\w.-]+) \| (bundled)?/gm,
    ),
    ([, name = '', version = '', licence = '', bundled]) => ({
      name,
      version,
      licence,
      isBundled: bundled !== undefined,
    }),
  )
  const { dependencies = {}, devDependencies = {} } = packageIn('.')

  it('say what is installed', () => {
    expect(rows.length).toBeGreaterThan(8)
    for (const { name, version, licence } of rows) {
      const { license } = packageIn(join('node_modules', name))
      expect({ name, version, licence }).toEqual({
        name,
        version: dependencies[name] ?? devDependencies[name],
        licence: license,
      })
    }
  })

  it('have all that a user installs', () => {
    expect(rows.map(({ name }) => name)).toEqual(expect.arrayContaining(Object.keys(dependencies)))
  })
})
