// Standard output as a process may have it: a file, a device, a pipe, a terminal. The process is this one.
import { spawnSync } from 'node:child_process'
import { closeSync, openSync } from 'node:fs'
import { join } from 'node:path'
import { PassThrough, Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { describe, expect, it } from 'vitest'
import { run } from '../../../src/cli/program.ts'
import type { Terminal } from '../../../src/cli/terminal.ts'
import { temporaryFolder } from '../../temporary.ts'
import { ndjson, writeDatabase } from './command-line.ts'

const folder = temporaryFolder()
const DB = writeDatabase(folder)

async function enrich(stdout: Terminal['stdout'], args: readonly string[] = [], input = ndjson(30)) {
  const stderr = new PassThrough()
  const err = text(stderr)
  const stdin = Readable.from([input])
  const status = await run(['enrich', '--db', DB, '--quiet', ...args], { stdin, stdout, stderr })
  stderr.end()
  return { status, err: await err }
}

/** Runs with standard output on a descriptor. */
async function into(path: string, flags: string, args: readonly string[] = []) {
  const fd = openSync(path, flags)
  const stdout = Object.assign(new PassThrough(), { fd })
  const outcome = await enrich(stdout, args)
  closeSync(fd)
  stdout.end()
  return { ...outcome, streamed: await text(stdout) }
}

describe('standard output', () => {
  it('is written through its stream if it is a terminal or a pipe', async () => {
    const fd = openSync(join(folder, 'terminal'), 'w')
    const terminal = Object.assign(new PassThrough(), { fd, isTTY: true })
    expect(await enrich(terminal)).toEqual({ status: 0, err: '' })
    terminal.end()
    closeSync(fd)
    expect((await text(terminal)).split('\n')).toHaveLength(31)
    const pipe = join(folder, 'pipe')
    expect(spawnSync('mkfifo', [pipe]).status).toBe(0)
    const { streamed } = await into(pipe, 'r+')
    expect(streamed.split('\n')).toHaveLength(31)
  })
})
