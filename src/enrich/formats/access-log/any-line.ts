import { Address } from '../../../address/address.ts'
import { MAX_ADDRESS_CHARS } from '../../../address/ip-text.ts'
import { BRACKET, BRACKET_END, COMMA, DASH, QUESTION_MARK, QUOTE, SPACE, ZERO } from '../../ascii.ts'
import { asEventTime, NO_TIME, TIMESTAMP_ROOM, Timestamp } from '../../locating/event-time.ts'
import { ABSENT, type RecordKind, RecordReader } from '../../reading/record-reader.ts'
import { latin1 } from '../../swar.ts'
import {
  AGENT,
  closingQuote,
  endOfHost,
  endOfNumber,
  endOfWord,
  FIELDS,
  FORWARDED,
  HOST,
  IDENT,
  isDash,
  isMethod,
  isProtocol,
  isQuotedNext,
  isSpaceNext,
  isStatusNext,
  type LineLayout,
  METHOD,
  OPTIONAL,
  PARTS,
  PROTOCOL,
  REFERRER,
  REQUEST,
  REST,
  SIZE,
  STATUS,
  TARGET,
  TIME,
  USER,
  VHOST,
} from './line-syntax.ts'

/** Longer lists of hops are not read; `detect` has the same bound. Bytes. */
const MAX_LIST_BYTES = 8192
/** Digits of a size, at most: the largest signed 64-bit number has 19. */
export const MAX_SIZE_DIGITS = 19

/**
 * Reads any line of an access log. If a line is cut off or damaged, the parts that can be read have their values, and the text
 * after them is `rest`. Values keep the escapes of the log (`\"`, `\x16`), because undoing them requires knowing which server wrote
 * them.
 */
export abstract class AnyLine extends RecordReader {
  override readonly fields = FIELDS
  override readonly rereads = true
  /** Where each part starts, or {@link ABSENT}, and where it ends. A quoted part has its text without the quotes. */
  override readonly starts = new Int32Array(PARTS.length).fill(ABSENT)
  override readonly ends = new Int32Array(PARTS.length)
  /** Whether `read` read the last line. */
  protected isGeneral = false
  /** Whether the line has all parts up to the time. */
  #hasTime = false
  /** Whether the parts after the time are all there; `null` before they are read. */
  #isWhole: boolean | null = true
  readonly #timestamp = new Timestamp()
  readonly #iso = new Uint8Array(TIMESTAMP_ROOM)
  readonly #address = new Address()
  /** An `X-Forwarded-For` list, followed by a comma and the host that sent it. */
  readonly #hops: Uint8Array

  constructor(protected readonly layout: LineLayout) {
    super()
    this.#hops = new Uint8Array(layout.hasForwarded ? MAX_LIST_BYTES : 0)
  }

  read(bytes: Uint8Array, start: number, end: number): RecordKind {
    this.useBytes(bytes, start, end)
    this.isPlain = false
    this.#readClient(this.layout.hasVhost)
    if (this.layout.hasForwarded) this.complete()
    this.instant = this.#hasTime ? asEventTime(this.#timestamp.instant) : NO_TIME
    this.#useClient()
    return 'read'
  }

  override find(part: number): boolean {
    this.complete()
    const { record } = this
    const start = this.starts[part] ?? ABSENT
    const end = this.ends[part] ?? 0
    if (start < 0 || (record[start] === DASH && end === start + 1)) return false
    this.bytes = record
    this.start = start
    this.end = end
    if (part === TIME && this.isGeneral) {
      // In ISO 8601, as a usual line has it.
      this.bytes = this.#iso
      this.start = 0
      this.end = this.#timestamp.put(record, this.#iso, 0)
    }
    // JSON numbers have no leading zeros, but nginx writes the status "000".
    else if (record[start] === ZERO && (part === STATUS || part === SIZE))
      while (record[this.start] === ZERO && this.start < end - 1) this.start++
    return true
  }

  override has(part: number): boolean {
    return this.starts[part] !== ABSENT || !OPTIONAL.includes(part)
  }

  override complete(): boolean {
    this.#isWhole ??= this.#readParts(this.record, this.recordEnd)
    return this.#isWhole
  }

