import { setTimeout as delay } from 'node:timers/promises'
import { onTestFinished } from 'vitest'
import { outcomeOf, start } from '../enrich/child.ts'

/**
 * Starts the built `geofix serve`, at any free port and without a drain time unless the arguments have them, and waits until it
 * listens. It is killed when the test ends.
 */
export async function startServe(...args: string[]) {
  const drain = args.some((arg) => arg.startsWith('--drain')) ? [] : ['--drain', '0']
  const anyPort = args.includes('--port') ? [] : ['--port', '0']
  const child = start(['serve', ...anyPort, ...drain, ...args])
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
  return {
    child,
    outcome,
    lines,
    until,
    port: Number(port),
    origin: `http://127.0.0.1:${port}`,
    metrics: `http://127.0.0.1:${metricsPort}`,
  }
}
