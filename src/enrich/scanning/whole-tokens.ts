// What surely is an address of a line: a whole token. Each rule says what it is for.

import {
  AT,
  BACKSLASH,
  BRACKET,
  BRACKET_END,
  CARET,
  COLON,
  DASH,
  DOT,
  EQUALS,
  ESCAPE,
  HASH,
  LESS,
  MORE,
  PERCENT,
  PIPE,
  PLUS,
  SLASH,
  TILDE,
  ZERO,
} from '../ascii.ts'
import { isDigit } from '../swar.ts'
import { type AddressPolicy, type AddressScanner, isHex, isOfHost, latin1 } from './address-scanner.ts'

const LOWER_M = 0x6d

/** Results of {@link borderBefore}. No address begins there. */
const NO_BORDER = 0
/** An address begins there. */
const BORDER = 1
/** An address begins there, as the host of a URL, so that a slash after it begins a path. */
const IN_URL = 2
/** An address begins there if it has a port: `tcp:192.0.2.1:80`, but not the tag of an image, `nginx:1.25.3.1`. */
const PORT_FOLLOWS = 3
/** An address begins there if a colon and a port follow: `host/192.0.2.1:80` as Java writes it, but not a version, `nginx/1.25.3.1`. */
const COLON_FOLLOWS = 4

/** 1 for each byte that is an ASCII letter, a digit or `_`. */
const WORDS = /* @__PURE__ */ Uint8Array.from({ length: 256 }, (_, byte) =>
  /\w/.test(String.fromCharCode(byte)) ? 1 : 0,
)

function isWord(byte: number | undefined): boolean {
  return WORDS[byte ?? 0] === 1
}

/** Names before `:` or `/` that say an address follows: `client:`, `SRC:`, `access.log:` of `grep`. Others can be programs. */
const LABEL =
  /(?:ips?|ipv[46]|v[46]|addr|address|addresses|clients?|hosts?|hostname|peer|remote|source|src|dst|dest|destination|origin|from|to|by|for|server|gateway|gw|router|proxy|user|visitor|node|endpoint|forwarded|via|inet6?|tcp6?|udp6?|tls|ssl|sip|smtp|imap|pop3|ftp|ssh|log|nameserver|dns|target|bcast|broadcast)$/i
/** A time zone before `:`, as PostgreSQL writes it with the prefix `%t:%r:`. */
const ZONE = /(?:^|[^A-Za-z])(?:UTC|GMT|MSK|[A-Z]{1,3}T)$/
/** A transport before `/`, as Asterisk writes it: `IPV4/UDP/192.0.2.1/5060`. */
const TRANSPORT = /IPV[46]\/[A-Z]{2,4}$/
/** How Squid found the server whose address follows a slash: `HIER_DIRECT/192.0.2.1`. */
const SQUID = /(?:^|_)(?:DIRECT|PARENT|HIT|CARP|DST|PINNED)$/
/** Words before four numbers that are a version, or an object identifier, and no address. */
const OF_VERSION = /versions?$|firmware$|(?:^|[^A-Za-z])(?:v|ver|rev|revision|build|oid)$/i
/** The fields before the version of a product in a line of CEF or LEEF. */
const BEFORE_VERSION = /(?:CEF|LEEF):[\d.]+\|[^|]*\|[^|]*\|$/
const MAX_BEFORE_VERSION = 200
/** The longest word before an address that is read. Bytes. */
const MAX_NAME = 40

/**
 * Whether an address can begin at `start`.
 *
 * @param line start of the line
 */
function borderBefore(bytes: Uint8Array, line: number, start: number): number {
  if (start === line) return BORDER
  const byte = bytes[start - 1] ?? 0
  const before = start - 2 >= line ? (bytes[start - 2] ?? 0) : 0
  if (isWord(byte)) return endsColour(bytes, line, start) ? BORDER : NO_BORDER
  switch (byte) {
    // 1.2.3.4.5; a range; a version of Debian: 1.0-1.2.3.4, 1.0+1.2.3.4, 1.0~1.2.3.4. `<-` is an arrow.
    case DOT:
    case PLUS:
    case TILDE:
    case CARET:
    case HASH:
    case PERCENT:
    case BACKSLASH:
      return NO_BORDER
    case DASH:
      return before === LESS ? BORDER : NO_BORDER
    // A version of a package: ==1.2.3.4, >=1.2.3.4, ~>1.2.3.4. `->` and `=>` are arrows.
    case EQUALS:
    case MORE:
      if (before !== 0 && (byte === EQUALS ? '=<>!~^' : '~^').includes(String.fromCharCode(before)))
        return NO_BORDER
      break
    case SLASH:
      return afterSlash(bytes, line, start - 1)
    case PIPE:
      return BEFORE_VERSION.test(latin1(bytes, Math.max(line, start - MAX_BEFORE_VERSION), start))
        ? NO_BORDER
        : BORDER
    case COLON:
      return afterColon(bytes, line, start - 1)
  }
  return OF_VERSION.test(nameBefore(bytes, line, start)) ? NO_BORDER : BORDER
}

