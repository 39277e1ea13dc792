import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { containerOf } from '../../src/enrich/containers.ts'
import { tarOf } from '../tar-archive.ts'
import { latin1, utf8 } from './in-memory-run.ts'

const zipOf = (name: string): string => `PK\x03\x04${'\0'.repeat(26)}${name}content`

describe('containerOf', () => {
  it.each<[string, Uint8Array, string, string]>([
    ['gzip', gzipSync('a'), 'compressed with gzip', 'gzip -dc FILE'],
    ['compress', latin1('\x1f\x9d\x90abc'), 'compressed with compress', 'gzip -dc FILE'],
    ['Zstandard', latin1('\x28\xb5\x2f\xfd\x04'), 'compressed with zstd', 'zstd -dc FILE'],
    ['Zstandard after a frame that is skipped', latin1('\x5a\x2a\x4d\x18'), 'compressed with zstd', 'zstd'],
    ['bzip2', latin1('BZh61AY&SY'), 'compressed with bzip2', 'bzip2 -dc FILE'],
    ['bzip2 of nothing', latin1('BZh9\x17rE8P\x90\0\0\0\0'), 'compressed with bzip2', 'bzip2 -dc FILE'],
    ['xz', latin1('\xfd7zXZ\0\0\x04'), 'compressed with xz', 'xz -dc FILE'],
    ['lzma', latin1(`]\0\0\x80\0${'\xff'.repeat(8)}`), 'compressed with lzma', 'xz -dc FILE'],
    ['lz4', latin1('\x04"M\x18'), 'compressed with lz4', 'lz4 -dc FILE'],
    ['lz4 as it was', latin1('\x02!L\x18'), 'compressed with lz4', 'lz4 -dc FILE'],
    ['lzip', latin1('LZIP\x01'), 'compressed with lzip', 'lzip -dc FILE'],
    ['lzop', latin1('\x89LZO\0\r\n\x1a\n'), 'compressed with lzop', 'lzop -dc FILE'],
    ['zip', latin1(zipOf('access.log')), 'a zip archive', 'unzip FILE'],
    ['an empty zip', latin1('PK\x05\x06'), 'a zip archive', 'unzip FILE'],
    ['7z', latin1('7z\xbc\xaf\x27\x1c'), 'a 7z archive', '7z x FILE'],
    ['rar', latin1('Rar!\x1a\x07\x01\0'), 'a rar archive', 'unrar x FILE'],
    ['xlsx', latin1(zipOf('[Content_Types].xml')), 'an office document', 'as CSV'],
    ['ods', latin1(zipOf('mimetype')), 'an office document', 'as CSV'],
    ['xls', latin1('\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1'), 'an office document', 'as CSV'],
    ['tar', tarOf({ 'access.log': utf8('8.8.8.8\n') }), 'a tar archive', 'tar -xf FILE'],
  ])(
    'knows archives and compressed files by their magic bytes: %s (trial fault 7)',
    (_, sample, what, advice) => {
      expect(containerOf(sample)).toEqual({ what, advice: expect.stringContaining(advice) })
    },
  )

  it.each([
    '',
    'BZh,ip\n',
    'BZh9\n',
    'PK,ip\n',
    'Rar!\n',
    'LZIP\n',
    '7zip\n',
    '{"ip":"8.8.8.8"}\n',
    'ip '.repeat(300),
  ])('takes no text for one: %j', (text) => expect(containerOf(utf8(text))).toBeNull())
})
