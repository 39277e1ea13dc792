import type { ByteSink } from '../byte-sink.ts'
import { JsonText, jsonRoom } from '../json-text.ts'
import type { LineFormat, LineResult } from '../line-format.ts'
import type { Locator } from '../locator.ts'
import type { FailureReason } from '../tally.ts'
import { Words } from '../words.ts'
import { AccessLine } from './access-line.ts'
import { type MemberNames, memberNames, type Piece } from './member-names.ts'
import type { AccessLogPlan } from './plan.ts'
import { TIMESTAMP_ROOM } from './timestamp.ts'

const QUOTE = 0x22
const COMMA = 0x2c
const DASH = 0x2d
const ZERO = 0x30
const QUESTION_MARK = 0x3f
const TAB = 0x09
const CLOSE_BRACE = 0x7d

/** Longer lists are not read, as `detect` does not. Bytes. */
const MAX_LIST = 8192

/**
 * Lines of access logs. Each becomes a JSON object of its parts, `null` where the log has `-`; or it is kept, and a
 * tab and the location follow. Of a line that is cut off or damaged what can be read has its members, and all that
 * follows is `rest`; without an address it is a bad line.
 *
 * The texts of the parts are those of the log, its escapes (`\"`, `\x16`) included: undoing them would need to know
 * which server wrote them. Not in every object are `vhost`; `request`, of a request that has no parts;
 * `x_forwarded_for`; `rest`, of what follows the last part that was read.
 */
export class AccessLogLines implements LineFormat {
  readonly rewrites: boolean
  readonly #line: AccessLine
  readonly #locator: Locator
  readonly #hasVhost: boolean
  readonly #hasForwarded: boolean
  readonly #names: MemberNames
  readonly #text = new JsonText()
  readonly #target = new Words()
  /** An `X-Forwarded-For` with its sender behind it. */
  readonly #hops: Uint8Array
  #forwardedStart = 0
  #forwardedEnd = 0
  #restStart = 0

  constructor(plan: AccessLogPlan, locator: Locator) {
    this.rewrites = !plan.append
    this.#line = new AccessLine(plan.hasVhost)
    this.#locator = locator
    this.#hasVhost = plan.hasVhost
    this.#hasForwarded = plan.hasForwarded
    this.#names = memberNames(plan.into)
    this.#hops = new Uint8Array(plan.hasForwarded ? 2 * MAX_LIST : 0)
  }

  get fault(): string {
    return this.#line.fault
  }

