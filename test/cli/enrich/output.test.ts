import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { basename, join } from 'node:path'
import { Transform } from 'node:stream'
import { gunzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { CompressedOutput, DescriptorOutput } from '../../../src/cli/enrich/output.ts'
import { ROOT } from '../../package/project.ts'
import { temporaryFolder } from '../../temporary.ts'
import { geofix, ndjson, start, writeDatabase } from './command-line.ts'

const base = temporaryFolder()
const DB = writeDatabase(base)
let count = 0

/** A folder of its own for each test, so that what is left behind can be seen. */
function freshFolder(): string {
  const folder = join(base, `folder-${count++}`)
  mkdirSync(folder)
  return folder
}

const enrich = (args: readonly string[], input: string | AsyncIterable<string> = ndjson(30)) =>
  geofix(['enrich', '--db', DB, '--quiet', ...args], { input })

describe('-o of geofix enrich', () => {
  it('writes the lines to the file, and nothing to standard output', async () => {
    const folder = freshFolder()
    const { status, out } = await enrich(['--at', '2026-07-01', '-o', join(folder, 'out.ndjson')])
    expect({ status, out }).toEqual({ status: 0, out: '' })
    expect(readdirSync(folder)).toEqual(['out.ndjson'])
    const expected = await enrich(['--at', '2026-07-01'])
    expect(readFileSync(join(folder, 'out.ndjson'), 'utf8')).toBe(expected.out)
  })

  it('creates a file with the default mode', async () => {
    const folder = freshFolder()
    await enrich(['-o', join(folder, 'out')])
    writeFileSync(join(folder, 'usual'), '')
    expect(statSync(join(folder, 'out')).mode).toBe(statSync(join(folder, 'usual')).mode)
  })

  it('keeps the permissions of the file that it replaces', async () => {
    const folder = freshFolder()
    const file = join(folder, 'secret.ndjson')
    writeFileSync(file, ndjson(3))
    chmodSync(file, 0o640)
    expect((await geofix(['enrich', '--db', DB, file, '-o', file])).status).toBe(0)
    expect(statSync(file).mode & 0o777).toBe(0o640)
    expect(readFileSync(file, 'utf8')).toContain('London')
  })

  it('cannot be the file of the report, under any name', async () => {
    const folder = freshFolder()
    const { status, err } = await geofix([
      ...['enrich', '--db', DB, '-o', join(folder, 'same')],
      ...['--summary', `html=${folder}/../${basename(folder)}/same`],
    ])
    expect([status, err]).toEqual([2, expect.stringContaining('the same file')])
  })

  it('leaves no report when the reader closes the pipe of the lines', async () => {
    const folder = freshFolder()
    const file = join(folder, 'many.ndjson')
    writeFileSync(file, ndjson(30_000))
    const child = start([
      'enrich',
      '--db',
      DB,
      '--quiet',
      file,
      '--summary',
      `html=${join(folder, 'half.html')}`,
    ])
    child.stdout.once('data', () => child.stdout.destroy())
    const status = await new Promise((resolve) => child.on('close', resolve))
    expect(status).toBe(0)
    expect(readdirSync(folder).filter((name) => name.startsWith('half.html'))).toEqual([])
  })

  it('compresses .gz', async () => {
    const folder = freshFolder()
    const { status } = await enrich(['--at', '2026-07-01', '-o', join(folder, 'out.gz')], ndjson(20_000))
    expect(status).toBe(0)
    const expected = await enrich(['--at', '2026-07-01'], ndjson(20_000))
    expect(gunzipSync(readFileSync(join(folder, 'out.gz'))).toString()).toBe(expected.out)
  })

  it('can be one of the inputs', async () => {
    const file = join(freshFolder(), 'log.ndjson')
    writeFileSync(file, ndjson(30_000))
    const { status } = await enrich([file, '-o', file])
    expect(status).toBe(0)
    const lines = readFileSync(file, 'utf8').trimEnd().split('\n')
    expect(lines).toHaveLength(30_000)
    expect(lines.every((line) => 'location' in JSON.parse(line))).toBe(true)
  })

  it('keeps a symbolic link, and replaces its target', async () => {
    const folder = freshFolder()
    writeFileSync(join(folder, 'target'), 'old')
    symlinkSync('target', join(folder, 'link'))
    await enrich(['-o', join(folder, 'link')])
    expect(readlinkSync(join(folder, 'link'))).toBe('target')
    expect(readFileSync(join(folder, 'target'), 'utf8')).toContain('"location"')
  })

  it('writes to the target of a link, even if it does not exist', async () => {
    const folder = freshFolder()
    symlinkSync('target', join(folder, 'link'))
    expect((await enrich(['-o', join(folder, 'link')])).status).toBe(0)
    expect(readlinkSync(join(folder, 'link'))).toBe('target')
    expect(readFileSync(join(folder, 'target'), 'utf8')).toContain('"location"')
    expect(readdirSync(folder).sort()).toEqual(['link', 'target'])
  })

  it('ends with 3 on links that form a cycle', async () => {
    const folder = freshFolder()
    symlinkSync('link', join(folder, 'link'))
    const { status, err } = await enrich(['-o', join(folder, 'link')])
    expect([status, err]).toEqual([3, expect.stringMatching(/too many symbolic links lead to it \(ELOOP\)/)])
  })

  it.each([
    ['-o /dev/stdout', 'out'],
    ['-o /proc/self/fd/1', 'out'],
    ['-o /dev/fd/3', 'three'],
    ['-o /dev/stderr', 'err'],
    ['--summary html=/dev/stderr', 'err'],
    ['--summary html=/dev/fd/3', 'three'],
  ])('writes to the descriptor that it names: %s', (args, into) => {
    const folder = freshFolder()
    const script = `exec >out 2>err 3>three; for fd in 1 2 3; do echo before >&$fd; done
      "$@" ${args} --at 2026-07-01; for fd in 1 2 3; do echo after >&$fd; done`
    const command = [process.execPath, join(ROOT, 'dist/cli.js'), 'enrich', '--db', DB, '--quiet']
    spawnSync('bash', ['-c', script, 'bash', ...command], { cwd: folder, input: ndjson(3) })
    expect(readdirSync(folder).sort()).toEqual(['err', 'out', 'three'])
    for (const name of ['err', 'out', 'three']) {
      const text = readFileSync(join(folder, name), 'utf8')
      expect(text).toMatch(/^before\n(.*\n)*after\n$/)
      const isEmpty = name !== into && !(args.startsWith('--summary') && name === 'out')
      if (isEmpty) expect(text).toBe('before\nafter\n')
      else expect(text).toContain('London')
    }
  })

  it('writes to a pipe on another descriptor', () => {
    const folder = freshFolder()
    const script = `mkfifo pipe; cat pipe > copy & "$@" -o /dev/fd/3 3> pipe; wait`
    const command = [process.execPath, join(ROOT, 'dist/cli.js'), 'enrich', '--db', DB, '--quiet']
    const { stderr } = spawnSync('bash', ['-c', script, 'bash', ...command], {
      cwd: folder,
      input: ndjson(3000),
      encoding: 'utf8',
    })
    expect(stderr).toBe('')
    expect(readFileSync(join(folder, 'copy'), 'utf8').split('\n')).toHaveLength(3001)
  })

  it('ends with 3 on a descriptor that is not open', async () => {
    const { status, err } = await enrich(['-o', '/dev/fd/999999'])
    expect([status, err]).toEqual([3, expect.stringMatching(/the descriptor is not open.* \(EBADF\)/)])
  })

  it('accepts the longest names that the system allows', async () => {
    const name = `${'ä'.repeat(125)}.x`
    const folder = freshFolder()
    expect((await enrich(['-o', join(folder, name)])).status).toBe(0)
    expect(readdirSync(folder)).toEqual([name])
  })

  it('is standard output as -', async () => {
    expect((await enrich(['-o', '-'])).out.split('\n')).toHaveLength(31)
  })

  it('writes to devices directly', async () => {
    expect((await enrich(['-o', '/dev/null'])).status).toBe(0)
    expect(statSync('/dev/null').isFile()).toBe(false)
  })

  it.each([
    [
      'in a folder that does not exist',
      (folder: string) => join(folder, 'none', 'out'),
      /no such file or directory \(ENOENT\)/,
    ],
    [
      'with a file in place of its folder',
      (folder: string) => {
        writeFileSync(join(folder, 'file'), '')
        return join(folder, 'file', 'out')
      },
      /a part of its path is not a directory \(ENOTDIR\)/,
    ],
    ['on a directory', (folder: string) => folder, /it is a directory \(EISDIR\)/],
    [
      'with a name that is too long',
      (folder: string) => join(folder, 'x'.repeat(300)),
      /the name is too long/,
    ],
    ['on a full device', () => '/dev/full', /no space is left on the device \(ENOSPC\)/],
    [
      'as Zstandard in a folder that does not exist',
      (folder: string) => join(folder, 'none', 'out.zst'),
      /cannot be written/,
    ],
  ])('ends with 3 %s', async (_, path, message) => {
    const folder = freshFolder()
    const { status, err } = await enrich(['-o', path(folder)])
    expect(status).toBe(3)
    expect(err).toMatch(/^geofix: .* cannot be written: /)
    expect(err).toMatch(message)
    expect(readdirSync(folder).filter((name) => name.endsWith('.partial'))).toEqual([])
  })

  it.each([['a full device after gzip', '/dev/full', 3]])('ends with 3 on %s', async (_, path, expected) => {
    const folder = freshFolder()
    symlinkSync(path, join(folder, 'full.gz'))
    const { status, err } = await enrich(['-o', join(folder, 'full.gz')], ndjson(30_000))
    expect(status).toBe(expected)
    expect(err).toMatch(/ENOSPC/)
  })

  it('ends with 3 when the disk is full after some lines', () => {
    const folder = freshFolder()
    // A bound of 64 KiB for files stands for a full disk.
    const script = `trap '' XFSZ; ulimit -f 64; exec "$0" "$@"`
    const cli = [join(ROOT, 'dist/cli.js'), 'enrich', '--db', DB, '--quiet', '-o', join(folder, 'out')]
    const { status, stderr } = spawnSync('bash', ['-c', script, process.execPath, ...cli], {
      input: ndjson(10_000),
      encoding: 'utf8',
    })
    expect(stderr).toMatch(/out cannot be written: the file would be too large \(EFBIG\)/)
    expect(status).toBe(3)
    expect(readdirSync(folder)).toEqual([])
  })

  it('leaves an existing file unchanged, and no other file, when the run fails', async () => {
    const folder = freshFolder()
    const file = join(folder, 'out.ndjson')
    writeFileSync(file, 'old')
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
    const file = join(folder, 'out.gz')
    writeFileSync(file, 'old')
    const { status, err } = await enrich(['-o', file, '--summary', 'html=/dev/full'])
    expect([status, err]).toEqual([3, expect.stringContaining('/dev/full cannot be written')])
    expect(readdirSync(folder)).toEqual(['out.gz'])
    expect(readFileSync(file, 'utf8')).toBe('old')
  })

  it.each([
    ['standard error is full', '2> /dev/full'],
    ['the reader of the report stops early', '--quiet --summary html=/dev/stdout | exec true'],
  ])('writes the file though %s', (_, rest) => {
    const file = join(freshFolder(), 'out')
    const script = `set -o pipefail; "$0" "$@" ${rest}`
    const cli = [join(ROOT, 'dist/cli.js'), 'enrich', '--db', DB, '-o', file]
    const { status } = spawnSync('bash', ['-c', script, process.execPath, ...cli], { input: ndjson(3) })
    expect(status).toBe(0)
    expect(readFileSync(file, 'utf8').split('\n')).toHaveLength(4)
  })

  it('checks the file of the report before it reads', async () => {
    const folder = freshFolder()
    const { status, err } = await enrich([
      '-o',
      join(folder, 'out'),
      '--summary',
      `html=${folder}/none/r.html`,
    ])
    expect(status).toBe(3)
    expect(err).toMatch(/r\.html cannot be written/)
    expect(readdirSync(folder)).toEqual([])
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

describe('standard output of geofix enrich', () => {
  const cli = [join(ROOT, 'dist/cli.js'), 'enrich', '--db', DB, '--quiet']

  it('that is full ends with 3', () => {
    const full = openSync('/dev/full', 'w')
    const { status, stderr } = spawnSync(process.execPath, cli, {
      input: ndjson(10),
      stdio: ['pipe', full, 'pipe'],
      encoding: 'utf8',
    })
    closeSync(full)
    expect(stderr).toBe(
      'geofix: standard output cannot be written: no space is left on the device (ENOSPC)\n',
    )
    expect(status).toBe(3)
  })

  it('that is a file gets every line', () => {
    const path = join(base, 'redirected')
    const file = openSync(path, 'w')
    const { status } = spawnSync(process.execPath, cli, {
      input: ndjson(30_000),
      stdio: ['pipe', file, 'pipe'],
    })
    closeSync(file)
    expect(status).toBe(0)
    expect(readFileSync(path, 'utf8').trimEnd().split('\n')).toHaveLength(30_000)
  })

  it('that is also an input ends with 3, because reading would never end', () => {
    const path = join(base, 'appended')
    writeFileSync(path, ndjson(10))
    const file = openSync(path, 'a')
    const { status, stderr } = spawnSync(process.execPath, [...cli, path], {
      stdio: ['ignore', file, 'pipe'],
      encoding: 'utf8',
    })
    closeSync(file)
    expect(status).toBe(3)
    expect(stderr).toMatch(/is both input and output: use -o /)
    expect(readFileSync(path, 'utf8')).toBe(ndjson(10))
  })

  it.each(['1', '2'])('that is closed early ends with 0 and no message, on %s threads', (threads) => {
    const script = `yes '{"ip":"81.2.69.142"}' | "$0" "$@" | head -1; echo "\${PIPESTATUS[1]}"`
    const { stdout, stderr } = spawnSync(
      'bash',
      ['-c', script, process.execPath, ...cli, '--threads', threads],
      { encoding: 'utf8', timeout: 250_000 },
    )
    const [line = '', status] = stdout.trimEnd().split('\n')
    expect(JSON.parse(line).location.city).toBe('London')
    expect({ status, stderr }).toEqual({ status: '0', stderr: '' })
  })
})
