// The only importer of ipaddr.js, for CIDR arithmetic. The strict parsers of this folder check the text first, because
// ipaddr.js reads `010.0.0.1` as 8.0.0.1 and `::10.0.0.2` as IPv4-mapped.
import ipaddr from 'ipaddr.js'
import { formatIPv4, NOT_IPV4, parseIPv4 } from './ipv4.ts'
import { formatIPv6, NOT_IPV6, parseIPv6 } from './ipv6.ts'
import { quoted } from './quoted.ts'

/** The addresses that share the first `prefixLength` bits of `words`. */
export interface Network {
  readonly family: 4 | 6
  /** Big-endian 32-bit words of the first address: one for IPv4, four for IPv6. */
  readonly words: Uint32Array
  /** 0 to 32 for IPv4, 0 to 128 for IPv6. */
  readonly prefixLength: number
}

/**
 * Parses CIDR text such as `192.0.2.0/24` or `2001:db8::/32` (RFC 4632 section 3.1, RFC 4291 section 2.3).
 *
 * @throws TypeError when the text is not an address, a slash and a prefix length without leading zeros,
 *   or has bits set after the prefix
 */
export function parseCidr(text: string): Network {
  if (typeof text !== 'string')
    throw new TypeError(`a network must be a string such as 192.0.2.0/24, not ${typeof text}`)
  const match = /^([^/]+)\/(0|[1-9]\d{0,2})$/.exec(text)
  const address = match?.[1] ?? ''
  const prefixLength = Number(match?.[2])
  const ipv4 = parseIPv4(address)
  const words = ipv4 === NOT_IPV4 ? new Uint32Array(4) : Uint32Array.of(ipv4)
  const family = ipv4 === NOT_IPV4 ? 6 : 4
  if (family === 6 && parseIPv6(address, address.length, words) === NOT_IPV6) {
    throw new TypeError(`${quoted(text)} is not a network: write it as 192.0.2.0/24 or 2001:db8::/32`)
  }
  if (prefixLength > (family === 4 ? 32 : 128)) {
    throw new TypeError(
      `${text} is not a network: the prefix length must be at most ${family === 4 ? 32 : 128}`,
    )
  }
  const first = firstAddress(family, words, prefixLength)
  const given = family === 4 ? formatIPv4(words[0] ?? 0) : formatIPv6(words)
  if (first !== given) {
    throw new TypeError(`${text} has bits set after its prefix: write ${first}/${prefixLength}`)
  }
  return { family, words, prefixLength }
}

/** The canonical CIDR text of the network that contains an address. */
export function formatCidr(family: 4 | 6, words: Uint32Array, prefixLength: number): string {
  return `${firstAddress(family, words, prefixLength)}/${prefixLength}`
}

function firstAddress(family: 4 | 6, words: Uint32Array, prefixLength: number): string {
  if (family === 4) {
    return ipaddr.IPv4.networkAddressFromCIDR(`${formatIPv4(words[0] ?? 0)}/${prefixLength}`).toString()
  }
  return ipaddr.IPv6.networkAddressFromCIDR(`${formatIPv6(words)}/${prefixLength}`).toRFC5952String()
}
