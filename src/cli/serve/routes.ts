// What `geofix serve` answers on which path.
import { Cors } from '../../http/cors.ts'
import {
  type HeaderFields,
  type MaybePromise,
  NO_SNIFFING,
  type Reply,
  replyTo,
  type ServiceRequest,
} from '../../http/exchange.ts'
import { prefersText } from '../../http/fields.ts'
import type { Service } from '../../http/handler.ts'
import { notAllowed, problemReply } from '../../http/problem.ts'
import { targetOf } from '../../http/route.ts'
import type { Resolver } from '../../resolver.ts'
import { ageOf } from '../info-command.ts'
import { printable } from '../terminal.ts'
import type { ServeSettings } from './flags.ts'
import { type AnswerFunction, type Extra, plain, type Served } from './http-server.ts'
import { openApiJson } from './openapi.ts'
import { operationPath, Page, questionOf } from './page.ts'

/** Limit in characters: the type of a database is text of its file. */
const MAX_TYPE_LENGTH = 100

/** The routes of the main port. @param isReady whether balancers shall send requests */
export function routes(
  service: Service<ServiceRequest>,
  resolver: Resolver,
  { keys, asn, basePath, cors, staleAfter }: ServeSettings,
  isReady: () => boolean,
): AnswerFunction {
  const page = new Page(service, resolver, keys !== null, basePath)
  const hasAsn = asn !== false
  const short = new Map(Object.entries(hasAsn ? { ...SHORT, ...SHORT_WITH_ASN } : SHORT))
  const openApi = openApiJson(basePath, hasAsn)
  const origins = cors === undefined ? null : new Cors(cors)
  /** Asks the service for a text, about the caller or the parameter `ip`. */
  const ask = (
    asked: ServiceRequest,
    peer: string,
    query: string | null,
    fields: string,
  ): MaybePromise<Served> => {
    const given = new URLSearchParams(query ?? '')
    const parameters = new URLSearchParams({ fields })
    const locale = given.get('locale')
    if (locale !== null) parameters.set('locale', locale)
    const url = `${operationPath(basePath, given.get('ip'))}?${parameters}`
    return service.answer(questionOf(asked, url, { accept: 'text/plain' }), peer)
  }
  return (asked, peer) => {
    const { method } = asked
    const { path, query } = targetOf(asked.url)
    // Probes ask the process itself, not the proxy that adds the base path.
    switch (path.startsWith(`${basePath}/`) ? path.slice(basePath.length) : path) {
      case '/healthz':
        return read('health', method, 'alive\n', TEXT)
      case '/readyz':
        return isReady()
          ? read('ready', method, readiness(resolver, staleAfter), TEXT)
          : read('ready', method, 'stopping\n', TEXT, 503)
    }
    switch (path) {
      case `${basePath}/openapi.json`: {
        const headers = [
          'content-type',
          'application/json',
          ...NO_SNIFFING,
          ...(origins?.fields(asked) ?? []),
        ]
        return read('openapi', method, openApi, headers)
      }
      case basePath:
      case `${basePath}/`: {
        if (isRead(method) && prefersText(asked.get('accept'))) return ask(asked, peer, query, 'ip')
        if (isRead(method)) return page.answer(new URLSearchParams(query ?? ''), asked, peer)
        if (method !== 'POST') return plain('page', refused(method, 'GET, HEAD, POST'))
        return page.answerForm(asked, peer)
      }
      default: {
        const name = path.startsWith(`${basePath}/`) ? path.slice(basePath.length + 1) : ''
        const fields = short.get(name)
        if (fields === undefined) return service.answer(asked, peer)
        return isRead(method) ? ask(asked, peer, query, fields) : plain(null, refused(method))
      }
    }
  }
}

/** A line, and one for each database with its age. A stale database does not make the service less ready. */
function readiness({ databases }: Resolver, staleAfter: number): string {
  const lines = databases.map((database) => {
    const type = printable(database.type.slice(0, MAX_TYPE_LENGTH))
    return `database ${type}, built: ${ageOf(database, staleAfter).text}`
  })
  return ['ready', ...lines, ''].join('\n')
}

/** Short paths for people at a command line, as those of echoip, and the fields that they answer with. */
const SHORT = {
  ip: 'ip',
  country: 'country.name',
  'country-iso': 'country.code',
  region: 'region.name',
  city: 'city',
  coordinates: 'coordinates',
  timezone: 'timezone.id',
}

const SHORT_WITH_ASN = { asn: 'asn.number', 'asn-org': 'asn.organization' }

const TEXT: HeaderFields = [
  ...['content-type', 'text/plain; charset=utf-8'],
  ...['cache-control', 'no-store'],
  ...NO_SNIFFING,
]

function read(operation: Extra, method: string, body: string, headers: HeaderFields, status = 200): Served {
  return plain(operation, isRead(method) ? replyTo(method, status, body, headers) : refused(method))
}

function isRead(method: string): boolean {
  return method === 'GET' || method === 'HEAD'
}

function refused(method: string, allow = 'GET, HEAD'): Reply {
  return problemReply(notAllowed(allow), method)
}

/** The answer of the port for metrics. */
export function metricsAnswer({ url, method }: ServiceRequest, body: string, type: string): Served {
  if (targetOf(url).path !== '/metrics') {
    return plain(null, problemReply({ code: 'NOT_FOUND', detail: 'This port has only /metrics.' }, method))
  }
  return read('metrics', method, body, ['content-type', type, ...NO_SNIFFING])
}
