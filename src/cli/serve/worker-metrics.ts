// The metrics of several processes as those of one service.
import type { Worker } from 'node:cluster'
import { AggregatorRegistry, register } from 'prom-client'

/** How long a worker may take to send its metrics. After that, the last metrics that it sent are used. */
const METRICS_MS = 5000

/** The message that asks a worker for its metrics. */
const ASK_METRICS = 'geofix:metrics'

/** Sends the metrics of this process to its primary process when it asks. */
export function sendMetrics(): void {
  process.on('message', (message) => {
    if (message !== ASK_METRICS) return
    void register.getMetricsAsJSON().then((metrics) => process.send?.({ metrics }))
  })
}

/** The metrics of all workers. Counts never decrease: the counts of a worker that died stay as the worker last sent them. */
export class WorkerMetrics {
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
    const counts = this.#sent.get(worker)?.filter(isCount) ?? []
    this.#counts = sumOf([this.#counts, counts]).getMetricsAsArray()
    return this.#sent.delete(worker)
  }

  /** Asks the workers, and writes the sum for Prometheus. Calls while it asks get the same text. */
  async metrics(): Promise<string> {
    this.#asking ??= this.#askAll().finally(() => {
      this.#asking = null
    })
    return this.#asking
  }

  async #askAll(): Promise<string> {
    await Promise.all(Array.from(this.#sent.keys(), (worker) => this.#ask(worker)))
    return sumOf([this.#counts, ...this.#sent.values()]).metrics()
  }

  async #ask(worker: Worker): Promise<void> {
    return new Promise((resolve) => {
      const take = (message: { readonly metrics?: readonly object[] }) => {
        if (message?.metrics === undefined) return
        this.#sent.set(worker, message.metrics)
        end()
      }
      const end = () => {
        clearTimeout(late)
        worker.off('message', take)
        worker.off('exit', end)
        resolve()
      }
      const late = setTimeout(end, METRICS_MS)
      worker.on('message', take)
      worker.on('exit', end)
      worker.send(ASK_METRICS)
    })
  }
}

/** Each metric says how its values are put together: usually, by their sum. */
function sumOf(metrics: readonly (readonly object[])[]) {
  return AggregatorRegistry.aggregate([...metrics])
}

/** Whether a metric only increases. */
function isCount(metric: object): boolean {
  return 'type' in metric && metric.type !== 'gauge'
}
