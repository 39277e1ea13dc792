import { Address } from '../address/address.ts'
import { covers, type Network, parseCidr, unmapped } from '../address/ip-text.ts'
import { quoted } from '../errors.ts'
import { OptionError } from '../option-names.ts'

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

function networksOf(entry: unknown): Network[] {
  if (typeof entry !== 'string') throw wrong(String(entry), 'it is not a string')
  if (Object.hasOwn(NAMED, entry)) return (NAMED[entry] ?? []).map(parseCidr)
  if (!entry.includes('/')) return [hostOf(entry)]
  let network: Network
  try {
    network = parseCidr(entry)
  } catch (cause) {
    throw wrong(entry, cause instanceof Error ? cause.message : String(cause), cause)
  }
  if (network.prefixLength === 0) throw wrong(entry, 'it would trust everyone')
  const compared = unmapped(network)
  if (compared.prefixLength === 0) throw wrong(entry, 'it would trust every IPv4 address (CVE-2026-90711)')
  return [compared]
}

function hostOf(entry: string): Network {
  const address = new Address()
  if (entry.includes('%') || !address.parse(entry)) {
    throw wrong(
      entry,
      'it must be an address without a zone, a network such as 10.0.0.0/8, or one of loopback, linklocal, uniquelocal, unix:',
    )
  }
  return address.version === 4
    ? { family: 4, words: Uint32Array.of(address.ipv4), prefixLength: 32 }
    : { family: 6, words: Uint32Array.from(address.words), prefixLength: 128 }
}

function wrong(entry: string, why: string, cause?: unknown): TypeError {
  const error = new OptionError(
    (nameOf) => `${nameOf('trustedProxies')}: ${quoted(entry)} cannot be trusted: ${why}`,
  )
  return Object.defineProperty(error, 'cause', { value: cause })
}
