import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { comparison } from '../../scripts/compare-manifests.ts'

const manifest = JSON.parse(readFileSync(new URL('../../data/manifest.json', import.meta.url), 'utf8'))

describe('comparison', () => {
  it('is a sentence for the same manifest', () => {
    expect(comparison(manifest, structuredClone(manifest))).toBe('The databases are the same.')
  })

  it('names files, sources and figures that changed, and nothing else', () => {
    const [city, ...others] = manifest.files
    const [source, ...sources] = manifest.sources
    const after = {
      ...manifest,
      buildDate: '2027-01-01T00:00:00.000Z',
      files: [...others, { ...city, bytes: Math.round(city.bytes * 1.1) }],
      sources: [{ ...source, version: '9.9.9' }, ...sources],
    }
    expect(comparison(manifest, after).split('\n')).toEqual([
      '| figure | before | after | change |',
      '| --- | --- | --- | --- |',
      `| buildDate | ${manifest.buildDate} | 2027-01-01T00:00:00.000Z |  |`,
      `| files ${city.file} bytes | ${city.bytes} | ${Math.round(city.bytes * 1.1)} | +10.0 % |`,
      `| sources ${source.name} version | ${source.version} | 9.9.9 |  |`,
    ])
  })

  it('takes a rule that is called name for no name', () => {
    const rules = (networks: number) => ({ regionRules: { name: { networks } } })
    expect(comparison(rules(1), rules(2)).split('\n').at(-1)).toBe(
      '| regionRules name networks | 1 | 2 | +100.0 % |',
    )
  })

  it('shows what is new and what is gone', () => {
    expect(
      comparison({ files: [{ file: 'a', bytes: 1 }] }, { files: [] })
        .split('\n')
        .slice(2),
    ).toEqual(['| files a file | a |  |  |', '| files a bytes | 1 |  |  |'])
  })
})