/** `/192.0.2.1` as Java writes an address without a name, `http://192.0.2.1`, `name/192.0.2.1:80`. */
function afterSlash(bytes: Uint8Array, line: number, slash: number): number {
  const byte = slash > line ? (bytes[slash - 1] ?? 0) : 0
  if (byte === SLASH) return IN_URL
  if (!isWord(byte) && byte !== DOT && byte !== DASH) return byte === BACKSLASH ? NO_BORDER : BORDER
  const first = startOfName(bytes, line, slash)
  if (TRANSPORT.test(latin1(bytes, Math.max(line, first - 5), slash))) return BORDER
  // A path: /opt/nginx/1.25.3.1.
  if (first > line && (bytes[first - 1] === SLASH || bytes[first - 1] === BACKSLASH)) return NO_BORDER
  return SQUID.test(latin1(bytes, first, slash)) ? BORDER : COLON_FOLLOWS
}

/** `client:192.0.2.1`. After digits, it would be a Debian version with an epoch: `1:9.18.1.2`. */
function afterColon(bytes: Uint8Array, line: number, colon: number): number {
  const byte = colon > line ? bytes[colon - 1] : undefined
  if (byte === COLON) return NO_BORDER
  const name = nameBefore(bytes, line, colon)
  if (OF_VERSION.test(name)) return NO_BORDER
  if (!isWord(byte) || LABEL.test(name) || ZONE.test(name)) return BORDER
  return isDigit(byte) ? NO_BORDER : PORT_FOLLOWS
}

/** The last word before `end`, without the delimiters between them. */
function nameBefore(bytes: Uint8Array, line: number, end: number): string {
  let last = end
  while (last > line && last > end - 4 && isBetween(bytes[last - 1])) last--
  return latin1(bytes, startOfName(bytes, line, last), last)
}

/** A blank, a quote, `=` or `:`, as between the name and the value of a field; or a bracket. */
function isBetween(byte: number | undefined): boolean {
  return byte !== undefined && ' \t"\'=:([{'.includes(String.fromCharCode(byte))
}

/** Where the name that ends at `end` starts: a word, also with dots and dashes in it. */
function startOfName(bytes: Uint8Array, line: number, end: number): number {
  let at = end
  while (
    at > line &&
    at > end - MAX_NAME &&
    (isWord(bytes[at - 1]) || bytes[at - 1] === DOT || bytes[at - 1] === DASH)
  )
    at--
  return at
}

/** Whether a colour of terminals ends at `start`: `[31m` after an escape, which logs also write as `#033`, `^[` or `\u001b`. */
function endsColour(bytes: Uint8Array, line: number, start: number): boolean {
  if (bytes[start - 1] !== LOWER_M) return false
  let at = start - 2
  while (at > line && at > start - 20 && (isDigit(bytes[at]) || bytes[at] === 0x3b)) at--
  return bytes[at] === BRACKET && at > line && (at < start - 2 || bytes[at - 1] === ESCAPE)
}

/** The largest length of a prefix: text such as `192.0.2.0/24` is a network. */
const MAX_PREFIX = 128
const MAX_PORT = 65_535

/**
 * Where the token of an address ends that ends at `at`: after its port, or at `at`. A port is written as `:80`, as `#80` by BIND, and
 * as `/443` by firewalls of Cisco, where it is too large for the length of a network's prefix.
 *
 * @param start of the address
 * @param isInUrl whether a slash begins a path
 * @returns -1 when the address is a part of a longer token
 */
