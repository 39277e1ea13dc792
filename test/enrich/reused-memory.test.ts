// Programs read into one buffer over and over: what they gave holds something else as soon as it was taken.
import fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import { Resolver } from '../../src/core.ts'
import { enrich, enrichStream } from '../../src/enrich.ts'
import { NodeResolver } from '../../src/node/node-resolver.ts'
import { AT, chunked, concatenated, openWorld, run, text, utf8, WORLD } from './world.ts'

let resolver: Resolver
beforeAll(async () => {
  resolver = await openWorld()
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
