// `npm test` is the short run: the same rules as in the long one, `npm run test:all`, on fewer cases.

import { it } from 'vitest'

/** Whether this run tries every case. Set by scripts/all-tests.config.ts. */
export const TRIES_ALL: boolean = process.env.GEOFIX_TESTS === 'all'

/** Defines a test that only the long run has: a short run shows the same with less, or elsewhere. */
export function itInLongRun(name: string, test: () => void | Promise<void>): void {
  if (TRIES_ALL) it(name, test)
}

/** All items in a long run; in a short one `most` of them, evenly spaced, from the first to the last. */
export function sampled<Item>(items: readonly Item[], most: number): readonly Item[] {
  if (TRIES_ALL || items.length <= most) return items
  const chosen = new Set(
    Array.from({ length: most }, (_, index) =>
      Math.round((index * (items.length - 1)) / Math.max(most - 1, 1)),
    ),
  )
  return items.filter((_, index) => chosen.has(index))
}

/** A number for the short run and one for the long run: of rounds, of samples, or a bound for what they find. */
export function effort({ short, long }: { short: number; long: number }): number {
  return TRIES_ALL ? long : short
}
