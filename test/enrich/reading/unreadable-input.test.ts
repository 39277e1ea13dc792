import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import {
  containerOf,
  hasLoneCarriageReturns,
  type WideEncoding,
  wideEncodingOf,
} from '../../../src/enrich/reading/sample.ts'
import { tarOf } from '../../tar-archive.ts'
import { bytesOf, utf8 } from '../world.ts'

const TABLE = 'ip,a\r\n81.2.69.142,1\r\n10.0.0.1,2\r\n'

/** A text in an encoding, by its definition. */
function encoded(text: string, encoding: WideEncoding): Uint8Array {
  const isWide = encoding.startsWith('UTF-32')
  const units = isWide
    ? Array.from(text, (character) => character.codePointAt(0) ?? 0)
    : Array.from({ length: text.length }, (_, index) => text.charCodeAt(index))
  const size = isWide ? 4 : 2
  const bytes = new Uint8Array(units.length * size)
  const view = new DataView(bytes.buffer)
  const isLittle = encoding.endsWith('LE')
  for (const [index, unit] of units.entries()) {
    if (isWide) view.setUint32(index * size, unit, isLittle)
    else view.setUint16(index * size, unit, isLittle)
  }
  return bytes
}

const ENCODINGS: readonly WideEncoding[] = ['UTF-16LE', 'UTF-16BE', 'UTF-32LE', 'UTF-32BE']

describe('wideEncodingOf', () => {
  const cases = ENCODINGS.flatMap((encoding) => [
    { encoding, kind: 'with a mark', text: `\ufeff${TABLE}` },
    { encoding, kind: 'of other letters with a mark', text: '\ufeffАдрес\r\n' },
    { encoding, kind: 'with a mark and nothing more', text: '\ufeff' },
    { encoding, kind: 'without a mark', text: TABLE },
    { encoding, kind: 'of one short line without a mark', text: '::1\n' },
    { encoding, kind: 'with other letters in it without a mark', text: 'ip;Straße\n81.2.69.142;Ижевск\n' },
    { encoding, kind: 'longer than what is looked at', text: TABLE.repeat(100) },
  ])
  it.each(cases)('knows $encoding $kind', ({ encoding, text }) => {
    expect(wideEncodingOf(encoded(text, encoding))).toBe(encoding)
  })

  it.each([
    ['nothing', ''],
    ['one character', '1'],
    ['text', TABLE],
    ['text with a mark', `\ufeff${TABLE}`],
    ['NUL bytes at the start of a log that a crash left', `${'\0'.repeat(2000)}\n${TABLE}`],
    ['NUL bytes at the end', `${TABLE}${'\0'.repeat(100)}`],
    ['nothing but NUL bytes', '\0'.repeat(100)],
    ['NUL bytes between addresses', '8.8.8.8\0'.repeat(50)],
    ['a NUL byte', `a\0b,ip\n${TABLE}`],
  ])('takes no UTF-8 for another encoding: %s', (_, text) => {
    expect(wideEncodingOf(utf8(text))).toBeNull()
  })
})

const zipOf = (name: string): string => `PK\x03\x04${'\0'.repeat(26)}${name}content`

