import { mayEndText } from '../../swar.ts'

const LINE_FEED = 0x0a
const SPACE = 0x20
const QUOTE = 0x22
const DASH = 0x2d
const DOT = 0x2e
const SLASH = 0x2f
const ZERO = 0x30
const BACKSLASH = 0x5c

/** Digits of a size, at most: the largest signed 64-bit number has 19. */
export const MAX_SIZE_DIGITS = 19
/** ` HTTP/1.1` and ` HTTP/2`. */
const PROTOCOL_BYTES = [9, 7] as const
/** Where the status and the size begin, after the quote that ends the request. */
export const STATUS_AFTER = 2
export const SIZE_AFTER = 6

/** The parts of a usual request with its answer, `METHOD target HTTP/1.1" 200 1234`, for fused loops. */
export class UsualRequest {
  /** Where the quote is that ends the request, after {@link readQuoted}. */
  quote = 0
  /** Where the method and the target end. */
  method = 0
  target = 0
  /** Where the size ends, which can be `-`. */
  sizeEnd = 0

  /** Reads the request whose first quote is at `open`, after a space. @returns whether it is usual, and its size ends as a word */
  readQuoted(bytes: Uint8Array, view: DataView, open: number): boolean {
    if (bytes[open] !== QUOTE || bytes[open - 1] !== SPACE) return false
    let at = open + 1
    while (!mayEndText(view.getInt32(at))) at += 4
    while ((bytes[at] ?? 0) >= SPACE && bytes[at] !== QUOTE && bytes[at] !== BACKSLASH) at++
    if (bytes[at] !== QUOTE || !this.read(bytes, open + 1, at)) return false
    this.quote = at
    return bytes[this.sizeEnd] === SPACE || bytes[this.sizeEnd] === LINE_FEED
  }

  /**
   * Reads the request that is `bytes[start, quote)`, and the status and the size after its quote.
   *
   * @returns whether they are usual: `AccessLine` reads all other lines
   */
  read(bytes: Uint8Array, start: number, quote: number): boolean {
    return this.readMethod(bytes, start) && this.readRest(bytes, quote)
  }

  /** Reads the method that is at `start`. @returns whether it is usual */
  readMethod(bytes: Uint8Array, start: number): boolean {
    let method = start
    while (isMethod(bytes[method] ?? 0)) method++
    this.method = method
    return bytes[method] === SPACE && method !== start && !(method === start + 1 && bytes[start] === DASH)
  }

  /** Reads what is after the method, up to `quote`, and the status and the size. @returns whether they are usual */
  readRest(bytes: Uint8Array, quote: number): boolean {
    const { method } = this
    let target = quote - PROTOCOL_BYTES[0]
    if (bytes[target] !== SPACE || target <= method + 1) target = quote - PROTOCOL_BYTES[1]
    if (target <= method + 1 || bytes[target] !== SPACE || !isProtocol(bytes, target + 1, quote)) return false
    if (target === method + 2 && bytes[method + 1] === DASH) return false

    const status = quote + STATUS_AFTER
    const size = quote + SIZE_AFTER
    if (bytes[quote + 1] !== SPACE || bytes[status + 3] !== SPACE || bytes[status] === ZERO) return false
    if (!isStatus(bytes, status)) return false
    let sizeEnd = size
    if (bytes[size] === DASH) sizeEnd++
    else while (isDigit(bytes[sizeEnd] ?? 0)) sizeEnd++
    if (sizeEnd === size || sizeEnd > size + MAX_SIZE_DIGITS) return false
    if (bytes[size] === ZERO && sizeEnd > size + 1) return false
    this.target = target
    this.sizeEnd = sizeEnd
    return true
  }
}

/** Whether three digits are there. */
function isStatus(bytes: Uint8Array, at: number): boolean {
  return isDigit(bytes[at] ?? 0) && isDigit(bytes[at + 1] ?? 0) && isDigit(bytes[at + 2] ?? 0)
}

/** Letters, digits, `-` and `_`: the token characters (RFC 9110 section 5.6.2) that methods have in practice. */
export function isMethod(byte: number): boolean {
  return isUpper(byte) || (byte >= 0x61 && byte <= 0x7a) || isDigit(byte) || byte === DASH || byte === 0x5f
}

/** A name, a slash and a version: `HTTP/1.1`, `HTTP/2`, `RTSP/1.0`. */
export function isProtocol(bytes: Uint8Array, start: number, end: number): boolean {
  let at = start
  while (at < end && isUpper(bytes[at] ?? 0)) at++
  if (at === start || bytes[at] !== SLASH || at + 1 >= end) return false
  for (at++; at < end; at++) if (bytes[at] !== DOT && !isDigit(bytes[at] ?? 0)) return false
  return true
}

function isUpper(byte: number): boolean {
  return byte >= 0x41 && byte <= 0x5a
}

export function isDigit(byte: number): boolean {
  return byte >= ZERO && byte <= ZERO + 9
}
