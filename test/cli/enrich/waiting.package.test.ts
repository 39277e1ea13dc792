// Pipes whose other end does nothing: a run that waits for one can be ended.
import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync, constants, openSync, readdirSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { setTimeout as pause } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import { describe, expect, it, onTestFinished } from 'vitest'
import { makePipe, outcomeOf, start, untilTakesHangup } from './child.ts'
import { ndjson, workspace } from './command-line.ts'

const { folder, DB } = workspace()
let count = 0

/** A second is what is promised; a busy machine has its own. Milliseconds. */
const GENEROUS_MS = 20_000

const namedPipe = (): string => makePipe(folder, `pipe-${count++}`)

/** Opens one end of a pipe, which is there until the test ends. */
function hold(path: string, flags: number): number {
  const fd = openSync(path, flags)
  onTestFinished(() => closeSync(fd))
  return fd
}

/** Waits until a run takes signals, and some time more. */
async function untilWaiting({ pid }: ChildProcess): Promise<void> {
  await untilTakesHangup(pid)
  await pause(700)
}

function run(...args: string[]) {
  const child = start(['enrich', '--db', DB, '--quiet', ...args])
  onTestFinished(() => void child.kill('SIGKILL'))
  return child
}

/** What another program, which has the other end of a pipe, writes. */
async function outputOf(
  command: string,
  args: readonly string[],
  input: string | Uint8Array = '',
): Promise<string> {
  const child = spawn(command, args)
  child.stdin.on('error', () => {}).end(input)
  onTestFinished(() => void child.kill('SIGKILL'))
  return text(child.stdout)
}

/** What a run ends with that is to end now. */
async function ending(child: ReturnType<typeof start>) {
  const late = pause(GENEROUS_MS).then(() => 'it is still running')
  return Promise.race([outcomeOf(child), late])
}

const { O_NONBLOCK, O_RDONLY, O_RDWR } = constants

describe('a signal ends geofix enrich', () => {
  it.each<[what: string, signal: 'SIGTERM' | 'SIGHUP', begin: (pipe: string) => ReturnType<typeof start>]>([
    ['it opens a named pipe that nobody writes', 'SIGTERM', (pipe) => run(pipe)],
    [
      'it reads a named pipe whose writer is silent',
      'SIGHUP',
      (pipe) => {
        const child = run(pipe)
        writeSync(hold(pipe, O_RDWR), ndjson(3))
        return child
      },
    ],
    [
      'it opens a named pipe that nobody reads',
      'SIGTERM',
      (pipe) => {
        const child = run('-o', pipe)
        child.stdin.write(ndjson(3))
        return child
      },
    ],
    [
      'it writes to a named pipe that nobody reads',
      'SIGHUP',
      (pipe) => {
        hold(pipe, O_RDONLY | O_NONBLOCK)
        const child = run('-o', pipe)
        child.stdin.write(ndjson(20_000))
        return child
      },
    ],
    ['it opens a named pipe for the report', 'SIGTERM', (pipe) => run('--summary', `html=${pipe}`)],
    ['it opens a named pipe for a database', 'SIGTERM', (pipe) => run('--db', pipe)],
  ])('while %s', async (_, signal, begin) => {
    const child = begin(namedPipe())
    await untilWaiting(child)
    child.kill(signal)
    expect(await ending(child)).toEqual({
      status: signal === 'SIGTERM' ? 143 : 129,
      out: expect.any(String),
      err: expect.stringMatching(new RegExp(`^geofix: interrupted by ${signal} `)),
    })
  })
})

describe('an error ends geofix enrich', () => {
  it('about the output, while the input is silent', async () => {
    const pipe = namedPipe()
    const fromPipe = run(pipe, '-o', '/dev/full')
    writeSync(hold(pipe, O_RDWR), ndjson(3))
    const fromStdin = run('-o', '/dev/full')
    fromStdin.stdin.write(ndjson(3))
    for (const outcome of await Promise.all([ending(fromPipe), ending(fromStdin)])) {
      expect(outcome).toMatchObject({ status: 3, err: expect.stringContaining('ENOSPC') })
    }
  })

  it('about a line, while the input is silent', async () => {
    const child = run('--on-bad-line', 'fail')
    child.stdin.write(`${ndjson(3)}rubbish\n`)
    expect(await ending(child)).toMatchObject({ status: 1, err: expect.stringContaining('line 4') })
  })

  it('about an input, while a database is a silent pipe', async () => {
    const child = run('--db', namedPipe(), join(folder, 'missing.log'))
    expect(await ending(child)).toMatchObject({ status: 4, err: expect.stringContaining('missing.log') })
  })
})

describe('a named pipe', () => {
  it('is read until its writer closes it, even if the writer starts late or writes nothing', async () => {
    for (const [lines, bytes] of [
      [30_000, ndjson(30_000)],
      [100, gzipSync(ndjson(100))],
      [0, ''],
    ] as const) {
      const pipe = namedPipe()
      const child = run(pipe)
      const outcome = outcomeOf(child)
      await untilWaiting(child)
      await outputOf('sh', ['-c', 'cat > "$0"', pipe], bytes)
      const { status, out } = await outcome
      expect({ status, lines: out.split('\n').length - 1 }).toEqual({ status: 0, lines })
    }
  })

  it('is written as soon as it has a reader, and ends with the run', async () => {
    const pipe = namedPipe()
    const child = run('-o', pipe)
    child.stdin.end(ndjson(30_000))
    await untilWaiting(child)
    expect((await outputOf('cat', [pipe])).split('\n')).toHaveLength(30_001)
    expect((await outcomeOf(child)).status).toBe(0)
    expect(readdirSync(folder).filter((name) => name.endsWith('.partial'))).toEqual([])
  })

  it('whose reader closes it ends the run with 0 and no message', async () => {
    const pipe = namedPipe()
    const child = run('-o', pipe)
    child.stdin.end(ndjson(30_000))
    expect(JSON.parse(await outputOf('head', ['-n', '1', pipe])).id).toBe(0)
    expect(await outcomeOf(child)).toEqual({ status: 0, out: '', err: '' })
  })

  it('can contain a database', async () => {
    const pipe = namedPipe()
    const child = start(['enrich', '--db', pipe, '--quiet'])
    child.stdin.end(ndjson(3))
    const out = text(child.stdout)
    await outputOf('sh', ['-c', 'cat "$1" > "$0"', pipe, DB])
    expect(await out).toContain('London')
  })
})
