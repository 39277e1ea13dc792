import { quoted } from '../../../address/quoted.ts'
import type { ByteSink } from '../../byte-sink.ts'
import type { FailureReason } from '../../counts.ts'
import { EnrichError } from '../../errors.ts'
import { kindOfValue } from '../../guess.ts'
import { JsonText, jsonRoom } from '../../json-text.ts'
import { type LineFormat, type LineResult, RAW } from '../../line-format.ts'
import type { LineLocator } from '../../line-locator.ts'
import { type CommonPlan, commonPlan, type EnrichOptions, type Planned } from '../../options.ts'
import { firstLines, type LineRange } from '../../sample.ts'
import { Words } from '../../swar.ts'
import type { FormatDefinition } from '../format-definition.ts'
import { AccessLine } from './access-line.ts'
import { TIMESTAMP_ROOM } from './timestamp.ts'

export interface AccessLogPlan extends CommonPlan {
  readonly format: 'access-log'
  /** Whether lines begin with a virtual host, as in Apache's `vhost_combined`. */
  readonly hasVhost: boolean
  /**
   * Whether the quoted part after the user agent is the client's `X-Forwarded-For`, as in the format `main` of the
   * configuration that nginx is installed with. `trustedProxies` decide how much of it is believed.
   */
  readonly hasForwarded: boolean
  /** Whether lines are kept, each followed by a tab and its location. Otherwise lines become JSON objects. */
  readonly append: boolean
}

/** Name of the quoted part after the user agent. */
const FORWARDED = 'x_forwarded_for'

/** Lines checked. More than half must be lines of an access log. */
const LINES = 50

/** Whether more than half of the first lines are lines of an access log. */
export function looksLikeAccessLog(sample: Uint8Array): boolean {
  const lines = firstLines(sample, false, LINES)
  return readable(sample, lines).length * 2 > lines.length
}

/**
 * Makes the plan for an access log. The layout of the lines is fixed, so lines with another layout are bad lines and
 * not an error here.
 *
 * @throws EnrichError when `field` is not a part that can hold the address, when it is `x_forwarded_for` and no
 *   proxies are trusted, and when lines become objects and `into` is the name of a member that they can have
 * @throws TypeError, InvalidLocaleError when an option is wrong
 */
export function planAccessLog(
  sample: Uint8Array,
  isWhole: boolean,
  options: EnrichOptions,
): Planned<AccessLogPlan> {
  const common = commonPlan(options)
  const { field, append = false } = options
  if (options.timeField !== undefined) {
    throw new TypeError('the option "timeField" is not for access logs: their lines have a time')
  }
  if (!append && [...MEMBERS, RAW].some((member) => member === common.into)) {
    throw new EnrichError(
      'ENRICH_FIELD_EXISTS',
      `a line has a member ${quoted(common.into)} already: choose another name for what is added`,
    )
  }
  const hasForwarded = field === FORWARDED
  if (field !== undefined && field !== 'ip' && !hasForwarded) {
    throw new EnrichError(
      'ENRICH_FIELD_UNKNOWN',
      `an access log has no ${quoted(field)}: the address is its first word, ip, or the ${FORWARDED} behind the user agent`,
    )
  }
  if (hasForwarded && common.trustedProxies === null) {
    throw new EnrichError(
      'ENRICH_FIELD_IS_LIST',
      `${FORWARDED} holds lists of addresses, of which a caller can write the left part: say which proxies are trusted`,
    )
  }
  const hasVhost = startsWithVhost(sample, isWhole)
  const word = hasVhost ? 'second word, after the virtual host' : 'first word'
  const notes = [
    hasForwarded
      ? `the address is the rightmost untrusted one in ${FORWARDED}, the part after the user agent, then the ${word}`
      : `the address is the ${word}`,
  ]
  return { plan: { ...common, format: 'access-log', hasVhost, hasForwarded, append }, notes }
}

