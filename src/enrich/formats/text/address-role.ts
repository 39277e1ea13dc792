// What an address is in its line: the choice of one address of a line depends on it.
import { addressWeight, isOtherName } from '../../reading/known-names.ts'
import { Prefix } from '../wrapped/prefix.ts'
import type { AddressScanner } from './address-scanner.ts'
import { endOfKey, isAfterArrow, startOfName } from './token-borders.ts'

/** Nothing says that the address is not the client's. */
export const PLAIN = 0
/** The address of another host by the name before it, such as `dst=` or `server`, after an arrow, or as the host of a URL. */
export const OTHER = 1
/** The host that sent the line, as syslog writes it before the line. */
export const SENDER = 2
/** What the client wrote: a part of the query of a URL, of the path after a method, of a mail or SIP address, or the name of `HELO`. */
export const CLAIM = 3

const TAB = 0x09
const SPACE = 0x20
const QUOTE = 0x22
const APOSTROPHE = 0x27
const PARENTHESIS = 0x29
const SLASH = 0x2f
const MORE = 0x3e
const QUESTION = 0x3f
const AT = 0x40
const OPEN = 0x5b
const CLOSE = 0x5d

/** Syslog names the sender within this many bytes. */
const MAX_SENDER_AT = 48
/** A method before the path of a request. */
const METHOD = /(?:^|[\s"'])[A-Z]{3,16} $/
const MAX_METHOD = 20
const NO_KEY = new Uint8Array(0)

export class AddressRoles {
  readonly #syslog = new Prefix('syslog')
  /** The last name before an address, and what it says: most lines of a log have the same one. */
  #key = NO_KEY
  #isOther = false
  /** Whether the last address is in the query of a URL. */
  #isInQuery = false

  /**
   * The role of the address that a scanner has found.
   *
   * @param line start of the line
   * @param from `line`, or the end of the address before, whose role was read before this one
   * @param end of the line
   */
  role(bytes: Uint8Array, line: number, from: number, end: number, scanner: AddressScanner): number {
    const { tokenStart, tokenEnd } = scanner
    this.#isInQuery = this.#readQuery(bytes, line, from, tokenStart)
    if (this.#isInQuery || isClaim(bytes, line, tokenStart, tokenEnd)) return CLAIM
    if (from === line && tokenStart - line <= MAX_SENDER_AT && bytes[tokenEnd] === SPACE) {
      if (this.#syslog.end(bytes, line, end) > tokenStart) return SENDER
    }
    if (scanner.isInUrl || isAfterArrow(bytes, line, tokenStart)) return OTHER
    return this.#isOfOther(bytes, line, tokenStart) ? OTHER : PLAIN
  }

  #readQuery(bytes: Uint8Array, line: number, from: number, start: number): boolean {
    for (let at = start - 1; at >= from; at--) {
      const byte = bytes[at]
      if (byte === QUESTION) return true
      if (byte === SPACE || byte === TAB || byte === QUOTE || byte === APOSTROPHE) return false
    }
    return from > line && this.#isInQuery
  }

  #isOfOther(bytes: Uint8Array, line: number, start: number): boolean {
    const end = endOfKey(bytes, line, start)
    const first = startOfName(bytes, line, end)
    const size = end - first
    let same = 0
    while (same < size && bytes[first + same] === this.#key[same]) same++
    if (same < size || size !== this.#key.length) {
      this.#key = bytes.slice(first, end)
      const name = [latin1(bytes, first, end)]
      this.#isOther = addressWeight(name, false) === 0 && isOtherName(name)
    }
    return this.#isOther
  }
}

function isClaim(bytes: Uint8Array, line: number, start: number, after: number): boolean {
  const before = start > line ? bytes[start - 1] : undefined
  if (before === SLASH && bytes[start - 2] === SPACE && start - 2 > line)
    return METHOD.test(latin1(bytes, Math.max(line, start - MAX_METHOD), start - 1))
  const isBracketed = before === OPEN && bytes[after] === CLOSE
  const next = isBracketed ? after + 1 : after
  if (bytes[isBracketed ? start - 2 : start - 1] === AT) return bytes[next] === MORE
  // Mail servers write the name that a client gave in parentheses, and then its address in brackets.
  return bytes[next] === PARENTHESIS && bytes[next + 1] === SPACE && bytes[next + 2] === OPEN
}

function latin1(bytes: Uint8Array, start: number, end: number): string {
  return String.fromCharCode(...bytes.subarray(start, end))
}
