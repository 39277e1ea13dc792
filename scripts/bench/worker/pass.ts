import { readFileSync } from 'node:fs'

/**
 * The lines of a file. Each is a separate string, like addresses from sockets: `split` returns views of one long string,
 * which are slower to read.
 */
export function readAddresses(path: string): string[] {
  const bytes = readFileSync(path)
  const addresses: string[] = []
  let start = 0
  for (let end = bytes.indexOf(10); end >= 0; end = bytes.indexOf(10, start)) {
    addresses.push(bytes.toString('latin1', start, end))
    start = end + 1
  }
  return addresses
}

/** Items between two reads of the clock, and in a batch of `lookupMany`. */
export const BATCH_SIZE = 1000

/** Processes the items from one index up to another. @returns how many were found */
export type Pass = (from: number, to: number) => number

/** A list of items that passes repeat. */
export interface Work {
  readonly items: number
  readonly pass: Pass
}

/** Holds the last result, so that the compiler cannot omit the call. */
export let kept: unknown

/**
 * Processes items one by one. An address without a location throws or gives `null`: both are part of the cost. A process
 * has one contender, so the call is as direct as in a real program.
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

/** Processes items in batches, which are made in advance. */
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

/** Answers the parent process with a line of JSON. */
export function answer(value: object): void {
  process.stdout.write(`${JSON.stringify(value)}\n`)
}
