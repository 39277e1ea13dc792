import { MalformedAddressError, quoted, UnresolvableAddressError } from '../errors.ts'
import type { SpecialPurpose } from './iana-registries.ts'
import {
  CANONICAL_IPV6,
  formatIPv4,
  formatIPv6,
  IPV6,
  type IPv6Words,
  MAX_ADDRESS_CHARS,
  mappedIPv4,
  NOT_IPV4,
  NOT_IPV6,
  parseIPv4,
  parseIPv6,
} from './ip-text.ts'
import { describeSpecialPurpose, specialPurposeOfIPv4, specialPurposeOfIPv6 } from './special-purpose.ts'

/** The text after `%`: 1 to 32 unreserved characters (RFC 6874 section 2). */
const ZONE_ID = /^[0-9A-Za-z._~-]{1,32}$/

/**
 * A parsed address, as bits. The owner reuses one object for every text, so that parsing does not allocate.
 */
export class Address {
  /** Canonical text (RFC 5952) of the requested address, without its zone. */
  text = ''
  /** Family of the requested address; an IPv4-mapped address is IPv4. Used for trust. */
  version: 4 | 6 = 4
  /** Family of the address to look up, which selects the database and search tree. */
  family: 4 | 6 = 4
  /** The address to look up if `family` is 4: an unsigned 32-bit number. */
  ipv4 = 0
  /** The requested address if `version` is 6: four big-endian words. The address to look up if `family` is 6. */
  readonly words: Uint32Array = new Uint32Array(4)
  /** Why the IANA registries exclude the address from lookups, or `null`. */
  special: SpecialPurpose | null = null

  /**
   * Parses a text by the one grammar of this package.
   *
   * @param text any value; a value that is not a string is not an address
   * @returns whether the text is an address
   */
  parse(text: unknown): boolean {
    if (typeof text !== 'string') return false
    const ipv4 = parseIPv4(text)
    if (ipv4 !== NOT_IPV4) {
      this.setIPv4(ipv4, text)
      return true
    }
    return this.#parseIPv6(text)
  }

  /** Canonical text of the address to look up. */
  get lookupText(): string {
    return this.family === 4 ? formatIPv4(this.ipv4) : this.text
  }

  /**
   * Takes an IPv4 address that is parsed already.
   *
   * @param ipv4 an unsigned 32-bit number
   * @param text its canonical text; may be empty if the caller does not read it
   */
  setIPv4(ipv4: number, text: string): void {
    this.text = text
    this.version = 4
    this.family = 4
    this.ipv4 = ipv4
    this.special = specialPurposeOfIPv4(ipv4)
  }

  #parseIPv6(text: string): boolean {
    if (text.length > MAX_ADDRESS_CHARS) return false
    const words = this.words
    let spelling = parseIPv6(text, text.length, words)
    if (spelling === NOT_IPV6) {
      const end = text.indexOf('%')
      if (end < 0 || parseIPv6(text, end, words) === NOT_IPV6) return false
      if (!(ZONE_ID.test(text.slice(end + 1)) && mayHaveZone(words))) return false
      // The text with a zone is not canonical.
      spelling = IPV6
    }
    const mapped = mappedIPv4(words)
    if (mapped !== NOT_IPV4) {
      this.setIPv4(mapped, formatIPv4(mapped))
      return true
    }
    this.text = spelling === CANONICAL_IPV6 ? text : formatIPv6(words)
    this.version = 6
    const translated = translatedIPv4(words)
    if (translated !== NOT_IPV4) {
      this.family = 4
      this.ipv4 = translated
      this.special = specialPurposeOfIPv4(translated)
    } else {
      this.family = 6
      this.special = specialPurposeOfIPv6(words)
    }
    return true
  }
}

/** Whether an IPv6 address is in ::/96 (RFC 4291 section 2.5.5.1), where search trees have the IPv4 networks. */
export function isIPv4Compatible(words: IPv6Words): boolean {
  return words[0] === 0 && words[1] === 0 && words[2] === 0
}

/**
 * The IPv4 address inside an address of a translation mechanism, which locates its host:
 *
 * - 6to4, `2002::/16`: bits 16 to 47 (RFC 3056 section 2)
 * - Teredo, `2001::/32`: the client, the last 32 bits inverted (RFC 4380 section 4); not the server
 * - NAT64, `64:ff9b::/96`: the last 32 bits (RFC 6052 section 2.1)
 *
 * Decodes once, without recursion. For database lookups only, never for decisions about trust.
 */
export function translatedIPv4(words: IPv6Words): number {
  const first = words[0] ?? 0
  if (first >>> 16 === 0x2002) return (((first & 0xffff) << 16) | ((words[1] ?? 0) >>> 16)) >>> 0
  if (first === 0x2001_0000) return ~(words[3] ?? 0) >>> 0
  if (first === 0x0064_ff9b && words[1] === 0 && words[2] === 0) return words[3] ?? 0
  return NOT_IPV4
}

/**
 * Whether an address may have a zone: its scope must not be global (RFC 4007 section 11). This is true for
 * link-local unicast, and for multicast whose scope field is not 0xe (RFC 4291 section 2.7). Unique local addresses
 * have global scope (RFC 4193 section 3.3), and loopback needs no zone.
 */
