import { mayHaveQuote, Words } from '../../swar.ts'
import { Timestamp } from './timestamp.ts'

const SPACE = 0x20
const QUOTE = 0x22
const COMMA = 0x2c
const DASH = 0x2d
const ZERO = 0x30
const OPEN = 0x5b
const BACKSLASH = 0x5c

/** Digits of a size, at most: the largest signed 64-bit number has 19. */
const MAX_SIZE_DIGITS = 19

/**
 * Parses one line of an access log and holds the byte offsets of its parts. It reads the common and the combined
 * format of Apache and nginx:
 *
 *     host ident user [time] "request" status bytes
 *     host ident user [time] "request" status bytes "referrer" "user agent"
 *
 * A virtual host comes before the host if the constructor is told so. Any text can follow the last part. Servers
 * write a quote in a quoted part as `\"` or `\x22`. An unescaped quote ends the part only if the next part can follow.
 */
export class AccessLine {
  /** After `read` returns `false`: what is wrong with the line. */
  fault = ''
  /** Whether the parts up to the time were read. Can be `true` although `read` returns `false`. */
  hasTime = false
  readonly time = new Timestamp()
  readonly request = new RequestLine()
  vhostEnd = 0
  hostStart = 0
  hostEnd = 0
  identStart = 0
  identEnd = 0
  userStart = 0
  /** Before `userStart` when the line has no user. */
  userEnd = 0
  requestStart = 0
  requestEnd = 0
  /** Three digits, or `-`. */
  statusStart = 0
  statusEnd = 0
  /** Digits, or `-`. */
  sizeStart = 0
  sizeEnd = 0
  /** Whether the line has a referrer and a user agent. */
  isCombined = false
  referrerStart = 0
  referrerEnd = 0
  agentStart = 0
  agentEnd = 0
  /** Start of the rest of the line: what follows the last part that was read and one space. */
  restStart = 0
  readonly #hasVhost: boolean
  readonly #words = new Words()

  /** @param hasVhost whether lines begin with a virtual host, before the client */
  constructor(hasVhost: boolean) {
    this.#hasVhost = hasVhost
  }

  /**
   * Reads the line in `bytes[start, end)`. Of a line that is cut off or damaged, the host is read, and the other parts
   * up to the time are read only if `hasTime` says so.
   *
   * @returns whether it is a line of an access log
   */
  read(bytes: Uint8Array, start: number, end: number): boolean {
    const words = this.#words.view(bytes)
    const close = this.#readClient(bytes, start, end)
    this.isCombined = false
    this.hasTime = close !== -1
    this.restStart = Math.min((this.hasTime ? close : this.hostEnd - 1) + 2, end)
    if (!this.hasTime) return this.#bad('there are no host, user and [timestamp] at its start')
    if (bytes[close + 1] !== SPACE || bytes[close + 2] !== QUOTE || close + 2 >= end) {
      return this.#bad('no "request" follows the timestamp')
    }
    this.requestStart = close + 3
    this.requestEnd = endOfRequest(bytes, words, close + 3, end)
    if (this.requestEnd === -1) return this.#bad('no status follows the request, or its quote is not closed')
    if (!this.#readNumbers(bytes, this.requestEnd + 2, end)) return false
    this.#readRest(bytes, words, end)
    return true
  }

  /** @returns the index of the bracket that closes the timestamp, or -1 */
  #readClient(bytes: Uint8Array, start: number, end: number): number {
    this.hostStart = start
    if (this.#hasVhost) {
      this.vhostEnd = endOfWord(bytes, start, end)
      this.hostStart = this.vhostEnd + 1
    }
    this.hostEnd = endOfHost(bytes, this.hostStart, end)
    this.identStart = this.hostEnd + 1
    this.identEnd = endOfWord(bytes, this.identStart, end)
    this.userStart = this.identEnd + 1
    if (this.userStart >= end || this.hostEnd === this.hostStart) return -1
    // A user's name can have spaces and brackets in it.
    for (let at = this.userStart; at < end; at++) {
      if (bytes[at] !== OPEN || bytes[at - 1] !== SPACE) continue
      const close = this.time.read(bytes, at + 1, end)
      if (close !== -1) {
        this.userEnd = at - 1
        return close
      }
    }
    return -1
  }

