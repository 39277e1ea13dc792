import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { onTestFinished } from 'vitest'

const program = ['valkey-server', 'redis-server'].find((name) => spawnSync(name, ['--version']).status === 0)

export const hasValkey = program !== undefined
if (!hasValkey) console.warn('valkey or redis is not installed: tests of shared limits are skipped')

/** Starts a real Valkey or Redis without files, until the end of the test, and waits until it accepts connections. */
export async function startValkey(port: number): Promise<ChildProcess> {
  const args = ['--port', String(port), '--bind', '127.0.0.1', '--save', '']
  const child = spawn(program ?? '', args, { stdio: ['ignore', 'pipe', 'inherit'] })
  onTestFinished(() => void child.kill('SIGKILL'))
  for await (const line of child.stdout.iterator({ destroyOnReturn: false })) {
    if (String(line).includes('accept connections')) break
  }
  child.stdout.resume()
  return child
}

export async function ended(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  const exit = once(child, 'exit')
  child.kill(signal)
  await exit
}