  line(bytes: Uint8Array, start: number, end: number, out: ByteSink): LineResult {
    const isWhole = this.#line.read(bytes, start, end)
    this.#readForwarded(bytes, end)
    if (this.#line.hasTime) this.#locator.at = this.#line.time.instant
    else this.#locator.noTime()
    const isLocated = this.#locate(bytes)
    if (!isWhole && !isLocated && isWithoutAddress(this.#locator.reason)) return 'bad'
    if (this.rewrites) {
      const into = out.room(jsonRoom(end - start) + this.#names.room + TIMESTAMP_ROOM)
      out.length = this.#putParts(bytes, start, end, isWhole, into, out.length)
    } else {
      out.writeRange(bytes, start, end)
      out.writeByte(TAB)
    }
    if (isLocated) this.#locator.writeJson(out)
    else out.writeAscii('null')
    if (this.rewrites) out.writeByte(CLOSE_BRACE)
    return isLocated ? 'resolved' : 'unresolved'
  }

  /** Finds the part in quotes behind the user agent, and what follows it. */
  #readForwarded(bytes: Uint8Array, end: number): void {
    const start = this.#line.restStart
    this.#restStart = start
    this.#forwardedStart = start
    this.#forwardedEnd = start
    if (!this.#hasForwarded || !this.#line.isCombined || start >= end || bytes[start] !== QUOTE) return
    const close = this.#line.closingQuote(bytes, start + 1, end)
    if (close === -1) return
    this.#forwardedStart = start + 1
    this.#forwardedEnd = close
    this.#restStart = Math.min(close + 2, end)
  }

  #locate(bytes: Uint8Array): boolean {
    const { hostStart, hostEnd } = this.#line
    const [start, end] = [this.#forwardedStart, this.#forwardedEnd]
    if (start === end || isDash(bytes, start, end)) return this.#locator.locate(bytes, hostStart, hostEnd)
    // Whoever sent the request is the last hop: it is the client unless it is trusted, whatever it claims.
    const hops = this.#hops
    const hostSize = hostEnd - hostStart
    let size = end - start
    if (size + 1 + hostSize <= MAX_LIST) hops.set(bytes.subarray(start, end))
    else {
      if (hostSize + 2 > MAX_LIST) return this.#locator.locate(bytes, hostStart, hostEnd)
      // Too long to be believed, like anything else that is no hop.
      hops[0] = QUESTION_MARK
      size = 1
    }
    hops[size] = COMMA
    hops.set(bytes.subarray(hostStart, hostEnd), size + 1)
    return this.#locator.locate(hops, 0, size + 1 + hostSize)
  }

  /** Writes the object up to the location. @returns where that follows */
  #putParts(
    bytes: Uint8Array,
    start: number,
    end: number,
    isWhole: boolean,
    into: Uint8Array,
    from: number,
  ): number {
    const line = this.#line
    const names = this.#names
    let at = from
    if (this.#hasVhost) {
      at = this.#putText(names.vhost, bytes, start, line.vhostEnd, into, at)
      at = this.#putText(names.ip, bytes, line.hostStart, line.hostEnd, into, at)
    } else at = this.#putText(names.firstIp, bytes, line.hostStart, line.hostEnd, into, at)
    if (line.hasTime) {
      at = this.#putText(names.ident, bytes, line.identStart, line.identEnd, into, at)
      // Some formats have no user: nothing is between the identity and the time.
      const hasUser = line.userEnd > line.userStart
      if (hasUser) at = this.#putText(names.user, bytes, line.userStart, line.userEnd, into, at)
      else at = this.#putNull(names.user, into, at)
      at = names.time.put(this.#target.view(into), at)
      into[at++] = QUOTE
      at = line.time.put(bytes, into, at)
      into[at++] = QUOTE
    } else for (const name of [names.ident, names.user, names.time]) at = this.#putNull(name, into, at)
    if (isWhole) {
      at = this.#putRequest(bytes, into, at)
      at = this.#putNumber(names.status, bytes, line.statusStart, line.statusEnd, into, at)
      at = this.#putNumber(names.bytes, bytes, line.sizeStart, line.sizeEnd, into, at)
    } else {
      const { method, target, protocol, status, bytes: size } = names
      for (const name of [method, target, protocol, status, size]) at = this.#putNull(name, into, at)
    }
    if (line.isCombined) {
      at = this.#putText(names.referrer, bytes, line.referrerStart, line.referrerEnd, into, at)
      at = this.#putText(names.userAgent, bytes, line.agentStart, line.agentEnd, into, at)
    } else at = this.#putNull(names.userAgent, into, this.#putNull(names.referrer, into, at))
    if (this.#forwardedEnd > this.#forwardedStart) {
      at = this.#putText(names.forwarded, bytes, this.#forwardedStart, this.#forwardedEnd, into, at)
    }
    if (this.#restStart < end) at = this.#putText(names.rest, bytes, this.#restStart, end, into, at)
    return names.location.put(this.#target.view(into), at)
  }

  #putRequest(bytes: Uint8Array, into: Uint8Array, from: number): number {
    const { request, requestStart: start, requestEnd: end } = this.#line
    const names = this.#names
    let at = from
    if (request.read(bytes, start, end)) {
      at = this.#putText(names.method, bytes, start, request.methodEnd, into, at)
      at = this.#putText(names.target, bytes, request.targetStart, request.targetEnd, into, at)
      if (request.protocolStart >= end) return this.#putNull(names.protocol, into, at)
      return this.#putText(names.protocol, bytes, request.protocolStart, end, into, at)
    }
    at = this.#putNull(names.method, into, at)
    at = this.#putNull(names.target, into, at)
    at = this.#putNull(names.protocol, into, at)
    return isDash(bytes, start, end) ? at : this.#putText(names.request, bytes, start, end, into, at)
  }

  #putText(
    name: Piece,
    bytes: Uint8Array,
    start: number,
    end: number,
    into: Uint8Array,
    from: number,
  ): number {
    if (isDash(bytes, start, end)) return this.#putNull(name, into, from)
    let at = name.put(this.#target.view(into), from)
    into[at] = QUOTE
    at = this.#text.put(bytes, start, end, into, at + 1)
    into[at] = QUOTE
    return at + 1
  }

  #putNumber(
    name: Piece,
    bytes: Uint8Array,
    start: number,
    end: number,
    into: Uint8Array,
    from: number,
  ): number {
    if (bytes[start] === DASH) return this.#putNull(name, into, from)
    let at = name.put(this.#target.view(into), from)
    let digit = start
    // JSON has no zeros in front of a number; nginx writes the status "000".
    while (digit < end - 1 && bytes[digit] === ZERO) digit++
    for (; digit < end; digit++) into[at++] = bytes[digit] ?? 0
    return at
  }

  #putNull(name: Piece, into: Uint8Array, at: number): number {
    const view = this.#target.view(into)
    return this.#names.null.put(view, name.put(view, at))
  }
}

function isWithoutAddress(reason: FailureReason): boolean {
  return reason === 'malformed' || reason === 'missing'
}

function isDash(bytes: Uint8Array, start: number, end: number): boolean {
  return end - start === 1 && bytes[start] === DASH
}
