import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import type { EnrichOptions } from '../../../src/enrich/formats/formats.ts'
import { fieldsOf } from '../../../src/enrich/formats/ndjson/member-path.ts'
import { guessAddress, guessTime, SampleField } from '../../../src/enrich/reading/field-guess.ts'
import {
  containerOf,
  hasLoneCarriageReturns,
  SAMPLE_BYTES,
  SampleSize,
  type WideEncoding,
  wideEncodingOf,
} from '../../../src/enrich/reading/sample.ts'
import { tarOf } from '../../bytes/tar-samples.ts'
import { bytesOf, chunked, run, text, utf8 } from '../world.ts'

/** @returns bytes that were wanted in the end, and those that were read until there were enough */
function wanted(text: string, maxLineBytes: number, chunkBytes = 0): { wanted: number; read: number } {
  const size = new SampleSize(maxLineBytes)
  for (const chunk of chunked(utf8(text), [chunkBytes])) {
    if (size.length >= size.wanted) break
    size.add(chunk)
  }
  return { wanted: size.wanted, read: size.length }
}

const LONG = SAMPLE_BYTES * 2
const long = (end: string, length = LONG) => `${'a,'.repeat((length - end.length) / 2)}${end}`

describe('SampleSize', () => {
  it.each<[string, string, number]>([
    ['256 KiB of short lines', 'a,b\n'.repeat(SAMPLE_BYTES), SAMPLE_BYTES],
    ['a long header and a record', `${long('b\n')}c\n${long('b\n')}`, LONG + 2],
    ['a long record', `a\n${long('b\n')}${long('b\n')}`, LONG + 2],
    ['a long header after empty lines', `\n\r\n${long('b\n')}c\n${long('b\n')}`, LONG + 5],
    ['a long header after that of the separator', `sep=,\n${long('b\n')}${long('b\n')}`, LONG + 6],
    ['a header with line feeds in quotes', `"a\nb\nc",${long('b\n')}c\n${long('b\n')}`, LONG + 10],
    ['as far as lines may reach', long('b', 10 * LONG), 2 ** 20 + SAMPLE_BYTES],
  ])('is enough for the first lines: %s', (_, text, size) => {
    expect(wanted(text, 2 ** 20).wanted).toBe(size)
  })

  it('reads no further than it wants and one chunk', () => {
    expect(wanted(`${long('b\n')}c\n${long('b\n')}`, 2 ** 20, 1000).read).toBe(
      Math.ceil((LONG + 2) / 1000) * 1000,
    )
    expect(wanted(long('b', 10 * LONG), 10, 1000).read).toBe(Math.ceil((10 + SAMPLE_BYTES) / 1000) * 1000)
  })
})

const NOBODY_SAYS_WHEN: EnrichOptions = { at: undefined }

/** The offsets in the output of NDJSON, or of the column at the end of a table with a header. */
function offsets(input: string, options: EnrichOptions = {}): (string | null)[] {
  const lines = text(run(input, { ...NOBODY_SAYS_WHEN, ...options }).output)
    .trimEnd()
    .split('\n')
  if (lines[0]?.includes('{')) return lines.map((line) => /"offset":(?:"(.*?)"|null)/.exec(line)?.[1] ?? null)
  return lines.slice(1).map((line) => /[+-]\d\d:\d\d$/.exec(line)?.[0] ?? null)
}

describe('the time of the event', () => {
  it.each<[string, string, EnrichOptions]>([
    ['NDJSON', '{"ip":"81.2.69.142"}\n{"ip":"81.2.69.142"}\n', {}],
    ['CSV', 'ip,n\n81.2.69.142,1\n81.2.69.142,2\n', { fields: ['timezone_offset'] }],
    ['TSV', 'ip\tn\n81.2.69.142\t1\n81.2.69.142\t2\n', { fields: ['timezone_offset'] }],
    ['a list', '81.2.69.142\n81.2.69.142\n', {}],
  ])('a line of %s without a time gets the offset of today', (_, input, options) => {
    expect(offsets(input, options)).toEqual([null, null])
    expect(run(input, { ...NOBODY_SAYS_WHEN, ...options }).counts.withoutTime).toBe(2)
    // Unless the caller says when.
    expect(offsets(input, { ...options, at: Date.UTC(2026, 6, 1) })).toEqual(['+01:00', '+01:00'])
  })

  it('a time that cannot be read gets the offset of today', () => {
    const line = (time: unknown) => `${JSON.stringify({ ip: '81.2.69.142', time })}\n`
    const input = [1782907200, 'yesterday', null, 1767268800].map(line).join('')
    expect(offsets(input)).toEqual(['+01:00', null, null, '+00:00'])
    expect(run(input).counts.withoutTime).toBe(2)
  })

  it.each<[string, string | null, string]>([
    ['{"time":0.005}', null, 'a duration'],
    ['{"birthday":"2026-07-01T12:00:00Z"}', null, 'a name that says something else'],
    ['{"user":{"created_at":"2026-07-01T12:00:00Z"}}', null, 'the time of something else'],
    ['{"time":[1782907200]}', null, 'a list'],
    ['{"event":{"created":1782907200}}', 'event.created', 'the time of an event'],
    ['{"timestamp":0.5,"time":1782907200}', 'time', 'the one that holds times'],
    ['{"EdgeStartTimestamp":1782907200000000000}', 'EdgeStartTimestamp', 'the spelling of a vendor'],
  ])('of %s is in %s: %s', (members, path) => {
    const { notes } = run(members.replace('{', '{"ip":"81.2.69.142",'))
    expect(notes.slice(2)).toEqual(path === null ? [] : [`the time of the event is in ${path}`])
  })

  it('is guessed by name alone if a table has no rows yet', () => {
    expect(run('ip,time\n').notes).toContain('the time of the event is in column 2, time')
    const bare = run('81.2.69.142,2026-07-01T12:00:00Z\n', { format: 'csv', header: false })
    expect(bare.notes).toEqual(['the address is in column 1'])
  })
})

