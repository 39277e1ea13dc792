import { expect, it } from 'vitest'
import { enrich } from '../../src/enrich.ts'
import { Resolver } from '../../src/index.ts'
import { concatenated, smallDatabase, utf8 } from './world.ts'

const LINES = 150_000
const INPUT = utf8('{"ip":"81.2.69.142","path":"/a/b/c"}\n'.repeat(LINES))

it('lets other tasks run while an input that never pauses is enriched', async () => {
  const resolver = Resolver.openSync(smallDatabase())
  async function* input() {
    yield INPUT
  }
  let tasks = 0
  const timer = setInterval(() => tasks++, 1)
  const { output, summary } = enrich(input(), { resolver, at: 0 })
  const pieces: Uint8Array[] = []
  for await (const chunk of output) {
    pieces.push(chunk)
    // Whole lines.
    expect(chunk.at(-1)).toBe(0x0a)
  }
  clearInterval(timer)
  // On the fastest machine this takes 100 ms, so some pauses of 8 ms each; without them, no timer runs before the end.
  expect(tasks).toBeGreaterThan(2)
  expect((await summary).resolved).toBe(LINES)
  expect(concatenated(pieces).length).toBeGreaterThan(INPUT.length)
})
