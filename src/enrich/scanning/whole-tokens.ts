// What surely is an address of a line: a whole token. Each rule says what it is for.

import { MAX_ADDRESS_CHARS } from '../../address/ip-text.ts'
import { BRACKET, BRACKET_END, COLON, DOT, PIPE, SLASH, SPACE } from '../ascii.ts'
import { isDigit, latin1 } from '../swar.ts'
import { type AddressPolicy, type AddressScanner, isOfHost } from './address-scanner.ts'

/**
 * What the text before an address says:
 * - `inside`: no address begins there
 * - `border`: an address begins there
 * - `url`: the same, as the host of a URL, so that a slash after it begins a path
 * - `port`: an address begins there if it has a port: `tcp:192.0.2.1:80`, but not the tag of an image, `nginx:1.25.3.1`
 * - `colon`: an address begins there if a colon and a port follow: `host/192.0.2.1:80` as Java writes it, or what `AFTER_NAME` has,
 *   but not a version, `nginx/1.25.3.1`
 */
type Border = 'inside' | 'border' | 'url' | 'port' | 'colon'

/**
 * 1.2.3.4.5; a range; a version of Debian: 1.0-1.2.3.4, 1.0+1.2.3.4, 1.0~1.2.3.4; one of a package: ==1.2.3.4, >=1.2.3.4, ~>1.2.3.4.
 * `<-`, `->` and `=>` are arrows, and `]...` is before the peer of strongSwan.
 */