/**
 * Whether more than half of the lines have an address as their second word. Without a virtual host that word is the
 * client's identity (RFC 1413), which servers hardly ever know and log as `-`.
 */
function startsWithVhost(sample: Uint8Array, isWhole: boolean): boolean {
  const lines = readable(sample, firstLines(sample, isWhole, LINES))
  const shifted = lines.filter(({ identStart, identEnd }) => {
    const second = String.fromCharCode(...sample.subarray(identStart, Math.min(identEnd, identStart + 100)))
    return kindOfValue(second) === 'address'
  })
  return shifted.length * 2 > lines.length
}

function readable(sample: Uint8Array, lines: readonly LineRange[]): AccessLine[] {
  return lines.flatMap(({ start, end }) => {
    const line = new AccessLine(false)
    return line.read(sample, start, end) ? [line] : []
  })
}

const QUOTE = 0x22
const COMMA = 0x2c
const DASH = 0x2d
const ZERO = 0x30
const QUESTION_MARK = 0x3f
const TAB = 0x09
const CLOSE_BRACE = 0x7d

/** Longer lists of hops are not read; `detect` has the same bound. Bytes. */
const MAX_LIST_BYTES = 8192

/**
 * Enriches lines of access logs. Each line becomes a JSON object of its parts, with `null` where the log has `-`. With
 * `append` the line is kept, followed by a tab and the location. If a line is cut off or damaged, the parts that can
 * be read have their values, the others are `null`, and the text after them is `rest`. Such a line is bad if it has no
 * address.
 *
 * Values keep the escapes of the log (`\"`, `\x16`), because undoing them requires knowing which server wrote them.
 * Four members are not in every object: `vhost`; `request`, for a request that has no parts; `x_forwarded_for`; and
 * `rest`, for text after the last part that was read.
 */
export class AccessLogLines implements LineFormat {
  readonly rewrites: boolean
  readonly #line: AccessLine
  readonly #locator: LineLocator
  readonly #hasVhost: boolean
  readonly #hasForwarded: boolean
  readonly #names: MemberNames
  readonly #text = new JsonText()
  readonly #target = new Words()
  /** An `X-Forwarded-For` list, followed by a comma and the host that sent it. */
  readonly #hops: Uint8Array
  #forwardedStart = 0
  #forwardedEnd = 0
  #restStart = 0

  constructor(plan: AccessLogPlan, locator: LineLocator) {
    this.rewrites = !plan.append
    this.#line = new AccessLine(plan.hasVhost)
    this.#locator = locator
    this.#hasVhost = plan.hasVhost
    this.#hasForwarded = plan.hasForwarded
    this.#names = memberNames(plan.into)
    this.#hops = new Uint8Array(plan.hasForwarded ? 2 * MAX_LIST_BYTES : 0)
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

  /** Finds the quoted part after the user agent, and the rest after it. */
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
    // The host that sent the request is the last hop. Unless it is trusted it is the client, whatever its list says.
    const hops = this.#hops
    const hostSize = hostEnd - hostStart
    let size = end - start
    if (size + 1 + hostSize <= MAX_LIST_BYTES) hops.set(bytes.subarray(start, end))
    else {
      if (hostSize + 2 > MAX_LIST_BYTES) return this.#locator.locate(bytes, hostStart, hostEnd)
      // A list that is too long is not believed: put a hop in its place that is not an address.
      hops[0] = QUESTION_MARK
      size = 1
    }
    hops[size] = COMMA
    hops.set(bytes.subarray(hostStart, hostEnd), size + 1)
    return this.#locator.locate(hops, 0, size + 1 + hostSize)
  }

