// The parts of lines of access logs, and how they write words, numbers, quoted parts and requests.
import { BACKSLASH, BRACKET, COMMA, DASH, DELETE, DOT, LINE_FEED, QUOTE, SLASH, SPACE } from '../../ascii.ts'
import type { ReaderField } from '../../reading/record-reader.ts'
import { escapesIn, firstOf, isDigit, textEnds } from '../../swar.ts'

/** The parts of a line, in the order of the members of its object. */
export const PARTS: readonly string[] = [
  ...'vhost ip ident user time method target protocol'.split(' '),
  ...'request status bytes referrer user_agent x_forwarded_for rest'.split(' '),
]
/** Indexes in {@link PARTS}. */
export const [VHOST, HOST, IDENT, USER, TIME, METHOD, TARGET, PROTOCOL] = [0, 1, 2, 3, 4, 5, 6, 7] as const
export const [REQUEST, STATUS, SIZE, REFERRER, AGENT, FORWARDED, REST] = [8, 9, 10, 11, 12, 13, 14] as const

/** The parts of a request and its answer. */
export const REQUEST_PARTS: readonly number[] = [METHOD, TARGET, PROTOCOL, STATUS, SIZE]
/** Parts that are left out of the object if the line does not have them. Other missing parts are `null`. */
export const OPTIONAL: readonly number[] = [VHOST, REQUEST, FORWARDED, REST]
export const FIELDS = PARTS.map((name, part): ReaderField => {
  return { name, kind: part === STATUS || part === SIZE ? 'digits' : 'text' }
})

/** How lines begin and end. */
export interface LineLayout {
  /** Whether lines begin with a virtual host, as in Apache's `vhost_combined`. */
  readonly hasVhost: boolean
  /** Whether the user said which word is the client's. Otherwise other lines can begin without or with a virtual host. */
  readonly isWordNamed: boolean
  /**
   * Whether the quoted part after the user agent is the client's `X-Forwarded-For`, as in the log format `main` of nginx's
   * default configuration. `trustedProxies` decides how much of it is believed.
   */
  readonly hasForwarded: boolean
}

/** Whether a part is `-`, which servers write for an unknown value. */
export function isDash(bytes: Uint8Array, start: number, end: number): boolean {
  return end - start === 1 && bytes[start] === DASH
}

export function endOfWord(bytes: Uint8Array, start: number, end: number): number {
  let at = start
  while (at < end && bytes[at] !== SPACE) at++
  return at
}

/** The host can be a list of hops, as in `X-Forwarded-For`: a space after a comma does not end it. */
export function endOfHost(bytes: Uint8Array, start: number, end: number): number {
  let at = start
  while (at < end && (bytes[at] !== SPACE || (at > start && bytes[at - 1] === COMMA))) at++
  return at
}

/** A number, or `-` for one that is unknown. */
export function endOfNumber(bytes: Uint8Array, start: number, end: number): number {
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
export function closingQuote(bytes: Uint8Array, open: number, end: number, canFollow: CanFollow): number {
  if (bytes[open] !== QUOTE) return -1
  for (let at = open + 1; at < end; at++) {
    const byte = bytes[at]
    if (byte === BACKSLASH) at++
    else if (byte === QUOTE && canFollow(bytes, at + 1, end)) return at
  }
  return -1
}

export function isStatusNext(bytes: Uint8Array, at: number, end: number): boolean {
  const next = bytes[at + 1] ?? 0
  return bytes[at] === SPACE && at + 1 < end && (next === DASH || isDigit(next))
}

export function isQuotedNext(bytes: Uint8Array, at: number, end: number): boolean {
  return bytes[at] === SPACE && bytes[at + 1] === QUOTE && at + 1 < end
}

export function isSpaceNext(bytes: Uint8Array, at: number, end: number): boolean {
  return at === end || bytes[at] === SPACE
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

/** The first bracket after a space, after the word at `start`; -1 if the line has none. */
export function openingBracket(bytes: Uint8Array, start: number): number {
  let at = start
  while (bytes[at] !== SPACE && bytes[at] !== LINE_FEED) at++
  while (bytes[at] !== LINE_FEED) {
    at++
    if (bytes[at] === BRACKET && bytes[at - 1] === SPACE) return at
  }
  return -1
}

/** Where the bracket of the time is, after `- user `; -1 if the user is not a plain word. */
export function afterUser(bytes: Uint8Array, host: number): number {
  if (bytes[host + 1] !== DASH || bytes[host + 2] !== SPACE) return -1
  let at = host + 3
  for (; bytes[at] !== SPACE; at++) {
    const byte = bytes[at] ?? 0
    if (byte < SPACE || byte >= DELETE || byte === QUOTE || byte === BACKSLASH) return -1
  }
  return at > host + 3 && bytes[at + 1] === BRACKET ? at + 1 : -1
}

/** Where the first quote, backslash or control character is. The line feed at the end of a line is one. */
export function endOfText(bytes: Uint8Array, view: DataView, start: number): number {
  let at = start
  while (textEnds(view.getInt32(at)) === 0) at += 4
  while ((bytes[at] ?? 0) >= SPACE && bytes[at] !== QUOTE && bytes[at] !== BACKSLASH) at++
  return at
}

/** Where the first byte is that JSON must escape or that is not ASCII. JSON must escape the line feed at the end of a line. */
export function endOfPlain(view: DataView, start: number): number {
  // Two words for each branch.
  for (let at = start; ; at += 8) {
    const ends = escapesIn(view.getInt32(at, true))
    const others = escapesIn(view.getInt32(at + 4, true))
    if ((ends | others) !== 0) return ends === 0 ? at + 4 + firstOf(others) : at + firstOf(ends)
  }
}
