import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { onTestFinished } from 'vitest'
import { ROOT } from '../../package/project.ts'
import { outcomeOf, start } from '../enrich/child.ts'

interface Surroundings {
  readonly env?: NodeJS.ProcessEnv
  /** How many files and sockets it may open. */
  readonly descriptors?: number
}

/**
 * Starts the built `geofix serve`, at any free port and without a drain time unless the arguments have them, and waits until it
 * listens. It is killed when the test ends.
 */
export const startServe = (...args: string[]) => startServeIn({}, ...args)

export async function startServeIn({ env, descriptors }: Surroundings, ...args: string[]) {
  const drain = args.some((arg) => arg.startsWith('--drain')) ? [] : ['--drain', '0']
  const anyPort = args.includes('--port') ? [] : ['--port', '0']
  const all = ['serve', ...anyPort, ...drain, ...args]
  const limit = ['-c', `ulimit -n ${descriptors}; exec "$@"`, 'sh']
  const child =
    descriptors === undefined
      ? start(all, env)
      : spawn('sh', [...limit, process.execPath, join(ROOT, 'dist/cli.cjs'), ...all])
  onTestFinished(() => void child.kill('SIGKILL'))
  const outcome = outcomeOf(child)
  let out = ''
  child.stdout.on('data', (chunk) => {
    out += chunk
  })
  const lines = (): Record<string, unknown>[] =>
    out
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line))
  /** The line of an event that comes for the `count`th time. */
  const until = async (event: string, count = 1) => {
    for (let waited = 0; waited < 120_000; waited += 20) {
      const found = lines().filter((line) => line.event === event)
      if (found.length >= count) return found[count - 1] ?? {}
      await delay(20)
    }
    throw new Error(`no ${event} in: ${out}`)
  }
  const { port, metricsPort } = await until('listening')
  /** Ends it by a signal. @returns its status */
  const stop = async (signal: NodeJS.Signals = 'SIGTERM') => {
    child.kill(signal)
    return (await outcome).status
  }
  const at = (each: unknown): string => `http://127.0.0.1:${each}`
  return {
    child,
    outcome,
    stop,
    lines,
    until,
    port: Number(port),
    origin: at(port),
    metrics: at(metricsPort),
  }
}
