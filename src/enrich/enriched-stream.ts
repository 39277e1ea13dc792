import type { PlatformReadable } from '../platform-types.ts'
import type { LineSource } from './line-source.ts'
import type { Run } from './run.ts'

/** A Web stream that every platform can iterate. */
export type IterableStream<Chunk> = AsyncIterable<Chunk> & PlatformReadable

/** Called once: `ended` at the end of the input or when the reader cancels, `failed` on an error. */
export interface RunEnd {
  ended(): void
  failed(error: unknown): void
}

/**
 * The output of a run as a stream. The run starts with the first read, and waits after each chunk for the next read: it
 * reads at most one chunk further than the requested chunk of output needs.
 */
export function enrichedStream(
  source: LineSource,
  run: Pick<Run, 'complete' | 'stop'>,
  end: RunEnd,
): IterableStream<Uint8Array> {
  let isOver = false
  /** Settles the `pull` in progress. */
  let settle: { resolve(): void; reject(error: unknown): void } | null = null
  /** Lets the run go on after a chunk; `null` before the first. */
  let goOn: (() => void) | null = null
  const start = (controller: ReadableStreamDefaultController<Uint8Array>): void => {
    const write = (bytes: Uint8Array): Promise<void> =>
      new Promise((resolve) => {
        goOn = resolve
        controller.enqueue(bytes)
        settle?.resolve()
      })
    run.complete({ write }).then(
      () => {
        if (isOver) return
        isOver = true
        end.ended()
        controller.close()
        settle?.resolve()
      },
      (error) => {
        if (isOver) return
        isOver = true
        end.failed(error)
        // Report the error that ended the run, not a later one of closing the input.
        source.release(error).catch(() => {})
        settle?.reject(error)
      },
    )
  }
  const stream = new ReadableStream<Uint8Array>(
    {
      pull: (controller) =>
        new Promise<void>((resolve, reject) => {
          settle = { resolve, reject }
          if (goOn === null) start(controller)
          else goOn()
        }),
      cancel: async (reason) => {
        isOver = true
        run.stop()
        end.ended()
        await source.release(reason)
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
