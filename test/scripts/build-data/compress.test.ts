import { describe, expect, it } from 'vitest'
import { versionIn } from '../../../scripts/build-data/compress.ts'

describe('versionIn', () => {
  it.each([
    ['Debian 12', 'gzip compression program v1.14\nCopyright 2016 Eric Biggers\n', '1.14'],
    ['a version of three parts', 'gzip compression program v1.8.1\n', '1.8.1'],
  ])('finds the version in the output of %s', (_, printed, version) => {
    expect(versionIn(printed)).toBe(version)
  })

  it('refuses to guess', () => {
    expect(() => versionIn('gzip 1.12\ngzip compression program vUNKNOWN\n')).toThrow('-V printed no version')
  })
})