function mayHaveZone(words: IPv6Words): boolean {
  const first = (words[0] ?? 0) >>> 16
  return first >>> 6 === 0x3fa || (first >>> 8 === 0xff && (first & 0xf) !== 0xe)
}

/** An address that can be looked up. */
export interface ParsedAddress {
  /** Canonical text (RFC 5952). An IPv4-mapped IPv6 address is given as IPv4. Zones are dropped. */
  readonly address: string
  /**
   * Canonical text of the address to look up: the IPv4 address inside a 6to4, Teredo or NAT64 address, otherwise
   * the same as `address`.
   */
  readonly lookup: string
  /** Family of `address`. */
  readonly family: 4 | 6
}

/**
 * Parses one IP address: strict dotted decimal IPv4 or RFC 4291 IPv6, without surrounding text.
 *
 * @throws MalformedAddressError when the text is anything else: octal, hexadecimal or short IPv4, leading zeros,
 *   white space, brackets, a port, a prefix length, a zone on an address of global scope (RFC 4007)
 * @throws UnresolvableAddressError when the address is not globally reachable by the IANA special-purpose
 *   registries; `reason` says why
 */
export function parseAddress(text: string): ParsedAddress {
  const parsed = new Address()
  if (!parsed.parse(text)) throw new MalformedAddressError(explainMalformed(text))
  const { text: address, version, special } = parsed
  if (special !== null) {
    throw new UnresolvableAddressError(describeSpecialPurpose(address, special), special, address)
  }
  return { address, lookup: parsed.lookupText, family: version }
}

/**
 * Explains in one sentence why `Address.parse` refused a value, and what to write instead if that is clear. Not a
 * part of the parser, which only returns a boolean, so that large amounts of bad input cost little.
 */
export function explainMalformed(value: unknown): string {
  if (typeof value !== 'string') {
    return `An IP address must be a string, not ${value === null ? 'null' : `of type ${typeof value}`}`
  }
  return `${quoted(value)} is not an IP address: ${faultOf(value)}`
}

function faultOf(text: string): string {
  if (text === '') return 'it is empty'
  if (text.length > MAX_ADDRESS_CHARS) return `it is ${text.length} characters long`
  if (text.trim() !== text) return 'remove the white space around it'
  if (text.startsWith('[')) return 'remove the brackets, and the port if there is one'
  if (text.includes('/')) {
    return isAddress(text.slice(0, text.indexOf('/')))
      ? 'it is a network: give one address of it'
      : 'it contains a "/"'
  }
  if (text.includes(',')) return 'it is a list: give one address'
  if (text.includes('%')) return faultOfZone(text)
  const foreign = /[^0-9A-Fa-f:.]/.exec(text)
  if (foreign !== null) {
    return `${quoted(foreign[0])} at position ${foreign.index} is not allowed; host names are not resolved`
  }
  return text.includes(':') ? faultOfIPv6(text) : faultOfIPv4(text)
}

function isAddress(text: string): boolean {
  return parseIPv4(text) !== NOT_IPV4 || parseIPv6(text, text.length, new Uint32Array(4)) !== NOT_IPV6
}

function faultOfZone(text: string): string {
  const address = text.slice(0, text.indexOf('%'))
  if (!isAddress(address)) return `${quoted(address)} before the zone is not an address`
  return 'a zone must be 1 to 32 letters, digits or "-._~", and is allowed for link-local and non-global multicast IPv6 addresses only (RFC 4007 section 11)'
}

// Most bad input is a dotted quad, and there can be much of it, so read it without substrings.
function faultOfIPv4(text: string): string {
  const ends = dotsOf(text)
  if (ends.push(text.length) !== 4) {
    return `IPv4 has four decimal numbers separated by dots; this has ${ends.length === 1 ? 'one' : ends.length}`
  }
  let start = 0
  for (let index = 0; index < 4; index++) {
    const end = ends[index] ?? 0
    const fault = faultOfOctet(text, start, end)
    if (fault !== null) return `number ${index + 1} of 4 ${fault}`
    start = end + 1
  }
  return 'it does not have the form 192.0.2.1'
}

function dotsOf(text: string): number[] {
  const dots: number[] = []
  for (let at = text.indexOf('.'); at >= 0; at = text.indexOf('.', at + 1)) dots.push(at)
  return dots
}

function faultOfOctet(text: string, start: number, end: number): string | null {
  if (start === end) return 'is missing'
  let value = 0
  for (let at = start; at < end; at++) {
    const digit = text.charCodeAt(at) - 48
    if (digit < 0 || digit > 9) return 'is not decimal'
    value = value * 10 + digit
  }
  if (value > 255) return 'is over 255'
  if (end - start === 1 || text[start] !== '0') return null
  return `has a leading zero, which some programs read as octal: write ${value} for decimal`
}

function faultOfIPv6(text: string): string {
  const withoutPort = text.slice(0, text.lastIndexOf(':'))
  if (parseIPv4(withoutPort) !== NOT_IPV4) return 'remove the port'
  if (text.includes(':::')) return 'it has three colons in a row'
  if (text.indexOf('::') !== text.lastIndexOf('::')) return 'it has "::" more than once'
  if (/[0-9A-Fa-f]{5}/.test(text)) return 'a group has more than four hexadecimal digits'
  if (text.includes('.')) return 'a dotted part must be a strict IPv4 address at the end'
  return 'IPv6 has eight groups separated by colons, or fewer with one "::"'
}
