import type { Reader } from 'mmdb-lib'
import { formatIPv6 } from '../../src/address/ipv6.ts'

/** Leading bits of the blocks below 2000::/3 that lead to the IPv4 networks once more: Teredo and 6to4. */
const ALIASES: readonly (readonly [prefix: number, length: number])[] = [
  [0x2001_0000, 32],
  [0x2002_0000, 16],
]

/**
 * A random address in each of `count` random networks below 2000::/3, every network as likely as any other.
 * Walks the file on its own, so that no contender has a say in what it is asked.
 *
 * @param longest prefixes are cut to so many bits: at 32, what registries give to providers is one network, and
 *   some of its addresses have no record
 */
export function randomIPv6(
  bytes: Buffer,
  metadata: Reader<never>['metadata'],
  count: number,
  longest: number,
  random: () => number,
): string[] {
  const { nodeCount } = metadata
  const child = childReader(bytes, metadata.recordSize)
  const addresses: string[] = []
  const words = new Uint32Array(4)
  let seen = 0
  /** Keeps each of the networks seen so far with the same probability (reservoir sampling). */
  const offer = (depth: number): void => {
    const place = seen < count ? seen : Math.floor(random() * (seen + 1))
    if (place < count) addresses[place] = formatIPv6(withRandomHost(words, depth, random))
    seen++
  }
  const visit = (value: number, depth: number): void => {
    if (value === nodeCount || isAlias(words, depth)) return
    if (value > nodeCount || depth === longest) {
      offer(depth)
      return
    }
    setBit(words, depth, 0)
    visit(child(value, 0), depth + 1)
    setBit(words, depth, 1)
    visit(child(value, 1), depth + 1)
    setBit(words, depth, 0)
  }
  let root = 0
  for (const bit of [0, 0, 1]) root = root < nodeCount ? child(root, bit) : root
  setBit(words, 2, 1)
  visit(root, 3)
  return addresses
}

/** The left (0) or right (1) value of a node, by the record size in bits. */
function childReader(bytes: Buffer, recordSize: number): (node: number, bit: number) => number {
  switch (recordSize) {
    case 24:
      return (node, bit) => bytes.readUIntBE(node * 6 + bit * 3, 3)
    case 28:
      return (node, bit) => {
        const at = node * 7
        const middle = bytes.readUInt8(at + 3)
        const high = bit === 0 ? middle >>> 4 : middle & 0x0f
        return high * 2 ** 24 + bytes.readUIntBE(at + bit * 4, 3)
      }
    default:
      return (node, bit) => bytes.readUInt32BE(node * 8 + bit * 4)
  }
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
