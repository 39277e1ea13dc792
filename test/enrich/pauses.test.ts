import { expect, it } from 'vitest'
import { BlockEnricher } from '../../src/enrich/block-enricher.ts'
import { makePlan } from '../../src/enrich/formats/formats.ts'
import type { Block } from '../../src/enrich/splitter.ts'
import { enrich } from '../../src/enrich.ts'
import { Resolver } from '../../src/index.ts'
import { DatabaseSet } from '../../src/location/database-set.ts'
import { Database } from '../../src/mmdb/database.ts'
import { joined, smallDatabase, utf8 } from './in-memory-run.ts'

const LINES = 150_000
const INPUT = utf8('{"ip":"81.2.69.142","path":"/a/b/c"}\n'.repeat(LINES))

it('lets other tasks run while an input that never pauses is enriched (second trial 28)', async () => {
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
  // On the fastest machine this takes 100 ms, so there are some pauses; without them, no timer runs before the end.
  expect(tasks).toBeGreaterThan(2)
  expect((await summary).resolved).toBe(LINES)
  expect(joined(pieces).length).toBeGreaterThan(INPUT.length)
})

it('gives the same in parts of any size (second trial 28)', () => {
  const bytes = INPUT.slice(0, 37 * 1000)
  const { plan } = makePlan(bytes, true, { at: 0 })
  const enricher = new BlockEnricher(plan, new DatabaseSet([new Database(smallDatabase())]))
  const whole = { bytes, isStart: true, headerLine: 0, oversized: false, startsLine: true }
  const expected = enricher.block(whole).output
  const parts: Uint8Array[] = []
  let lines = 0
  let rest: Block | null = whole
  while (rest !== null) {
    const part = enricher.block(rest, null, true, () => true)
    parts.push(part.output)
    lines += part.lines
    rest = part.rest
  }
  expect(parts.length).toBe(Math.ceil(1000 / 64))
  expect(lines).toBe(1000)
  expect(joined(parts)).toEqual(expected)
})
