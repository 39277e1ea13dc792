import { MalformedAddressError, UnresolvableAddressError } from '../errors.ts'
import { Address } from './address.ts'
import { describeMalformation } from './malformation.ts'
import { describeSpecialPurpose } from './special-purpose.ts'

/** A text that is an address with a location to look up. */
export interface ParsedAddress {
  /** Canonical text (RFC 5952). An IPv4-mapped IPv6 address is the IPv4 address. Zones are dropped. */
  readonly address: string
  /**
   * Canonical text of the address whose record answers: the IPv4 address inside a 6to4, Teredo or NAT64
   * address, else the same as `address`.
   */
  readonly lookup: string
  /** Family of `address`. */
  readonly family: 4 | 6
}

/**
 * Reads one IP address: strict dotted decimal IPv4 or RFC 4291 IPv6, with nothing around it.
 *
 * @throws MalformedAddressError when the text is anything else: octal, hexadecimal or short IPv4, leading
 *   zeros, white space, brackets, a port, a prefix length, a zone where RFC 4007 gives it no meaning
 * @throws UnresolvableAddressError when the address is not globally reachable by the IANA special-purpose
 *   registries; `reason` says what it is
 */
export function parseAddress(text: string): ParsedAddress {
  const parsed = new Address()
  if (!parsed.parse(text)) throw new MalformedAddressError(describeMalformation(text))
  const { text: address, version, special } = parsed
  if (special !== null) {
    throw new UnresolvableAddressError(describeSpecialPurpose(address, special), special, address)
  }
  return { address, lookup: parsed.lookupText, family: version }
}
