// Standard output as a process may have it: a file, a device, a pipe, a terminal. The process is this one.
import { closeSync, openSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { PassThrough, Readable, Writable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { describe, expect, it } from 'vitest'
import { ClosedPipe, StreamOutput } from '../../../src/cli/enrich/output.ts'
import { run } from '../../../src/cli/program.ts'
import type { Terminal } from '../../../src/cli/terminal.ts'
import { makeFile } from '../../temporary.ts'
import { ndjson, workspace } from './command-line.ts'

const { folder, DB } = workspace()

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

/** A stream that fails as it is written to. */
function failing(code: string | undefined): Writable {
  return new Writable({
    write: (_chunk, _encoding, done) => done(Object.assign(new Error('failed'), { code })),
  })
}

describe('standard output', () => {
  it('is written without its stream if it is a file', async () => {
    const path = join(folder, 'redirected')
    expect(await into(path, 'w')).toEqual({ status: 0, err: '', streamed: '' })
    expect(readFileSync(path, 'utf8').trimEnd().split('\n')).toHaveLength(30)
  })

  it('is written through its stream if it is a terminal', async () => {
    const fd = openSync(join(folder, 'terminal'), 'w')
    const terminal = Object.assign(new PassThrough(), { fd, isTTY: true })
    expect(await enrich(terminal)).toEqual({ status: 0, err: '' })
    terminal.end()
    closeSync(fd)
    expect((await text(terminal)).split('\n')).toHaveLength(31)
  })

  it('ends with 3 on a full device', async () => {
    expect(await into('/dev/full', 'w')).toMatchObject({
      status: 3,
      err: 'geofix: standard output cannot be written: no space is left on the device (ENOSPC)\n',
    })
  })

  it('is refused if it is also an input, because reading would never end', async () => {
    const path = makeFile(join(folder, 'appended'), ndjson(3))
    expect(await into(path, 'a', [path])).toMatchObject({
      status: 3,
      err: 'geofix: standard output is a file that this run reads: write to another file\n',
    })
    expect(readFileSync(path, 'utf8')).toBe(ndjson(3))
  })

  it.each(['EPIPE', 'ECONNRESET'])('whose reader closes it (%s) ends with 0 and no message', async (code) => {
    expect(await enrich(failing(code))).toEqual({ status: 0, err: '' })
  })

  it.each([
    ['ENOSPC', 'no space is left on the device (ENOSPC)'],
    [undefined, 'failed'],
  ])('that fails with %s ends with 3', async (code, why) => {
    expect(await enrich(failing(code))).toEqual({
      status: 3,
      err: `geofix: standard output cannot be written: ${why}\n`,
    })
  })
})

describe('StreamOutput', () => {
  it('writes nothing more once its stream has failed', async () => {
    const output = new StreamOutput(failing('ENOSPC'), 'it')
    await expect(output.write(Buffer.from('a'))).rejects.toThrow('it cannot be written')
    await expect(output.write(Buffer.from('b'))).rejects.toThrow('it cannot be written')
    await expect(output.finish()).rejects.toThrow('it cannot be written')
  })

  it('treats a stream that other code closed or ended as closed by its reader', async () => {
    const destroyed = new PassThrough()
    const output = new StreamOutput(destroyed, 'it')
    const writing = output.write(Buffer.alloc(1_000_000))
    destroyed.destroy()
    await expect(writing).rejects.toThrow(ClosedPipe)
    const ended = new PassThrough()
    const other = new StreamOutput(ended, 'it')
    ended.end()
    await new Promise((resolve) => ended.once('finish', resolve))
    await new Promise((resolve) => setImmediate(resolve))
    await expect(other.write(Buffer.from('a'))).rejects.toThrow(ClosedPipe)
  })

  it('stops watching its stream when it is discarded', () => {
    const stream = new PassThrough()
    const before = stream.listenerCount('close')
    const output = new StreamOutput(stream, 'it')
    expect(stream.listenerCount('close')).toBeGreaterThan(before)
    output.discard()
    expect(stream.listenerCount('close')).toBe(before)
  })
})
