import { describe, expect, it } from 'vitest'
import { extractUncompressed } from '../../src/bytes/extract.ts'
import { Database } from '../../src/mmdb/database.ts'
import { readMetadata } from '../../src/mmdb/metadata.ts'
import { invalid } from '../invalid.ts'
import { bytesOf, encode, type HandMade, handMade, MARKER, METADATA } from './hand-made.ts'

const RECORD = encode(new Map([['a', 1]]))

/** A header of IP2Location's DB11, with one more byte set. */
function binFile(offset: number, value: number): Uint8Array {
  const bytes = new Uint8Array(100)
  bytes.set([11, 10, 26, 6, 1])
  bytes[offset] = value
  return bytes
}

/** The end of a file of GeoIP Legacy. */
function legacyFile(info: string): Uint8Array {
  return Buffer.concat([Buffer.alloc(100), Buffer.from(info), Buffer.from([0xff, 0xff, 0xff, 2, 0, 0, 0])])
}

describe('readMetadata', () => {
  it('reads all fields', () => {
    const bytes = handMade(RECORD)
    expect(readMetadata(bytes)).toEqual({
      databaseType: 'Hand-Made',
      buildDate: new Date('2023-11-14T22:13:20Z'),
      ipVersion: 4,
      nodeCount: 1,
      recordSize: 24,
      languages: ['en'],
      description: { en: 'made by hand' },
      overlayBytes: 0,
      start: 22 + RECORD.length,
    })
  })

  it.each<[string, Record<string, HandMade | undefined>, object]>([
    ['no languages', { languages: undefined }, { languages: [] }],
    ['no description', { description: undefined }, { description: {} }],
    ['a build time of 0', { build_epoch: 0n }, { buildDate: new Date(0) }],
    ['a build time of another type', { build_epoch: 5 }, { buildDate: new Date(5000) }],
    ['the last instant of a Date', { build_epoch: 8_640_000_000_000n }, { buildDate: new Date(8.64e15) }],
    ['a second later', { build_epoch: 8_640_000_000_001n }, { buildDate: null }],
    ['unknown fields', { extra: ['x'] }, { databaseType: 'Hand-Made' }],
    [
      'records of overlays',
      { description: new Map([['x-geofix-overlay', '5']]) },
      { overlayBytes: 5, description: {} },
    ],
    ['numbers as double', { node_count: { hex: '68 3ff0000000000000' } }, { nodeCount: 1 }],
  ])('accepts %s', (_, fields, expected) => {
    expect(readMetadata(handMade(RECORD, fields))).toMatchObject(expected)
  })

  it.each<[string, Record<string, HandMade | undefined>, string]>([
    ['version 1', { binary_format_major_version: 1 }, 'it has MaxMind DB format version 1; only version 2'],
    ['version 3', { binary_format_major_version: 3 }, 'it has MaxMind DB format version 3; only version 2'],
    [
      'no version',
      { binary_format_major_version: undefined },
      'binary_format_major_version is not a whole number',
    ],
    ['an IP version of 5', { ip_version: 5 }, 'ip_version is 5, not one of 4, 6'],
    ['records of 20 bits', { record_size: 20 }, 'record_size is 20, not one of 24, 28, 32'],
    ['nodes below zero', { node_count: { hex: '04 01 ffffffff' } }, 'node_count is not a whole number'],
    ['half a node', { node_count: { hex: '68 3fe0000000000000' } }, 'node_count is not a whole number'],
    ['a node count of 128 bits', { node_count: 1n }, 'node_count is not a whole number'],
    ['a number for a type', { database_type: 7 }, 'database_type is not text'],
    ['a build time as text', { build_epoch: 'today' }, 'build_epoch is not a whole number'],
    ['languages as text', { languages: 'en' }, 'languages is not a list of texts'],
    ['languages as numbers', { languages: [1] }, 'languages is not a list of texts'],
    ['a description as text', { description: 'x' }, 'description is not a map of texts'],
    ['a description of numbers', { description: new Map([['en', 1]]) }, 'description is not a map of texts'],
    [
      'records of overlays without a number',
      { description: new Map([['x-geofix-overlay', '-1']]) },
      'x-geofix-overlay is not a number',
    ],
    ['the key __proto__', { description: new Map([['__proto__', 'x']]) }, 'the key "__proto__"'],
  ])('refuses %s', (_, fields, message) => {
    const bytes = handMade(RECORD, fields)
    expect(() => readMetadata(bytes, '/x.mmdb')).toThrow(invalid(message, '/x.mmdb'))
  })

  it('refuses an impossible node count at opening', () => {
    const bytes = handMade(RECORD, { node_count: { hex: '68 7fefffffffffffff' } })
    expect(() => new Database(bytes)).toThrow('more than the file holds')
  })

  it.each([
    ['no metadata', new Uint8Array(1000), 'no metadata found'],
    ['nothing', new Uint8Array(), 'it is empty'],
    ['a marker cut short', MARKER.subarray(0, 13), 'no metadata found'],
    [
      'text',
      Buffer.from('Invalid license key\n'),
      'it is text, which begins with "Invalid license key", not a MaxMind',
    ],
    ['text with escapes', Buffer.from(`\r\n${'\t"'.repeat(99)}`), 'which begins with "\\"\\t\\"'],
    ['binary after a line of text', Buffer.from('text\n\0'), 'no metadata found'],
    [
      'IP2Location',
      binFile(29, 1),
      'it is a BIN database of IP2Location, which Geofix does not read: download',
    ],
    ['an old edition of IP2Location', binFile(21, 65), 'it is a BIN database of IP2Location'],
    ['another header', binFile(29, 3), 'no metadata found'],
    [
      'GeoIP Legacy',
      legacyFile('GEO-106FREE 20180327'),
      'it is a GeoIP Legacy database (.dat), which Geofix does',
    ],
    ['GeoIP Legacy without its text', legacyFile(''), 'no metadata found'],
    ['a marker and nothing after it', MARKER, 'a field is outside its section'],
    ['metadata that is text', handMade(RECORD, encode('x')), 'the metadata is not a map'],
    ['metadata that is a list', handMade(RECORD, encode(['x'])), 'the metadata is not a map'],
    ['metadata that is bytes', handMade(RECORD, bytesOf('8100')), 'the metadata is not a map'],
    ['metadata that is uint128', handMade(RECORD, bytesOf('01 03 01')), 'the metadata is not a map'],
    ['an empty map', handMade(RECORD, bytesOf('e0')), 'binary_format_major_version is not'],
    ['a pointer to itself', handMade(RECORD, bytesOf('2000')), 'a pointer leads to another pointer'],
    ['a map that contains itself', handMade(RECORD, bytesOf('e1 4161 2000')), 'nested deeper than'],
  ])('refuses a file of %s', (_, bytes, message) => {
    const read = () => readMetadata(extractUncompressed(bytes, '/x.mmdb'), '/x.mmdb')
    expect(read).toThrow(invalid(message, '/x.mmdb'))
  })

  it('uses the last marker, because data may contain one', () => {
    const data = Buffer.concat([RECORD, MARKER, encode(new Map([['node_count', 9]]))])
    expect(readMetadata(handMade(data))).toMatchObject({ nodeCount: 1, start: 22 + data.length })
  })

  it('looks for the whole marker', () => {
    // The marker, except for its last byte.
    const likeIt = { hex: '4e' + 'abcdef4d61784d696e642e636f6e' }
    expect(readMetadata(handMade(RECORD, { zzz: likeIt })).databaseType).toBe('Hand-Made')
  })

  it('looks for the marker in the last 128 KiB only', () => {
    const bytes = handMade(RECORD)
    const start = readMetadata(bytes).start
    const padded = (length: number): Uint8Array => {
      const larger = new Uint8Array(start + length)
      larger.set(bytes)
      return larger
    }
    expect(readMetadata(padded(128 * 1024)).start).toBe(start)
    expect(() => readMetadata(padded(128 * 1024 + 1))).toThrow('no metadata found')
  })

  it('follows pointers from the start of the metadata', () => {
    const fields = encode(new Map(Object.entries(METADATA).filter(([key]) => key !== 'database_type')))
    // One more pair, whose value points to the first key, directly after the map's control byte.
    const bytes = Buffer.concat([bytesOf('e9'), fields.subarray(1), encode('database_type'), bytesOf('2001')])
    expect(readMetadata(handMade(RECORD, bytes)).databaseType).toBe('binary_format_major_version')
  })
})
