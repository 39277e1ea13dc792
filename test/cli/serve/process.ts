import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { ROOT } from '../../package/project.ts'
import { outcomeOf, start } from '../enrich/child.ts'
import { readLog } from './running.ts'

/**
 * Starts the built `geofix serve`, at any free port and without a drain time unless the arguments have them, and waits until it
 * listens. It is killed when the test ends.
 */
export const startServe = (...args: string[]) => startServeWith(undefined, ...args)

/** @param descriptors how many files and sockets it may open */
export async function startServeWith(descriptors: number | undefined, ...args: string[]) {
  const drain = args.some((arg) => arg.startsWith('--drain')) ? [] : ['--drain', '0']
  const anyPort = args.includes('--port') ? [] : ['--port', '0']
  const all = ['serve', ...anyPort, ...drain, ...args]
  const limit = ['-c', `ulimit -n ${descriptors}; exec "$@"`, 'sh']
  const child =
    descriptors === undefined
      ? start(all)
      : spawn('sh', [...limit, process.execPath, join(ROOT, 'dist/cli.cjs'), ...all])
  onTestFinished(() => void child.kill('SIGKILL'))
  const outcome = outcomeOf(child)
  const { lines, until } = readLog(child.stdout)
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
