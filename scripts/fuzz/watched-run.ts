import { Worker } from 'node:worker_threads'
import { encodeSeed } from '../../test/fuzz/seed.ts'
import type { Target } from '../../test/fuzz/target.ts'
import { Pulse } from './pulse.ts'
import { generate } from './seeded-source.ts'
import type { Assignment, Found } from './serve.ts'

/** Bounds of one input. */
export interface Limits {
  /** Milliseconds. */
  readonly hang: number
  /** That the process may grow by, in bytes. */
  readonly memory: number
}

export const LIMITS: Limits = { hang: 5000, memory: 1.5 * 2 ** 30 }

/** Objects of a worker: JavaScript's heap without the bytes of buffers. MiB. */
const HEAP = 512
/** Between two looks. Milliseconds. */
const LOOK = 200
/** A worker loads the library and V8 compiles it. Milliseconds. */
const START = 30_000

export interface TargetRun {
  readonly target: string
  readonly executions: number
  /** Seconds. */
  readonly time: number
  readonly found: Found | null
}

/** One target in a thread of its own, under a watchdog: what hangs or eats memory is found, not suffered. */
export async function watchedRun(
  script: string,
  target: Target,
  assignment: Omit<Assignment, 'memory' | 'target'>,
  stop: AbortSignal,
  limits: Limits = LIMITS,
): Promise<TargetRun> {
  const pulse = new Pulse()
  const workerData: Assignment = { ...assignment, target: target.name, memory: pulse.memory }
  const began = performance.now()
  const found = await new Promise<Found | null>((resolve, reject) => {
    const worker = new Worker(script, { workerData, resourceLimits: { maxOldGenerationSizeMb: HEAP } })
    const rss = process.memoryUsage.rss()
    let last = { executions: 0, at: began }
    const end = (result: Found | null): void => {
      clearInterval(watchdog)
      stop.removeEventListener('abort', stopped)
      worker.terminate().then(() => resolve(result), reject)
    }
    const stopped = (): void => end(null)
    const watchdog = setInterval(() => {
      const { executions } = pulse
      const now = performance.now()
      if (executions !== last.executions) last = { executions, at: now }
      const patience = executions === 0 ? Math.max(START, limits.hang) : limits.hang
      if (now - last.at > patience) end(stuck(target, pulse, `it takes more than ${limits.hang} ms`))
      else if (process.memoryUsage.rss() - rss > limits.memory)
        end(stuck(target, pulse, 'it takes too much memory'))
    }, LOOK)
    stop.addEventListener('abort', stopped)
    worker.once('message', end)
    worker.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'ERR_WORKER_OUT_OF_MEMORY') end(stuck(target, pulse, 'it takes too much memory'))
      else {
        clearInterval(watchdog)
        reject(error)
      }
    })
    if (stop.aborted) stopped()
  })
  const time = (performance.now() - began) / 1e3
  return { target: target.name, executions: pulse.executions, time, found }
}

/** The input that a worker was busy with; when it was making one smaller, the one that it began with. */
function stuck({ inputs }: Target, pulse: Pulse, failure: string): Found {
  const input = generate(inputs, pulse.seed).value
  return { seed: encodeSeed({ note: `Found by npm run fuzz: ${failure}`, input }), failure }
}
