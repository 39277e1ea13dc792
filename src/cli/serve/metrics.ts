// prom-client is bundled into the command line's output.
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry, register } from 'prom-client'
import type { KeyFile } from '../../node/keys/key-file.ts'
import type { NodeResolver } from '../../node/node-resolver.ts'
import type { Exchange } from './http-server.ts'
import type { LimitStore } from './limit-store.ts'
import type { JsonLog } from './log.ts'

/** Buckets, from a lookup in memory to a slow client's batch. */
const SECONDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

/** The objects whose state is read each time that the metrics are. */
export interface Measured {
  readonly resolver: NodeResolver
  /** The file of keys; `null` for a service without keys. */
  readonly keys: KeyFile | null
  readonly log: JsonLog
  /** The store of the limits; `null` if this service counts requests itself. */
  readonly store: LimitStore | null
}

/** The metrics of the service, for Prometheus. */
export class Metrics {
  readonly registry: Registry
  /** Counts connections that were closed at once, by the server's limits, or because their clients do not read. */
  readonly refused: Counter
  readonly evicted: Counter
  readonly cut: Counter
  readonly #requests: Counter<'operation' | 'status'>
  readonly #seconds: Histogram<'operation'>
  readonly #lookups: Counter<'outcome'>
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
    const counter = <Label extends string>(name: string, help: string, ...labelNames: Label[]) =>
      new Counter({ name: `geofix_${name}_total`, help, labelNames, registers })
    /** Makes a counter of a number that only increases, and that is read when the metrics are collected. */
    const read = (name: string, help: string, value: () => number) =>
      new Counter({
        name: `geofix_${name}_total`,
        help,
        registers,
        collect() {
          this.reset()
          this.inc(value())
        },
      })
    // All workers follow the same files, so that their largest value is that of the service.
    const gauge = (name: string, help: string, value: () => number | boolean) =>
      new Gauge({
        name: `geofix_${name}`,
        help,
        aggregator: 'max',
        registers,
        collect() {
          this.set(Number(value()))
        },
      })

    this.#requests = counter('requests', 'Answered requests', 'operation', 'status')
    this.#seconds = new Histogram({
      name: 'geofix_request_duration_seconds',
      help: 'Time from the header of a request to its answer',
      labelNames: ['operation'],
      buckets: SECONDS,
      registers,
    })
    this.#lookups = counter(
      'lookups',
      'Addresses by outcome: found, or the reason or code of the failure',
      'outcome',
    )
    this.refused = counter(
      'connections_refused',
      'Connections that were closed at once: of a client with too many, or while all others were busy',
    )
    read(
      'log_lines_dropped',
      'Lines of the log that were dropped because their reader is too slow or has gone',
      () => log.dropped,
    )
    this.cut = counter(
      'connections_cut',
      'Connections that were closed because their clients did not take their answers',
    )
    this.evicted = counter('connections_evicted', 'Idle connections that were closed for new ones')
    // The label is the public identifier of the key, as "geofix keys list" prints it.
    this.#byKey = countsKeys
      ? {
          requests: counter('key_requests', 'Answered requests with a valid key, by its id', 'key', 'status'),
          addresses: counter(
            'key_lookups',
            'Addresses that were looked up with a valid key, by its id, found or not',
            'key',
          ),
        }
      : null
    gauge('database_age_seconds', 'Age of the oldest database', () => ageOf(resolver))
    gauge(
      'database_stale',
      'Whether a database is older than --stale-after, or has no build date',
      () => resolver.status.stale.length > 0,
    )
    gauge('database_reloads', 'Replaced databases', () => resolver.status.reloads)
    gauge('database_refusals', 'Refused replacements', () => resolver.status.refusals)
    gauge(
      'database_refused',
      'Whether the files of the databases in their latest state are not used',
      () => resolver.status.reloadError !== null,
    )
    if (store !== null) {
      read(
        'limits_dropped',
        'Connections to the store that were closed because it sent what is not an answer',
        () => store.dropped,
      )
      gauge(
        'limits_alone',
        'Whether this process counts requests for itself, since the store is away, refuses or is slow',
        () => !store.isShared,
      )
    }
    if (keys === null) return
    gauge(
      'keys_refused',
      'Whether the file of keys in its latest state is not used',
      () => keys.status.error !== null,
    )
    gauge(
      'keys_age_seconds',
      'Time since the keys were last known to be those of the file',
      () => keys.status.ageMs / 1000,
    )
  }

  answered({ status, milliseconds, served }: Exchange): void {
    const operation = served?.answer.operation ?? 'none'
    this.#requests.inc({ operation, status })
    if (milliseconds !== null) this.#seconds.observe({ operation }, milliseconds / 1000)
    if (served === null) return
    const { outcomes, keyId: key } = served.answer
    for (const [outcome, count] of Object.entries(outcomes)) this.#lookups.inc({ outcome }, count)
    if (key === null || this.#byKey === null) return
    this.#byKey.requests.inc({ key, status })
    const count = Object.values(outcomes).reduce((sum, each) => sum + each, 0)
    if (count > 0) this.#byKey.addresses.inc({ key }, count)
  }
}

/** Seconds. A database without a build date counts as built in 1970: 0 would say that it is new. */
function ageOf({ databases }: NodeResolver): number {
  return (Date.now() - Math.min(...databases.map(({ buildDate }) => buildDate?.getTime() ?? 0))) / 1000
}
