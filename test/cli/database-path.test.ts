import { describe, expect, it } from 'vitest'
import { databasePath } from '../../src/cli/database-path.ts'
import { UsageError } from '../../src/cli/terminal.ts'
import { geofix } from './enrich/command-line.ts'

describe('databasePath', () => {
  it.each([
    ['city.mmdb', 'city.mmdb'],
    ['/a b/city.mmdb', '/a b/city.mmdb'],
    ['C:\\city.mmdb', 'C:\\city.mmdb'],
    ['http:/city.mmdb', 'http:/city.mmdb'], // a valid folder name
    ['file:///a%20b/city.mmdb', '/a b/city.mmdb'],
    ['FILE:///city.mmdb', '/city.mmdb'],
  ])('opens %s as %s', (text, path) => {
    expect(databasePath(text)).toBe(path)
  })

  it.each([
    'http://example.com/city.mmdb',
    'HTTPS://example.com/',
    's3://bucket/city.mmdb',
    'file:///a%2fb',
    'file://%/',
  ])('refuses %s', (text) => {
    expect(() => databasePath(text)).toThrow(UsageError)
  })

  it.each([
    [['--db', 'http://example.com/x', '1.1.1.1']],
    [['info', '--db', 'http://example.com/x']],
    [['verify', 'http://example.com/x']],
    [['enrich', '--db', 'http://example.com/x', '-']],
  ])('exits with 2 for geofix %j', async (args) => {
    const { status, out, err } = await geofix(args)
    expect({ status, out }).toEqual({ status: 2, out: '' })
    expect(err).toContain('http: URLs are not supported: download the file, then give its path.')
  })
})
