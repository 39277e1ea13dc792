// prom-client is bundled into the command line's output.
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry, register } from 'prom-client'
import type { Answer } from '../../http/options.ts'
import type { KeyFile } from '../../node/keys/key-file.ts'
import type { NodeResolver } from '../../node/node-resolver.ts'
import type { JsonLog } from './log.ts'

/** Buckets, from a lookup in memory to a slow client's batch. */
const SECONDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

/** What tells its state itself. */
export interface Measured {
  readonly resolver: NodeResolver
  /** `null` for a service without keys. */
  readonly keys: KeyFile | null
  readonly log: JsonLog
}

/** What is measured, for Prometheus. */
export class Metrics {
  readonly registry: Registry
  readonly #requests: Counter<'operation' | 'status'>
  readonly #seconds: Histogram<'operation'>
  readonly #lookups: Counter<'outcome'>
  readonly #refused: Counter

  /** @param isShared whether to use the registry of the process, which a primary process collects from its workers */
  constructor({ resolver, keys, log }: Measured, isShared = false) {
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
    new Counter({
      name: 'geofix_log_lines_dropped_total',
      help: 'Lines of the log that were dropped because their reader is too slow or has gone',
      registers,
      collect() {
        this.reset()
        this.inc(log.dropped)
      },
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
    gauge(
      'geofix_database_refused',
      'Whether the files of the databases in their latest state are not used',
      () => (resolver.status.reloadError === null ? 0 : 1),
    )
    if (keys === null) return
    gauge('geofix_keys_refused', 'Whether the file of keys in its latest state is not used', () =>
      keys.status.error === null ? 0 : 1,
    )
    gauge(
      'geofix_keys_age_seconds',
      'Time since the keys were last known to be those of the file',
      () => keys.status.ageMs / 1000,
    )
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
