// Positions in the address space: where a network starts, as four words, the highest first. In an IPv4 tree,
// the last word has the address.
import { bitAt } from '../mmdb/writer/node-table.ts'

export type Words = Uint32Array

/** The least prefix length of a network that starts at a position. */
export function leastPrefixLength(words: Words): number {
  for (let i = 3; i >= 0; i--) {
    const word = words[i] ?? 0
    if (word !== 0) return 32 * i + 1 + Math.clz32(word & -word)
  }
  return 0
}

/** Moves a position to the end of a network that starts there. At the end of all addresses, it returns to zero. */
export function advance(words: Words, prefixLength: number): void {
  if (prefixLength === 0) return
  let i = (prefixLength - 1) >>> 5
  let sum = (words[i] ?? 0) + 2 ** (31 - ((prefixLength - 1) & 31))
  words[i] = sum
  while (sum >= 2 ** 32 && i > 0) {
    sum = (words[--i] ?? 0) + 1
    words[i] = sum
  }
}

/** Negative if `a` comes before `b`, zero if they are equal, positive if it comes after. */
export function compare(a: Words, b: Words): number {
  for (let i = 0; i < 4; i++) {
    const difference = (a[i] ?? 0) - (b[i] ?? 0)
    if (difference !== 0) return difference
  }
  return 0
}

/**
 * Moves an address from one network into another: the first bits of `target`, then those of `words` after its own
 * prefix.
 */
export function moved(words: Words, prefixLength: number, target: Words, targetLength: number): Words {
  const result = new Uint32Array(4)
  for (let i = 0; i < 128; i++) {
    const from = prefixLength + i - targetLength
    const bit = i < targetLength ? bitAt(target, i) : from < 128 ? bitAt(words, from) : 0
    result[i >>> 5] = (result[i >>> 5] ?? 0) | (bit << (31 - (i & 31)))
  }
  return result
}
