import { Timestamp } from '../../locating/event-time.ts'
import {
  isDigit,
  isMethod,
  isProtocol,
  MAX_SIZE_DIGITS,
  SIZE_AFTER,
  STATUS_AFTER,
  type UsualRequest,
} from './usual-request.ts'

const SPACE = 0x20
const QUOTE = 0x22
const COMMA = 0x2c
const DASH = 0x2d
const OPEN = 0x5b
const BACKSLASH = 0x5c
const CLOSE = 0x5d

/** The parts of a line, in the order of the members of its object. */
export const PARTS: readonly string[] = [
  ...'vhost ip ident user time method target protocol'.split(' '),
  ...'request status bytes referrer user_agent x_forwarded_for rest'.split(' '),
]
/** Indexes in {@link PARTS}. */
export const [VHOST, HOST, IDENT, USER, TIME, METHOD, TARGET, PROTOCOL] = [0, 1, 2, 3, 4, 5, 6, 7] as const
export const [REQUEST, STATUS, SIZE, REFERRER, AGENT, FORWARDED, REST] = [8, 9, 10, 11, 12, 13, 14] as const

/** What {@link AccessLine.useRequest} takes. */
export const REQUEST_PARTS: readonly number[] = [METHOD, TARGET, PROTOCOL, STATUS, SIZE]

/** The start of a part that the line does not have. */
export const ABSENT = -1

/**
 * Parses one line of an access log and holds the byte offsets of its parts. It reads the common and the combined
 * format of Apache and nginx:
 *
 *     host ident user [time] "request" status bytes
 *     host ident user [time] "request" status bytes "referrer" "user agent"
 *
 * As the constructor's arguments say, a virtual host comes before the host, and a quoted `X-Forwarded-For` after the user
 * agent. Any text can follow the last part. Servers write a quote in a quoted part as `\"` or `\x22`. An unescaped
 * quote ends the part only if the next part can follow.
 */
export class AccessLine {
  /** After `readParts` returns `false`: what is wrong with the line. */
  fault = ''
  /** Whether the line has all parts up to the time. */
  hasTime = false
  readonly timestamp = new Timestamp()
  /** Where each part starts, or {@link ABSENT}, and where it ends. A quoted part has its text without the quotes. */
  readonly starts = new Int32Array(PARTS.length)
  readonly ends = new Int32Array(PARTS.length)
  /** Whether lines begin with a virtual host, before the client. It can change between lines. */
  hasVhost: boolean
  readonly #hasForwarded: boolean

  /**
   * @param hasForwarded whether `X-Forwarded-For` follows the user agent
   */
  constructor(hasVhost: boolean, hasForwarded: boolean) {
    this.hasVhost = hasVhost
    this.#hasForwarded = hasForwarded
  }

  /** Reads the line in `bytes[start, end)` up to the time. Of a line that is cut off or damaged, it reads the host. */
  readClient(bytes: Uint8Array, start: number, end: number): void {
    this.starts.fill(ABSENT)
    let hostStart = start
    if (this.hasVhost) {
      const vhostEnd = endOfWord(bytes, start, end)
      this.#found(VHOST, start, vhostEnd)
      hostStart = vhostEnd + 1
    }
    const hostEnd = endOfHost(bytes, hostStart, end)
    this.#found(HOST, hostStart, hostEnd)
    const identEnd = endOfWord(bytes, hostEnd + 1, end)
    const close = hostEnd === hostStart ? -1 : this.#readTime(bytes, identEnd + 1, end)
    this.hasTime = close !== -1
    if (this.hasTime) this.#found(IDENT, hostEnd + 1, identEnd)
    this.#readRest((this.hasTime ? close : hostEnd - 1) + 2, end)
  }

  /** Reads the parts after the time of the line last given to `readClient`. @returns whether it has all of them */
  readParts(bytes: Uint8Array, end: number): boolean {
    if (!this.hasTime) return this.#bad('there are no host, user and [timestamp] at its start')
    const open = (this.ends[TIME] ?? 0) + 2
    if (bytes[open - 1] !== SPACE || bytes[open] !== QUOTE || open >= end) {
      return this.#bad('no "request" follows the timestamp')
    }
    const requestEnd = closingQuote(bytes, open, end, isStatusNext)
    if (requestEnd === -1) return this.#bad('no status follows the request, or its quote is not closed')
    const status = requestEnd + 2
    const statusEnd = endOfNumber(bytes, status, end)
    const isStatus = bytes[status] === DASH || statusEnd === status + 3
    if (!isStatus || statusEnd >= end || bytes[statusEnd] !== SPACE) {
      return this.#bad('its status is not three digits followed by a number of bytes')
    }
    const size = statusEnd + 1
    const sizeEnd = endOfNumber(bytes, size, end)
    if (sizeEnd === size || sizeEnd > size + MAX_SIZE_DIGITS || !isSpaceNext(bytes, sizeEnd, end)) {
      return this.#bad('its number of bytes is not a number')
    }
    this.#splitRequest(bytes, open + 1, requestEnd)
    this.#found(STATUS, status, statusEnd)
    this.#found(SIZE, size, sizeEnd)
    this.#readRest(sizeEnd + 1, end)
    this.#readQuoted(bytes, sizeEnd + 1, end)
    return true
  }

