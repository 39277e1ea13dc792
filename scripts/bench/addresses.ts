import { formatIPv6 } from '../../src/address/ip-text.ts'
import { parseAddress } from '../../src/index.ts'
import { isEmpty, isNode, MmdbFile, type TreeRecord } from '../build-data/mmdb-file.ts'

/** Random numbers in [0, 1), the same for the same seed (mulberry32). */
export function seeded(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), state | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32
  }
}

/** Distinct, uniformly random IPv4 addresses that are globally reachable. */
export function randomIPv4(count: number, random: () => number): string[] {
  const addresses = new Set<string>()
  while (addresses.size < count) {
    const text = randomPublicIPv4(random)
    if (isReachable(text)) addresses.add(text)
  }
  return [...addresses]
}

/** A random IPv4 address outside the largest special-purpose blocks. Most are globally reachable. */
export function randomPublicIPv4(random: () => number): string {
  const byte = (): number => Math.floor(random() * 256)
  let first = byte()
  while (first === 0 || first === 10 || first === 127 || first >= 224) first = byte()
  return `${first}.${byte()}.${byte()}.${byte()}`
}

/** Realistic traffic: few addresses make most of the requests (cubic skew). */
export function skewed(pool: readonly string[], count: number, random: () => number): string[] {
  return Array.from({ length: count }, () => pool[Math.floor(random() ** 3 * pool.length)] ?? '')
}

export function isReachable(text: string): boolean {
  try {
    parseAddress(text)
    return true
  } catch {
    return false
  }
}

/** Teredo and 6to4: blocks in 2000::/3 that lead to the IPv4 networks. */
const ALIASES: readonly (readonly [prefix: number, length: number])[] = [
  [0x2001_0000, 32],
  [0x2002_0000, 16],
]

/**
 * A random address in each of `count` random networks in 2000::/3, with the same probability for every network. Walks
 * the file itself, so that no contender influences the input.
 *
 * @param maxPrefixLength longer prefixes are cut to this length. At 32, an allocation of a registry is one network, and
 *   some of its addresses have no record
 */
export function randomIPv6(
  bytes: Buffer,
  count: number,
  maxPrefixLength: number,
  random: () => number,
): string[] {
  const file = new MmdbFile(bytes)
  const addresses: string[] = []
  const words = new Uint32Array(4)
  let seen = 0
  /** Reservoir sampling: keeps each network with the same probability. */
  const offer = (depth: number): void => {
    const slot = seen < count ? seen : Math.floor(random() * (seen + 1))
    if (slot < count) addresses[slot] = formatIPv6(withRandomHost(words, depth, random))
    seen++
  }
  const visit = (record: TreeRecord, depth: number): void => {
    if (isEmpty(record) || isAlias(words, depth)) return
    if (!isNode(record) || depth === maxPrefixLength) {
      offer(depth)
      return
    }
    visit(file.left(record), depth + 1)
    setBit(words, depth, 1)
    visit(file.right(record), depth + 1)
    setBit(words, depth, 0)
  }
  setBit(words, 2, 1)
  visit(file.descend([0, 0, 1]), 3)
  return addresses
}

function isAlias(words: Uint32Array, depth: number): boolean {
  const [first = 0] = words
  return ALIASES.some(
    ([prefix, length]) => depth >= length && first >>> (32 - length) === prefix >>> (32 - length),
  )
}

function withRandomHost(words: Uint32Array, depth: number, random: () => number): Uint32Array {
  const address = Uint32Array.from(words)
  for (let bit = depth; bit < 128; bit++) setBit(address, bit, random() < 0.5 ? 0 : 1)
  return address
}

function setBit(words: Uint32Array, bit: number, value: number): void {
  const index = bit >>> 5
  const mask = 1 << (31 - (bit & 31))
  const word = words[index] ?? 0
  words[index] = value === 0 ? word & ~mask : word | mask
}
