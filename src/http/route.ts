import type { ServiceRequest } from './exchange.ts'
import { notAllowed, type Problem } from './problem.ts'

export type Operation = 'detect' | 'lookup' | 'batch'

/** The parameters of a request, not checked yet. The first value counts if there are several. */
interface Parameters {
  readonly locale?: string | undefined
  readonly fields?: string | undefined
}

/** What a request asks for. */
export type Route = Parameters &
  ({ readonly operation: 'detect' | 'batch' } | { readonly operation: 'lookup'; readonly ip: string })

const ROOT = '/v1/ip'

const METHODS: Readonly<Record<Operation, readonly string[]>> = {
  detect: ['GET', 'HEAD'],
  lookup: ['GET', 'HEAD'],
  batch: ['POST'],
}

/** The origin of an absolute URL. */
const ORIGIN = /^[a-z][a-z0-9+.-]*:\/\/[^/?#]*/i

/**
 * Reads what a request asks for from its path, its method and the parameters `locale` and `fields`. Others are ignored.
 *
 * @param basePath what precedes `/v1`
 * @param allowsOptions whether `OPTIONS` is named in `Allow`
 */
export function routeOf(
  { url, method }: ServiceRequest,
  basePath: string,
  allowsOptions: boolean,
): Route | Problem {
  const { path, query } = targetOf(url)
  const root = basePath + ROOT
  if (!path.startsWith(root)) return notFound(root, path)
  const rest = path.slice(root.length)
  if (rest !== '' && !rest.startsWith('/')) return notFound(root, path)
  const segment = rest.slice(1)
  if (rest.startsWith('//') || rest.endsWith('/')) return malformed('The path has an empty segment.')
  if (segment.includes('/')) return notFound(root, path)
  const operation = rest === '' ? 'detect' : segment === 'batch' ? 'batch' : 'lookup'
  const allowed = METHODS[operation]
  if (!allowed.includes(method)) {
    return notAllowed([...allowed, ...(allowsOptions ? ['OPTIONS'] : [])].join(', '))
  }
  const parameters = query === null ? {} : parametersIn(query)
  if (operation !== 'lookup') return { operation, ...parameters }
  const ip = decoded(segment)
  return typeof ip === 'string' ? { operation, ip, ...parameters } : ip
}

/** Programs read these in several ways: as the end of a segment or not, and as a segment or as an instruction. */
const ENCODED_SLASH = /%2f|%5c/i
const DOT_SEGMENT = /(?:^|\/)(?:\.|%2e){1,2}(?=\/|$)/i

/**
 * Why a proxy may have read another path than the service would, so that the proxy's rules were for another path. `null` for
 * other targets.
 *
 * @param target of a request line, which no URL parser has changed
 */
export function targetProblem(target: string): Problem | null {
  if (target.includes('#')) return malformed('The target has a fragment.')
  const { path } = targetOf(target)
  if (path.includes('\\')) return malformed('The path has a backslash.')
  return DOT_SEGMENT.test(path) ? malformed('The path has a dot segment.') : null
}

/** The path of a URL and its query, `null` if it has none. @param url with or without its origin */
export function targetOf(url: string): { readonly path: string; readonly query: string | null } {
  const start = url.startsWith('/') ? 0 : (ORIGIN.exec(url)?.[0].length ?? 0)
  const hash = url.indexOf('#', start)
  const end = hash === -1 ? url.length : hash
  const mark = url.indexOf('?', start)
  if (mark === -1 || mark > end) return { path: url.slice(start, end), query: null }
  return { path: url.slice(start, mark), query: url.slice(mark + 1, end) }
}

/** Decodes a segment once. Refuses text that needs a second decoding, which a proxy may have read in another way. */
function decoded(segment: string): string | Problem {
  if (!segment.includes('%')) return segment
  let text: string
  try {
    text = decodeURIComponent(segment)
  } catch {
    return malformed('The address is not percent-encoded UTF-8.')
  }
  if (text.includes('/')) return malformed('The address has a slash. Networks have no location.')
  if (/%25/.test(text)) return malformed('The address is percent-encoded twice.')
  return text
}

function parametersIn(query: string): Parameters {
  const parameters = new URLSearchParams(query)
  return {
    locale: parameters.get('locale') ?? undefined,
    fields: parameters.get('fields') ?? undefined,
  }
}

function notFound(root: string, path: string): Problem {
  if (ENCODED_SLASH.test(path)) return malformed('The path has an encoded slash.')
  return {
    code: 'NOT_FOUND',
    detail: `The operations are GET ${root}, GET ${root}/{ip} and POST ${root}/batch.`,
  }
}

function malformed(detail: string): Problem {
  return { code: 'MALFORMED_REQUEST', detail }
}
