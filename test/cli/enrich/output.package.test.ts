import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { ROOT } from '../../package/project.ts'
import { makeFile } from '../../temporary.ts'
import { start } from './child.ts'
import { ndjson, workspace } from './command-line.ts'

const { DB, freshFolder } = workspace()

/** Runs a script of bash, whose arguments are the built command with the small database. */
const bash = (script: string, args: readonly string[], input = '', cwd?: string) =>
  spawnSync(
    'bash',
    ['-c', script, process.execPath, join(ROOT, 'dist/cli.cjs'), 'enrich', '--db', DB, ...args],
    { cwd, input, encoding: 'utf8', timeout: 250_000 },
  )

describe('-o of geofix enrich', () => {
  it('leaves no report when the reader closes the pipe of the lines', async () => {
    const folder = freshFolder()
    const file = makeFile(join(folder, 'many.ndjson'), ndjson(30_000))
    const report = ['--summary', `html=${join(folder, 'half.html')}`]
    const child = start(['enrich', '--db', DB, '--quiet', file, ...report])
    child.stdout.once('data', () => child.stdout.destroy())
    const status = await new Promise((resolve) => child.on('close', resolve))
    expect(status).toBe(0)
    expect(readdirSync(folder).filter((name) => name.startsWith('half.html'))).toEqual([])
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
      "$0" "$@" ${args} --at 2026-07-01; for fd in 1 2 3; do echo after >&$fd; done`
    bash(script, ['--quiet'], ndjson(3), folder)
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
    const script = `mkfifo pipe; cat pipe > copy & "$0" "$@" -o /dev/fd/3 3> pipe; wait`
    const { stderr } = bash(script, ['--quiet'], ndjson(3000), folder)
    expect(stderr).toBe('')
    expect(readFileSync(join(folder, 'copy'), 'utf8').split('\n')).toHaveLength(3001)
  })

  it('ends with 3 when the disk is full after some lines', () => {
    const folder = freshFolder()
    // A bound of 64 KiB for files stands for a full disk.
    const script = `trap '' XFSZ; ulimit -f 64; exec "$0" "$@"`
    const { status, stderr } = bash(script, ['--quiet', '-o', join(folder, 'out')], ndjson(10_000))
    expect(stderr).toMatch(/out cannot be written: the file would be too large \(EFBIG\)/)
    expect(status).toBe(3)
    expect(readdirSync(folder)).toEqual([])
  })

  it.each([
    ['standard error is full', '2> /dev/full'],
    ['the reader of the report stops early', '--quiet --summary html=/dev/stdout | exec true'],
  ])('writes the file though %s', (_, rest) => {
    const file = join(freshFolder(), 'out')
    const script = `set -o pipefail; "$0" "$@" ${rest}`
    expect(bash(script, ['-o', file], ndjson(3)).status).toBe(0)
    expect(readFileSync(file, 'utf8').split('\n')).toHaveLength(4)
  })
})

describe('standard output of geofix enrich', () => {
  it.each(['1', '2'])('that is closed early ends with 0 and no message, on %s threads', (threads) => {
    const script = `yes '{"ip":"81.2.69.142"}' | "$0" "$@" | head -1; echo "\${PIPESTATUS[1]}"`
    const { stdout, stderr } = bash(script, ['--quiet', '--threads', threads])
    const [line = '', status] = stdout.trimEnd().split('\n')
    expect(JSON.parse(line).location.city).toBe('London')
    expect({ status, stderr }).toEqual({ status: '0', stderr: '' })
  })
})
