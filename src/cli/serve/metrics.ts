// prom-client is bundled into the command line's output.
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry, register } from 'prom-client'
import type { Answer } from '../../http/options.ts'
import type { NodeResolver } from '../../node/node-resolver.ts'

/** Buckets, from a lookup in memory to a slow client's batch. */
const SECONDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

/** What is measured, for Prometheus. */
export class Metrics {
  readonly registry: Registry
  readonly #requests: Counter<'operation' | 'status'>
  readonly #seconds: Histogram<'operation'>
  readonly #lookups: Counter<'outcome'>
  readonly #refused: Counter

  /** @param isShared whether to use the registry of the process, which a primary process collects from its workers */
  constructor(resolver: NodeResolver, isShared = false) {
    const registry = isShared ? register : new Registry()
    this.registry = registry
    const registers = [registry]
    collectDefaultMetrics({ register: registry })
    this.#requests = new Counter({
      name: 'geofix_requests_total',
      help: 'Answered requests',
      labelNames: ['operation', 'status'],
      registers,
    })
    this.#seconds = new Histogram({
      name: 'geofix_request_duration_seconds',
      help: 'Time from the header of a request to its answer',
      labelNames: ['operation'],
      buckets: SECONDS,
      registers,
    })
    this.#lookups = new Counter({
      name: 'geofix_lookups_total',
      help: 'Addresses by outcome: found, or the reason or code of the failure',
      labelNames: ['outcome'],
      registers,
    })
    this.#refused = new Counter({
      name: 'geofix_connections_refused_total',
      help: 'Connections beyond the limit',
      registers,
    })
    // All workers follow the same files, so that their largest value is that of the service.
    const gauge = (name: string, help: string, value: () => number) =>
      new Gauge({
        name,
        help,
        aggregator: 'max',
        registers,
        collect() {
          this.set(value())
        },
      })
    gauge('geofix_database_age_seconds', 'Age of the oldest database', () => ageOf(resolver))
    gauge('geofix_database_reloads', 'Replaced databases', () => resolver.status.reloads)
    gauge('geofix_database_refusals', 'Refused replacements', () => resolver.status.refusals)
  }

  answered({ operation, status, outcomes, milliseconds }: Answer): void {
    const name = operation ?? 'none'
    this.#requests.inc({ operation: name, status })
    this.#seconds.observe({ operation: name }, milliseconds / 1000)
    for (const [outcome, count] of Object.entries(outcomes)) this.#lookups.inc({ outcome }, count)
  }

  refused(): void {
    this.#refused.inc()
  }
}

/** Seconds. 0 for databases without a build date. */
function ageOf({ databases }: NodeResolver): number {
  const dates = databases.flatMap(({ buildDate }) => (buildDate === null ? [] : [buildDate.getTime()]))
  return dates.length === 0 ? 0 : (Date.now() - Math.min(...dates)) / 1000
}