  #readNumbers(bytes: Uint8Array, start: number, end: number): boolean {
    this.statusStart = start
    const statusEnd = bytes[start] === DASH ? start + 1 : endOfDigits(bytes, start, end)
    this.statusEnd = statusEnd
    const isStatus = bytes[start] === DASH || statusEnd === start + 3
    if (!isStatus || statusEnd >= end || bytes[statusEnd] !== SPACE) {
      return this.#bad('its status is not three digits and a number behind')
    }
    this.sizeStart = statusEnd + 1
    const isMissing = bytes[this.sizeStart] === DASH
    this.sizeEnd = isMissing ? this.sizeStart + 1 : endOfDigits(bytes, this.sizeStart, end)
    const digits = this.sizeEnd - this.sizeStart
    const isSize = digits > 0 && digits <= MAX_SIZE_DIGITS && this.sizeEnd <= end
    if (!isSize || (this.sizeEnd < end && bytes[this.sizeEnd] !== SPACE)) {
      return this.#bad('its number of bytes is not a number')
    }
    return true
  }

  /** Reads the referrer and the user agent, if both are there and their quotes are closed, and finds the rest. */
  #readRest(bytes: Uint8Array, words: DataView, end: number): void {
    this.restStart = Math.min(this.sizeEnd + 1, end)
    if (this.restStart >= end || bytes[this.restStart] !== QUOTE) return
    this.referrerStart = this.restStart + 1
    this.referrerEnd = endOfReferrer(bytes, words, this.referrerStart, end)
    if (this.referrerEnd === -1) return
    this.agentStart = this.referrerEnd + 3
    this.agentEnd = endOfQuoted(bytes, words, this.agentStart, end)
    if (this.agentEnd === -1) return
    this.isCombined = true
    this.restStart = Math.min(this.agentEnd + 2, end)
  }

  /**
   * Finds the quote that closes a part whose text begins at `start`: the first unescaped one that is followed by a
   * space or the end of the line.
   *
   * @returns its index, or -1 when there is none
   */
  closingQuote(bytes: Uint8Array, start: number, end: number): number {
    return endOfQuoted(bytes, this.#words.view(bytes), start, end)
  }

  #bad(fault: string): false {
    this.fault = `it is no line of an access log: ${fault}`
    return false
  }
}

/** Skips groups of four bytes that have no quote and no backslash. @returns where it stops */
function skipPlain(words: DataView, start: number, end: number): number {
  let at = start
  for (const last = end - 4; at <= last; at += 4) if (mayHaveQuote(words.getInt32(at, true))) break
  return at
}

function endOfWord(bytes: Uint8Array, start: number, end: number): number {
  let at = start
  while (at < end && bytes[at] !== SPACE) at++
  return at
}

/** The host can be a list of hops, as in `X-Forwarded-For`: a space after a comma does not end it. */
function endOfHost(bytes: Uint8Array, start: number, end: number): number {
  let at = start
  while (at < end && (bytes[at] !== SPACE || (at > start && bytes[at - 1] === COMMA))) at++
  return at
}

function endOfDigits(bytes: Uint8Array, start: number, end: number): number {
  let at = start
  for (; at < end; at++) {
    const digit = (bytes[at] ?? 0) - ZERO
    if (digit < 0 || digit > 9) break
  }
  return at
}

/** The first unescaped quote followed by a space and the start of a status; -1 when there is none. */
function endOfRequest(bytes: Uint8Array, words: DataView, start: number, end: number): number {
  for (let at = start; at < end; at++) {
    at = skipPlain(words, at, end)
    const byte = at < end ? bytes[at] : undefined
    if (byte === BACKSLASH) at++
    else if (byte === QUOTE && at + 2 < end && bytes[at + 1] === SPACE) {
      const next = bytes[at + 2] ?? 0
      if (next === DASH || (next >= ZERO && next <= ZERO + 9)) return at
    }
  }
  return -1
}

/** The first unescaped quote followed by a space and another quote; -1 when there is none. */
function endOfReferrer(bytes: Uint8Array, words: DataView, start: number, end: number): number {
  for (let at = start; at < end; at++) {
    at = skipPlain(words, at, end)
    const byte = at < end ? bytes[at] : undefined
    if (byte === BACKSLASH) at++
    else if (byte === QUOTE && bytes[at + 1] === SPACE && bytes[at + 2] === QUOTE && at + 2 < end) return at
  }
  return -1
}

/** The first unescaped quote followed by a space or the end of the line; -1 when there is none. */
function endOfQuoted(bytes: Uint8Array, words: DataView, start: number, end: number): number {
  for (let at = start; at < end; at++) {
    at = skipPlain(words, at, end)
    const byte = at < end ? bytes[at] : undefined
    if (byte === BACKSLASH) at++
    else if (byte === QUOTE && (at + 1 === end || bytes[at + 1] === SPACE)) return at
  }
  return -1
}

const SLASH = 0x2f
const DOT = 0x2e

/**
 * Parses the request in an access log, such as `GET /path HTTP/1.1`, and holds the byte offsets of its parts. Clients
 * can send anything; text that is not a request has no parts.
 */
export class RequestLine {
  /** The method begins where the request does. */
  methodEnd = 0
  targetStart = 0
  targetEnd = 0
  /** The protocol ends where the request does. Equal to that end when there is no protocol, as in HTTP/0.9. */
  protocolStart = 0

  /**
   * Reads the request in `bytes[start, end)`. Some clients send targets with spaces. Such a target is accepted only
   * between a method and a protocol, because its end is ambiguous otherwise.
   *
   * @returns whether it is a request: a method, a target and, optionally, a protocol
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

/** Letters, digits, `-` and `_`: the token characters (RFC 9110 section 5.6.2) that methods have in practice. */
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
