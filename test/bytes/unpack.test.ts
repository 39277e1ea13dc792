import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { gunzip } from '../../src/bytes/gunzip.ts'
import { unpack, unwrap } from '../../src/bytes/unpack.ts'
import { InvalidDatabaseError } from '../../src/errors.ts'
import { archive, entry } from './tar-samples.ts'

const DATABASE = new TextEncoder().encode('a database of sorts')
const TAR = archive(entry({ name: 'x/x.mmdb', content: DATABASE }))

describe('unpack', () => {
  it.each([
    ['raw', DATABASE],
    ['gzip', new Uint8Array(gzipSync(DATABASE))],
    ['tar', TAR],
    ['tar.gz', new Uint8Array(gzipSync(TAR))],
  ])('tells %s by its bytes', (_, bytes) => {
    expect([...unpack(bytes, gunzip)]).toEqual([...DATABASE])
  })

  it('gives raw bytes as they are, without a copy', () => {
    expect(unpack(DATABASE, gunzip)).toBe(DATABASE)
    const nothing = new Uint8Array()
    expect(unpack(nothing, gunzip)).toBe(nothing)
  })

  it('decompresses with what it is given, once', () => {
    const asked: unknown[] = []
    const answer = unpack(
      Uint8Array.of(0x1f, 0x8b, 8),
      (bytes, path) => {
        asked.push([...bytes], path)
        return DATABASE
      },
      '/x.gz',
    )
    expect(answer).toBe(DATABASE)
    expect(asked).toEqual([[0x1f, 0x8b, 8], '/x.gz'])
  })

  it.each([
    ['a zip archive', [0x50, 0x4b, 0x03, 0x04, 0]],
    ['compressed with Zstandard', [0x28, 0xb5, 0x2f, 0xfd, 0]],
    ['compressed with xz', [0xfd, 0x37, 0x7a, 0x58, 0x5a, 0x00, 0]],
  ])('refuses what is %s, by name', (name, magic) => {
    const bytes = Uint8Array.from(magic)
    for (const file of [bytes, new Uint8Array(gzipSync(bytes))]) {
      expect(() => unpack(file, gunzip, '/x')).toThrow(InvalidDatabaseError)
      expect(() => unpack(file, gunzip, '/x')).toThrow(`/x: it is ${name}: extract the .mmdb file first`)
    }
  })

  it('takes no name for a sign', () => {
    expect(unwrap(DATABASE, 'x.tar')).toBe(DATABASE)
  })

  it('refuses a damaged gzip and an archive without a database', () => {
    expect(() => unpack(gzipSync(DATABASE).subarray(0, -1), gunzip)).toThrow(InvalidDatabaseError)
    expect(() => unpack(gzipSync(archive(entry({ name: 'x' }))), gunzip)).toThrow('holds no .mmdb file')
  })
})