describe('containerOf', () => {
  it.each<[string, Uint8Array, string, string]>([
    ['gzip', gzipSync('a'), 'compressed with gzip', 'gzip -dc FILE'],
    ['compress', bytesOf('\x1f\x9d\x90abc'), 'compressed with compress', 'gzip -dc FILE'],
    ['Zstandard', bytesOf('\x28\xb5\x2f\xfd\x04'), 'compressed with zstd', 'zstd -dc FILE'],
    ['Zstandard after a frame that is skipped', bytesOf('\x5a\x2a\x4d\x18'), 'compressed with zstd', 'zstd'],
    ['bzip2', bytesOf('BZh61AY&SY'), 'compressed with bzip2', 'bzip2 -dc FILE'],
    ['bzip2 of nothing', bytesOf('BZh9\x17rE8P\x90\0\0\0\0'), 'compressed with bzip2', 'bzip2 -dc FILE'],
    ['xz', bytesOf('\xfd7zXZ\0\0\x04'), 'compressed with xz', 'xz -dc FILE'],
    ['lzma', bytesOf(`]\0\0\x80\0${'\xff'.repeat(8)}`), 'compressed with lzma', 'xz -dc FILE'],
    ['lz4', bytesOf('\x04"M\x18'), 'compressed with lz4', 'lz4 -dc FILE'],
    ['lz4 as it was', bytesOf('\x02!L\x18'), 'compressed with lz4', 'lz4 -dc FILE'],
    ['lzip', bytesOf('LZIP\x01'), 'compressed with lzip', 'lzip -dc FILE'],
    ['lzop', bytesOf('\x89LZO\0\r\n\x1a\n'), 'compressed with lzop', 'lzop -dc FILE'],
    ['zip', bytesOf(zipOf('access.log')), 'a zip archive', 'unzip FILE'],
    ['an empty zip', bytesOf('PK\x05\x06'), 'a zip archive', 'unzip FILE'],
    ['7z', bytesOf('7z\xbc\xaf\x27\x1c'), 'a 7z archive', '7z x FILE'],
    ['rar', bytesOf('Rar!\x1a\x07\x01\0'), 'a rar archive', 'unrar x FILE'],
    ['xlsx', bytesOf(zipOf('[Content_Types].xml')), 'an office document', 'as CSV'],
    ['ods', bytesOf(zipOf('mimetype')), 'an office document', 'as CSV'],
    ['xls', bytesOf('\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1'), 'an office document', 'as CSV'],
    ['tar', tarOf({ 'access.log': utf8('8.8.8.8\n') }), 'a tar archive', 'tar -xf FILE'],
  ])('knows archives and compressed files by their magic bytes: %s', (_, sample, what, advice) => {
    expect(containerOf(sample)).toEqual({ what, advice: expect.stringContaining(advice) })
  })

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

const LOG = '8.8.8.8 - - [01/Jul/2026:12:00:00 +0000] "GET / HTTP/1.1" 200 12 "-" "curl/8.5.0"'

describe('hasLoneCarriageReturns', () => {
  it.each([
    ['CSV', 'ip,a\r8.8.8.8,1\r'],
    ['CSV with a mark', '\ufeffip,a\r8.8.8.8,1\r'],
    ['CSV with a line feed in quotes', 'ip,a\r8.8.8.8,"1\n2"\r'],
    ['CSV with a header in quotes', '"ip","a"\r8.8.8.8,1'],
    ['CSV after empty lines', '\r\rip,a\r8.8.8.8,1\r'],
    ['CSV with empty lines', 'ip,a\r\r8.8.8.8,1\r\r'],
    ['CSV that an editor ended', 'ip,a\r8.8.8.8,1\r\n'],
    ['TSV', 'ip\ta\r8.8.8.8\t1\r'],
    ['NDJSON', '{"ip":"8.8.8.8"}\r{"ip":"8.8.8.8"}\r'],
    ['NDJSON with an odd quote', '{"ip":"8.8.8.8","a":"\\""}\r{"ip":"8.8.8.8"}\r'],
    ['a log', `${LOG}\r${LOG}\r`],
    ['addresses', '8.8.8.8\r9.9.9.9'],
  ])('finds lines that end with a carriage return alone: %s', (_, text) => {
    expect(hasLoneCarriageReturns(utf8(text))).toBe(true)
  })

  it.each([
    ['nothing', ''],
    ['one line without a line feed', '8.8.8.8\r'],
    ['lines as Windows ends them', 'ip,a\r\n8.8.8.8,1\r\n'],
    ['the same, cut between two bytes', 'ip,a\r'],
    ['lines whose ends were translated twice', 'ip,a\r\r\n8.8.8.8,1\r\r\n'],
    ['in a field', 'ip,"a\rb"\n8.8.8.8,"c\rd\re"\n'],
    ['between members', '{"a":1,\r"ip":"8.8.8.8"}'],
    ['the progress of a download at the start of a list', '1%\r2%\n8.8.8.8\n8.8.8.8\n'],
    ['later only', 'ip,a\n8.8.8.8,1\r2\r3\r4\n'],
  ])('knows those that are something else: %s', (_, text) => {
    expect(hasLoneCarriageReturns(utf8(text))).toBe(false)
  })
})
