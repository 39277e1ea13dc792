import { isOfClass, isUint8Array, type PlatformReadable, type StreamLike } from '../realm.ts'
import type { Run, RunInput } from './run.ts'

/** Bytes or text in chunks of any size: a Web stream, or any async iterable, such as a Node stream. */
export type LineInput = StreamLike | StreamLike<Uint8Array | string> | AsyncIterable<Uint8Array | string>

/**
 * Reads an input chunk by chunk. It returns copies, because the input may reuse the memory of its chunks.
 *
 * @throws TypeError when `input` is not a stream or async iterable, or is a locked stream
 */
export class LineSource implements RunInput {
  readonly name = 'the input'
  readonly isLive = true
  readonly #cursor: Cursor
  readonly #encoder = new ChunkEncoder()
  #isAtEnd = false

  constructor(input: LineInput) {
    this.#cursor = cursorOf(input)
  }

  async read(): Promise<Uint8Array | null> {
    const { done, value } = await this.#cursor.next()
    if (done !== true) return this.#encoder.bytesOf(value)
    this.#isAtEnd = true
    return this.#encoder.end()
  }

  /** Releases the input before its end, so that its files and connections are closed. */
  async release(reason: unknown): Promise<void> {
    if (!this.#isAtEnd) await this.#cursor.release(reason)
  }
}

/** What streams and iterables have in common. */
interface Cursor {
  next(): Promise<{ readonly done?: boolean | undefined; readonly value?: unknown }>
  release(reason: unknown): Promise<void>
}

function cursorOf(input: LineInput): Cursor {
  if (isOfClass(input, 'ReadableStream')) {
    const reader = input.getReader()
    return { next: () => reader.read(), release: (reason) => reader.cancel(reason) }
  }
  if (!isAsyncIterable(input)) {
    throw new TypeError('the input must be a ReadableStream or an async iterable of Uint8Array or string')
  }
  const iterator = input[Symbol.asyncIterator]()
  let isReading = false
  return {
    next: async () => {
      isReading = true
      const result = await iterator.next()
      isReading = false
      return result
    },
    release: async () => {
      // destroy() closes a Node stream at once, even during a read. Its iterator's return() would wait for a chunk.
      if ('destroy' in input && typeof input.destroy === 'function') input.destroy()
      const returned = iterator.return?.()
      // During a read a generator's return() settles only after the next chunk, so do not wait for it.
      if (isReading) Promise.resolve(returned).catch(() => {})
      else await returned
    },
  }
}

/** Converts chunks to bytes. A character of text may be split between two chunks. */
class ChunkEncoder {
  readonly #encoder = new TextEncoder()
  /** A high surrogate at the end of the last chunk, or ''. */
  #half = ''

  bytesOf(chunk: unknown): Uint8Array {
    // Copy, but not with slice(): a Buffer's slice() shares its memory.
    if (isUint8Array(chunk)) return new Uint8Array(chunk)
    if (typeof chunk !== 'string') {
      throw new TypeError(
        `the input gave ${chunk === null ? 'null' : `a value of type ${typeof chunk}`}: it must give Uint8Array or string`,
      )
    }
    const text = this.#half + chunk
    const last = text.charCodeAt(text.length - 1)
    this.#half = last >= 0xd800 && last <= 0xdbff ? text.slice(-1) : ''
    return this.#encoder.encode(text.slice(0, text.length - this.#half.length))
  }

  /** @returns U+FFFD for a lone surrogate at the end, as TextEncoder writes it, or `null` */
  end(): Uint8Array | null {
    if (this.#half === '') return null
    const bytes = this.#encoder.encode(this.#half)
    this.#half = ''
    return bytes
  }
}

function isAsyncIterable(value: unknown): value is AsyncIterable<unknown> {
  return typeof value === 'object' && value !== null && Symbol.asyncIterator in value
}

/** A Web stream that every platform can iterate. */
export type IterableStream<Chunk> = AsyncIterable<Chunk> & PlatformReadable

/**
 * The output of a run as a stream. The run starts with the first read, and waits after each chunk for the next read: it
 * reads at most one chunk further than the requested chunk of output needs.
 *
 * @returns `ended` resolves at the end of the input or when the reader cancels, and rejects with the error of the run
 */
export function enrichedStream(source: LineSource, run: Pick<Run, 'read' | 'stop'>) {
  let isOver = false
  /** Starts the run, or lets it go on after a chunk. */
  let goOn: () => void
  let settle: { resolve(): void; reject(error: unknown): void } | undefined
  const ended = new Promise<void>((resolve, reject) => {
    settle = { resolve, reject }
  })
  const stream = new ReadableStream<Uint8Array>(
    {
      start: (controller) => {
        const write = (bytes: Uint8Array): Promise<void> =>
          new Promise((resolve) => {
            goOn = resolve
            controller.enqueue(bytes)
          })
        const complete = (): void => {
          if (isOver) return
          settle?.resolve()
          controller.close()
        }
        const fail = (error: unknown): void => {
          if (isOver) return
          settle?.reject(error)
          // Report the error that ended the run, not a later one of closing the input.
          source.release(error).catch(() => {})
          controller.error(error)
        }
        goOn = () => {
          goOn = () => {}
          run.read({ write }).then(complete, fail)
        }
      },
      // If reads still wait after a chunk, the stream calls this again.
      pull: () => goOn(),
      cancel: async (reason) => {
        isOver = true
        await run.stop()
        settle?.resolve()
        await source.release(reason)
      },
    },
    { highWaterMark: 0 },
  )
  const output: IterableStream<Uint8Array> = isIterable(stream)
    ? stream
    : Object.assign(stream, { [Symbol.asyncIterator]: () => chunksOf(stream) })
  return { output, ended }
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
