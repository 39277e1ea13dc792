import { describe, expect, it } from 'vitest'
import { extractUncompressed, findDatabaseInTar, isTar } from '../../src/bytes/extract.ts'
import { InvalidDatabaseError } from '../../src/errors.ts'
import { archive, END, entry, paxRecord } from './tar-samples.ts'

const ascii = (text: string): Uint8Array => new TextEncoder().encode(text)
const DATABASE = ascii('the database'.repeat(100)) // 1200 bytes: two blocks and a part of one
const TAR = archive(entry({ name: 'x/x.mmdb', content: DATABASE }))

describe('extractUncompressed', () => {
  it.each([
    ['raw', DATABASE],
    ['tar', TAR],
  ])('recognises %s by its bytes', (_, bytes) => {
    expect([...extractUncompressed(bytes)]).toEqual([...DATABASE])
  })

  it('returns raw bytes without a copy', () => {
    const nothing = new Uint8Array()
    expect(extractUncompressed(nothing)).toBe(nothing)
  })

  it.each([
    ['a zip archive', [0x50, 0x4b, 0x03, 0x04, 0]],
    ['compressed with Zstandard', [0x28, 0xb5, 0x2f, 0xfd, 0]],
    ['compressed with xz', [0xfd, 0x37, 0x7a, 0x58, 0x5a, 0x00, 0]],
  ])('refuses a file that is %s, and says so', (name, magic) => {
    const extract = (): unknown => extractUncompressed(Uint8Array.from(magic), '/x')
    expect(extract).toThrow(InvalidDatabaseError)
    expect(extract).toThrow(`/x: it is ${name}: extract the .mmdb file first`)
  })

  it('names the pointer of Git LFS', () => {
    const pointer = ascii('version https://git-lfs.github.com/spec/v1\noid sha256:4d\nsize 1\n')
    expect(() => extractUncompressed(pointer)).toThrow(
      'it is a pointer of Git LFS, not the file: run "git lfs pull"',
    )
  })
})

