// The fields of requests in objects and tables whose fields have the names of a known product.
import type { FieldRole } from '../counting/field-values.ts'

const ROLES = ['status', 'method', 'path', 'bytes', 'agent', 'referrer'] as const

/**
 * The names that a product gives to the fields of a request, in the order of {@link ROLES}; `-` for none. Of several for one role,
 * with bars between them, the first that records have is used. Only names that belong together: a lone `status` or `method` can
 * be anything. Dots lead into inner objects; after a slash they are a part of the name.
 */
const PRODUCTS: readonly string[] = [
  // Caddy
  'status request.method request.uri size',
  // Traefik
  'DownstreamStatus RequestMethod RequestPath DownstreamContentSize request_User-Agent request_Referer',
  // Elastic Common Schema: Filebeat, ingress-nginx; and its names with dots in them
  'http.response.status_code http.request.method url.path|url.original ' +
    'http.response.body.bytes|http.response.bytes user_agent.original http.request.referrer',
  '/http.response.status_code /http.request.method /url.path|/url.original ' +
    '/http.response.body.bytes|/http.response.bytes /user_agent.original /http.request.referrer',
  // Cloudflare Logpush
  'EdgeResponseStatus ClientRequestMethod ClientRequestPath|ClientRequestURI ' +
    'EdgeResponseBytes ClientRequestUserAgent ClientRequestReferer',
  // The variables of nginx
  'status request_method request_uri|uri bytes_sent|body_bytes_sent http_user_agent http_referer',
  // Envoy
  'response_code method path bytes_sent user_agent',
  // Load balancers of Google Cloud
  'httpRequest.status httpRequest.requestMethod httpRequest.requestUrl ' +
    'httpRequest.responseSize httpRequest.userAgent httpRequest.referer',
  // Zeek
  'status_code method uri response_body_len user_agent referrer',
  // Kong
  'response.status request.method request.uri ' +
    'response.size request.headers.user-agent request.headers.referer',
  // Azure: Front Door, Application Gateway
  'properties.httpStatusCode properties.httpMethod properties.requestUri ' +
    'properties.responseBytes properties.userAgent properties.referer',
  'properties.httpStatus properties.httpMethod properties.requestUri ' +
    'properties.sentBytes properties.userAgent properties.referer',
  // API Gateway of AWS
  'status httpMethod path|resourcePath responseLength userAgent',
  // Fastly
  'response_status request_method url response_body_size request_user_agent request_referer',
  // DataStream of Akamai, whose paths have no slash at their start
  'statusCode reqMethod - bytes UA referer',
  // Pino
  'res.statusCode req.method req.url - req.headers.user-agent req.headers.referer',
  // What geofix makes of access logs; Rails with lograge, GitLab
  'status method target|path|uri|url bytes|size user_agent referrer',
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
const VALUES: Readonly<Record<FieldRole, RegExp>> = {
  status: /^(?:0|000|[1-9]\d\d)$/,
  method: /^[A-Z][A-Z_-]{1,31}$/,
  path: /^(?:[/*]|https?:\/\/)/,
  bytes: /^\d{1,15}$/,
  referrer: /\S/,
  agent: /\S/,
}

/**
 * Finds the fields of requests in a sample. All values that the sample has in a field must look like those of its role, and
 * one record must have a status and a method.
 *
 * @param valuesOf the value of a field in each record, `undefined`, `null` or '' for none; no values if no record has the field
 */
export function requestFieldsIn(
  valuesOf: (field: string) => readonly unknown[],
): Readonly<Partial<Record<FieldRole, string>>> {
  const fits = (field: string, role: FieldRole): boolean => {
    const values = valuesOf(field).filter((value) => !isMissing(value))
    return values.length > 0 && values.every((value) => isLike(value, role))
  }
  for (const product of PRODUCTS) {
    const names = product.split(' ').map((each) => each.split('|'))
    const [[status = ''] = [], [method = ''] = []] = names
    const methods = valuesOf(method)
    const hasBoth = valuesOf(status).some((value, record) => !isMissing(value) && !isMissing(methods[record]))
    if (!hasBoth) continue
    if (!fits(status, 'status') || !fits(method, 'method')) continue
    const found = ROLES.map((role, index) => [role, names[index]?.find((name) => fits(name, role))])
    return Object.fromEntries(found.filter(([, name]) => name !== undefined))
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
  const roles = ROLES.filter((role) => names.includes(W3C[role]) && fits(role))
  return Object.fromEntries(roles.map((role) => [role, W3C[role]]))
}

function isMissing(value: unknown): boolean {
  return value === undefined || value === null || value === '' || value === '-'
}

function isLike(value: unknown, role: FieldRole): boolean {
  return (typeof value === 'string' || typeof value === 'number') && VALUES[role].test(String(value))
}
