import type { HeaderSource } from './request-source.ts'

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

function isFetchHeaders(headers: HeaderSource): headers is { get(name: string): string | null } {
  return typeof headers.get === 'function'
}
