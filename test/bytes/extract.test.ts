import { describe, expect, it } from 'vitest'
import { extractUncompressed, findDatabaseInTar } from '../../src/bytes/extract.ts'
import { isTar, METADATA_MARKER } from '../../src/bytes/file-kind.ts'
import { InvalidDatabaseError } from '../../src/errors.ts'
import { archive, END, entry, paxRecord } from './tar-samples.ts'

const ascii = (text: string): Uint8Array => new TextEncoder().encode(text)
/** 1200 bytes: two blocks and a part of one. */
const DATABASE = Buffer.concat([ascii(`${'the database'.repeat(98)}0123456789`), METADATA_MARKER])
const TAR = archive(entry({ name: 'x/x.mmdb', content: DATABASE }))

describe('extractUncompressed', () => {
  it('recognises a tar archive by its bytes, and returns a database without a copy', () => {
    expect([...extractUncompressed(TAR)]).toEqual([...DATABASE])
    expect(extractUncompressed(DATABASE)).toBe(DATABASE)
  })

  it.each([
    ['empty', ''],
    ['text, which begins with "no such licence"', 'no such licence'],
    ['a zip archive: extract the .mmdb file first', 'PK\x03\x04\0'],
    ['compressed with Zstandard: extract the .mmdb file first', '\x28\xb5\x2f\xfd\0'],
    ['compressed with xz: extract the .mmdb file first', '\xfd7zXZ\0\0'],
    ['a pointer of Git LFS, not the file: run "git lfs', 'version https://git-lfs.github.com/spec/v1\noid'],
  ])('refuses a file that is %s', (what, text) => {
    const extract = (): unknown => extractUncompressed(Buffer.from(text, 'latin1'), '/x')
    expect(extract).toThrow(expect.objectContaining({ code: 'INVALID_DATABASE' }))
    expect(extract).toThrow(`/x: it is ${what}`)
    const packed = archive(entry({ name: 'x.mmdb', content: Buffer.from(text, 'latin1') }))
    expect(() => extractUncompressed(packed, '/x')).toThrow(`/x: it is ${what}`)
  })
})

const FOLDER = 'GeoLite2-City_20260804'
const folder = entry({ name: `${FOLDER}/`, type: '5' })
const licence = entry({ name: `${FOLDER}/LICENSE.txt`, content: ascii('licence') })
const database = entry({ name: `${FOLDER}/GeoLite2-City.mmdb`, content: DATABASE })
const LONG = `${'very-long-folder-name/'.repeat(8)}GeoLite2-City.mmdb`
const cut = entry({ name: LONG.slice(0, 100), content: DATABASE })
/** A file with the database, and one with another text. */
const named = (name: string, more: object = {}) => entry({ name, content: DATABASE, ...more })
const other = (name: string, content = '1') => entry({ name, content: ascii(content) })
/** The name of the next entry, as GNU tar and pax write long ones. */
const longLink = (name: string, type = 'L') =>
  entry({ name: '././@LongLink', type, content: ascii(`${name}\0`) })
const pax = (type: string, ...records: [string, string][]) =>
  entry({ name: 'PaxHeader/x', type, content: ascii(records.map((each) => paxRecord(...each)).join('')) })
const MTIME: [string, string] = ['mtime', '1.5']

describe('isTar', () => {
  it.each([
    ['POSIX', archive(database), true],
    ['GNU', archive(entry({ name: 'a', magic: 'ustar  ' })), true],
    ['only a header', new Uint8Array(database.subarray(0, 512)), true],
    ['less than a header', new Uint8Array(database.subarray(0, 511)), false],
    ['Unix version 7, without magic bytes', entry({ name: 'a.log', magic: '' }), true],
    ['text', ascii('8.8.8.8 0001234\n'.repeat(100)), false],
    ['nothing', new Uint8Array(), false],
    ['zeros', new Uint8Array(1024), false],
  ])('%s', (_, bytes, expected) => {
    expect(isTar(bytes)).toBe(expected)
  })
})

