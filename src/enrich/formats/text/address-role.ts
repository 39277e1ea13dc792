// What an address is in its line: the choice of one address of a line depends on it. Only what is certain counts, since a wrong
// rule would pass over a client.
import { Prefix } from '../wrapped/prefix.ts'
import type { AddressScanner } from './address-scanner.ts'
import { isAfterArrow } from './token-borders.ts'

/** Nothing says that the address is not the client's. */
export const PLAIN = 0
/**
 * The address of another host, by the name of its field, such as `dst=`, after another address and an arrow, or as the host of a
 * URL; or one that the client gave of itself, in a mail or SIP address, or with `HELO`.
 */
export const OTHER = 1
/** The host that sent the line, as syslog writes it before the line. */
export const SENDER = 2
/** What the client wrote: a part of the path or of the query of a request. */
export const CLAIM = 3

const SPACE = 0x20
const QUOTE = 0x22
const APOSTROPHE = 0x27
const PARENTHESIS = 0x29
const SLASH = 0x2f
const NINE = 0x39
const COLON = 0x3a
const LESS = 0x3c
const EQUALS = 0x3d
const MORE = 0x3e
const QUESTION = 0x3f
const AT = 0x40
const OPEN = 0x5b
const CLOSE = 0x5d

/** Syslog names the sender within this many bytes. */
const MAX_SENDER_AT = 48
/** The names of fields with the address of another host, before `=` or a colon. `server: ` can be the name of a program. */
const OTHER_KEY =
  /(?:^|[^A-Za-z\d])(?:dst|dest|destination|daddr|target|lip|laddr|server|upstream|backend|origin|fw)(?:[._-]?(?:ip|addr|address|host))?(?: ?= ?|:|["']: ?)["']?$/i
/** The longest name of a field, with what is around it. */
const MAX_KEY = 40
/** The most bytes between an address and the next one if there is an arrow between them: `:7/udp -> `. */
const MAX_ARROW = 12
/** A method before the path of a request. */
const METHOD = /(?:^|[\s"'])(?:GET|HEAD|POST|PUT|PATCH|DELETE|OPTIONS|CONNECT) $/
const MAX_METHOD = 10
/** What separates the target of a request from what is before or after it. */
const BORDERS = bytesOf(' \t"\'`|[](){}<>,;')
/** The same before its query, where a target can follow a name: `path=/a?b=c`. */
const STARTS = bytesOf(' \t"\'`|[](){}<>,;=')

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
    if (isInTarget(bytes, line, scanner)) return CLAIM
    if (from === line && tokenStart - line <= MAX_SENDER_AT && bytes[tokenEnd] === SPACE) {
      if (this.#isSender(bytes, line, end, tokenStart)) return SENDER
    }
    if (scanner.isInUrl || isOfMail(bytes, tokenStart, tokenEnd) || isHelo(bytes, tokenStart, tokenEnd))
      return OTHER
    if (from > line && tokenStart - from <= MAX_ARROW && isAfterArrow(bytes, line, tokenStart)) return OTHER
    return isOfOther(bytes, line, tokenStart) ? OTHER : PLAIN
  }

  /** After a time of RFC 3339, a program can write the client's address itself: only a process number is certain there. */
  #isSender(bytes: Uint8Array, line: number, end: number, start: number): boolean {
    const after = this.#syslog.end(bytes, line, end)
    return after > start && ((bytes[line] ?? 0) > NINE || bytes[line] === LESS || bytes[after - 3] === CLOSE)
  }
}

/** Whether the address is the path after a method, or in the query of a path or a URL. */
function isInTarget(
  bytes: Uint8Array,
  line: number,
  { start, tokenStart, end, tokenEnd }: AddressScanner,
): boolean {
  // An address with a port is that of a connection, as Java writes it: `/192.0.2.1:80`.
  if (end === tokenEnd && bytes[start - 1] === SLASH && start - 1 > line)
    if (METHOD.test(latin1(bytes, Math.max(line, start - MAX_METHOD), start - 1))) return true
  let query = tokenStart - 1
  while (query > line && bytes[query] !== QUESTION && BORDERS[bytes[query] ?? 0] === 0) query--
  if (query < line || bytes[query] !== QUESTION) return false
  let first = query
  while (first > line && STARTS[bytes[first - 1] ?? 0] === 0) first--
  return bytes[first] === SLASH || latin1(bytes, first, query).includes('://')
}

/** Whether the address is the domain of a mail or SIP address, or of the identifier of a message: `<7@192.0.2.1>`, `<sip:7@[192.0.2.1]>`. */
function isOfMail(bytes: Uint8Array, start: number, after: number): boolean {
  const isBracketed = bytes[start - 1] === OPEN && bytes[after] === CLOSE
  return bytes[isBracketed ? start - 2 : start - 1] === AT && bytes[isBracketed ? after + 1 : after] === MORE
}

/** Whether the address is the name that a mail client gave, before its address in brackets: `(192.0.2.1) [192.0.2.2]`. */
function isHelo(bytes: Uint8Array, start: number, after: number): boolean {
  const next = bytes[start - 1] === OPEN && bytes[after] === CLOSE ? after + 1 : after
  if (bytes[next] !== PARENTHESIS || bytes[next + 1] !== SPACE || bytes[next + 2] !== OPEN) return false
  return /^[\da-f.:]+\]/i.test(latin1(bytes, next + 3, next + 3 + MAX_KEY))
}

/** Whether the name of a field before the address says that it is another host's. */
function isOfOther(bytes: Uint8Array, line: number, start: number): boolean {
  let at = start - 1
  if (bytes[at] === QUOTE || bytes[at] === APOSTROPHE) at--
  if (bytes[at] === SPACE) at--
  if (at <= line || (bytes[at] !== EQUALS && bytes[at] !== COLON)) return false
  return OTHER_KEY.test(latin1(bytes, Math.max(line, start - MAX_KEY), start))
}

function bytesOf(text: string): Uint8Array {
  const table = new Uint8Array(256)
  for (const char of text) table[char.charCodeAt(0)] = 1
  return table
}

function latin1(bytes: Uint8Array, start: number, end: number): string {
  return String.fromCharCode(...bytes.subarray(start, end))
}