  /** Writes the object up to the location. @returns where the location starts */
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
      // Some formats have no user between the identity and the time.
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
    name: FixedText,
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
    name: FixedText,
    bytes: Uint8Array,
    start: number,
    end: number,
    into: Uint8Array,
    from: number,
  ): number {
    if (bytes[start] === DASH) return this.#putNull(name, into, from)
    let at = name.put(this.#target.view(into), from)
    let digit = start
    // JSON numbers have no leading zeros, but nginx writes the status "000".
    while (digit < end - 1 && bytes[digit] === ZERO) digit++
    for (; digit < end; digit++) into[at++] = bytes[digit] ?? 0
    return at
  }

  #putNull(name: FixedText, into: Uint8Array, at: number): number {
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

/** The members that the object of a line can have, in their order. The location follows them. */
export const MEMBERS = [
  'vhost',
  'ip',
  'ident',
  'user',
  'time',
  'method',
  'target',
  'protocol',
  'request',
  'status',
  'bytes',
  'referrer',
  'user_agent',
  'x_forwarded_for',
  'rest',
] as const

/** A short text, prepared for being written often. */
export class FixedText {
  /** Bytes of the text. */
  readonly size: number
  /** The text, padded with zeros to a multiple of four bytes. */
  readonly #words: DataView

  constructor(text: string) {
    const bytes = new TextEncoder().encode(text)
    this.size = bytes.length
    const padded = new Uint8Array(Math.ceil(bytes.length / 4) * 4)
    padded.set(bytes)
    this.#words = new DataView(padded.buffer)
  }

  /**
   * Writes the text to `into` at `at`, and up to three zeros after it, which the caller must overwrite.
   *
   * @returns where the text ends
   */
  put(into: DataView, at: number): number {
    for (let from = 0; from < this.size; from += 4) into.setInt32(at + from, this.#words.getInt32(from))
    return at + this.size
  }
}

/** The texts between the values of the object that a line becomes. */
export interface MemberNames {
  readonly vhost: FixedText
  /** For an `ip` that is the first member. */
  readonly firstIp: FixedText
  /** For an `ip` after a `vhost`. */
  readonly ip: FixedText
  readonly ident: FixedText
  readonly user: FixedText
  readonly time: FixedText
  readonly method: FixedText
  readonly target: FixedText
  readonly protocol: FixedText
  readonly request: FixedText
  readonly status: FixedText
  readonly bytes: FixedText
  readonly referrer: FixedText
  readonly userAgent: FixedText
  readonly forwarded: FixedText
  readonly rest: FixedText
  /** For the member that is added. */
  readonly location: FixedText
  readonly null: FixedText
  /**
   * Bytes that all of them take in an object, each with a `null` or quotes, and the bytes that {@link FixedText.put}
   * writes after the last one.
   */
  readonly room: number
}

/** @param into name of the member that is added */
export function memberNames(into: string): MemberNames {
  const member = (name: (typeof MEMBERS)[number], before = ','): FixedText =>
    new FixedText(`${before}"${name}":`)
  const location = new FixedText(`,${JSON.stringify(into)}:`)
  return {
    vhost: member('vhost', '{'),
    firstIp: member('ip', '{'),
    ip: member('ip'),
    ident: member('ident'),
    user: member('user'),
    time: member('time'),
    method: member('method'),
    target: member('target'),
    protocol: member('protocol'),
    request: member('request'),
    status: member('status'),
    bytes: member('bytes'),
    referrer: member('referrer'),
    userAgent: member('user_agent'),
    forwarded: member('x_forwarded_for'),
    rest: member('rest'),
    location,
    null: new FixedText('null'),
    room: MEMBERS.reduce((size, name) => size + name.length + ',"":null'.length, location.size + 3),
  }
}

export const ACCESS_LOG: FormatDefinition<AccessLogPlan> = {
  name: 'access-log',
  options: ['field', 'into', 'append'],
  recognise: looksLikeAccessLog,
  plan: planAccessLog,
  quotedDelimiter: () => null,
  addressPosition: ({ hasVhost }) => (hasVhost ? 'as the second word' : 'as the first word'),
  makeLines: (plan, locator) => new AccessLogLines(plan, locator),
}