const INSIDE = /(?:(?<!\]\.\.)\.|[+~^#%\\]|(?:^|[^<])-|[=<>!~^]=|[~^]>|::|\\\/)$/
/** Words before four numbers that are a version, or an object identifier, and no address. Blanks, quotes and marks can be between. */
const OF_VERSION =
  /(?:versions?|firmware|(?:^|[^A-Za-z])(?:v|ver|rev|revision|build|oid))[ \t"'=:([{]{0,4}:?$/i
/** The fields before the version of a product in a line of CEF or LEEF. */
const BEFORE_VERSION = /(?:CEF|LEEF):[\d.]+\|[^|]*\|[^|]*\|$/
/** A colour of terminals: `[31m` after an escape, which logs also write as `#033`, `^[` or `\u001b`. */
const COLOUR = /* @__PURE__ */ new RegExp(`(?:.\\[[\\d;]{1,18}|${String.fromCharCode(0x1b)}\\[)m$`, 's')
/** No name before a colon, or one that says an address follows: `client:`, `SRC:`, `access.log:` of `grep`. Others can be programs. */
const LABEL =
  /(?:^|\W|ips?|ipv[46]|v[46]|addr|address|addresses|clients?|hosts?|hostname|peer|remote|source|src|dst|dest|destination|origin|from|to|by|for|server|gateway|gw|router|proxy|user|visitor|node|endpoint|forwarded|via|inet6?|tcp6?|udp6?|tls|ssl|sip|smtp|imap|pop3|ftp|ssh|log|nameserver|dns|target|bcast|broadcast):$/i
/** A time zone before `:`, as PostgreSQL writes it with the prefix `%t:%r:`. */
const ZONE = /(?:^|[^A-Za-z])(?:UTC|GMT|MSK|[A-Z]{1,3}T):$/
/** No name before a slash, as in `/192.0.2.1` of Java; or a transport, as Asterisk writes it: `IPV4/UDP/192.0.2.1/5060`. */
const TRANSPORT = /(?:^|[^\w.-]|IPV[46]\/[A-Z]{2,4})\/$/
/** A path: /opt/nginx/1.25.3.1. */
const PATH = /[/\\][\w.-]{1,40}\/$/
/** How Squid found the server whose address follows a slash: `HIER_DIRECT/192.0.2.1`. */
const SQUID = /(?:^|[^A-Za-z\d.-])(?:DIRECT|PARENT|HIT|CARP|DST|PINNED)\/$/

/** The bytes before an address that are read, and those before a slash and a bar: as many as the patterns above have. */
const MAX_BEFORE = 21
const MAX_PATH = 42
const MAX_FIELDS = 200

/** @param line start of the line */
function borderBefore(bytes: Uint8Array, line: number, start: number): Border {
  if (start === line) return 'border'
  const last = bytes[start - 1]
  const most = last === SLASH ? MAX_PATH : last === PIPE ? MAX_FIELDS : MAX_BEFORE
  const before = latin1(bytes, Math.max(line, start - most), start)
  if (/\w$/.test(before)) return COLOUR.test(before) ? 'border' : 'inside'
  if (OF_VERSION.test(before)) return 'inside'
  if (last === SPACE) return 'border'
  if (INSIDE.test(before) || BEFORE_VERSION.test(before)) return 'inside'
  if (last === SLASH) {
    if (before.endsWith('//')) return 'url'
    if (TRANSPORT.test(before)) return 'border'
    if (PATH.test(before)) return 'inside'
    return SQUID.test(before) ? 'border' : 'colon'
  }
  if (last !== COLON || LABEL.test(before) || ZONE.test(before)) return 'border'
  // After digits, it would be a Debian version with an epoch: `1:9.18.1.2`.
  return isDigit(bytes[start - 2]) ? 'inside' : 'port'
}

/** The largest length of a prefix: text such as `192.0.2.0/24` is a network. */
const MAX_PREFIX = 128
const MAX_PORT = 65_535
/** The bytes after an address that are read: as many as an address has. */
const MAX_AFTER = MAX_ADDRESS_CHARS

/**
 * What makes an address a part of a longer token: a fifth number or a name after a dot, but dots end prose; a version, a range, or a
 * user: 1.2.3.4-5, 1.2.3.4+b1, 1.2.3.4~rc1, 192.0.2.1@realm; a backslash that is not of an escaped quote or line end; a word between
 * colons. The name of a port, as in `192.0.2.1:https`, is a token of its own.
 */
const LONGER = /^(?:\w|\.+[\w*-]|[-+~]\w|@(?!\d)\w|\\(?!["'nrt\\])|%(?![\dA-Fa-f]{2})|[:#](?!\d)[\w-]+:\w)/
/** A port after a mark. A name after it is that of an interface: 192.0.2.1:443:X1, as firewalls of SonicWall write it. */
const PORT = /^.(\d{1,5})(?!\w|\.+[\w*-]|:\d|:[\w-]*:)/

/**
 * Where the token of an address ends that ends at `at`: after its port, or at `at`. A port is written as `:80`, as `#80` by BIND, as
 * `@80` by Knot DNS, and as `/443` by firewalls of Cisco, where it is too large for the length of a network's prefix.
 *
 * @param start of the address
 * @param isInUrl whether a slash begins a path
 * @returns -1 when the address is a part of a longer token
 */
function endOfToken(bytes: Uint8Array, start: number, at: number, end: number, isInUrl: boolean): number {
  const text = latin1(bytes, at, Math.min(end, at + MAX_AFTER))
  if (LONGER.test(text)) return -1
  if (/^[:#@]\d/.test(text)) return endOfPort(text, at)
  if (isInUrl || !/^\/[\w.]/.test(text)) return at
  // A network of one address is that address. Java writes the name of a host before its address, and the name can be the address.
  const address = latin1(bytes, start, at)
  if (text.startsWith(address, 1)) return endOfToken(bytes, at + 1, at + 1 + address.length, end, true)
  const port = endOfPort(text, at)
  if (port === -1) return -1
  const number = Number(text.slice(1, port - at))
  const isOne = number === (address.includes(':') ? MAX_PREFIX : 32)
  return number > MAX_PREFIX || isOne ? port : -1
}

/** @param text after the address, which ends at `at`. @returns the end of the port after a mark, or -1 when there is none */
function endOfPort(text: string, at: number): number {
  const [, port] = PORT.exec(text) ?? []
  return port === undefined || Number(port) > MAX_PORT ? -1 : at + 1 + port.length
}

/** The end of the port of a line of tcpdump, `IP 192.0.2.1.43436 > 192.0.2.2.22:`, whose dot is at `at`; -1 when there is none. */
function endOfDottedPort(bytes: Uint8Array, line: number, start: number, at: number, end: number): number {
  if (bytes[at] !== DOT || !isDigit(bytes[at + 1])) return -1
  const port = endOfPort(latin1(bytes, at, Math.min(end, at + MAX_AFTER)), at)
  const isBefore = port !== -1 && latin1(bytes, port, Math.min(end, port + 3)) === ' > '
  const isAfter = start - 3 >= line && latin1(bytes, start - 3, start) === ' > '
  return isBefore || isAfter ? port : -1
}

/** What follows an address after a name and a slash in access lists of Cisco, `inside/192.0.2.1(80) -> `, and in PortSentry. */
const AFTER_NAME = /^(?:\(\d{1,5}\)(?:\([^)]*\))? (?:-> |hit-cnt )| to (?:TCP|UDP) port)/

/** The time that HAProxy writes after the address and the port of a client. */
const HAPROXY = /^ \[\d\d\/[A-Z][a-z]{2}\/\d{4}:\d\d:\d\d:\d\d\.\d{3}\]/

/** The end of an IPv6 address with its zone, or without what HAProxy writes as its port, which may be spelled as its last group. */
function endOfGroups(
  { address, text: bytes }: AddressScanner,
  start: number,
  after: number,
  next: string,
): number {
  const [zone] = /^%[\w.~-]*/.exec(next) ?? []
  if (zone !== undefined) return after + zone.length
  const [, host = ''] = HAPROXY.test(next) ? (/^(.*):\d+$/.exec(latin1(bytes, start, after)) ?? []) : []
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
    const next = latin1(bytes, after, Math.min(end, after + MAX_AFTER))
    // More groups, unless they are a port: after eight groups, or with five digits.
    if (/^:[:A-Fa-f]/.test(next) || (next.startsWith(':') && bytes[after - 1] === COLON)) return false
    const last = endOfGroups(scanner, start, after, next)
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
  if (border === 'inside') return false
  const hasPort = isBracketed && bytes[after + 1] === COLON && isDigit(bytes[after + 2])
  const from = hasPort ? after + 1 : after
  const dotted = endOfDottedPort(bytes, line, start, after, end)
  const tokenEnd = dotted === -1 ? endOfToken(bytes, start, from, end, border === 'url') : dotted
  if (tokenEnd === -1) return false
  if (border === 'port' && tokenEnd === from) return false
  if (border === 'colon' && (tokenEnd === from || bytes[from] !== COLON)) {
    if (!AFTER_NAME.test(latin1(bytes, from, Math.min(end, from + MAX_AFTER)))) return false
  }
  scanner.start = start
  scanner.end = after
  scanner.tokenStart = hasPort ? start - 1 : start
  scanner.tokenEnd = tokenEnd
  scanner.isInUrl = border === 'url'
  return true
}