function endOfToken(bytes: Uint8Array, start: number, at: number, end: number, isInUrl: boolean): number {
  if (at >= end) return at
  const byte = bytes[at] ?? 0
  const next = at + 1 < end ? bytes[at + 1] : undefined
  if (isWord(byte)) return -1
  switch (byte) {
    case DOT:
      return endsAfterDots(bytes, at, end) ? at : -1
    // A version, a range, or a user: 1.2.3.4-5, 1.2.3.4+b1, 1.2.3.4~rc1, 192.0.2.1@realm. `->` is an arrow.
    case DASH:
      return next === MORE || !isWord(next) ? at : -1
    case PLUS:
    case TILDE:
    case AT:
      return isWord(next) ? -1 : at
    // An escaped quote or line end in a text: \", \n.
    case BACKSLASH:
      return next !== undefined && '"\'nrt\\'.includes(String.fromCharCode(next)) ? at : -1
    case PERCENT:
      return isHex(next) && isHex(bytes[at + 2]) ? at : -1
    case SLASH:
      return endAtSlash(bytes, start, at, end, isInUrl)
    case HASH:
    case COLON:
      return isDigit(next) ? endOfPort(bytes, at + 1, end) : endAtName(bytes, at, end)
  }
  return at
}

/** Prose ends with dots: "from 192.0.2.1." Other text after a dot belongs to a longer token: a name, a fifth number. */
function endsAfterDots(bytes: Uint8Array, at: number, end: number): boolean {
  let after = at
  while (after < end && bytes[after] === DOT) after++
  return after >= end || !(isWord(bytes[after]) || bytes[after] === DASH || bytes[after] === 0x2a)
}

/**
 * A network, or a port as firewalls of Cisco write it. A network of one address is that address. A path begins only in a URL.
 * Java writes the name of a host before its address, and the name can be the address.
 */
function endAtSlash(bytes: Uint8Array, start: number, at: number, end: number, isInUrl: boolean): number {
  if (isInUrl || at + 1 >= end) return at
  if (!isHex(bytes[at + 1])) return isWord(bytes[at + 1]) || bytes[at + 1] === DOT ? -1 : at
  const address = latin1(bytes, start, at)
  const last = at + 1 + address.length
  if (last <= end && latin1(bytes, at + 1, last) === address)
    return endOfToken(bytes, at + 1, last, end, true)
  const port = isDigit(bytes[at + 1]) ? endOfPort(bytes, at + 1, end) : -1
  if (port === -1) return -1
  const number = numberAt(bytes, at + 1, port)
  const isOne = number === (address.includes(':') ? MAX_PREFIX : 32)
  return number > MAX_PREFIX || isOne ? port : -1
}

/** @param start index of the first digit. @returns the end of the port, or -1 when there is none */
function endOfPort(bytes: Uint8Array, start: number, end: number): number {
  let at = start
  while (at < end && at < start + 6 && isDigit(bytes[at])) at++
  if (at > start + 5 || numberAt(bytes, start, at) > MAX_PORT) return -1
  if (at >= end) return at
  if (isWord(bytes[at])) return -1
  if (bytes[at] === DOT) return endsAfterDots(bytes, at, end) ? at : -1
  // A name after the port is that of an interface: 192.0.2.1:443:X1, as firewalls of SonicWall write it.
  if (bytes[at] !== COLON) return at
  return isDigit(bytes[at + 1]) || bytes[endOfName(bytes, at + 1, end)] === COLON ? -1 : at
}

/** The name of a port, as in `192.0.2.1:https`, which is a token of its own. Nothing else of names has colons. */
function endAtName(bytes: Uint8Array, at: number, end: number): number {
  const after = endOfName(bytes, at + 1, end)
  return after > at + 1 && after < end && bytes[after] === COLON && isWord(bytes[after + 1]) ? -1 : at
}

function endOfName(bytes: Uint8Array, start: number, end: number): number {
  let at = start
  while (at < end && (isWord(bytes[at]) || bytes[at] === DASH)) at++
  return at
}

function numberAt(bytes: Uint8Array, start: number, end: number): number {
  let value = 0
  for (let at = start; at < end; at++) value = value * 10 + (bytes[at] ?? 0) - ZERO
  return value
}

/** The end of the port of a line of tcpdump, `IP 192.0.2.1.43436 > 192.0.2.2.22:`, whose dot is at `at`; -1 when there is none. */
function endOfDottedPort(bytes: Uint8Array, line: number, start: number, at: number, end: number): number {
  if (bytes[at] !== DOT || !isDigit(bytes[at + 1])) return -1
  const port = endOfPort(bytes, at + 1, end)
  const isBefore = port !== -1 && latin1(bytes, port, Math.min(end, port + 3)) === ' > '
  const isAfter = start - 3 >= line && latin1(bytes, start - 3, start) === ' > '
  return isBefore || isAfter ? port : -1
}

