import type { PlatformReadable } from '../platform-types.ts'
import type { LineSource } from './line-source.ts'
import type { Pipeline } from './pipeline.ts'

/** A Web stream that every platform can iterate. */
export type IterableStream<Chunk> = AsyncIterable<Chunk> & PlatformReadable

/** Called once: `ended` at the end of the input or when the reader cancels, `failed` on an error. */
export interface RunEnd {
  ended(): void
  failed(error: unknown): void
}

/**
 * The output of a pipeline as a stream. It reads the input only when the output is read, and at most one chunk further
 * than the requested chunk of output needs.
 */
export function enrichedStream(
  source: LineSource,
  pipeline: Pipeline,
  end: RunEnd,
): IterableStream<Uint8Array> {
  let isAtEnd = false
  let isOver = false
  const outputs = pipeline.outputs({
    read: async () => {
      const chunk = await source.read()
      isAtEnd = chunk === null
      return chunk
    },
  })
  const stream = new ReadableStream<Uint8Array>(
    {
      pull: async (controller) => {
        try {
          const { done, value } = await outputs.next()
          // The reader cancelled while `next()` was pending.
          if (isOver) return
          if (done !== true) controller.enqueue(value)
          else {
            isOver = true
            end.ended()
            controller.close()
          }
        } catch (error) {
          if (isOver) return
          isOver = true
          end.failed(error)
          // Report the error that ended the run, not a later one of closing the input.
          if (!isAtEnd) source.release(error).catch(() => {})
          throw error
        }
      },
      cancel: async (reason) => {
        isOver = true
        pipeline.stop()
        end.ended()
        if (!isAtEnd) await source.release(reason)
      },
    },
    { highWaterMark: 0 },
  )
  return isIterable(stream)
    ? stream
    : Object.assign(stream, { [Symbol.asyncIterator]: () => chunksOf(stream) })
}

function isIterable<Chunk>(stream: ReadableStream<Chunk>): stream is IterableStream<Chunk> {
  return Symbol.asyncIterator in stream
}

/** Iterates a stream on platforms whose streams are not iterable. */
async function* chunksOf<Chunk>(stream: ReadableStream<Chunk>): AsyncGenerator<Chunk> {
  const reader = stream.getReader()
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return
      yield value
    }
  } finally {
    await reader.cancel()
  }
}
