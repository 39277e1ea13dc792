import { type HeaderSource, memberOf, type Request } from './request-source.ts'

/** Header lines of an HTTP/1 request that Node shows in `headers`, unless `server.maxHeadersCount` says otherwise. */
const NODE_MAX_HEADERS = 1000

/**
 * All lines of one header field in their order, joined with `, ` as RFC 9110 section 5.3 allows; `''` when
 * there is none. Names are compared without regard to case and in no other way: `X_Forwarded_For` is another
 * field (CVE-2025-64484).
 *
 * @param name in lower case
 */
export function readField(headers: HeaderSource, name: string): string {
  if (isFetchHeaders(headers)) {
    const value: unknown = headers.get(name)
    return typeof value === 'string' ? value : ''
  }
  const lines: string[] = []
  for (const key of Object.keys(headers)) {
    if (key.length !== name.length || key.toLowerCase() !== name) continue
    const value = headers[key]
    if (typeof value === 'string') lines.push(value)
    else if (Array.isArray(value)) for (const line of value) if (typeof line === 'string') lines.push(line)
  }
  return lines.join(', ')
}

/**
 * Whether Node may have left lines of a field out of a request's `headers`, as it does beyond `maxHeadersCount`
 * (HTTP/1) and with repeated lines of some fields. Proxies add their line last, so what is left of the field is the
 * caller's own.
 *
 * @param name in lower case
 * @param shown the field as `readField` returns it
 */
export function lacksLines(request: Request, name: string, shown: string): boolean {
  const lines = memberOf(request, 'rawHeaders')
  if (!Array.isArray(lines)) return false
  return lines.length >= maxEntries(request) || startsWithLines(lines, name, shown)
}

/** How long `rawHeaders` is, at least, where lines are missing: it can lack lines too, so the limit itself counts. */
function maxEntries(request: Request): number {
  // HTTP/2 refuses a request that has too many.
  if (memberOf(request, 'httpVersionMajor') === 2) return Number.POSITIVE_INFINITY
  const limit = memberOf(memberOf(memberOf(request, 'socket'), 'server'), 'maxHeadersCount')
  // Node's own arithmetic and bounds: no more than 0 is no limit, and what is not a number is the default.
  const entries = (typeof limit === 'number' ? limit : NODE_MAX_HEADERS) << 1
  return entries > 0 ? entries : Number.POSITIVE_INFINITY
}

/** Whether `shown` is what the first lines of a field say, and not all of them. */
function startsWithLines(lines: readonly unknown[], name: string, shown: string): boolean {
  let field: string | undefined
  for (let at = 0; at < lines.length; at += 2) {
    if (String(lines[at]).toLowerCase() !== name) continue
    if (field === shown) return true
    field = field === undefined ? String(lines[at + 1]) : `${field}, ${lines[at + 1]}`
  }
  return false
}

function isFetchHeaders(headers: HeaderSource): headers is { get(name: string): string | null } {
  return typeof headers.get === 'function'
}
