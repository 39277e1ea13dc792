import {
  appendFileSync,
  closeSync,
  createReadStream,
  existsSync,
  openSync,
  renameSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { PassThrough, Readable } from 'node:stream'
import * as zlib from 'node:zlib'
import { describe, expect, it, onTestFinished } from 'vitest'
import { Input } from '../../../src/cli/enrich/input.ts'
import type { Terminal } from '../../../src/cli/terminal.ts'
import { tarOf } from '../../bytes/tar-samples.ts'
import { failingAfter, failure, geofix, ndjson, printed, words, workspace } from './command-line.ts'

const { folder, DB, file, enrich: withDatabase } = workspace()
const { gzipSync } = zlib

const enrich = (...args: string[]) => withDatabase(['--quiet', ...args])
const idsOf = (out: string): number[] =>
  out
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line).id)
/** A terminal with this standard input. */
const around = (stdin: Terminal['stdin']) => ({
  stdin,
  stdout: new PassThrough(),
  stderr: new PassThrough(),
})
const EIO = 'geofix: standard input cannot be read: the device reports an error (EIO)\n'
const upTo = (count: number): number[] => Array.from({ length: count }, (_, index) => index)

describe('the input of geofix enrich', () => {
  it.each([
    ['one member', [ndjson(60)]],
    [
      'several members, even if a line spans two of them',
      [ndjson(60).slice(0, 700), '', ndjson(60).slice(700)],
    ],
  ])('can be gzip of %s, under any name, and on standard input byte by byte', async (_, members) => {
    const packed = Buffer.concat(members.map((text) => gzipSync(text)))
    async function* bytes() {
      for (const byte of packed) yield Uint8Array.of(byte)
    }
    for (const run of [enrich(file('plain-name', packed)), withDatabase(['--quiet'], bytes())])
      expect(idsOf(await printed(run))).toEqual(upTo(60))
  })

  it('has a known size if standard input is a file', async () => {
    const path = file('redirected.ndjson', ndjson(2000))
    const fd = openSync(path, 'r')
    const { size, isLive } = await Input.find('-', around(Object.assign(Readable.from([]), { fd })))
    expect({ size, isLive }).toEqual({ size: ndjson(2000).length, isLive: false })
    closeSync(fd)
  })

  it('can be a device that is not a terminal', async () => {
    expect(await enrich('--format', 'list', '/dev/null')).toEqual({ status: 0, out: '', err: '' })
  })

  it('cannot be a directory on standard input, which Node reads as an empty stream', async () => {
    const fd = openSync(folder, 'r')
    const outcomes = await Promise.all(
      [
        ['enrich', '--db', DB, '--format', 'list'],
        ['enrich', '--db', DB, '--format', 'list', '--rows', '--append', '--at', '2026-07-01'],
        ['--db', DB],
      ].map((args) => geofix(args, { fd })),
    )
    closeSync(fd)
    const err = 'geofix: standard input cannot be read: it is a directory (EISDIR)\n'
    expect(outcomes).toEqual([4, 4, 1].map((status) => ({ status, out: '', err })))
  })

  it('gives no content when it was closed before it was opened', async () => {
    for (const path of [file('closed.ndjson', ndjson(3)), '-']) {
      const input = await Input.find(path, around(Readable.from([ndjson(3)])))
      input.close()
      await expect(input.read()).rejects.toThrow('cannot be read')
    }
  })

  it.each([
    ['a file', ndjson(60_000), true],
    ['gzip', gzipSync(ndjson(60_000)), false],
  ])(
    'gives the same bytes when it is read on into memory between chunks: %s',
    async (name, content, fills) => {
      const input = await Input.find(file(`filled-${name}`, content), process)
      const parts: Uint8Array[] = []
      const memory = new Uint8Array(100_003)
      let filled = 0
      expect(input.fill(memory)).toBe(0)
      for (let chunk = await input.read(); chunk !== null; chunk = await input.read()) {
        parts.push(chunk.slice())
        for (let times = 0; times < 3; times++) {
          const size = input.fill(memory)
          parts.push(memory.slice(0, size))
          filled += size
        }
      }
      expect(Buffer.concat(parts).toString()).toBe(ndjson(60_000))
      expect(filled > 0).toBe(fills)
      expect(input.bytesRead).toBe(content.length)
      expect(input.fill(memory)).toBe(0)
    },
  )

  it('can be shorter than the magic bytes of compressions', async () => {
    expect((await withDatabase(['--quiet', '--format', 'list'], '::1')).status).toBe(0)
  })

  const zeros = (count: number): Uint8Array => new Uint8Array(count)
  it.each([1, 2 ** 21])('can be gzip with %d zero bytes at its end', async (count) => {
    const padded = Buffer.concat([gzipSync(ndjson(3)), gzipSync(ndjson(3)), zeros(count)])
    const { status, out } = await enrich(file('padded.gz', padded))
    expect([status, out.split('\n').length]).toEqual([0, 7])
  })

  const LOGS = tarOf({ 'a.log': Buffer.from(ndjson(3)), 'b.log': Buffer.from(ndjson(3)) })
  const DAMAGED = /its gzip data is damaged/
  const packed = gzipSync(ndjson(1000))
  const flipped = Uint8Array.from(packed)
  flipped[packed.length - 6] = (flipped[packed.length - 6] ?? 0) ^ 1
  it.each([
    ['is truncated', packed.subarray(0, packed.length - 20), /cannot be read: its gzip data is truncated/],
    ['has a wrong checksum', flipped, /cannot be read: its gzip data is damaged/],
    ['goes on with rubbish', Buffer.concat([packed, Buffer.from('rubbish')]), DAMAGED],
    ['goes on after zero bytes', Buffer.concat([packed, zeros(9), packed]), DAMAGED],
    ['goes on after many zero bytes', Buffer.concat([packed, zeros(2 ** 21), packed]), DAMAGED],
    [
      'goes on between zero bytes',
      Buffer.concat([gzipSync(ndjson(50_000)), zeros(600_000), packed, zeros(2 ** 21)]),
      DAMAGED,
    ],
    ['is a tar archive', LOGS, /broken cannot be read: the input is a tar archive: .*tar -xf FILE/],
    ['is a tar archive in gzip', gzipSync(LOGS), /is a tar archive: .*tar -xf FILE/],
    ['is in gzip twice', gzipSync(packed), /compressed with gzip: .*gzip -dc FILE/],
  ])('that %s ends with 4', async (_, content, message) => {
    const output = join(folder, 'never.ndjson')
    expect(await enrich('-o', output, file('broken', content))).toEqual(failure(4, message))
  })

  it('that is a tar archive in Zstandard ends with 4, whether or not Node can decompress it', async () => {
    // One raw block, of which 3 bytes hold the size.
    const [size, frame] = [Buffer.alloc(4), Buffer.alloc(3)]
    size.writeUInt32LE(LOGS.length)
    frame.writeUIntLE((LOGS.length << 3) | 1, 0, 3)
    const archive = Buffer.concat([Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0xa0]), size, frame, LOGS])
    const { status, err } = await enrich(file('logs.tar.zst', archive))
    expect(status).toBe(4)
    expect(err).toMatch(
      'createZstdDecompress' in zlib
        ? /is a tar archive: .*tar -xf FILE/
        : /Zstandard, which needs Node 22\.15, 23\.8 or later/,
    )
  })

  it('can start with a separator line, which the output has once', async () => {
    const table = (ip: string) => `sep=;\r\nip;a\r\n${ip};1\r\n`
    const files = [file('1.csv', table('1.2.3.4')), file('2.csv', table('81.2.69.142'))]
    const { out } = await enrich('--fields', 'city', ...files)
    expect(out).toBe('sep=;\r\nip;a;city\r\n1.2.3.4;1;Sydney\r\n81.2.69.142;1;London\r\n')
  })

  it('can start with a separator line and have no header', async () => {
    const files = ['1.2.3.4', '81.2.69.142'].map((ip, index) =>
      file(`bare-${index}.csv`, `sep=;\n${ip};1\nx\n${ip};2\n`),
    )
    const { out, err } = await withDatabase(words`--no-header --field 1 --fields country_code ${files}`)
    const rows = '1.2.3.4;1;AU\nx\n1.2.3.4;2;AU\n81.2.69.142;1;GB\nx\n81.2.69.142;2;GB\n'
    expect(out).toBe(`sep=;\n${rows}`)
    expect(err.match(/line 3\b/g)).toHaveLength(2)
  })

  it.each([
    ['does not exist', 'missing.log', /missing\.log cannot be read: no such file or directory \(ENOENT\)/],
    ['is below a file', 'good.ndjson/x', /a part of its path is not a directory \(ENOTDIR\)/],
    ['is a directory', '.', /cannot be read: it is a directory \(EISDIR\)/],
  ])('that %s ends with 4, before anything is written', async (_, name, message) => {
    expect(await enrich(file('good.ndjson', ndjson(3)), `${folder}/${name}`)).toEqual(failure(4, message))
  })

  it('that fails after some lines ends a lookup with 1', async () => {
    const ran = await geofix(['--db', DB], { input: failingAfter('81.2.69.142\n') })
    expect(ran).toEqual({ status: 1, out: expect.stringContaining('London'), err: EIO })
  })

  /** Reads an input whose file is made shorter after its first chunk. */
  async function readOf(path: string, length: number, input: Input) {
    await input.read()
    truncateSync(path, length)
    while ((await input.read()) !== null);
  }

  it.each([
    ['to nothing', 0],
    ['to a part', 5_000_000],
  ])('that shrinks %s while it is read fails', async (_, length) => {
    const path = file('shrinking.ndjson', ndjson(150_000))
    const input = await Input.find(path, around(Readable.from([])))
    await expect(readOf(path, length, input)).rejects.toThrow('the file was truncated while it was read')
    writeFileSync(path, ndjson(150_000))
    const fd = openSync(path, 'r')
    onTestFinished(() => closeSync(fd))
    const stdin = Object.assign(createReadStream('', { fd, autoClose: false }), { fd })
    const redirected = await Input.find('-', around(stdin))
    await expect(readOf(path, length, redirected)).rejects.toThrow(/standard input .* was truncated/)
  })

  it('that shrinks before it is opened ends with 4', async () => {
    const [first, second] = [file('first.ndjson', ndjson(3)), file('second.ndjson', ndjson(30))]
    expect(
      await withDatabase(
        ['--quiet', first, '-', second, '-o', join(folder, 'shrunk')],
        (async function* () {
          yield ndjson(3)
          truncateSync(second, 0)
        })(),
      ),
    ).toEqual(failure(4, /second\.ndjson cannot be read: the file was truncated/))
    expect(existsSync(join(folder, 'shrunk'))).toBe(false)
  })

  it('can grow while it is read, and can be replaced by a shorter file before it is opened', async () => {
    const path = file('growing.ndjson', ndjson(30))
    const growing = await Input.find(path, around(Readable.from([])))
    while ((await growing.read()) !== null) appendFileSync(path, '')
    expect(growing.bytesRead).toBe(ndjson(30).length)
    const replaced = await Input.find(path, around(Readable.from([])))
    renameSync(path, `${path}.1`)
    writeFileSync(path, ndjson(3))
    while ((await replaced.read()) !== null);
    expect(replaced.bytesRead).toBe(ndjson(3).length)
  })

  it('that fails after some lines ends with 4', async () => {
    expect(await withDatabase(['--quiet'], failingAfter(ndjson(3)))).toMatchObject({ status: 4, err: EIO })
  })
})
