import { describe, expect, it, vi } from 'vitest'
import type { RunOutput } from '../../src/enrich/run.ts'
import { enrichedStream, LineSource } from '../../src/enrich/streams.ts'

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)

/** A source of these chunks, with a run that changes nothing and adds an end. */
function streamOf(...chunks: readonly string[]) {
  const left = [...chunks]
  const input = {
    next: vi.fn(async () => {
      const value = left.shift()
      if (value === 'fail') throw new Error('the input failed')
      return value === undefined ? { done: true as const, value } : { done: false, value }
    }),
    return: vi.fn(async () => ({ done: true as const, value: undefined })),
  }
  const source = new LineSource({ [Symbol.asyncIterator]: () => input })
  const run = {
    complete: async (output: RunOutput) => {
      for (let chunk = await source.read(); chunk !== null; chunk = await source.read()) {
        await output.write(chunk)
      }
      await output.write(bytes('end'))
    },
    stop: vi.fn(),
  }
  const end = { ended: vi.fn(), failed: vi.fn() }
  return { make: () => enrichedStream(source, run, end), input, run, end }
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
  it('is read on demand, to its end', async () => {
    const { make, input, end } = streamOf('a', 'b')
    const stream = make()
    expect(input.next).not.toHaveBeenCalled()
    expect(await textOf(stream)).toEqual(['a', 'b', 'end'])
    expect(end.ended).toHaveBeenCalledTimes(1)
    expect(input.return).not.toHaveBeenCalled()
  })

  it('can be iterated on every platform', () =>
    withoutIteration(async () => {
      const { make, end } = streamOf('a', 'b')
      expect(await textOf(make())).toEqual(['a', 'b', 'end'])
      expect(end.ended).toHaveBeenCalledTimes(1)
    }))

  it('releases its input when the reader cancels, on every platform', () =>
    withoutIteration(async () => {
      const { make, input, end } = streamOf('a', 'b')
      for await (const chunk of make()) {
        expect(new TextDecoder().decode(chunk)).toBe('a')
        break
      }
      expect(end.ended).toHaveBeenCalledTimes(1)
      expect(input.return).toHaveBeenCalledTimes(1)
    }))

  it('does not release an input that has ended', async () => {
    const { make, input, end } = streamOf()
    const stream = make()
    for await (const chunk of stream) {
      expect(new TextDecoder().decode(chunk)).toBe('end')
      break
    }
    expect(end.ended).toHaveBeenCalledTimes(1)
    expect(input.return).not.toHaveBeenCalled()
  })

  it('fails with the error of its input, even if the input cannot be closed', async () => {
    const { make, input, end } = streamOf('a', 'fail')
    input.return.mockRejectedValue(new Error('it cannot be closed either'))
    await expect(textOf(make())).rejects.toThrow('the input failed')
    expect(end.failed).toHaveBeenCalledWith(expect.objectContaining({ message: 'the input failed' }))
    expect(end.ended).not.toHaveBeenCalled()
  })
})
