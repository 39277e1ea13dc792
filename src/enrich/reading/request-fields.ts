// The fields of requests in objects and tables whose fields have the names of a known product.
import type { FieldRole } from '../counting/field-values.ts'

/** The names that a product gives to the fields of a request. Of several for one role, the first that records have is used. */
interface RequestNames {
  readonly status: string
  readonly method: string
  readonly path: readonly string[]
  readonly bytes: readonly string[]
  readonly agent?: string
  readonly referrer?: string
}

/**
 * Only names that belong together: a lone `status` or `method` can be anything. Dots lead into inner objects; after a slash they
 * are a part of the name.
 */
const PRODUCTS: readonly RequestNames[] = [
  // Caddy
  { status: 'status', method: 'request.method', path: ['request.uri'], bytes: ['size'] },
  // Traefik
  {
    status: 'DownstreamStatus',
    method: 'RequestMethod',
    path: ['RequestPath'],
    bytes: ['DownstreamContentSize'],
    agent: 'request_User-Agent',
    referrer: 'request_Referer',
  },
  // Elastic Common Schema: Filebeat, ingress-nginx; and its names with dots in them
  {
    status: 'http.response.status_code',
    method: 'http.request.method',
    path: ['url.path', 'url.original'],
    bytes: ['http.response.body.bytes', 'http.response.bytes'],
    agent: 'user_agent.original',
    referrer: 'http.request.referrer',
  },
  {
    status: '/http.response.status_code',
    method: '/http.request.method',
    path: ['/url.path', '/url.original'],
    bytes: ['/http.response.body.bytes', '/http.response.bytes'],
    agent: '/user_agent.original',
    referrer: '/http.request.referrer',
  },
  // Cloudflare Logpush
  {
    status: 'EdgeResponseStatus',
    method: 'ClientRequestMethod',
    path: ['ClientRequestPath', 'ClientRequestURI'],
    bytes: ['EdgeResponseBytes'],
    agent: 'ClientRequestUserAgent',
    referrer: 'ClientRequestReferer',
  },
  // The variables of nginx
  {
    status: 'status',
    method: 'request_method',
    path: ['request_uri', 'uri'],
    bytes: ['bytes_sent', 'body_bytes_sent'],
    agent: 'http_user_agent',
    referrer: 'http_referer',
  },
  // Envoy
  { status: 'response_code', method: 'method', path: ['path'], bytes: ['bytes_sent'], agent: 'user_agent' },
  // Load balancers of Google Cloud
  {
    status: 'httpRequest.status',
    method: 'httpRequest.requestMethod',
    path: ['httpRequest.requestUrl'],
    bytes: ['httpRequest.responseSize'],
    agent: 'httpRequest.userAgent',
    referrer: 'httpRequest.referer',
  },
  // Zeek
  {
    status: 'status_code',
    method: 'method',
    path: ['uri'],
    bytes: ['response_body_len'],
    agent: 'user_agent',
    referrer: 'referrer',
  },
  // Kong
  {
    status: 'response.status',
    method: 'request.method',
    path: ['request.uri'],
    bytes: ['response.size'],
    agent: 'request.headers.user-agent',
    referrer: 'request.headers.referer',
  },
  // Azure: Front Door, Application Gateway
  {
    status: 'properties.httpStatusCode',
    method: 'properties.httpMethod',
    path: ['properties.requestUri'],
    bytes: ['properties.responseBytes'],
    agent: 'properties.userAgent',
    referrer: 'properties.referer',
  },
  {
    status: 'properties.httpStatus',
    method: 'properties.httpMethod',
    path: ['properties.requestUri'],
    bytes: ['properties.sentBytes'],
    agent: 'properties.userAgent',
    referrer: 'properties.referer',
  },
  // API Gateway of AWS
  {
    status: 'status',
    method: 'httpMethod',
    path: ['path', 'resourcePath'],
    bytes: ['responseLength'],
    agent: 'userAgent',
  },
  // Fastly
  {
    status: 'response_status',
    method: 'request_method',
    path: ['url'],
    bytes: ['response_body_size'],
    agent: 'request_user_agent',
    referrer: 'request_referer',
  },
  // DataStream of Akamai, whose paths have no slash at their start
  { status: 'statusCode', method: 'reqMethod', path: [], bytes: ['bytes'], agent: 'UA', referrer: 'referer' },
  // Pino
  {
    status: 'res.statusCode',
    method: 'req.method',
    path: ['req.url'],
    bytes: [],
    agent: 'req.headers.user-agent',
    referrer: 'req.headers.referer',
  },
  // What geofix makes of access logs; Rails with lograge, GitLab
  {
    status: 'status',
    method: 'method',
    path: ['target', 'path', 'uri', 'url'],
    bytes: ['bytes', 'size'],
    agent: 'user_agent',
    referrer: 'referrer',
  },
]

