import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { ROOT } from './project.ts'

interface PackageJson {
  readonly dependencies?: Readonly<Record<string, string>>
  readonly devDependencies?: Readonly<Record<string, string>>
}

const textOf = (file: string) => readFileSync(join(ROOT, file), 'utf8')

describe('the tables of dependencies in src/README.md', () => {
  const readme = textOf('src/README.md')
  const bundled = Array.from(
    readme.matchAll(/^\| \[([\w.@/-]+)\]\(https:\/\/github\.com\/[\w./-]+\) [\d.]+ \| [\w.-]+ \| bundled/gm),
    ([, name = '']) => name,
  )
  const { dependencies = {}, devDependencies = {} }: PackageJson = JSON.parse(textOf('package.json'))

  it('name all that is bundled', () => {
    const texts = textOf('dist/cli.LICENSE.txt')
    const all = Array.from(texts.matchAll(/^(\S+) [\d.]+ \(\S+\)$/gm), ([, name]) => name)
    // What prom-client itself depends on is named in its row.
    const titles = [...new Set(all)].filter((name) => devDependencies[name ?? ''] !== undefined).sort()
    const others = all.filter((name) => !titles.includes(name))
    for (const name of others) expect(readme).toContain(`${name}`)
    expect(titles).toEqual(bundled.sort())
    expect(titles).toContain('commander')
  })

  it('have the same packages as the CycloneDX list in dist', () => {
    const { bomFormat, components }: { bomFormat: string; components: { name: string; version: string }[] } =
      JSON.parse(textOf('dist/sbom.cdx.json'))
    expect(bomFormat).toBe('CycloneDX')
    const licensed = textOf('dist/cli.LICENSE.txt').matchAll(/^(\S+) ([\d.]+) \(\S+\)$/gm)
    const expected = new Set(Array.from(licensed, ([, name, version]) => `${name}@${version}`))
    for (const [name, version] of Object.entries(dependencies)) expected.add(`${name}@${version}`)
    expect(components.map(({ name, version }) => `${name}@${version}`).sort()).toEqual([...expected].sort())
  })
})
