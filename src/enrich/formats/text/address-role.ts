// What an address is in its line: the choice of one address of a line depends on it. Only what is certain counts, since a wrong
// rule would pass over a client. No rule reads far, since a line can have a hundred thousand addresses.

import {
  APOSTROPHE,
  AT,
  BRACKET,
  BRACKET_END,
  CAPITAL_Z,
  COLON,
  COMMA,
  DOT,
  LESS,
  NINE,
  PARENTHESIS,
  PIPE,
  QUOTE,
  SLASH,
  SPACE,
} from '../../ascii.ts'
import type { AddressScanner } from '../../scanning/address-scanner.ts'
import { latin1 } from '../../swar.ts'
import { endOfPrefix } from '../wrapped/prefix.ts'

/** The address of the client, by the name of its field or the word before it: `src=`, `client: `, `from `. */
export const CLIENT = 0
/** The role of an address that nothing in the line names. */
export const PLAIN = 1
/** An address that a client gave: as the name of a user, in the identifier of a message, after `@`, or with `HELO`. */
export const GIVEN = 2
/** The address of another host, by the name of its field, such as `dst=`, by the port of a service, or as the host of a URL. */
export const OTHER = 3
/** The host that sent the line, as syslog writes it before the line. */
export const SENDER = 4
/** An address that is not the client's, even if it is the only one: see {@link NO_CLIENT_KEY}, and {@link isInTarget}. */
export const NO_CLIENT = 5

/** What can be between a name and its address, or between two addresses, beside blanks. */
const KEY_ENDS = '=:"\'[(/.,|<>'

/** Syslog names the sender within this many bytes. */
const MAX_SENDER_AT = 48

/** The bytes before an address that name its field. */
const MAX_KEY = 48
const NAMED = /(?:[._-]?(?:ip|addr|address|host)| (?:ip|addr|address))?/.source
/**
 * Asterisk writes the client after `failed for`, and strongSwan after `...`, but its own address after `sending packet: from`.
 * FreeRADIUS writes it after `cli`, and what asked for it after `(from client`. The `source=` of OpenSMTPD is its own.
 */
const CLIENT_KEY = atEnd(
  `(?:(?:^|[^A-Za-z\\d])(?<!(?:nat|tran|trans|xlate|mapped)[-_ .]|sending packet: |\\bconnected remote server |\\] \\(from |[^\\d]>,? (?=source))(?:src|source|saddr|rip|rhost|raddr|client|remote|from)${NAMED}(?:(?: ?[=:] ?|["']: ?| |\\[| host \\[)["']?(?:ip:? |ipv4:|tcp://|IPV[46]/[A-Z]+/)?|["'=(:]+)|failed for ["']?|\\]\\.\\.\\.|port \\d+ cli |\\([^\\s()[]+\\[)`,
)
/** A name before a colon and a blank can be that of a program. */
const OTHER_NAME = `(?:^|[^A-Za-z\\d])(?:(?:dst|dest|destination|daddr|target|lip|laddr|server|upstream|backend|origin|fw|local)${NAMED}(?: ?= ?|:|["']: ?)["']?(?:IPV[46]/[A-Z]+/)?|(?:by|via|url|local(?: addr(?:ess)?)?|packet: from| \\(from client|d(?:e?st|estination)) (?:[\\w.-]+:)?|local host \\[(?:ipv4:)?|i=\\[|(?<=[^\\d]>,? )source=["[]*)`
const OTHER_KEY = atEnd(OTHER_NAME)
/** The own end and the server of stunnel, the own end of coturn, the servers that dnsmasq asks, with their answers, and those that Squid asks. */
const NO_CLIENT_KEY =
  /(?:connected remote server from|s_connect: connect(?:ing|ed)|connect_blocking: connected|Local relay addr:|using nameserver|(?:^|\bdnsmasq\S* (?:\d+ \S+ )?)(?:forwarded \S+ to|(?:reply|cached|config) \S+ is)) $|(?<![\w.-])(?:HIER_|[A-Z_]*(?:DIRECT|PARENT|SIBLING|PINNED|ORIGINAL_DST|CARP|CACHE_DIGEST|SOURCE_FASTEST))[A-Z_]*\/$/
