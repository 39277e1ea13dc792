import type { Server } from 'node:http'
import { setTimeout as delay, setImmediate } from 'node:timers/promises'
import { TrustList } from '../../client/trust.ts'
import { embedded } from '../../embedded.ts'
import type { InvalidDatabaseError } from '../../errors.ts'
import type { ServiceRequest } from '../../http/exchange.ts'
import { Service } from '../../http/handler.ts'
import { type MakeLimiter, PlanTable } from '../../http/rate-limit.ts'
import { withDatabases } from '../../location/database-set.ts'
import type { DatabaseInfo } from '../../location/vendors.ts'
import { openKeyFile, type ReloadableKeyFile } from '../../node/keys/key-file.ts'
import { NodeResolver, RELOAD } from '../../node/node-resolver.ts'
import { messageOf } from '../../realm.ts'
import { checkLocations } from '../databases.ts'
import { METRICS_LIMITS } from './connections.ts'
import type { ServeSettings } from './flags.ts'
import { listen, makeServer, removeStaleSocket, stop } from './http-server.ts'
import { type JsonLog, requestLog } from './log.ts'
import { Metrics } from './metrics.ts'
import { metricsAnswer, routes } from './routes.ts'

export interface Running {
  readonly port: number
  /** `null` if this process serves no metrics. */
  readonly metricsPort: number | null
  /**
   * Reads the keys again, and the databases of `--db` if they have changed. What cannot be used is logged, and the previous
   * keys and databases stay. Never rejects.
   */
  readonly reload: () => Promise<void>
  /**
   * Stops listening, finishes requests in flight, at most for the grace time, and releases everything.
   *
   * @param signal `SIGINT` stops at once. Before other signals stop it, the service is not ready for the drain time, so that
   *   balancers send their requests elsewhere. It still answers, and closes each connection with its answer
   */
  readonly stop: (signal: StopSignal) => Promise<void>
}

/** `SIGINT` comes from a person at a terminal, `SIGTERM` from a service manager. */
export type StopSignal = 'SIGTERM' | 'SIGINT'

/**
 * Opens the databases and the keys, and listens.
 *
 * @throws GeofixError for a database or the keys, CommandFailure for a database without locations or a port that cannot be
 *   used, TypeError for wrong trusted proxies or plans
 * @param worker how a worker differs from a server of one process. Another process collects its metrics
 */