/** @param start index of the `%` */
function endOfZone(bytes: Uint8Array, start: number, end: number): number {
  let at = start + 1
  while (at < end && (isWord(bytes[at]) || bytes[at] === DASH || bytes[at] === DOT || bytes[at] === TILDE))
    at++
  return at
}

/** The time that HAProxy writes after the address and the port of a client. */
const HAPROXY = /^ \[\d\d\/[A-Z][a-z]{2}\/\d{4}:\d\d:\d\d:\d\d\.\d{3}\]/
/** Bytes of that time, with the blank. */
const HAPROXY_BYTES = 27

/** The end of an IPv6 address without what HAProxy writes as its port, which may be spelled as its last group. */
function endBeforePort(scanner: AddressScanner, start: number, after: number): number {
  const { address, text: bytes, lineEnd: end } = scanner
  if (bytes[after + 1] !== BRACKET) return after
  if (!HAPROXY.test(latin1(bytes, after, Math.min(end, after + HAPROXY_BYTES)))) return after
  const [, host = ''] = /^(.*):\d+$/.exec(latin1(bytes, start, after)) ?? []
  return address.parse(host) ? start + host.length : after
}

/**
 * Takes what surely is an address: a whole token in the grammar of `Address.parse`. It can have a port: `192.0.2.1:80`,
 * `[2001:db8::1]:80`. Versions, times, hardware addresses and networks are not taken.
 */
export const WHOLE_TOKENS: AddressPolicy = {
  marks: '.',
  takesDigits: null,
  takesName: () => false,

  takesNumbers(scanner) {
    const { numbers } = scanner
    if (numbers.count !== 4 && numbers.count !== 5) return false
    for (let index = 0; index < 4; index++) {
      if ((numbers.values[index] ?? 0) > 255 || numbers.hasZeros(scanner.text, index)) return false
    }
    return isToken(scanner, numbers.start, numbers.ends[3] ?? 0, false)
  },

  takesGroups(scanner, start, after) {
    const { address, text: bytes, line, lineEnd: end } = scanner
    const next = after < end ? bytes[after] : undefined
    if (next === COLON) {
      // More groups, unless they are a port: after eight groups, or with five digits.
      const second = after + 1 < end ? bytes[after + 1] : undefined
      if (second === COLON || bytes[after - 1] === COLON || (isHex(second) && !isDigit(second))) return false
    }
    const last = next === PERCENT ? endOfZone(bytes, after, end) : endBeforePort(scanner, start, after)
    const text = latin1(bytes, start, last)
    if (!address.parse(text)) return false
    const isBracketed =
      start > line && bytes[start - 1] === BRACKET && last < end && bytes[last] === BRACKET_END
    const [first = 0, second = 0, third = 0, fourth = 0] = address.words
    const isLocal = (first | second | third) === 0 && (fourth === 1 || (fourth === 0 && isBracketed))
    const isMulticast = first >>> 24 === 0xff && bytes[start + 4] === COLON
    if (!isLocal && !isMulticast && !isOfHost(address.words, text)) return false
    return isToken(scanner, start, last, isBracketed)
  },
}

/** Whether `bytes[start, after)`, which is an address, is a whole token. Sets the result. */
function isToken(scanner: AddressScanner, start: number, after: number, isBracketed: boolean): boolean {
  const { text: bytes, line, lineEnd: end } = scanner
  const border = borderBefore(bytes, line, start)
  if (border === NO_BORDER) return false
  const hasPort = isBracketed && bytes[after + 1] === COLON && isDigit(bytes[after + 2])
  const from = hasPort ? after + 1 : after
  const dotted = endOfDottedPort(bytes, line, start, after, end)
  const tokenEnd = dotted === -1 ? endOfToken(bytes, start, from, end, border === IN_URL) : dotted
  if (tokenEnd === -1) return false
  if (border === PORT_FOLLOWS && tokenEnd === from) return false
  if (border === COLON_FOLLOWS && (tokenEnd === from || bytes[from] !== COLON)) return false
  scanner.start = start
  scanner.end = after
  scanner.tokenStart = hasPort ? start - 1 : start
  scanner.tokenEnd = tokenEnd
  scanner.isInUrl = border === IN_URL
  return true
}
