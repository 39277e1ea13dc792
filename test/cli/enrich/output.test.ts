import {
  chmodSync,
  closeSync,
  existsSync,
  linkSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { devNull } from 'node:os'
import { join, resolve } from 'node:path'
import { Transform } from 'node:stream'
import { gunzipSync, gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { CompressedOutput, DescriptorOutput } from '../../../src/cli/enrich/output.ts'
import { makeFile } from '../../temporary.ts'
import { failure, ndjson, workspace } from './command-line.ts'

const { folder: base, freshFolder, enrich: withDatabase } = workspace()

const enrich = (args: readonly string[], input: string | AsyncIterable<string> = ndjson(30)) =>
  withDatabase(['--quiet', ...args], input)

describe('-o of geofix enrich', () => {
  it.each([
    ['out.ndjson', (bytes: Buffer) => bytes],
    ['out.gz', gunzipSync],
  ])('writes the lines to %s, and nothing to standard output', async (name, read) => {
    const folder = freshFolder()
    const written = await enrich(['--at', '2026-07-01', '-o', join(folder, name)], ndjson(20_000))
    expect(written).toEqual({ status: 0, out: '', err: '' })
    expect(readdirSync(folder)).toEqual([name])
    const { out } = await enrich(['--at', '2026-07-01'], ndjson(20_000))
    expect(read(readFileSync(join(folder, name))).toString()).toBe(out)
  })

  it('creates a file with the default mode', async () => {
    const folder = freshFolder()
    await enrich(['-o', join(folder, 'out')])
    writeFileSync(join(folder, 'usual'), '')
    expect(statSync(join(folder, 'out')).mode).toBe(statSync(join(folder, 'usual')).mode)
  })

  it('keeps the permissions of the file that it replaces', async () => {
    const folder = freshFolder()
    const file = makeFile(join(folder, 'secret.ndjson'), ndjson(3))
    chmodSync(file, 0o640)
    expect((await enrich(['-o', file])).status).toBe(0)
    expect(statSync(file).mode & 0o777).toBe(0o640)
    expect(readFileSync(file, 'utf8')).toContain('London')
  })

  it.each(['./same', 'x/../same', 'link', 'folder/same'])(
    'cannot be the file of the report, under any name: %s',
    async (name) => {
      const folder = freshFolder()
      symlinkSync('same', join(folder, 'link'))
      symlinkSync('.', join(folder, 'folder'))
      mkdirSync(join(folder, 'x'))
      const ran = await enrich(['-o', join(folder, 'same'), '--summary', `html=${folder}/${name}`])
      expect(ran).toEqual(failure(3, `${name} is a file that this run writes already`))
      expect(readdirSync(folder)).toEqual(['folder', 'link', 'x'])
    },
  )

  it('can be discarded together with the report', async () => {
    const ran = await enrich(['-o', devNull, '--summary', `html=${devNull}`, '--quiet'])
    expect(ran).toEqual({ status: 0, out: '', err: '' })
  })

  it.each([
    ['the path', 'log', []],
    ['a path', './x/../log', []],
    ['a symbolic link', 'link', []],
    ['another name', 'hard', []],
    ['the second input', 'log', ['other']],
    ['a name of compressed files', 'log.gz', []],
    ['a report', 'hard', [], '--summary', 'html='],
  ])('cannot be an input, by %s', async (_, name, first, flag = '-o', form = '') => {
    const folder = freshFolder()
    const at = (each: string): string => `${folder}/${each}`
    mkdirSync(at('x'))
    makeFile(at('other'), ndjson(3))
    const input = makeFile(
      at(name === 'log.gz' ? name : 'log'),
      name === 'log.gz' ? gzipSync(ndjson(3)) : ndjson(3),
    )
    linkSync(input, at('hard'))
    symlinkSync('hard', at('link'))
    const before = [readFileSync(input), readdirSync(folder)]
    const message = `geofix: ${at(name)} is a file that this run reads: write to another file\n`
    const ran = await enrich([...first.map(at), input, flag, `${form}${at(name)}`])
    expect(ran).toEqual(failure(3, message))
    expect([readFileSync(input), readdirSync(folder)]).toEqual(before)
  })

  it('cannot be the file with the key of pseudonyms', async () => {
    const text = `${'0'.repeat(64)}\n`
    const key = makeFile(join(freshFolder(), 'key'), text)
    const ran = await enrich(['--pseudonym', key, '--to', 'ndjson', '-o', key])
    expect(ran).toEqual(failure(3, `geofix: ${key} is a file that this run reads: write to another file\n`))
    expect(readFileSync(key, 'utf8')).toBe(text)
  })

  it.each([true, false])(
    'keeps a symbolic link, and writes its target, which is there: %s',
    async (isThere) => {
      const folder = freshFolder()
      if (isThere) writeFileSync(join(folder, 'target'), 'old')
      symlinkSync('target', join(folder, 'link'))
      expect((await enrich(['-o', join(folder, 'link')])).status).toBe(0)
      expect(readlinkSync(join(folder, 'link'))).toBe('target')
      expect(readFileSync(join(folder, 'target'), 'utf8')).toContain('"location"')
      expect(readdirSync(folder).sort()).toEqual(['link', 'target'])
    },
  )

  it('accepts the longest names that the system allows', async () => {
    const name = `${'ä'.repeat(125)}.1`
    const folder = freshFolder()
    expect((await enrich(['-o', join(folder, name)])).status).toBe(0)
    expect(readdirSync(folder)).toEqual([name])
  })

  it('writes to devices directly', async () => {
    expect((await enrich(['-o', '/dev/null'])).status).toBe(0)
    expect(statSync('/dev/null').isFile()).toBe(false)
  })

  it.each([
    ['with too long a name', 'x'.repeat(300), /the name is too long/],
    ['on a full device', '/dev/full', /no space is left on the device \(ENOSPC\)/],
    ['on a descriptor that is not open', '/dev/fd/999999', /the descriptor is not open.* \(EBADF\)/],
    ['on links that form a cycle', 'cycle', /too many symbolic links lead to it \(ELOOP\)/],
    ['on a full device after gzip', 'full.gz', /^geofix: \S+full\.gz cannot be written: no space is left/],
    ['as Zstandard without its folder', 'none/out.zst', /cannot be written/],
  ])('ends with 3 %s', async (_, name, message) => {
    const folder = freshFolder()
    symlinkSync('cycle', join(folder, 'cycle'))
    symlinkSync('/dev/full', join(folder, 'full.gz'))
    const { status, err } = await enrich(['-o', resolve(folder, name)])
    expect(status).toBe(3)
    expect(err).toMatch(/^geofix: .* cannot be written: /)
    expect(err).toMatch(message)
    expect(readdirSync(folder).filter((name) => name.endsWith('.partial'))).toEqual([])
  })

  it('leaves an existing file unchanged, and no other file, when the run fails', async () => {
    const folder = freshFolder()
    const file = makeFile(join(folder, 'out.ndjson'), 'old')
    async function* failing() {
      yield ndjson(30_000)
      expect(readdirSync(folder)).toHaveLength(2)
      throw new Error('gone')
    }
    const { status } = await enrich(['-o', file, '--summary', `html=${join(base, 'r.html')}`], failing())
    expect(status).toBe(4)
    expect(readdirSync(folder)).toEqual(['out.ndjson'])
    expect(readFileSync(file, 'utf8')).toBe('old')
    expect(existsSync(join(base, 'r.html'))).toBe(false)
  })

  it('leaves an existing file unchanged when the report cannot be written', async () => {
    const folder = freshFolder()
    const file = makeFile(join(folder, 'out.gz'), 'old')
    expect(await enrich(['-o', file, '--summary', 'html=/dev/full'])).toEqual(
      failure(3, '/dev/full cannot be written'),
    )
    expect(readdirSync(folder)).toEqual(['out.gz'])
    expect(readFileSync(file, 'utf8')).toBe('old')
  })
})

describe('CompressedOutput', () => {
  it('says which output cannot be written when compressing fails', async () => {
    const failing = new Transform({ transform: (_, __, done) => done(new Error('no memory is left')) })
    const fd = openSync('/dev/null', 'w')
    const output = new CompressedOutput(failing, new DescriptorOutput(fd, 'out.gz'), 'out.gz')
    await expect(output.write(Uint8Array.of(1))).rejects.toThrow(
      'out.gz cannot be written: no memory is left',
    )
    await expect(output.write(Uint8Array.of(2))).rejects.toThrow('out.gz cannot be written')
    await expect(output.finish()).rejects.toThrow('out.gz cannot be written')
    closeSync(fd)
  })
})
