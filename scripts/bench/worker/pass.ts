/** Between two looks at the clock; also the batches of `lookupMany`. */
export const BLOCK = 1000

/** Asks for the addresses from one index up to another, and tells how many were found. */
export type Pass = (from: number, to: number) => number

/** A list to ask for, over and over. */
export interface Work {
  readonly items: number
  readonly pass: Pass
}

/** Where the last answer goes, so that no compiler can leave out making it. */
export let kept: unknown

/**
 * Asks for one item after the other. An address without a location throws or gives `null`: both are part of
 * what a caller pays. A process has one contender, so the call is as direct as in a program of one's own.
 */
export function each<Item>(items: readonly Item[], ask: (item: Item) => unknown): Work {
  const pass = (from: number, to: number): number => {
    let found = 0
    for (let index = from; index < to; index++) {
      const item = items[index]
      if (item === undefined) continue
      try {
        const result = ask(item)
        kept = result
        if (result !== null && result !== undefined) found++
      } catch {}
    }
    return found
  }
  return { items: items.length, pass }
}

/** Asks for batches, which are cut beforehand. */
export function inBatches<Item>(
  items: readonly Item[],
  size: number,
  ask: (batch: readonly Item[]) => unknown,
): Work {
  const batches = new Map<number, readonly Item[]>()
  for (let from = 0; from < items.length; from += size) batches.set(from, items.slice(from, from + size))
  const pass = (from: number): number => {
    const batch = batches.get(from) ?? []
    kept = ask(batch)
    return batch.length
  }
  return { items: items.length, pass }
}
