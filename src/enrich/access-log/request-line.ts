const SPACE = 0x20
const SLASH = 0x2f
const DOT = 0x2e

/**
 * The request of an access log in its parts: `GET /path HTTP/1.1`. What came over the wire can be anything; what is
 * no request has no parts.
 */
export class RequestLine {
  /** The method begins where the request does. */
  methodEnd = 0
  targetStart = 0
  targetEnd = 0
  /** The protocol ends where the request does; equal to that when there is none, as in HTTP/0.9. */
  protocolStart = 0

  /**
   * Reads `bytes[start, end)`. The target may have spaces in it, as clients send them, but only between a method and
   * a protocol: there they cannot be something else.
   *
   * @returns whether it is a request: a method, a target, and a protocol or nothing behind it
   */
  read(bytes: Uint8Array, start: number, end: number): boolean {
    let at = start
    while (at < end && isMethod(bytes[at] ?? 0)) at++
    if (at === start || at + 1 >= end || bytes[at] !== SPACE) return false
    this.methodEnd = at
    this.targetStart = at + 1
    let last = end - 1
    while (last > at && bytes[last] !== SPACE) last--
    if (last === at) {
      // Two words: HTTP/0.9 has no protocol. "GET HTTP/1.1" has no target.
      this.targetEnd = end
      this.protocolStart = end
      return !isProtocol(bytes, this.targetStart, end)
    }
    this.targetEnd = last
    this.protocolStart = last + 1
    return last > this.targetStart && isProtocol(bytes, last + 1, end)
  }
}

/** Letters, digits, `-` and `_`: the tokens of RFC 9110 that methods are made of in practice. */
function isMethod(byte: number): boolean {
  if (byte >= 0x41 && byte <= 0x5a) return true
  return (byte >= 0x61 && byte <= 0x7a) || (byte >= 0x30 && byte <= 0x39) || byte === 0x2d || byte === 0x5f
}

/** A name, a slash and a version: `HTTP/1.1`, `HTTP/2`, `RTSP/1.0`. */
function isProtocol(bytes: Uint8Array, start: number, end: number): boolean {
  let at = start
  while (at < end && isUpper(bytes[at])) at++
  if (at === start || bytes[at] !== SLASH || at + 1 >= end) return false
  for (at++; at < end; at++) if (bytes[at] !== DOT && !isDigit(bytes[at])) return false
  return true
}

function isUpper(byte: number | undefined): boolean {
  return byte !== undefined && byte >= 0x41 && byte <= 0x5a
}

function isDigit(byte: number | undefined): boolean {
  return byte !== undefined && byte >= 0x30 && byte <= 0x39
}
