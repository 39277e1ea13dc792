// Several processes that share one port, which threads cannot before Node 22.12, and their metrics as those of one service.
import cluster, { type Worker } from 'node:cluster'
import { on, once } from 'node:events'
import { AggregatorRegistry, register } from 'prom-client'
import limiters from 'rate-limiter-flexible/lib/RateLimiterCluster.js'
import type { MakeLimiter } from '../../http/rate-limit.ts'
import { CommandFailure, ExitStatus } from '../terminal.ts'
import type { ServeSettings } from './flags.ts'
import { removeStaleSocket, SOCKET_UMASK, stop } from './http-server.ts'
import type { JsonLog } from './log.ts'
import { ASK_RELOAD } from './reload-requests.ts'
import { type Running, serveMetrics, startService } from './service.ts'

/** Delay before the replacement of a worker that died before it listened. */
const RESTART_MS = 1000
/** How long after the grace time a worker may take to end. */
const KILL_MS = 2000

/** Serves as one of several processes. The primary process counts requests, so that all workers share one budget. */
export async function startWorker(settings: ServeSettings, log: JsonLog): Promise<Running> {
  // Sends the metrics of this process to its primary process when it asks.
  process.on('message', (message) => {
    if (message !== ASK_METRICS) return
    void register.getMetricsAsJSON().then((metrics) => process.send?.({ metrics }))
  })
  // Node itself would call `exit` when the primary process has died, which waits for a thread that opens a named pipe.
  process.prependOnceListener('disconnect', () => process.kill(process.pid, 'SIGKILL'))
  const limiter: MakeLimiter = ({ name, burst }, window) =>
    new limiters.RateLimiterCluster({ points: burst, duration: window, keyPrefix: name, timeoutMs: 2000 })
  return startService(settings, log, { limiter, isWorker: true })
}

/**
 * Starts the workers, replaces those that die, and serves their metrics.
 *
 * @throws CommandFailure when a worker cannot start. The worker itself has printed why
 */
export async function startPrimary(settings: ServeSettings, log: JsonLog): Promise<Running> {
  // Workers accept connections themselves. If the primary handed connections out, those of a dying worker would be lost.
  cluster.schedulingPolicy = cluster.SCHED_NONE
  new limiters.RateLimiterClusterMaster()
  const metrics = new WorkerMetrics()
  let replaces = false
  const start = () => {
    const worker = cluster.fork()
    log.write('worker-started', { pid: worker.process.pid })
    // Sending to a dying worker fails. Its `exit` event is handled below.
    worker.on('error', () => {})
    worker.on('listening', () => metrics.add(worker))
    worker.on('exit', (code, signal) => {
      const hasListened = metrics.remove(worker)
      if (!replaces) return
      log.write('worker-died', { pid: worker.process.pid, code, signal })
      setTimeout(() => replaces && start(), hasListened ? 0 : RESTART_MS)
    })
    return worker
  }
  if (settings.listen !== undefined) {
    await removeStaleSocket(settings.listen.path)
    // The primary process makes the socket when the first worker asks for it.
    process.umask(SOCKET_UMASK)
  }
  const first = Array.from({ length: settings.workers }, start)
  let ports: number[]
  let ofMetrics: Awaited<ReturnType<typeof serveMetrics>>
  try {
    ports = await Promise.all(first.map(listening))
    ofMetrics = await serveMetrics(settings, log, metrics)
  } catch (error) {
    for (const worker of first) worker.process.kill('SIGKILL')
    throw error
  }
  replaces = true
  return {
    port: ports[0] ?? settings.port,
    metricsPort: ofMetrics?.port ?? null,
    reload: async () => {
      for (const worker of Object.values(cluster.workers ?? {}))
        if (worker?.isConnected()) worker.send(ASK_RELOAD)
    },
    stop: async (signal) => {
      replaces = false
      const workers = Object.values(cluster.workers ?? {}).filter((worker) => worker !== undefined)
      const exits = workers.map((worker) => once(worker, 'exit'))
      for (const worker of workers) worker.process.kill(signal)
      const late = setTimeout(
        () => workers.map((worker) => worker.process.kill('SIGKILL')),
        (settings.drainSeconds + settings.graceSeconds) * 1000 + KILL_MS,
      )
      await Promise.all(exits)
      clearTimeout(late)
      if (ofMetrics !== null) await stop(ofMetrics.server, 0)
    },
  }
}

/** The port of a worker, when it listens. */
async function listening(worker: Worker): Promise<number> {
  return new Promise((resolve, reject) => {
    // A Unix socket has no port.
    worker.once('listening', ({ port = 0 }) => resolve(port))
    worker.once('exit', () => reject(new CommandFailure('a worker cannot start', ExitStatus.failed)))
  })
}

/** How long a worker may take to send its metrics. After that, the last metrics that it sent are used. */
const METRICS_MS = 5000

/** The message that asks a worker for its metrics. */
const ASK_METRICS = 'geofix:metrics'

/** The metrics of all workers. Counts never decrease: the counts of a worker that died stay as the worker last sent them. */
class WorkerMetrics {
  readonly contentType: string = register.contentType
  /** What each worker sent last. */
  readonly #sent = new Map<Worker, readonly object[]>()
  /** The sum of the counts of workers that died. */
  #counts: readonly object[] = []
  #asking: Promise<string> | null = null

  add(worker: Worker): void {
    this.#sent.set(worker, [])
  }

  /** @returns whether the worker was added */
  remove(worker: Worker): boolean {
    const sent = this.#sent.get(worker) ?? []
    // A gauge does not only increase.
    const counts = sent.filter((metric) => 'type' in metric && metric.type !== 'gauge')
    this.#counts = sumOf([this.#counts, counts]).getMetricsAsArray()
    return this.#sent.delete(worker)
  }

  /** Asks the workers, and writes the sum for Prometheus. Calls while it asks get the same text. */
  async metrics(): Promise<string> {
    this.#asking ??= Promise.all(Array.from(this.#sent.keys(), (worker) => this.#ask(worker)))
      .then(() => sumOf([this.#counts, ...this.#sent.values()]).metrics())
      .finally(() => {
        this.#asking = null
      })
    return this.#asking
  }

  async #ask(worker: Worker): Promise<void> {
    worker.send(ASK_METRICS)
    const signal = AbortSignal.timeout(METRICS_MS)
    try {
      for await (const [message] of on(worker, 'message', { signal, close: ['exit'] })) {
        if (message?.metrics === undefined) continue
        this.#sent.set(worker, message.metrics)
        return
      }
    } catch {
      // It is late, or dying: its last metrics are used.
    }
  }
}

/** Each metric says how its values are put together: usually, by their sum. */
function sumOf(metrics: readonly (readonly object[])[]) {
  return AggregatorRegistry.aggregate([...metrics])
}
