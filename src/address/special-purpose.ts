import { IPV4_REGISTRY, IPV6_REGISTRY, type RegistryRow, type SpecialPurpose } from './iana-registries.ts'
import { type IPv6Words, type Network, parseCidr } from './ip-text.ts'

/** The rows of one registry, the most specific network first. */
interface Registry {
  readonly rows: readonly CompiledRow[]
  /** By the first 16 bits of an address, whether a row longer than /3 can match. Spares most lookups the rows. */
  readonly mayMatch: Uint8Array
}

interface CompiledRow {
  readonly network: Network
  readonly masks: Uint32Array
  readonly meaning: SpecialPurpose | null
}

let ipv4: Registry | undefined
let ipv6: Registry | undefined

/**
 * The special purpose of an IPv4 address in the IANA registry; `null` when it is globally reachable.
 *
 * @param address an unsigned 32-bit number
 */
export function specialPurposeOfIPv4(address: number): SpecialPurpose | null {
  ipv4 ??= compile(IPV4_REGISTRY)
  if (ipv4.mayMatch[address >>> 16] === 0) return null
  for (const row of ipv4.rows) {
    if ((address & (row.masks[0] ?? 0)) >>> 0 === row.network.words[0]) return row.meaning
  }
  return null
}

/**
 * The special purpose of an IPv6 address that contains no IPv4 address; `null` when it is globally reachable.
 * Outside global unicast space (2000::/3) the default is `reserved`.
 */
export function specialPurposeOfIPv6(words: IPv6Words): SpecialPurpose | null {
  ipv6 ??= compile(IPV6_REGISTRY)
  const first = words[0] ?? 0
  if (first >>> 29 === 1 && ipv6.mayMatch[first >>> 16] === 0) return null
  for (const row of ipv6.rows) {
    if (covers(row, words)) return row.meaning
  }
  return null
}

function covers(row: CompiledRow, words: IPv6Words): boolean {
  for (let i = 0; i < 4; i++) {
    if (((words[i] ?? 0) & (row.masks[i] ?? 0)) >>> 0 !== row.network.words[i]) return false
  }
  return true
}

/** Called at the first lookup, not at import. */
function compile(registry: readonly RegistryRow[]): Registry {
  const rows = registry.map(([text, , , meaning]) => {
    const network = parseCidr(text)
    return { network, masks: masks(network), meaning }
  })
  rows.sort((a, b) => b.network.prefixLength - a.network.prefixLength)
  const mayMatch = new Uint8Array(65536)
  for (const { network } of rows) {
    if (network.prefixLength <= 3) continue
    const first = (network.words[0] ?? 0) >>> 16
    const width = network.prefixLength < 16 ? 2 ** (16 - network.prefixLength) : 1
    mayMatch.fill(1, first, first + width)
  }
  return { rows, mayMatch }
}

function masks({ words, prefixLength }: Network): Uint32Array {
  return words.map((_, i) => {
    const bits = Math.min(Math.max(prefixLength - i * 32, 0), 32)
    return bits === 0 ? 0 : -1 << (32 - bits)
  })
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