// The fuzz target tar cuts archives anywhere.
describe('findDatabaseInTar', () => {
  it.each(
    Object.entries({
      'as MaxMind packs it': archive(folder, licence, database),
      alone: archive(named('x.mmdb')),
      'in capital letters': archive(named('X.MMDB')),
      'by GNU tar': archive(named('x.mmdb', { magic: 'ustar  ' })),
      'of the old type NUL': archive(named('x.mmdb', { type: '\0' })),
      'a contiguous file': archive(named('x.mmdb', { type: '7' })),
      'after a global pax header': archive(pax('g', ['comment', 'x']), database),
      'after a pax header': archive(pax('x', MTIME), database),
      'with a prefix': archive(named('x.mmdb', { prefix: 'a/long/folder' })),
      'the longest name': archive(named('x.mmdb'.padStart(100, 'a'))),
      'with the files that macOS adds': archive(other('./._x.mmdb'), other('._x.mmdb'), named('./x.mmdb')),
      'next to a folder and a link of such a name': archive(
        entry({ name: 'a.mmdb', type: '5' }),
        entry({ name: 'b.mmdb', type: '2' }),
        database,
      ),
      'next to names that only contain .mmdb': archive(
        other('x.mmdb.sha256'),
        other('mmdb'),
        other('dir.mmdb/readme'),
        database,
      ),
      'a size with spaces': archive(named('x.mmdb', { size: '       2260 ' })),
      'without end blocks, as some tools write it': new Uint8Array(database),
      'cut short after it': new Uint8Array(Buffer.concat([database, licence.subarray(0, 100)])),
      'garbage after the end': new Uint8Array(Buffer.concat([database, END, Buffer.alloc(512, 7)])),
      'cut short in the padding': new Uint8Array(database.subarray(0, 512 + DATABASE.length)),
      'a name too long for the field, by GNU tar': archive(longLink(LONG), cut),
      'a name too long for the field, by pax': archive(pax('x', MTIME, ['path', LONG]), cut),
      'after the long name of another file': archive(longLink('a/readme'), other('a.mmdb', 'text'), database),
      'after long names of all kinds': archive(longLink(LONG), longLink('b', 'K'), pax('g', ['a', 'b']), cut),
      'after a name without end': archive(
        entry({ name: '././@LongLink', type: 'L', content: new Uint8Array(1_000_000).fill(97) }),
        entry({ name: 'a' }),
        database,
      ),
    }),
  )('finds a database %s', (_, bytes) => {
    expect(Buffer.compare(findDatabaseInTar(bytes), DATABASE)).toBe(0)
  })

  it('returns a view, not a copy', () => {
    const bytes = archive(database)
    expect(findDatabaseInTar(bytes).buffer).toBe(bytes.buffer)
  })

  const NONE = 'the tar archive does not contain an .mmdb file'
  const SEVERAL = `several .mmdb files, extract one: "${FOLDER}/GeoLite2-City.mmdb", "b.mmdb"`
  const CHECKSUM = 'a header of the tar archive does not match its checksum'
  it.each<[string, Uint8Array, string]>([
    ['none', archive(folder, licence), NONE],
    ['an empty archive', new Uint8Array(END), NONE],
    ['two', archive(database, named('b.mmdb')), SEVERAL],
    ['a damaged checksum', archive(named('x.mmdb', { checksum: 1 })), CHECKSUM],
    ['a damaged checksum later', archive(licence, entry({ name: 'x.mmdb', checksum: 1 })), '(at byte 1024)'],
    ['garbage before the end', new Uint8Array(Buffer.concat([database, Buffer.alloc(512, 7)])), 'checksum'],
    ['content cut short', new Uint8Array(database.subarray(0, 512 + DATABASE.length - 1)), 'is cut short'],
    ['a size of 8 GB', archive(entry({ name: 'x.mmdb', size: '77777777777\0' })), 'is cut short'],
    ['a size that is not a number', archive(entry({ name: 'x.mmdb', size: 'abc' })), 'is cut short'],
    ['base 256', archive(entry({ name: 'x.mmdb', size: '\x80\0\0\0\0\0\0\0\0\0\0\x01' })), 'is cut short'],
    ['a negative size', archive(entry({ name: 'x.mmdb', size: '-0000000010\0' })), 'is cut short'],
  ])('refuses %s', (_, bytes, message) => {
    const path = '/a.tar'
    const error = { code: 'INVALID_DATABASE', path, message: expect.stringContaining(message) }
    expect(() => findDatabaseInTar(bytes, path)).toThrow(expect.objectContaining(error))
  })

  it('refuses any damaged byte of a header', () => {
    const good = archive(database)
    for (let at = 0; at < 512; at++) {
      const bytes = good.slice()
      bytes[at] = (bytes[at] ?? 0) ^ 0x11
      // From byte 154 on, NUL and space after the digits turn into digits, which may be valid.
      if (at < 154) expect(() => findDatabaseInTar(bytes), `byte ${at}`).toThrow(InvalidDatabaseError)
    }
  })
})
