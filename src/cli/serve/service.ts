import type { Server } from 'node:http'
import { embedded } from '../../embedded.ts'
import { type Asked, type HeaderFields, type Reply, replyTo } from '../../http/exchange.ts'
import { Service } from '../../http/handler.ts'
import { PlanTable } from '../../http/plan.ts'
import { problemReply } from '../../http/problem.ts'
import type { MakeLimiter } from '../../http/rate-limit.ts'
import { targetOf } from '../../http/route.ts'
import { createKeyFile, type KeyFile } from '../../node/keys/key-file.ts'
import { NodeResolver } from '../../node/node-resolver.ts'
import { messageOf } from '../../realm.ts'
import { DATABASE_SET } from '../../resolver.ts'
import { checkLocations } from '../databases.ts'
import type { ServeSettings } from './flags.ts'
import { type AnswerFunction, listen, MAX_METRICS_CONNECTIONS, makeServer, stop } from './http-server.ts'
import type { JsonLog } from './log.ts'
import { Metrics } from './metrics.ts'
import { OPEN_API_JSON } from './openapi.ts'
import { Page } from './page.ts'

/** Older databases are reported in the log. */
const STALE_DAYS = 45

export interface Running {
  readonly port: number
  /** `null` if this process serves no metrics. */
  readonly metricsPort: number | null
  /** Answers 503 to new requests, finishes those in flight, at most for the grace time, and releases everything. */
  readonly stop: () => Promise<void>
}

/** How a worker differs from a server of one process. */
export interface WorkerPart {
  readonly limiter?: MakeLimiter
  /** Whether another process collects the metrics. */
  readonly isWorker?: boolean
}

/**
 * Opens the databases and the keys, and listens.
 *
 * @throws GeofixError for a database or the keys, CommandFailure for a database without locations or a port that cannot be
 *   used, TypeError for wrong trusted proxies or plans
 */
export async function startService(
  settings: ServeSettings,
  log: JsonLog,
  { limiter, isWorker = false }: WorkerPart = {},
): Promise<Running> {
  const plans = new PlanTable(settings.plans)
  const resolver = await openResolver(settings, log)
  let keys: KeyFile | null = null
  let server: Server | null = null
  const stopping = new AbortController()
  try {
    checkLocations(resolver[DATABASE_SET]())
    keys = await openKeys(settings, plans, log)
    const metrics = settings.metricsPort === null ? null : new Metrics({ resolver, keys, log }, isWorker)
    const service = new Service<Asked>(resolver, keys?.authenticate ?? null, {
      plans: plans.all,
      maxBatch: Math.max(1, ...plans.all.map(({ batch }) => batch)),
      limiter,
      signal: stopping.signal,
      onError: (error) => log.write('error', { message: messageOf(error) }),
      onAnswer: (answer) => {
        metrics?.answered(answer)
        const { operation, status, keyId: key, milliseconds, remoteAddress: peer } = answer
        log.write('request', { operation, status, key, ms: Math.round(milliseconds * 1000) / 1000, peer })
      },
    })
    const main = makeServer(operations(service, resolver, settings, stopping.signal), () =>
      metrics?.refused(),
    )
    server = main
    const port = await listen(main, settings.port, settings.host)
    const metricsServer =
      metrics === null || isWorker
        ? null
        : makeServer((asked) => metricsAnswer(asked, metrics), undefined, MAX_METRICS_CONNECTIONS)
    const metricsPort =
      metricsServer === null ? null : await listen(metricsServer, settings.metricsPort ?? 0, settings.host)
    return {
      port,
      metricsPort,
      stop: async () => {
        stopping.abort()
        await stop(main, settings.graceSeconds * 1000)
        if (metricsServer !== null) await stop(metricsServer, 0)
        keys?.close()
        resolver.close()
      },
    }
  } catch (error) {
    if (server !== null) await stop(server, 0)
    keys?.close()
    resolver.close()
    throw error
  }
}

/** All that is served on the main port. */
function operations(
  service: Service<Asked>,
  resolver: NodeResolver,
  settings: ServeSettings,
  stopping: AbortSignal,
): AnswerFunction {
  const page = new Page(service, resolver, settings.keys !== null)
  return (asked, remoteAddress) => {
    const { method } = asked
    const { path, query } = targetOf(asked.url)
    switch (path) {
      case '/healthz':
        return text(asked, 200, 'alive\n')
      case '/readyz':
        return stopping.aborted ? text(asked, 503, 'stopping\n') : text(asked, 200, 'ready\n')
      case '/openapi.json':
        if (!isRead(method)) return notAllowed(method, 'GET, HEAD')
        return replyTo(method, 200, OPEN_API_JSON, ['content-type', 'application/json'])
      case '/': {
        if (isRead(method)) return page.answer(new URLSearchParams(query ?? ''), asked, remoteAddress)
        if (method !== 'POST') return notAllowed(method, 'GET, HEAD, POST')
        return page.answerForm(asked, remoteAddress)
      }
      default:
        return service.answer(asked, remoteAddress)
    }
  }
}

const TEXT: HeaderFields = ['content-type', 'text/plain; charset=utf-8', 'cache-control', 'no-store']

function text({ method }: Asked, status: number, body: string): Reply {
  return isRead(method) ? replyTo(method, status, body, TEXT) : notAllowed(method, 'GET, HEAD')
}

function isRead(method: string): boolean {
  return method === 'GET' || method === 'HEAD'
}

function notAllowed(method: string, allow: string): Reply {
  return problemReply(
    { code: 'METHOD_NOT_ALLOWED', detail: `Use ${allow}.`, headers: ['allow', allow] },
    method,
  )
}

async function metricsAnswer(asked: Asked, { registry }: Metrics): Promise<Reply> {
  return metricsReply(asked, await registry.metrics(), registry.contentType)
}

/** The answer of the port for metrics. */
export function metricsReply({ url, method }: Asked, body: string, type: string): Reply {
  if (targetOf(url).path !== '/metrics') {
    return problemReply({ code: 'NOT_FOUND', detail: 'This port has only /metrics.' }, method)
  }
  if (!isRead(method)) return notAllowed(method, 'GET, HEAD')
  return replyTo(method, 200, body, ['content-type', type])
}

async function openResolver(settings: ServeSettings, log: JsonLog): Promise<NodeResolver> {
  const { databases, watch, trustedProxies, forwardedHeader } = settings
  return NodeResolver.open(databases.length === 0 ? embedded.city : databases, {
    watch,
    trustedProxies,
    forwardedHeader,
    staleAfter: STALE_DAYS,
    onReload: ({ current }) => log.write('reload', { databases: current.map(({ type }) => type).join(', ') }),
    onReloadError: ({ message }) => log.write('reload-refused', { message }),
    onStale: ({ databases: stale }) =>
      log.write('stale', { databases: stale.map(({ type }) => type).join(', '), days: STALE_DAYS }),
  })
}

async function openKeys({ keys }: ServeSettings, plans: PlanTable, log: JsonLog): Promise<KeyFile | null> {
  if (keys === null) return null
  const file: KeyFile = await createKeyFile(keys, {
    plans: plans.all.map(({ name }) => name),
    onReload: (count) => log.write('keys', { count }),
    onError: ({ message }) => {
      const ageSeconds = Math.round(file.status.ageMs / 1000)
      log.write('keys-refused', { message, ageSeconds })
    },
  })
  return file
}