/** The names of the W3C Extended Log File Format, which mean one thing only. */
const W3C: Readonly<Record<FieldRole, string>> = {
  status: 'sc-status',
  method: 'cs-method',
  path: 'cs-uri-stem',
  bytes: 'sc-bytes',
  referrer: 'cs(Referer)',
  agent: 'cs(User-Agent)',
}

/** What values of a role look like. nginx writes 000 or 0 if a client went away before an answer. */
const VALUES = {
  status: /^(?:0|000|[1-9]\d\d)$/,
  method: /^[A-Z][A-Z_-]{1,31}$/,
  path: /^(?:[/*]|https?:\/\/)/,
  bytes: /^\d{1,15}$/,
  referrer: /\S/,
  agent: /\S/,
} as const

/**
 * Finds the fields of requests in a sample. All values that the sample has in a field must look like those of its role, and
 * one record must have a status and a method.
 *
 * @param records how many records the sample has
 * @param valueIn the value of a field in a record; `undefined`, `null` or '' if it has none
 */
export function requestFieldsIn(
  records: number,
  valueIn: (record: number, field: string) => unknown,
): Readonly<Partial<Record<FieldRole, string>>> {
  const has = (record: number, field: string): boolean => !isMissing(valueIn(record, field))
  const all = Array.from({ length: records }, (_, record) => record)
  const fits = (field: string, role: keyof typeof VALUES): boolean =>
    all.some((record) => has(record, field)) &&
    all.every((record) => !has(record, field) || isLike(valueIn(record, field), role))
  for (const { status, method, path, bytes, agent, referrer } of PRODUCTS) {
    if (!all.some((record) => has(record, status) && has(record, method))) continue
    if (!fits(status, 'status') || !fits(method, 'method')) continue
    const others = { path, bytes, agent: [agent], referrer: [referrer] }
    const found = Object.entries(others).flatMap(([role, names]) => {
      const name = names.find((each) => each !== undefined && fits(each, role as keyof typeof others))
      return name === undefined ? [] : [[role, name]]
    })
    return { status, method, ...Object.fromEntries(found) }
  }
  return {}
}

/**
 * Finds the fields of requests in a sample of a W3C log. Scans have odd methods, so most values of a field must look like those of
 * its role. IIS writes the commands of FTP under the same names: these are no requests.
 *
 * @param names of all fields
 * @param valuesOf all values that the sample has in a field
 */
export function w3cRequestFields(
  names: readonly string[],
  valuesOf: (field: string) => readonly string[],
): Readonly<Partial<Record<FieldRole, string>>> {
  const fits = (role: FieldRole): boolean => {
    const values = valuesOf(W3C[role]).filter((value) => !isMissing(value))
    return values.filter((value) => !isLike(value, role)).length * 2 <= values.length
  }
  if (!fits('method')) return {}
  const roles = (['status', 'method', 'path', 'bytes', 'referrer', 'agent'] as const).filter(
    (role) => names.includes(W3C[role]) && fits(role),
  )
  return Object.fromEntries(roles.map((role) => [role, W3C[role]]))
}

function isMissing(value: unknown): boolean {
  return value === undefined || value === null || value === '' || value === '-'
}

function isLike(value: unknown, role: keyof typeof VALUES): boolean {
  return (typeof value === 'string' || typeof value === 'number') && VALUES[role].test(String(value))
}