  /** Takes {@link REQUEST_PARTS} of a line that a fused loop has read: `start` and `quote` are those of its request. */
  useRequest({ method, target, sizeEnd }: UsualRequest, start: number, quote: number): void {
    this.#found(METHOD, start, method)
    this.#found(TARGET, method + 1, target)
    this.#found(PROTOCOL, target + 1, quote)
    this.#found(STATUS, quote + STATUS_AFTER, quote + SIZE_AFTER - 1)
    this.#found(SIZE, quote + SIZE_AFTER, sizeEnd)
  }

  /** @returns the index of the bracket that closes the timestamp, or -1 */
  #readTime(bytes: Uint8Array, start: number, end: number): number {
    // A user's name can have spaces and brackets in it.
    for (let at = start; at < end; at++) {
      if (bytes[at] !== OPEN || bytes[at - 1] !== SPACE) continue
      const close = this.timestamp.read(bytes, at + 1, end)
      if (close === -1 || close >= end || bytes[close] !== CLOSE) continue
      // Some formats have no user between the identity and the time.
      if (at - 1 > start) this.#found(USER, start, at - 1)
      this.#found(TIME, at + 1, close)
      return close
    }
    return -1
  }

  /** Finds the referrer and the user agent, if both are there and their quotes are closed, and what follows them. */
  #readQuoted(bytes: Uint8Array, start: number, end: number): void {
    const referrerEnd = closingQuote(bytes, start, end, isQuotedNext)
    const agent = referrerEnd + 3
    const agentEnd = referrerEnd === -1 ? -1 : closingQuote(bytes, agent - 1, end, isSpaceNext)
    if (agentEnd === -1) return
    this.#found(REFERRER, start + 1, referrerEnd)
    this.#found(AGENT, agent, agentEnd)
    this.#readRest(agentEnd + 2, end)
    const forwarded = agentEnd + 3
    const forwardedEnd = this.#hasForwarded ? closingQuote(bytes, forwarded - 1, end, isSpaceNext) : -1
    if (forwardedEnd === -1) return
    if (forwardedEnd > forwarded) this.#found(FORWARDED, forwarded, forwardedEnd)
    this.#readRest(forwardedEnd + 2, end)
  }

  /**
   * Finds the parts of a request, such as `GET /path HTTP/1.1`. Clients can send anything: text that is not a method, a
   * target and an optional protocol is one part, the request. A target with spaces, which some clients send, is accepted
   * only between a method and a protocol, because its end is ambiguous otherwise.
   */
  #splitRequest(bytes: Uint8Array, start: number, end: number): void {
    let method = start
    while (method < end && isMethod(bytes[method] ?? 0)) method++
    let last = end - 1
    while (last > method && bytes[last] !== SPACE) last--
    const isMethodFirst = method > start && method + 1 < end && bytes[method] === SPACE
    const hasProtocol = last > method + 1 && isProtocol(bytes, last + 1, end)
    // Two words: HTTP/0.9 has no protocol. "GET HTTP/1.1" has no target.
    const isOld = last === method && !isProtocol(bytes, method + 1, end)
    if (!isMethodFirst || !(hasProtocol || isOld)) {
      if (!isDash(bytes, start, end)) this.#found(REQUEST, start, end)
      return
    }
    this.#found(METHOD, start, method)
    this.#found(TARGET, method + 1, hasProtocol ? last : end)
    if (hasProtocol) this.#found(PROTOCOL, last + 1, end)
  }

  /** Sets the rest of the line, which starts after the last part that was read and a space. */
  #readRest(start: number, end: number): void {
    this.starts[REST] = start < end ? start : ABSENT
    this.ends[REST] = end
  }

  #found(part: number, start: number, end: number): void {
    this.starts[part] = start
    this.ends[part] = end
  }

  #bad(fault: string): false {
    this.fault = `it is not a line of an access log: ${fault}`
    return false
  }
}

/** Whether a part is `-`, which servers write for an unknown value. */
export function isDash(bytes: Uint8Array, start: number, end: number): boolean {
  return end - start === 1 && bytes[start] === DASH
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

/** A number, or `-` for one that is unknown. */
function endOfNumber(bytes: Uint8Array, start: number, end: number): number {
  let at = start
  if (bytes[at] === DASH) return at + 1
  while (at < end && isDigit(bytes[at] ?? 0)) at++
  return at
}

type CanFollow = (bytes: Uint8Array, at: number, end: number) => boolean

/**
 * The end of the quoted part that starts at `open`: the first unescaped quote after which the next part can follow.
 *
 * @returns its index, or -1 if no quote opens the part or none closes it
 */
function closingQuote(bytes: Uint8Array, open: number, end: number, canFollow: CanFollow): number {
  if (bytes[open] !== QUOTE) return -1
  for (let at = open + 1; at < end; at++) {
    const byte = bytes[at]
    if (byte === BACKSLASH) at++
    else if (byte === QUOTE && canFollow(bytes, at + 1, end)) return at
  }
  return -1
}

function isStatusNext(bytes: Uint8Array, at: number, end: number): boolean {
  const next = bytes[at + 1] ?? 0
  return bytes[at] === SPACE && at + 1 < end && (next === DASH || isDigit(next))
}

function isQuotedNext(bytes: Uint8Array, at: number, end: number): boolean {
  return bytes[at] === SPACE && bytes[at + 1] === QUOTE && at + 1 < end
}

function isSpaceNext(bytes: Uint8Array, at: number, end: number): boolean {
  return at === end || bytes[at] === SPACE
}