export async function startService(
  settings: ServeSettings,
  log: JsonLog,
  { limiter, isWorker = false }: { readonly limiter?: MakeLimiter; readonly isWorker?: boolean } = {},
): Promise<Running> {
  const plans = new PlanTable(settings.plan)
  const resolver = await openResolver(settings, log)
  const proxies = new TrustList(settings.trustedProxies ?? [])
  const { limits } = settings
  const store = limits === undefined ? null : new (await import('./limit-store.ts')).LimitStore(limits, log)
  let keys: ReloadableKeyFile | null = null
  const servers: Server[] = []
  /** Closes the main server within the grace time, and then everything else. */
  const release = async (graceMs: number): Promise<void> => {
    for (const [index, each] of servers.entries()) await stop(each, index === 0 ? graceMs : 0)
    store?.close()
    keys?.close()
    resolver.close()
  }
  try {
    withDatabases(resolver, checkLocations)
    keys = await openKeys(settings, plans, log)
    const metrics =
      settings.metricsPort === null
        ? null
        : new Metrics({ resolver, keys, log, store }, isWorker, settings.metricsKeys)
    const service = new Service<ServiceRequest>(resolver, keys?.authenticate ?? null, {
      plans: plans.all,
      maxBatch: Math.max(1, ...plans.all.map(({ batch }) => batch)),
      limiter: store?.makeLimiter ?? limiter,
      asn: settings.asn !== false,
      cityNames: settings.cityNames,
      cors: settings.cors,
      basePath: settings.basePath,
      onError: (error) => log.write('error', { message: messageOf(error) }),
    })
    let isReady = true
    const tell = requestLog(log, settings)
    const main = makeServer(
      routes(service, resolver, settings, () => isReady),
      {
        isLocal: settings.listen !== undefined,
        maxPerClient: settings.clientConnections,
        isProxy: (peer) => proxies.covers(peer),
        isEnding: () => !isReady,
        closed: (why) => metrics?.[why].inc(),
        told: (exchange) => {
          metrics?.answered(exchange)
          tell(exchange)
        },
      },
    )
    servers.push(main)
    if (settings.listen !== undefined && !isWorker) await removeStaleSocket(settings.listen.path)
    const port = await listen(main, settings.listen ?? { port: settings.port, host: settings.host })
    const ofMetrics =
      metrics === null || isWorker ? null : await serveMetrics(settings, log, metrics.registry)
    if (ofMetrics !== null) servers.push(ofMetrics.server)
    return {
      port,
      metricsPort: ofMetrics?.port ?? null,
      reload: async () => {
        // The embedded database is part of the program.
        const isEmbedded = settings.databases.length === 0 && typeof settings.asn === 'boolean'
        const databases = isEmbedded ? 'embedded' : await resolver[RELOAD]()
        // The resolver itself calls these with --watch.
        if (!settings.watch) {
          const { reloadError } = resolver.status
          if (databases === 'replaced') logReload(log, resolver.databases)
          if (databases === 'refused' && reloadError !== null) logRefusal(log, reloadError)
        }
        const areRead = (await keys?.reload()) ?? null
        log.write('reload-done', { databases, keys: areRead === null ? null : areRead ? 'read' : 'refused' })
      },
      stop: async (signal) => {
        isReady = false
        if (signal !== 'SIGINT') {
          await delay(settings.drainSeconds * 1000)
          // Right after new connections were accepted: the system resets connections that still wait.
          await setImmediate()
        }
        await release(settings.graceSeconds * 1000)
      },
    }
  } catch (error) {
    await release(0)
    throw error
  }
}

/** Serves metrics at their own port; `null` if they have none. @throws CommandFailure when the port cannot be used */
export async function serveMetrics(
  settings: ServeSettings,
  log: JsonLog,
  metrics: { readonly contentType: string; readonly metrics: () => Promise<string> },
): Promise<{ readonly server: Server; readonly port: number } | null> {
  const { metricsPort, host } = settings
  if (metricsPort === null) return null
  const server = makeServer(
    async (asked) => metricsAnswer(asked, await metrics.metrics(), metrics.contentType),
    { ...METRICS_LIMITS, told: requestLog(log, settings) },
  )
  return { server, port: await listen(server, { port: metricsPort, host }) }
}

async function openResolver(settings: ServeSettings, log: JsonLog): Promise<NodeResolver> {
  const { databases, asn, watch, trustedProxies, forwardedHeader, staleAfter } = settings
  return NodeResolver.open(databases.length === 0 ? embedded.city : databases, {
    asn,
    watch,
    trustedProxies,
    forwardedHeader,
    staleAfter,
    ...(watch && {
      onReload: ({ current }) => logReload(log, current),
      onReloadError: (error) => logRefusal(log, error),
    }),
    onStale: ({ databases: stale }) =>
      log.write('stale', {
        databases: stale.map(({ type }) => type).join(', '),
        built: stale.map(({ buildDate }) => buildDate?.toISOString().slice(0, 10) ?? 'unknown').join(', '),
        staleAfter,
      }),
  })
}

function logReload(log: JsonLog, databases: readonly DatabaseInfo[]): void {
  log.write('reload', { databases: databases.map(({ type }) => type).join(', ') })
}

function logRefusal(log: JsonLog, { message }: InvalidDatabaseError): void {
  log.write('reload-refused', { message })
}

async function openKeys(
  { keys }: ServeSettings,
  plans: PlanTable,
  log: JsonLog,
): Promise<ReloadableKeyFile | null> {
  if (keys === null) return null
  const file: ReloadableKeyFile = await openKeyFile(keys, {
    plans: plans.all.map(({ name }) => name),
    onReload: (count) => log.write('keys', { count }),
    onError: ({ message }) => {
      const ageSeconds = Math.round(file.status.ageMs / 1000)
      log.write('keys-refused', { message, ageSeconds })
    },
  })
  return file
}
