// Databases that turn few lines into much memory.
import { describe, expect, it } from 'vitest'
import { Resolver } from '../../src/core.ts'
import { enrich } from '../../src/enrich.ts'
import { heldMemory } from '../heap.ts'
import { manyRecords } from '../mmdb/hostile/bombs.ts'
import { map, pointer, text } from '../mmdb/hostile/encoding.ts'
import { LONG_ANSWERS } from './long-answers.ts'

/** Addresses of the first networks of a database of `2 ** bits` networks, but for private ones. */
function addresses(bits: number, count: number): string[] {
  const list: string[] = []
  for (let index = 2 ** bits / 128; list.length < count; index++) {
    const address = (index * 2 ** (32 - bits) + 1) >>> 0
    const [first, ...rest] = [24, 16, 8, 0].map((shift) => (address >>> shift) & 255)
    if (first !== 10 && first !== 127) list.push([first, ...rest].join('.'))
  }
  return list
}

/** Bytes that a run holds when it has enriched a list of addresses and not yet ended. */
async function heldByRun(database: Uint8Array, list: readonly string[]): Promise<number> {
  const resolver = await Resolver.open(database)
  const before = heldMemory()
  let held = 0
  async function* input(): AsyncGenerator<string> {
    yield `${list.join('\n')}\n`
    // As much as the sample and a block, so that the lines before are enriched.
    yield '\n'.repeat(700_000)
    held = heldMemory() - before
  }
  const run = enrich(input(), { resolver, format: 'list' })
  for await (const _ of run.output);
  // But for a few of special purpose.
  expect((await run.summary).resolved).toBeGreaterThan(list.length - 20)
  return held
}

describe('a run', () => {
  it('returns the output of a block in pieces if its locations are long', async () => {
    const resolver = await Resolver.open(LONG_ANSWERS)
    const lines = 32_768
    async function* input(): AsyncGenerator<string> {
      yield '1.1.1.1\n'.repeat(lines)
    }
    const run = enrich(input(), { resolver, format: 'list' })
    let line = 0
    let size = 0
    let largest = 0
    for await (const chunk of run.output) {
      size += chunk.length
      largest = Math.max(largest, chunk.length)
      expect(chunk.buffer.byteLength).toBeLessThan(40_000_000)
      // Whole lines, all alike.
      if (line === 0) line = chunk.indexOf(0x0a) + 1
      expect(chunk.length % line).toBe(0)
      expect(chunk.at(-1)).toBe(0x0a)
    }
    expect(size).toBe(lines * line)
    expect(size).toBeGreaterThan(500_000_000)
    expect(largest).toBeLessThan(17_000_000)
    expect((await run.summary).countries.size).toBe(1)
  })

  it('does not keep the names of all locations that it has found', async () => {
    const bits = 13
    const kinds = 4096
    const parts: Buffer[] = []
    let size = 0
    const put = (part: Buffer): number => {
      parts.push(part)
      size += part.length
      return size - part.length
    }
    const names = Array.from({ length: kinds }, (_, kind) => {
      const tags = Array.from({ length: 256 }, (_, tag) => tag.toString(36).padStart(2, '0'))
      return put(map(...tags.map((tag) => [tag, text(`${kind % 10}`)] as const)))
    })
    const records = Array.from({ length: 2 ** bits }, (_, index) =>
      put(
        map(
          ['country', map(['names', pointer(names[index % kinds] ?? 0)])],
          ['city', map(['names', map(['en', text(`c${index}`)])])],
        ),
      ),
    )
    const database = manyRecords(Buffer.concat(parts), bits, (index) => records[index] ?? 0)
    expect(await heldByRun(database, addresses(bits, 6000))).toBeLessThan(80_000_000)
  })
})
