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

/** Uniformly random IPv4 addresses that are globally reachable. */
export function randomIPv4(count: number, random: () => number): string[] {
  const addresses: string[] = []
  while (addresses.length < count) {
    const text = Array.from({ length: 4 }, () => Math.floor(random() * 256)).join('.')
    if (isReachable(text)) addresses.push(text)
  }
  return addresses
}

/** Traffic as services see it: few addresses ask most of the time (cubic skew). */
export function skewed(pool: readonly string[], count: number, random: () => number): string[] {
  return Array.from({ length: count }, () => pool[Math.floor(random() ** 3 * pool.length)] ?? '')
}

function isReachable(text: string): boolean {
  try {
    parseAddress(text)
    return true
  } catch {
    return false
  }
}
