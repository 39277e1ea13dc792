// What an address is in its line: the choice of one address of a line depends on it. Only what is certain counts, since a wrong
// rule would pass over a client. No rule reads far, since a line can have a hundred thousand addresses.
import { Prefix } from '../wrapped/prefix.ts'
import type { AddressScanner } from './address-scanner.ts'

/** The client's, by the name of its field, such as `src=`. */
export const CLIENT = 0
/** Nothing says whose address it is. */
export const PLAIN = 1
/** Another host's, by the name of its field, such as `dst=`, or as the host of a URL or of a SIP address. */
export const OTHER = 2
/** One that a client gave: as the name of a user, in the identifier of a message, or with `HELO`. */
export const GIVEN = 3
/** The host that sent the line, as syslog writes it before the line. */
export const SENDER = 4
/** What the client wrote: a part of the path or of the query of a request in quotes. */
export const CLAIM = 5

const SPACE = 0x20
const QUOTE = 0x22
const APOSTROPHE = 0x27
const PARENTHESIS = 0x28
const NINE = 0x39
const COLON = 0x3a
const LESS = 0x3c
const EQUALS = 0x3d
const AT = 0x40
const OPEN = 0x5b
const CLOSE = 0x5d
const LOWER_R = 0x72

/** Syslog names the sender within this many bytes. */
const MAX_SENDER_AT = 48

/** The bytes before an address that name its field. */
const MAX_KEY = 48
const AFTER_NAME = /(?: ?= ?|:|["']: ?)["']?$/.source
/** A name before a colon and a blank can be that of a program. Asterisk writes the client after `failed for`. */
const CLIENT_KEY = new RegExp(
  `(?:^|[^A-Za-z\\d])(?:src|source|saddr|rip|raddr|client|remote)(?:[._-]?(?:ip|addr|address))?${AFTER_NAME}|failed for ["']?$`,
  'i',
)
const OTHER_KEY = new RegExp(
  `(?:^|[^A-Za-z\\d])(?:dst|dest|destination|daddr|target|lip|laddr|server|upstream|backend|origin|fw)(?:[._-]?(?:ip|addr|address|host))?${AFTER_NAME}`,
  'i',
)

/** The bytes before an address in the identifier of a message, in a SIP address, or after `HELO` as Exim writes it. */
const MAX_GIVEN = 200
const MESSAGE_ID = /(?:msgid|message-id) ?[=:] ?<[^<>\s]*@\[?$/i
const SIP_ADDRESS = /<sips?:[^<>\s]*@\[?$/i
const HELO = /(?:^| )H=[^ ]* ?\(\[?$/
const AFTER_HELO = /^\]?\) \[[\da-f.:]*[.:][\da-f.:]*\]/i

/** The most bytes of the target of a request before an address in it. */
const MAX_TARGET = 2048
const METHOD = /["'](?:GET|HEAD|POST|PUT|PATCH|DELETE|OPTIONS|CONNECT) $/
const MAX_METHOD = 9
/** The start of a target that has a query. */
const WITH_QUERY = /^(?:\/|[a-z]+:\/\/)[^?]*\?/i

export class AddressRoles {
  readonly #syslog = new Prefix('syslog')

  /**
   * The role of the address that a scanner has found.
   *
   * @param line start of the line
   * @param from `line`, or the end of the address before
   * @param end of the line
   */
  role(bytes: Uint8Array, line: number, from: number, end: number, scanner: AddressScanner): number {
    const { tokenStart, tokenEnd } = scanner
    if (isInTarget(bytes, line, scanner.start)) return CLAIM
    if (from === line && tokenStart - line <= MAX_SENDER_AT && bytes[tokenEnd] === SPACE) {
      if (this.#isSender(bytes, line, end, tokenStart)) return SENDER
    }
    if (isNamed(bytes, tokenStart)) {
      const before = textBefore(bytes, line, tokenStart, MAX_KEY)
      if (CLIENT_KEY.test(before)) return CLIENT
      if (OTHER_KEY.test(before)) return OTHER
    }
    if (scanner.isInUrl) return OTHER
    const byte = bytes[tokenStart - 1]
    if (byte === SPACE) return isUserName(bytes, line, tokenStart, tokenEnd) ? GIVEN : PLAIN
    const isInside = byte === AT || byte === PARENTHESIS || byte === OPEN
    return isInside ? givenRole(bytes, line, tokenStart, tokenEnd) : PLAIN
  }

  /** After a time of RFC 3339, a program can write the client's address itself: only a process number is certain there. */
  #isSender(bytes: Uint8Array, line: number, end: number, start: number): boolean {
    const after = this.#syslog.end(bytes, line, end)
    return after > start && ((bytes[line] ?? 0) > NINE || bytes[line] === LESS || bytes[after - 3] === CLOSE)
  }
}

/** Whether `=`, a colon or a quote is before an address, as between a name and its value. Most addresses of prose have none. */
function isNamed(bytes: Uint8Array, start: number): boolean {
  const byte = bytes[start - 1]
  if (byte === QUOTE || byte === APOSTROPHE) return true
  const sign = byte === SPACE ? bytes[start - 2] : byte
  return sign === EQUALS || sign === COLON
}

/** Whether sshd names an address as a user: `Invalid user 192.0.2.1 from 192.0.2.2`. */
function isUserName(bytes: Uint8Array, line: number, start: number, after: number): boolean {
  return (
    bytes[start - 2] === LOWER_R &&
    textBefore(bytes, line, start, 5) === 'user ' &&
    textBefore(bytes, after, after + 6, 6) === ' from '
  )
}

/** The role of an address after `@` or a bracket. */
function givenRole(bytes: Uint8Array, line: number, start: number, after: number): number {
  const before = textBefore(bytes, line, start, MAX_GIVEN)
  if (SIP_ADDRESS.test(before)) return OTHER
  const isHelo = HELO.test(before) && AFTER_HELO.test(textBefore(bytes, after, after + MAX_KEY, MAX_KEY))
  return isHelo || MESSAGE_ID.test(before) ? GIVEN : PLAIN
}

/** Whether an address is the path of a request in quotes, or in its query: `"GET /192.0.2.1 HTTP/1.1"`, `"/a?b=192.0.2.1"`. */
function isInTarget(bytes: Uint8Array, line: number, start: number): boolean {
  let at = start - 1
  for (const least = Math.max(line, start - MAX_TARGET); at >= least; at--) {
    const byte = bytes[at]
    if (byte === SPACE || byte === QUOTE || byte === APOSTROPHE) break
  }
  if (at < line || at === start - 1 || start - at > MAX_TARGET) return false
  const hasMethod = bytes[at] === SPACE && METHOD.test(textBefore(bytes, line, at + 1, MAX_METHOD))
  if (bytes[at] === SPACE && !hasMethod) return false
  const target = textBefore(bytes, line, start, start - at - 1)
  return (hasMethod && target === '/') || WITH_QUERY.test(target)
}

/** The last bytes before `end`, at most so many. */
function textBefore(bytes: Uint8Array, line: number, end: number, most: number): string {
  return String.fromCharCode(...bytes.subarray(Math.max(line, end - most), Math.min(end, bytes.length)))
}
