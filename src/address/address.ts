import { MalformedAddressError, UnresolvableAddressError } from '../errors.ts'
import { explainMalformed } from './explain-malformed.ts'
import type { SpecialPurpose } from './iana-registries.ts'
import { formatIPv4, NOT_IPV4, parseIPv4 } from './ipv4.ts'
import { CANONICAL_IPV6, formatIPv6, MAX_ADDRESS_CHARS, NOT_IPV6, parseIPv6 } from './ipv6.ts'
import { isZoneId, mappedIPv4, mayHaveZone, NO_EMBEDDED_IPV4, translatedIPv4 } from './ipv6-forms.ts'
import { describeSpecialPurpose, specialPurposeOfIPv4, specialPurposeOfIPv6 } from './special-purpose.ts'

const PERCENT = 0x25

/**
 * A parsed address, as bits. The owner reuses one object for every text, so that parsing allocates nothing here.
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
    let end = text.length
    for (let i = 0; i < text.length; i++) {
      if (text.charCodeAt(i) === PERCENT) {
        end = i
        break
      }
    }
    const words = this.words
    const spelling = parseIPv6(text, end, words)
    if (spelling === NOT_IPV6) return false
    if (end < text.length && !(isZoneId(text.slice(end + 1)) && mayHaveZone(words))) return false
    const mapped = mappedIPv4(words)
    if (mapped !== NO_EMBEDDED_IPV4) {
      this.setIPv4(mapped, formatIPv4(mapped))
      return true
    }
    this.text = spelling === CANONICAL_IPV6 && end === text.length ? text : formatIPv6(words)
    this.version = 6
    const translated = translatedIPv4(words)
    if (translated !== NO_EMBEDDED_IPV4) {
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
