import { type ChildProcessWithoutNullStreams, execFileSync, spawn } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { setTimeout as delay } from 'node:timers/promises'
import { ROOT } from '../../package/project.ts'
import type { Outcome } from './command-line.ts'

/** Makes a named pipe. */
export function makePipe(folder: string, name: string): string {
  const path = join(folder, name)
  execFileSync('mkfifo', [path])
  return path
}

/** Starts the built command line as a process of its own. */
export function start(
  args: readonly string[],
  env: NodeJS.ProcessEnv = process.env,
): ChildProcessWithoutNullStreams {
  const child = spawn(process.execPath, [join(ROOT, 'dist/cli.cjs'), ...args], { env })
  // A process that ended reads no more.
  child.stdin.on('error', () => {})
  return child
}

/** Waits until a process takes SIGHUP, where the system tells, or for some seconds. Node itself takes SIGTERM from the start. */
export async function untilTakesHangup(pid: number | undefined): Promise<void> {
  const status = `/proc/${pid}/status`
  if (!existsSync(status)) return delay(4000)
  for (let waited = 0; waited < 120_000; waited += 10) {
    // The lowest bit is SIGHUP.
    const [, mask = '0'] = /^SigCgt:\s*([\da-f]+)$/m.exec(readFileSync(status, 'utf8')) ?? []
    if ((Number.parseInt(mask.slice(-8), 16) & 1) !== 0) return
    await delay(10)
  }
  throw new Error('waited in vain for a process that takes SIGHUP')
}

/** Waits for a process: its status, or -1 when a signal ended it. */
export async function outcomeOf(child: ChildProcessWithoutNullStreams): Promise<Outcome> {
  const ended = new Promise<number>((resolve) => child.on('close', (code) => resolve(code ?? -1)))
  const [out, err, status] = await Promise.all([text(child.stdout), text(child.stderr), ended])
  return { status, out, err }
}
