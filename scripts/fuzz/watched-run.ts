import { Worker } from 'node:worker_threads'
import { encodeSeed } from '../../test/fuzz/seed.ts'
import type { Target } from '../../test/fuzz/target.ts'
import { generate } from './generate.ts'
import { Heartbeat } from './heartbeat.ts'
import type { Assignment, Found } from './serve.ts'

/** Limits for one input. */
export interface Limits {
  /** Milliseconds. */
  readonly hangMs: number
  /** Growth of the process, in bytes. */
  readonly memory: number
}

export const LIMITS: Limits = { hangMs: 5000, memory: 1.5 * 2 ** 30 }

/** JavaScript heap of a worker, without the bytes of buffers. */
const MAX_HEAP_MB = 512
/** How often the watchdog checks the worker. */
const WATCH_INTERVAL_MS = 200
/** Time for a worker to load and compile the library. */
const MAX_START_MS = 30_000

export interface TargetRun {
  readonly target: string
  readonly executions: number
  /** Seconds. */
  readonly time: number
  readonly found: Found | null
}

/** Runs one target in a thread, under a watchdog that detects inputs that hang or use too much memory. */
export async function watchedRun(
  script: string,
  target: Target,
  assignment: Omit<Assignment, 'memory' | 'target'>,
  stop: AbortSignal,
  limits: Limits = LIMITS,
): Promise<TargetRun> {
  const heartbeat = new Heartbeat()
  const workerData: Assignment = { ...assignment, target: target.name, memory: heartbeat.memory }
  const began = performance.now()
  const found = await new Promise<Found | null>((resolve, reject) => {
    const worker = new Worker(script, { workerData, resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MB } })
    const rss = process.memoryUsage.rss()
    let last = { executions: 0, at: began }
    const end = (result: Found | null): void => {
      clearInterval(watchdog)
      stop.removeEventListener('abort', stopped)
      worker.terminate().then(() => resolve(result), reject)
    }
    const stopped = (): void => end(null)
    const watchdog = setInterval(() => {
      const { executions } = heartbeat
      const now = performance.now()
      if (executions !== last.executions) last = { executions, at: now }
      const limit = executions === 0 ? Math.max(MAX_START_MS, limits.hangMs) : limits.hangMs
      if (now - last.at > limit) end(stuck(target, heartbeat, `it takes more than ${limits.hangMs} ms`))
      else if (process.memoryUsage.rss() - rss > limits.memory)
        end(stuck(target, heartbeat, 'it takes too much memory'))
    }, WATCH_INTERVAL_MS)
    stop.addEventListener('abort', stopped)
    worker.once('message', end)
    worker.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'ERR_WORKER_OUT_OF_MEMORY') end(stuck(target, heartbeat, 'it takes too much memory'))
      else {
        clearInterval(watchdog)
        reject(error)
      }
    })
    if (stop.aborted) stopped()
  })
  const time = (performance.now() - began) / 1e3
  return { target: target.name, executions: heartbeat.executions, time, found }
}

/** The input that a worker was running or minimising. */
function stuck({ inputs }: Target, heartbeat: Heartbeat, failure: string): Found {
  const input = generate(inputs, heartbeat.seed).value
  return { seed: encodeSeed({ note: `Found by npm run fuzz: ${failure}`, input }), failure }
}
