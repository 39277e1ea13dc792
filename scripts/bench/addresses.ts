import { parseAddress } from '../../src/index.ts'

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

/** A random IPv4 address outside of the largest blocks that nobody has: most are globally reachable. */
export function randomPublicIPv4(random: () => number): string {
  const byte = (): number => Math.floor(random() * 256)
  let first = byte()
  while (first === 0 || first === 10 || first === 127 || first >= 224) first = byte()
  return `${first}.${byte()}.${byte()}.${byte()}`
}

/** Traffic as services see it: few addresses ask most of the time (cubic skew). */
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