  /**
   * Whether the line has a virtual host and the others do not, or the other way round: the client's address is then in the other
   * word. Without a virtual host, an address in the second word can be an identity, which a client chooses.
   */
  override readAgain(): boolean {
    const { hasVhost, isWordNamed, hasForwarded } = this.layout
    if (isWordNamed || !this.#hasTime) return false
    // A line with a virtual host has one word more: its client is unknown or a name, and the virtual host is never the client.
    if (hasVhost && this.starts[USER] !== ABSENT) return false
    if (this.#isAddress(HOST) || !this.#isAddress(hasVhost ? VHOST : IDENT)) return false
    this.#readClient(!hasVhost)
    const isOther = this.#hasTime && this.starts[USER] !== ABSENT
    if (!isOther) this.#readClient(hasVhost)
    if (hasForwarded) this.complete()
    this.#useClient()
    return isOther
  }

  #isAddress(part: number): boolean {
    const [from, to] = [this.starts[part] ?? ABSENT, this.ends[part] ?? 0]
    if (from === ABSENT || to - from > MAX_ADDRESS_CHARS) return false
    return this.#address.parse(latin1(this.record, from, to))
  }

  /** The address is the host, or the list of hops with the host after it. */
  #useClient(): void {
    const { record, starts, ends } = this
    const [hostStart, hostEnd] = [starts[HOST] ?? 0, ends[HOST] ?? 0]
    const [start, end] = [starts[FORWARDED] ?? ABSENT, ends[FORWARDED] ?? 0]
    const hostSize = hostEnd - hostStart
    const isTooLong = end - start + 1 + hostSize > MAX_LIST_BYTES
    this.addressBytes = record
    this.addressStart = hostStart
    this.addressEnd = hostEnd
    if (start === ABSENT || isDash(record, start, end) || (isTooLong && hostSize + 2 > MAX_LIST_BYTES)) return
    // The host that sent the request is the last hop. Unless it is trusted it is the client, whatever its list says.
    // Replace a list that is too long with a hop that is not an address, so that it is not believed.
    const list = isTooLong ? Uint8Array.of(QUESTION_MARK) : record.subarray(start, end)
    this.#hops.set(list)
    this.#hops[list.length] = COMMA
    this.#hops.set(record.subarray(hostStart, hostEnd), list.length + 1)
    this.addressBytes = this.#hops
    this.addressStart = 0
    this.addressEnd = list.length + 1 + hostSize
  }

  /** Reads the line up to the time. If the line is cut off or damaged, it reads the host. */
  #readClient(hasVhost: boolean): void {
    const { record: bytes, recordStart: start, recordEnd: end } = this
    this.starts.fill(ABSENT)
    this.isGeneral = true
    this.#isWhole = null
    let hostStart = start
    if (hasVhost) {
      const vhostEnd = endOfWord(bytes, start, end)
      this.found(VHOST, start, vhostEnd)
      hostStart = vhostEnd + 1
    }
    const hostEnd = endOfHost(bytes, hostStart, end)
    this.found(HOST, hostStart, hostEnd)
    const identEnd = endOfWord(bytes, hostEnd + 1, end)
    const close = hostEnd === hostStart ? -1 : this.#readTime(bytes, identEnd + 1, end)
    this.#hasTime = close !== -1
    if (this.#hasTime) this.found(IDENT, hostEnd + 1, identEnd)
    this.#readRest((this.#hasTime ? close : hostEnd - 1) + 2, end)
  }

  /** Reads the parts after the time. @returns whether the line has all of them */
  #readParts(bytes: Uint8Array, end: number): boolean {
    if (!this.#hasTime) return this.#bad('there are no host, user and [timestamp] at its start')
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
    this.found(STATUS, status, statusEnd)
    this.found(SIZE, size, sizeEnd)
    this.#readRest(sizeEnd + 1, end)
    this.#readQuoted(bytes, sizeEnd + 1, end)
    return true
  }

  /** @returns the index of the bracket that closes the timestamp, or -1 */
  #readTime(bytes: Uint8Array, start: number, end: number): number {
    // A user's name can have spaces and brackets in it.
    for (let at = start; at < end; at++) {
      if (bytes[at] !== BRACKET || bytes[at - 1] !== SPACE) continue
      const close = this.#timestamp.read(bytes, at + 1, end)
      if (close === -1 || close >= end || bytes[close] !== BRACKET_END) continue
      // Some formats have no user between the identity and the time.
      if (at - 1 > start) this.found(USER, start, at - 1)
      this.found(TIME, at + 1, close)
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
    this.found(REFERRER, start + 1, referrerEnd)
    this.found(AGENT, agent, agentEnd)
    this.#readRest(agentEnd + 2, end)
    const forwarded = agentEnd + 3
    const forwardedEnd = this.layout.hasForwarded ? closingQuote(bytes, forwarded - 1, end, isSpaceNext) : -1
    if (forwardedEnd === -1) return
    if (forwardedEnd > forwarded) this.found(FORWARDED, forwarded, forwardedEnd)
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
      if (!isDash(bytes, start, end)) this.found(REQUEST, start, end)
      return
    }
    this.found(METHOD, start, method)
    this.found(TARGET, method + 1, hasProtocol ? last : end)
    if (hasProtocol) this.found(PROTOCOL, last + 1, end)
  }

  /** Sets the rest of the line, which starts after the last part that was read and a space. */
  #readRest(start: number, end: number): void {
    this.starts[REST] = start < end ? start : ABSENT
    this.ends[REST] = end
  }

  /** Forgets the parts that `read` has found, before `usual` sets those of the next line. */
  protected forget(): void {
    if (!this.isGeneral) return
    this.starts.fill(ABSENT)
    this.isGeneral = false
    this.#isWhole = true
  }

  protected found(part: number, start: number, end: number): void {
    this.starts[part] = start
    this.ends[part] = end
  }

  #bad(fault: string): false {
    this.fault = `it is not a line of an access log: ${fault}`
    return false
  }
}