/** The port of a service, of which the other end is the client. `|` separates columns, and tcpdump writes a dot. */
const SERVICE = /[:|/.(](?:2[125]|53|80|110|143|443|465|587|99[35])(?!\d)/.source
const SERVICE_PORT = new RegExp(`^${SERVICE}`)
/**
 * Another address, and what is between it and the far end or a translation: an arrow, a comma, a bar, `to`, or a parenthesis after a
 * port. Programs in Go write their own end before the arrow. Nor is an address the near end if it is unset, or named as another host's.
 */
const FAR_END = atEnd(
  `(?<!(?:(?:read|write) (?:tc|ud)p[46]? |${OTHER_NAME})\\[?)(?:(?<![\\d.])(?!0\\.|255\\.)(?:\\d{1,3}\\.){3}\\d{1,3}|(?<![\\da-f]:?)(?!:[\\da-f])[\\da-f:]*(?:::|(?:[\\da-f]{3,4}:){2})[\\da-f:]*\\]?)(?!\\d|${SERVICE})(?:[:./#|]\\d{1,5})?(?: ?\\([^()]*\\))?(?:(?: ?[-=]{1,2}> ?| > | to )(?:[\\w.-]*[:/])?|[,|]|(?<=[:/]\\d{1,5}) \\()`,
)

/** The name of a user, also as sshd writes it, or what a client of SMTP says that it is. */
const GIVEN_KEY = atEnd(
  `(?:^|[^A-Za-z\\d])(?:user(?:_?name)?[=:] ?|(?:ehlo|helo)[ =]|(?:invalid|authenticating) user )["'<[]*`,
)

/** The bytes before an address that can have the name of a host: after `@`, after `HELO` as Exim writes it, in what dnsmasq asks. */
const MAX_GIVEN = 300
const HELO = /(?:^| )H=[^ ]* ?\(\[?$|\([^\s()[]+\[$/
const AFTER_HELO = /^\]?\) \[[\da-f.:]*[.:][\da-f.:]*\]/i

/** The most bytes of the target of a request before an address in it. */
const MAX_TARGET = 2048
const METHOD = /["'](?:GET|HEAD|POST|PUT|PATCH|DELETE|OPTIONS|CONNECT) $/
/** What Squid writes before the target of a request: `TCP_MISS/200 512 GET `. */
const SQUID_METHOD = /(?<![\w.-])(?:TCP|UDP|NONE|TAG)[A-Z_]*\/\d{3} \d+ [A-Z_]+ $/
const MAX_METHOD = 80
/** The start of a target that has a query. */
const WITH_QUERY = /^(?:\/|[a-z]+:\/\/)[^?]*\?/i

/**
 * The role of the address that a scanner has found.
 *
 * @param isClientWanted whether it matters only if it is the client's: all others are `PLAIN` then
 */
export function roleOf(scanner: AddressScanner, isClientWanted = false): number {
  const { text: bytes, line, from, tokenStart, tokenEnd } = scanner
  const byte = bytes[tokenStart - 1]
  const isKeyed = hasKey(bytes, tokenStart)
  const isNamed = isKeyed && byte !== COMMA && byte !== PIPE
  const before = isKeyed ? textBefore(bytes, line, tokenStart, MAX_KEY) : ''
  const hasName = isNamed && CLIENT_KEY.test(before)
  const isClient = hasName && (bytes[tokenEnd] !== BRACKET_END || !isGiven(bytes, line, tokenStart, tokenEnd))
  if (isClientWanted && !isClient) return PLAIN
  if (isInTarget(bytes, line, scanner.start)) return NO_CLIENT
  if (from === line && tokenStart - line <= MAX_SENDER_AT && isSender(scanner)) return SENDER
  if (isClient) return CLIENT
  if (isNamed && GIVEN_KEY.test(before)) return GIVEN
  if ((isNamed && OTHER_KEY.test(before)) || (isKeyed && FAR_END.test(before))) return OTHER
  if (isNamed && NO_CLIENT_KEY.test(textBefore(bytes, line, tokenStart, MAX_GIVEN))) return NO_CLIENT
  if (scanner.isInUrl || hasServicePort(bytes, scanner.end)) return OTHER
  const isInside = byte === AT || byte === PARENTHESIS || byte === BRACKET
  return isInside && isGiven(bytes, line, tokenStart, tokenEnd) ? GIVEN : PLAIN
}

/** Whether a text has an address last as that of another host. */
export function isOthersIn(text: string, address: string): boolean {
  const at = text.lastIndexOf(address)
  if (at === -1 || /[\da-f]/i.test(text[at + address.length] ?? '')) return false
  const before = text.slice(Math.max(0, at - MAX_KEY), at)
  return OTHER_KEY.test(before) || FAR_END.test(before)
}

/** After a time of RFC 3339, a program can write the client's address itself: only a process number is certain there. */
function isSender({ text: bytes, line, lineEnd, tokenStart, tokenEnd }: AddressScanner): boolean {
  if (bytes[tokenEnd] !== SPACE) return false
  const after = endOfPrefix('syslog', bytes, line, lineEnd)
  const first = bytes[line] ?? 0
  return after > tokenStart && (first > NINE || first === LESS || bytes[after - 3] === BRACKET_END)
}

/**
 * Whether a sign, a quote, a bracket or a word is before an address, as between a name and its value. The most usual
 * address of a line begins it, or is after a number or a bracket.
 */
function hasKey(bytes: Uint8Array, start: number): boolean {
  const byte = bytes[start - 1] ?? 0
  return byte === SPACE ? (bytes[start - 2] ?? 0) >= COLON : KEY_ENDS.includes(String.fromCharCode(byte))
}

/** Most addresses have no port: no text is made for them. */
function hasServicePort(bytes: Uint8Array, end: number): boolean {
  const byte = bytes[end]
  const isPort = byte === COLON || byte === PIPE || byte === SLASH || byte === DOT || byte === PARENTHESIS
  return isPort && SERVICE_PORT.test(textBefore(bytes, end, end + 5, 5))
}

/** Whether an address after `@` or a bracket is what the client said of itself. */
function isGiven(bytes: Uint8Array, line: number, start: number, after: number): boolean {
  const before = textBefore(bytes, line, start, MAX_GIVEN)
  if (/@\[?$|\(\[$/.test(before)) return true
  return HELO.test(before) && AFTER_HELO.test(textBefore(bytes, after, after + MAX_KEY, MAX_KEY))
}

/**
 * Whether an address is the path of a request in quotes, or in its query: `"GET /192.0.2.1 HTTP/1.1"`, `"/a?b=192.0.2.1"`. In a line of
 * Squid, also if it is the host.
 */
function isInTarget(bytes: Uint8Array, line: number, start: number): boolean {
  let at = start - 1
  for (const least = Math.max(line, start - MAX_TARGET); at >= least; at--) {
    const byte = bytes[at]
    if (byte === SPACE || byte === QUOTE || byte === APOSTROPHE) break
  }
  if (at < line || start - at > MAX_TARGET) return false
  const last = bytes[at - 1] ?? 0
  const isAfterCapital = bytes[at] === SPACE && last > AT && last <= CAPITAL_Z
  const before = isAfterCapital ? textBefore(bytes, line, at + 1, MAX_METHOD) : ''
  if (SQUID_METHOD.test(before)) return true
  const hasMethod = METHOD.test(before)
  if (at === start - 1 || (bytes[at] === SPACE && !hasMethod)) return false
  const target = textBefore(bytes, line, start, start - at - 1)
  return (hasMethod && target === '/') || WITH_QUERY.test(target)
}

/** A pattern of the end of a text, matched from there backwards: `$` after a pattern would try it from each character. */
function atEnd(pattern: string): RegExp {
  return new RegExp(`$(?<=${pattern})`, 'i')
}

/** At most `most` of the last bytes before `end`. */
function textBefore(bytes: Uint8Array, line: number, end: number, most: number): string {
  return latin1(bytes, Math.max(line, end - most), end)
}
