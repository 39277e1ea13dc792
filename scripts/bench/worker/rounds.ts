import { createInterface } from 'node:readline'
import { answer } from './answer.ts'
import { openContender } from './contender.ts'
import { BLOCK } from './pass.ts'

/**
 * Opens a contender, tells its version, and runs a round for each line of standard input: for so many
 * milliseconds, or one pass over the list for 0. The next round goes on where the last ended.
 */
export async function serveRounds(contender = '', database = '', addresses = '', peers = ''): Promise<void> {
  const { version, work } = await openContender(contender, database, addresses, peers)
  answer({ version })
  let cursor = 0
  for await (const line of createInterface({ input: process.stdin })) {
    const budget = Number(line)
    let items = 0
    let found = 0
    let elapsed = 0
    const started = performance.now()
    do {
      const end = Math.min(cursor + BLOCK, work.items)
      found += work.pass(cursor, end)
      items += end - cursor
      cursor = end === work.items ? 0 : end
      elapsed = performance.now() - started
    } while (budget > 0 ? elapsed < budget : items < work.items)
    answer({ items, seconds: elapsed / 1e3, found })
  }
}
