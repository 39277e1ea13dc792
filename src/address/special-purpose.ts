import { IPV4_REGISTRY, IPV6_REGISTRY, type RegistryRow, type SpecialPurpose } from './iana-registries.ts'
import { covers, type IPv6Words, type Network, parseCidr } from './ip-text.ts'

/** One registry, compiled at the first lookup. */
class Registry {
  /** The most specific network first. */
  readonly #rows: readonly (readonly [Network, SpecialPurpose | null])[]
  /** Whether a row longer than /3 can match, by the first 16 bits of an address. Most lookups then skip the rows. */
  readonly mayMatch = new Uint8Array(65536)

  constructor(rows: readonly RegistryRow[]) {
    this.#rows = rows
      .map(([text, meaning]) => [parseCidr(text), meaning] as const)
      .sort(([a], [b]) => b.prefixLength - a.prefixLength)
    for (const [{ words, prefixLength }] of this.#rows) {
      const first = (words[0] ?? 0) >>> 16
      if (prefixLength > 3) this.mayMatch.fill(1, first, first + 2 ** Math.max(16 - prefixLength, 0))
    }
  }

  meaningOf(words: Uint32Array): SpecialPurpose | null {
    for (const [network, meaning] of this.#rows) if (covers(network, words)) return meaning
    return null
  }
}

/** An IPv4 address. In an array made for each, V8 would leave its compiled code as numbers pass 31 bits. */
const WORD = /* @__PURE__ */ new Uint32Array(1)

let ipv4: Registry | undefined
let ipv6: Registry | undefined

/**
 * The special purpose of an IPv4 address in the IANA registry; `null` when it is globally reachable.
 *
 * @param address an unsigned 32-bit number
 */
export function specialPurposeOfIPv4(address: number): SpecialPurpose | null {
  ipv4 ??= new Registry(IPV4_REGISTRY)
  WORD[0] = address
  return ipv4.mayMatch[address >>> 16] === 0 ? null : ipv4.meaningOf(WORD)
}

/**
 * The special purpose of an IPv6 address that contains no IPv4 address; `null` when it is globally reachable.
 * Outside global unicast space (2000::/3) the default is `reserved`.
 */
export function specialPurposeOfIPv6(words: IPv6Words): SpecialPurpose | null {
  ipv6 ??= new Registry(IPV6_REGISTRY)
  const first = words[0] ?? 0
  return first >>> 29 === 1 && ipv6.mayMatch[first >>> 16] === 0 ? null : ipv6.meaningOf(words)
}

/** The message for an address that the registries exclude. */
export function describeSpecialPurpose(address: string, special: SpecialPurpose): string {
  return `${address} has no location: ${MEANINGS[special]}`
}

const MEANINGS: Record<SpecialPurpose, string> = {
  unspecified: 'it is the unspecified address',
  loopback: 'it is a loopback address',
  private: 'it is a private network address',
  shared: 'it is shared address space for carrier-grade NAT',
  'link-local': 'it is a link-local address',
  multicast: 'it is a multicast group, not a host',
  documentation: 'it is reserved for documentation',
  benchmarking: 'it is reserved for benchmarking',
  reserved: 'it is reserved and not globally reachable',
}
