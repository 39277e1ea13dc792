import { type HeaderSource, memberOf, type Request } from './request-source.ts'

/** Node's default of `server.maxHeadersCount`: the number of header lines of an HTTP/1 request that it keeps. */
const NODE_MAX_HEADER_LINES = 1000

/**
 * Returns all lines of a header field in their order, joined with `, ` as RFC 9110 section 5.3 allows, or `''` if there
 * is none. Names are compared case-insensitively and otherwise exactly: `X_Forwarded_For` is a different field
 * (CVE-2025-64484).
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
 * Whether Node may have dropped lines of a field from the `headers` of a request. Node drops lines beyond
 * `maxHeadersCount` (HTTP/1) and repeated lines of some fields. Proxies append their line, so the lines that remain are
 * those that the caller wrote.
 *
 * @param name in lower case
 * @param shown the value that `readField` returns for the field
 */
export function lacksLines(request: Request, name: string, shown: string): boolean {
  const lines = memberOf(request, 'rawHeaders')
  if (!Array.isArray(lines)) return false
  return lines.length >= maxEntries(request) || startsWithLines(lines, name, shown)
}

/** The length of `rawHeaders` from which lines may be missing. It can lack lines itself, so the limit is included. */
function maxEntries(request: Request): number {
  // Node refuses HTTP/2 requests that have too many header lines.
  if (memberOf(request, 'httpVersionMajor') === 2) return Number.POSITIVE_INFINITY
  const limit = memberOf(memberOf(memberOf(request, 'socket'), 'server'), 'maxHeadersCount')
  // As Node computes it: 0 and less mean no limit, and a value that is not a number means the default.
  const entries = (typeof limit === 'number' ? limit : NODE_MAX_HEADER_LINES) << 1
  return entries > 0 ? entries : Number.POSITIVE_INFINITY
}

/** Whether `shown` holds the first lines of a field, but not all of them. */
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