describe('the time of objects', () => {
  it('is the one beside the address, of several with one name at one depth', () => {
    const [sent, opened] = [
      '"mail":{"timestamp":"2026-01-01T10:00:00Z"}',
      '"timestamp":"2026-07-01T10:00:00Z"',
    ]
    const event = `{${sent},"open":{"ip":"81.2.69.142",${opened}}}\n`
    expect(run(event, { field: 'open.ip' }).notes).toContain('the time of the event is in open.timestamp')
    expect(run(`{${sent},"open":{${opened}},"ip":"81.2.69.142"}\n`).notes).toContain(
      'the time of the event is in mail.timestamp',
    )
  })
})

describe('the times of a field', () => {
  it('leave out missing values', () => {
    const field = new SampleField(['time'])
    for (const value of ['', '-', '1782907200', 'x']) field.add(value)
    expect(field.seen.times).toEqual({ areTimes: true, fault: null })
    expect(guessTime([field]).best).toBe(field)
    const missing = new SampleField(['time'])
    missing.add('')
    expect(guessTime([missing]).best).toBe(missing)
  })
})

const paths = (fields: readonly SampleField[]) => fields.map(({ path }) => path.join('.'))
const fieldAt = (fields: readonly SampleField[], name: string) => fields.find(({ path }) => path[0] === name)

/** As many members with short names and texts in them. */
function members(count: number): Record<string, string> {
  return Object.fromEntries(Array.from({ length: count }, (_, index) => [`m${index}`, '']))
}

describe('the members with text', () => {
  it('are collected from all objects, with the kinds of their values', () => {
    const fields = fieldsOf([{ ip: '1.1.1.1', a: { b: 'x' }, n: 1 }, { ip: '-' }, { ip: '2.2.2.2' }], null)
    expect(paths(fields)).toEqual(['ip', 'a.b'])
    expect(fieldAt(fields, 'ip')?.seen.kinds).toEqual({ address: 2, list: 0, missing: 1, other: 0 })
  })

  it('are those of five levels of objects, and of no arrays', () => {
    const object = { a: { b: { c: { d: { e: 'x', f: { g: 'x' } } } } }, list: ['x'] }
    expect(paths(fieldsOf([object], null))).toEqual(['a.b.c.d.e'])
  })

  it('are not those in the member that is replaced', () => {
    expect(paths(fieldsOf([{ place: { ip: 'x' }, a: { place: 'x' } }], 'place'))).toEqual(['a.place'])
  })

  it('have names of 256 characters at most on their way, together', () => {
    const at = (first: number, second: number) => ({ ['a'.repeat(first)]: { ['b'.repeat(second)]: 'x' } })
    const objects = [at(128, 128), at(255, 1), at(256, 1), at(128, 129), { ['c'.repeat(257)]: 'x' }]
    expect(paths(fieldsOf(objects, null)).map((path) => path.length)).toEqual([257, 257])
  })

  it('are not looked for below a name that no field has', () => {
    const longName = { ['k'.repeat(100_000)]: members(10) }
    expect(fieldsOf([longName, { ip: '1.1.1.1' }], null).length).toBe(1)
  })

  it('are 2,000 at most, which are still counted in later objects', () => {
    const fields = fieldsOf([{ ip: '-' }, members(2500), { late: 'x' }, { ip: '1.1.1.1' }], null)
    expect(fields.length).toBe(2000)
    expect(paths(fields)).not.toContain('late')
    expect(fieldAt(fields, 'ip')?.seen.kinds.address).toBe(1)
  })

  it('leave the usual name chosen, however many members come before its first address', () => {
    const objects = Array.from({ length: 60 }, (_, line) => ({
      ip: line < 30 ? '-' : `81.2.69.${line}`,
      srv: `10.0.0.${line}`,
      kv: Object.fromEntries(Array.from({ length: 100 }, (__, i) => [`id${line}x${i}`, 'x'])),
    }))
    expect(guessAddress(fieldsOf(objects, null), false).best?.path).toEqual(['ip'])
  })
})

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
