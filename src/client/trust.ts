import type { Address } from '../address/address.ts'
import { covers, type Network, parseCidr, parseNetwork } from '../address/ip-text.ts'
import { quoted } from '../errors.ts'
import { OptionError } from '../option-names.ts'
import { messageOf } from '../realm.ts'

/** Named networks whose addresses cannot come from the internet, with the same members as in proxy-addr. */
const NAMED: Readonly<Record<string, readonly string[]>> = {
  loopback: ['127.0.0.0/8', '::1/128'],
  linklocal: ['169.254.0.0/16', 'fe80::/10'],
  uniquelocal: ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', 'fc00::/7'],
}

/** The entry that trusts Unix sockets, in nginx's spelling. */
export const UNIX = 'unix:'

/** The networks whose hosts are trusted to name the client. */
export class TrustList {
  /** Whether no peer is trusted. */
  readonly isEmpty: boolean
  /** Whether peers on Unix sockets are trusted. */
  readonly unix: boolean
  readonly #ipv4: readonly Network[]
  readonly #ipv6: readonly Network[]

  /** @throws TypeError if the list is not an array, or an entry is not valid */
  constructor(trustedProxies: unknown) {
    if (!Array.isArray(trustedProxies)) {
      throw new OptionError(
        (nameOf) =>
          `${nameOf('trustedProxies')} must be an array of addresses, networks and names, not ${typeof trustedProxies}: trusting everyone, or a number of hops, lets callers choose their address`,
      )
    }
    // Spread, because array methods skip holes.
    const entries: unknown[] = [...trustedProxies]
    const networks = entries.filter((entry) => entry !== UNIX).flatMap(networksOf)
    this.isEmpty = entries.length === 0
    this.unix = entries.includes(UNIX)
    this.#ipv4 = networks.filter(({ family }) => family === 4)
    this.#ipv6 = networks.filter(({ family }) => family === 6)
  }

  /**
   * Whether an address is trusted. Compares bits: IPv4-mapped addresses are IPv4, and 6to4, Teredo and NAT64 addresses
   * are IPv6. Zones are ignored.
   */
  covers(address: Address): boolean {
    // A plain loop, because a caller can send hundreds of hops and there can be thousands of networks.
    const isIPv4 = address.version === 4
    const words = isIPv4 ? [address.ipv4] : address.words
    for (const network of isIPv4 ? this.#ipv4 : this.#ipv6) if (covers(network, words)) return true
    return false
  }
}

function networksOf(entry: unknown): readonly Network[] {
  if (typeof entry !== 'string') throw wrong(String(entry), 'it is not a string')
  if (Object.hasOwn(NAMED, entry)) return (NAMED[entry] ?? []).map(parseCidr)
  let network: Network
  try {
    network = parseNetwork(entry)
  } catch (cause) {
    if (entry.includes('/')) throw wrong(entry, messageOf(cause), cause)
    throw wrong(
      entry,
      'it must be an address without a zone, a network such as 10.0.0.0/8, or one of loopback, linklocal, uniquelocal, unix:',
    )
  }
  if (network.prefixLength > 0) return [network]
  // A network of IPv4-mapped addresses is one of IPv4.
  const isMapped = network.family === 4 && entry.includes(':')
  throw wrong(entry, `it would trust every${isMapped ? ' IPv4 address (CVE-2026-90711)' : 'one'}`)
}

function wrong(entry: string, why: string, cause?: unknown): TypeError {
  const error = new OptionError(
    (nameOf) => `${nameOf('trustedProxies')}: ${quoted(entry)} cannot be trusted: ${why}`,
  )
  return Object.defineProperty(error, 'cause', { value: cause })
}
