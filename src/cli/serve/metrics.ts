// prom-client is bundled into the command line's output.
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry, register } from 'prom-client'
import type { KeyFile } from '../../node/keys/key-file.ts'
import type { NodeResolver } from '../../node/node-resolver.ts'
import type { Exchange } from './http-server.ts'
import type { LimitStore } from './limit-store.ts'
import type { JsonLog } from './log.ts'
import type { Served } from './served.ts'

/** Buckets, from a lookup in memory to a slow client's batch. */
const SECONDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

/** The objects whose state is read each time that the metrics are. */
export interface Measured {
  readonly resolver: NodeResolver
  /** `null` for a service without keys. */
  readonly keys: KeyFile | null
  readonly log: JsonLog
  /** `null` where this service counts requests itself. */
  readonly store: LimitStore | null
}

/** What is measured, for Prometheus. */
export class Metrics {
  readonly registry: Registry
  readonly #requests: Counter<'operation' | 'status'>
  readonly #seconds: Histogram<'operation'>
  readonly #lookups: Counter<'outcome'>
  readonly #refused: Counter
  readonly #cut: Counter
  readonly #evicted: Counter
  readonly #byKey: {
    readonly requests: Counter<'key' | 'status'>
    readonly addresses: Counter<'key'>
  } | null

  /**
   * @param isShared whether to use the registry of the process, which a primary process collects from its workers
   * @param countsKeys whether to count by key
   */
  constructor({ resolver, keys, log, store }: Measured, isShared = false, countsKeys = false) {
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
      help: 'Connections that were closed at once: of a client with too many, or while all others were busy',
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
    this.#cut = new Counter({
      name: 'geofix_connections_cut_total',
      help: 'Connections that were closed because their clients did not take their answers',
      registers,
    })
    this.#evicted = new Counter({
      name: 'geofix_connections_evicted_total',
      help: 'Idle connections that were closed for new ones',
      registers,
    })
    // The label is the public identifier of the key, as "geofix keys list" prints it.
    this.#byKey = countsKeys
      ? {
          requests: new Counter({
            name: 'geofix_key_requests_total',
            help: 'Answered requests with a valid key, by its id',
            labelNames: ['key', 'status'],
            registers,
          }),
          addresses: new Counter({
            name: 'geofix_key_lookups_total',
            help: 'Addresses that were looked up with a valid key, by its id, found or not',
            labelNames: ['key'],
            registers,
          }),
        }
      : null
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
    gauge(
      'geofix_database_stale',
      'Whether a database is older than --stale-after, or has no build date',
      () => (resolver.status.stale.length === 0 ? 0 : 1),
    )
    gauge('geofix_database_reloads', 'Replaced databases', () => resolver.status.reloads)
    gauge('geofix_database_refusals', 'Refused replacements', () => resolver.status.refusals)
    gauge(
      'geofix_database_refused',
      'Whether the files of the databases in their latest state are not used',
      () => (resolver.status.reloadError === null ? 0 : 1),
    )
    if (store !== null) {
      new Counter({
        name: 'geofix_limits_dropped_total',
        help: 'Connections to the store that were closed because it sent what is not an answer',
        registers,
        collect() {
          this.reset()
          this.inc(store.dropped)
        },
      })
      gauge(
        'geofix_limits_alone',
        'Whether this process counts requests for itself, since the store is away, refuses or is slow',
        () => (store.isShared ? 0 : 1),
      )
    }
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

  answered({ status, milliseconds, served }: Exchange<Served>): void {
    const operation = served?.operation ?? 'none'
    this.#requests.inc({ operation, status })
    if (milliseconds !== null) this.#seconds.observe({ operation }, milliseconds / 1000)
    if (served === null) return
    const { outcomes, keyId: key } = served
    for (const [outcome, count] of Object.entries(outcomes)) this.#lookups.inc({ outcome }, count)
    if (key === null || this.#byKey === null) return
    this.#byKey.requests.inc({ key, status })
    const count = Object.values(outcomes).reduce((sum, each) => sum + each, 0)
    if (count > 0) this.#byKey.addresses.inc({ key }, count)
  }

  cut(): void {
    this.#cut.inc()
  }

  refused(): void {
    this.#refused.inc()
  }

  evicted(): void {
    this.#evicted.inc()
  }
}

/** Seconds. A database without a build date counts as built in 1970: 0 would say that it is new. */
function ageOf({ databases }: NodeResolver): number {
  return (Date.now() - Math.min(...databases.map(({ buildDate }) => buildDate?.getTime() ?? 0))) / 1000
}
