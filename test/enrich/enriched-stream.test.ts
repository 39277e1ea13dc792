import { describe, expect, it, vi } from 'vitest'
import type { ChunkSource } from '../../src/enrich/block-reader.ts'
import { enrichedStream } from '../../src/enrich/enriched-stream.ts'
import type { LineSource } from '../../src/enrich/line-source.ts'
import type { Pipeline } from '../../src/enrich/pipeline.ts'

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)

/** A source of these chunks, through a pipeline that changes nothing and adds an end. */
function streamOf(...chunks: readonly string[]) {
  const left = [...chunks]
  const source = {
    read: vi.fn(async () => {
      const chunk = left.shift()
      if (chunk === 'fail') throw new Error('the input failed')
      return chunk === undefined ? null : bytes(chunk)
    }),
    release: vi.fn(async (_: unknown) => {}),
  }
  const pipeline = {
    outputs: async function* (input: ChunkSource) {
      for (let chunk = await input.read(); chunk !== null; chunk = await input.read()) yield chunk
      yield bytes('end')
    },
    stop: vi.fn(),
  }
  const end = { ended: vi.fn(), failed: vi.fn() }
  const make = (): ReturnType<typeof enrichedStream> =>
    Reflect.apply(enrichedStream, undefined, [
      source as Partial<LineSource>,
      pipeline as Partial<Pipeline>,
      end,
    ])
  return { make, source, end }
}

async function textOf(chunks: AsyncIterable<Uint8Array>): Promise<string[]> {
  const texts: string[] = []
  for await (const chunk of chunks) texts.push(new TextDecoder().decode(chunk))
  return texts
}

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

describe('the output as a stream', () => {
  it('is read as it is asked for, to its end', async () => {
    const { make, source, end } = streamOf('a', 'b')
    const stream = make()
    expect(source.read).not.toHaveBeenCalled()
    expect(await textOf(stream)).toEqual(['a', 'b', 'end'])
    expect(end.ended).toHaveBeenCalledTimes(1)
    expect(source.release).not.toHaveBeenCalled()
  })

  it('can be iterated on every platform', () =>
    withoutIteration(async () => {
      const { make, end } = streamOf('a', 'b')
      expect(await textOf(make())).toEqual(['a', 'b', 'end'])
      expect(end.ended).toHaveBeenCalledTimes(1)
    }))

  it('lets its input go when the reader has had enough, on every platform', () =>
    withoutIteration(async () => {
      const { make, source, end } = streamOf('a', 'b')
      for await (const chunk of make()) {
        expect(new TextDecoder().decode(chunk)).toBe('a')
        break
      }
      expect(end.ended).toHaveBeenCalledTimes(1)
      expect(source.release).toHaveBeenCalledTimes(1)
    }))

  it('has nothing to let go where the input has ended', async () => {
    const { make, source, end } = streamOf()
    const stream = make()
    for await (const chunk of stream) {
      expect(new TextDecoder().decode(chunk)).toBe('end')
      break
    }
    expect(end.ended).toHaveBeenCalledTimes(1)
    expect(source.release).not.toHaveBeenCalled()
  })

  it('fails as its input does, whatever becomes of that', async () => {
    const { make, source, end } = streamOf('a', 'fail')
    source.release.mockRejectedValue(new Error('it cannot be closed either'))
    await expect(textOf(make())).rejects.toThrow('the input failed')
    expect(end.failed).toHaveBeenCalledWith(expect.objectContaining({ message: 'the input failed' }))
    expect(end.ended).not.toHaveBeenCalled()
  })
})