const FOLDER = 'GeoLite2-City_20260804'
const folder = entry({ name: `${FOLDER}/`, type: '5' })
const licence = entry({ name: `${FOLDER}/LICENSE.txt`, content: ascii('licence') })
const database = entry({ name: `${FOLDER}/GeoLite2-City.mmdb`, content: DATABASE })
const LONG = `${'very-long-folder-name/'.repeat(8)}GeoLite2-City.mmdb`
const cut = entry({ name: LONG.slice(0, 100), content: DATABASE })

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
  it.each([
    ['as MaxMind packs it', archive(folder, licence, database)],
    ['alone', archive(entry({ name: 'x.mmdb', content: DATABASE }))],
    ['in capital letters', archive(entry({ name: 'X.MMDB', content: DATABASE }))],
    ['by GNU tar', archive(entry({ name: 'x.mmdb', content: DATABASE, magic: 'ustar  ' }))],
    ['of the old type NUL', archive(entry({ name: 'x.mmdb', content: DATABASE, type: '\0' }))],
    ['a contiguous file', archive(entry({ name: 'x.mmdb', content: DATABASE, type: '7' }))],
    [
      'after a global pax header',
      archive(
        entry({ name: 'pax_global_header', type: 'g', content: ascii(paxRecord('comment', 'x')) }),
        database,
      ),
    ],
    [
      'after a pax header',
      archive(entry({ name: 'PaxHeader/x', type: 'x', content: ascii(paxRecord('mtime', '1.5')) }), database),
    ],
    ['with a prefix', archive(entry({ name: 'x.mmdb', prefix: 'a/long/folder', content: DATABASE }))],
    ['the longest name', archive(entry({ name: 'x.mmdb'.padStart(100, 'a'), content: DATABASE }))],
    [
      'with the files that macOS adds',
      archive(
        entry({ name: './._x.mmdb', content: ascii('attributes') }),
        entry({ name: '._x.mmdb', content: ascii('more') }),
        entry({ name: './x.mmdb', content: DATABASE }),
      ),
    ],
    [
      'next to a folder and a link of such a name',
      archive(entry({ name: 'a.mmdb', type: '5' }), entry({ name: 'b.mmdb', type: '2' }), database),
    ],
    [
      'next to names that only contain .mmdb',
      archive(
        entry({ name: 'x.mmdb.sha256', content: ascii('1') }),
        entry({ name: 'mmdb', content: ascii('1') }),
        entry({ name: 'dir.mmdb/readme', content: ascii('1') }),
        database,
      ),
    ],
    ['a size with spaces', archive(entry({ name: 'x.mmdb', content: DATABASE, size: '       2260 ' }))],
    ['without end blocks, as some tools write it', new Uint8Array(database)],
    ['cut short after it', new Uint8Array(Buffer.concat([database, licence.subarray(0, 100)]))],
    ['garbage after the end', new Uint8Array(Buffer.concat([database, END, Buffer.alloc(512, 7)]))],
    ['cut short in the padding', new Uint8Array(database.subarray(0, 512 + DATABASE.length))],
    [
      'a name too long for the field, by GNU tar',
      archive(entry({ name: '././@LongLink', type: 'L', content: ascii(`${LONG}\0`) }), cut),
    ],
    [
      'a name too long for the field, by pax',
      archive(
        entry({
          name: 'PaxHeader/x',
          type: 'x',
          content: ascii(paxRecord('mtime', '1.5') + paxRecord('path', LONG)),
        }),
        cut,
      ),
    ],
    [
      'after the long name of another file',
      archive(
        entry({ name: '././@LongLink', type: 'L', content: ascii('a/readme\0') }),
        entry({ name: 'a.mmdb', content: ascii('text') }),
        database,
      ),
    ],
    [
      'after long names of all kinds',
      archive(
        entry({ name: '././@LongLink', type: 'L', content: ascii(`${LONG}\0`) }),
        entry({ name: '././@LongLink', type: 'K', content: ascii('b\0') }),
        entry({ name: 'g', type: 'g', content: ascii(paxRecord('a', 'b')) }),
        cut,
      ),
    ],
    [
      'after a name without end',
      archive(
        entry({ name: '././@LongLink', type: 'L', content: new Uint8Array(1_000_000).fill(97) }),
        entry({ name: 'a' }),
        database,
      ),
    ],
  ])('finds a database %s', (_, bytes) => {
    expect(Buffer.compare(findDatabaseInTar(bytes), DATABASE)).toBe(0)
  })

  it('returns a view, not a copy', () => {
    const bytes = archive(database)
    expect(findDatabaseInTar(bytes).buffer).toBe(bytes.buffer)
  })

  it.each<[string, Uint8Array, string]>([
    ['none', archive(folder, licence), 'the tar archive does not contain an .mmdb file'],
    ['an empty archive', new Uint8Array(END), 'the tar archive does not contain an .mmdb file'],
    [
      'two',
      archive(database, entry({ name: 'b.mmdb', content: DATABASE })),
      `several .mmdb files, extract one: "${FOLDER}/GeoLite2-City.mmdb", "b.mmdb"`,
    ],
    [
      'a damaged checksum',
      archive(entry({ name: 'x.mmdb', content: DATABASE, checksum: 1 })),
      'a header of the tar archive does not match its checksum',
    ],
    ['a damaged checksum later', archive(licence, entry({ name: 'x.mmdb', checksum: 1 })), '(at byte 1024)'],
    ['garbage before the end', new Uint8Array(Buffer.concat([database, Buffer.alloc(512, 7)])), 'checksum'],
    ['content cut short', new Uint8Array(database.subarray(0, 512 + DATABASE.length - 1)), 'is cut short'],
    ['a size of 8 GB', archive(entry({ name: 'x.mmdb', size: '77777777777\0' })), 'is cut short'],
    ['a size that is not a number', archive(entry({ name: 'x.mmdb', size: 'abc' })), 'is cut short'],
    ['base 256', archive(entry({ name: 'x.mmdb', size: '\x80\0\0\0\0\0\0\0\0\0\0\x01' })), 'is cut short'],
    ['a negative size', archive(entry({ name: 'x.mmdb', size: '-0000000010\0' })), 'is cut short'],
  ])('refuses %s', (_, bytes, message) => {
    expect(() => findDatabaseInTar(bytes, '/a.tar')).toThrow(InvalidDatabaseError)
    expect(() => findDatabaseInTar(bytes, '/a.tar')).toThrow(message)
    expect(() => findDatabaseInTar(bytes, '/a.tar')).toThrow(/^\/a\.tar: /)
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
