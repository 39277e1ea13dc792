import fc from 'fast-check'
import { beforeAll, describe, expect, it, vi } from 'vitest'
import { Resolver } from '../../src/core.ts'
import { enrich, enrichStream } from '../../src/enrich.ts'
import { NodeResolver } from '../../src/node/node-resolver.ts'
import { AT, chunked, concatenated, run, text, utf8, WORLD } from './world.ts'

/** Runs on a platform whose Web streams cannot be iterated. */
async function withoutIteration(action: () => Promise<void>): Promise<void> {
  const own = Object.getOwnPropertyDescriptor(ReadableStream.prototype, Symbol.asyncIterator)
  if (own === undefined) throw new Error('this platform has none')
  Reflect.deleteProperty(ReadableStream.prototype, Symbol.asyncIterator)
  try {
    await action()
  } finally {
    Object.defineProperty(ReadableStream.prototype, Symbol.asyncIterator, own)
  }
}

let resolver: Resolver
beforeAll(async () => {
  resolver = await Resolver.open(WORLD)
})

/** Gives the bytes in views of one buffer, each of which is overwritten when the next one is asked for. */
function* views(bytes: Uint8Array, cuts: readonly number[]): Generator<Uint8Array> {
  const buffer = Buffer.alloc(Math.max(...cuts))
  for (const chunk of chunked(bytes, cuts)) {
    buffer.set(chunk)
    yield buffer.subarray(0, chunk.length)
    buffer.fill('#')
  }
}

async function* generated(bytes: Uint8Array, cuts: readonly number[]) {
  yield* views(bytes, cuts)
}

function streamed(bytes: Uint8Array, cuts: readonly number[]): ReadableStream<Uint8Array> {
  const chunks = views(bytes, cuts)
  return new ReadableStream<Uint8Array>(
    {
      pull: (controller) => {
        const { done, value } = chunks.next()
        if (done === true) controller.close()
        else controller.enqueue(value)
      },
    },
    { highWaterMark: 0 },
  )
}

/** Writes each view and overwrites it as soon as the writer says that it was taken. */
function written(bytes: Uint8Array, cuts: readonly number[]) {
  const { writable, readable } = enrichStream({ resolver, at: AT })
  const writer = writable.getWriter()
  const writing = async () => {
    for (const view of views(bytes, cuts)) await writer.write(view)
    await writer.close()
  }
  writing().catch(() => {})
  return readable
}

const enrichedBy = (input: Parameters<typeof enrich>[0]) => enrich(input, { resolver, at: AT }).output

describe('an input and its output', () => {
  /** The input, with what tells whether it was released. */
  const released = (...chunks: readonly (Uint8Array | Error)[]) => {
    const left = [...chunks]
    const next = async () => {
      const value = left.shift()
      if (value instanceof Error) throw value
      return value === undefined ? { done: true as const, value } : { done: false, value }
    }
    const end = vi.fn(async () => ({ done: true as const, value: undefined }))
    return { input: { [Symbol.asyncIterator]: () => ({ next, return: end }) }, end }
  }

  it('are iterated, and released by a reader that stops, on every platform', () =>
    withoutIteration(async () => {
      const output = enrichedBy(generated(lines(9), [70]))
      expect(await collect(output, false)).toBe(text(run(lines(9)).output))
      const { input, end } = released(...chunked(lines(30_000), [60_000]))
      for await (const _ of enrichedBy(input)) break
      expect(end).toHaveBeenCalledTimes(1)
    }))

  it('are not released again after the end of the input', async () => {
    const { input, end } = released(lines(1))
    for await (const _ of enrichedBy(input)) break
    expect(end).not.toHaveBeenCalled()
  })

  it('fail with the error of the input, even if the input cannot be closed', async () => {
    const { input, end } = released(lines(1), new Error('the input failed'))
    end.mockRejectedValue(new Error('it cannot be closed either'))
    await expect(collect(enrichedBy(input), false)).rejects.toThrow('the input failed')
  })
})

async function collect(chunks: AsyncIterable<Uint8Array>, isSlow: boolean): Promise<string> {
  const parts: Uint8Array[] = []
  for await (const chunk of chunks) {
    parts.push(chunk)
    if (isSlow) await new Promise((resolve) => setTimeout(resolve, 3))
  }
  return text(concatenated(parts))
}

/** With the number of the line in each. */
const lines = (count: number): Uint8Array =>
  utf8(Array.from({ length: count }, (_, n) => `{"n":${n},"ip":"81.2.69.${n % 256}"}\n`).join(''))

const cuts = fc.array(fc.oneof(fc.integer({ min: 50, max: 300 }), fc.integer({ min: 300, max: 200_000 })), {
  minLength: 1,
  maxLength: 5,
})

describe('a source that uses the memory of its chunks again', () => {
  it.each([
    ['enrich, of an async iterable', (bytes, sizes) => enrichedBy(generated(bytes, sizes))],
    ['enrich, of a Web stream', (bytes, sizes) => enrichedBy(streamed(bytes, sizes))],
    ['enrichStream', written],
  ] satisfies [string, (bytes: Uint8Array, sizes: readonly number[]) => AsyncIterable<Uint8Array>][])(
    'gets every line once and whole from %s',
    async (_, open) => {
      await fc.assert(
        fc.asyncProperty(
          cuts,
          fc.constantFrom(1, 30, 2000, 20_000),
          fc.boolean(),
          async (sizes, count, isSlow) => {
            const bytes = lines(count)
            expect(await collect(open(bytes, sizes), isSlow)).toBe(text(run(bytes).output))
          },
        ),
        { numRuns: 15 },
      )
    },
  )

  it.each([
    ['Resolver.open, of a stream', (bytes, sizes) => Resolver.open(streamed(bytes, sizes))],
    ['Resolver.open, of a response', (bytes, sizes) => Resolver.open(new Response(streamed(bytes, sizes)))],
    ['Resolver.open in Node, of a stream', (bytes, sizes) => NodeResolver.open(streamed(bytes, sizes))],
  ] satisfies [string, (bytes: Uint8Array, sizes: readonly number[]) => Promise<Resolver>][])(
    'is read as it was by %s',
    async (_, open) => {
      await fc.assert(
        fc.asyncProperty(cuts, async (sizes) => {
          const opened = await open(WORLD, sizes)
          expect(opened.lookup('81.2.69.142')).toEqual(resolver.lookup('81.2.69.142'))
          expect(opened.databases).toEqual(resolver.databases)
        }),
        { numRuns: 15 },
      )
    },
  )
})

const LINES = 150_000
const INPUT = utf8('{"ip":"81.2.69.142","path":"/a/b/c"}\n'.repeat(LINES))

it('lets other tasks run while an input that never pauses is enriched', async () => {
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
