import type { HeaderFields, Reply, ServiceRequest } from './exchange.ts'

/** `'*'`, or origins such as `https://example.com`. */
export type AllowedOrigins = '*' | readonly string[]

const PREFLIGHT_SECONDS = '86400'
/** Fields that scripts may read in addition to those that the Fetch standard always allows. */
const EXPOSED = 'RateLimit, RateLimit-Policy, Retry-After, WWW-Authenticate, X-Request-Id'

/** Allows scripts of other origins to read answers (the CORS protocol of the Fetch standard). */
export class Cors {
  readonly #origins: ReadonlySet<string> | null

  /** @throws TypeError when a text is not an origin: a scheme and a host, perhaps a port, but no path */
  constructor(origins: unknown) {
    if (origins !== '*' && !Array.isArray(origins)) {
      throw new TypeError("cors must be '*' or an array of origins such as ['https://example.com']")
    }
    for (const origin of origins === '*' ? [] : origins) {
      if (typeof origin !== 'string' || !isOrigin(origin)) {
        throw new TypeError(`cors: ${String(origin)} is not an origin; write it as https://example.com`)
      }
    }
    this.#origins = origins === '*' ? null : new Set(origins)
  }

  /** The answer to a preflight request, or to any other `OPTIONS`; `null` for other methods. */
  preflight(asked: ServiceRequest): Reply | null {
    if (asked.method !== 'OPTIONS') return null
    const headers = [
      ...this.fields(asked),
      ...['access-control-allow-methods', 'GET, HEAD, POST'],
      ...['access-control-allow-headers', 'Authorization, Content-Type, X-Request-Id'],
      ...['access-control-max-age', PREFLIGHT_SECONDS],
    ]
    return { status: 204, headers, body: null }
  }

  /** The fields of every answer. */
  fields(asked: ServiceRequest): HeaderFields {
    const allow = (origin: string) => [
      ...['access-control-allow-origin', origin],
      ...['access-control-expose-headers', EXPOSED],
    ]
    if (this.#origins === null) return allow('*')
    const origin = asked.get('origin')
    // Caches must not give the answer for one origin to another.
    const vary = ['vary', 'Origin']
    return origin === null || !this.#origins.has(origin) ? vary : [...vary, ...allow(origin)]
  }
}

/** Origins of browser extensions have schemes that the URL standard does not know; it calls those origins `null`. */
function isOrigin(text: string): boolean {
  if (!URL.canParse(text)) return false
  const { origin } = new URL(text)
  return origin === text || (origin === 'null' && /^[a-z][a-z\d+.-]*:\/\/[\w.-]+$/.test(text))
}
