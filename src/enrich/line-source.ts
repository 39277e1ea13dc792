import type { StreamLike } from '../platform-types.ts'
import { isOfClass, isUint8Array } from '../realm.ts'
import type { ChunkSource } from './block-reader.ts'

/** Bytes or text in chunks of any size: a Web stream, or any async iterable, such as a Node stream. */
export type LineInput = StreamLike | StreamLike<Uint8Array | string> | AsyncIterable<Uint8Array | string>

/** Reads an input chunk by chunk. It returns copies, because the input may reuse the memory of its chunks. */
export interface LineSource extends ChunkSource {
  /** Releases the input before its end, so that its files and connections are closed. */
  release(reason: unknown): Promise<void>
}

/** @throws TypeError when `input` is not a stream or async iterable, or is a locked stream */
export function sourceOf(input: LineInput): LineSource {
  if (isOfClass(input, 'ReadableStream')) return new StreamSource(input)
  if (isAsyncIterable(input)) return new IteratedSource(input)
  throw new TypeError('the input must be a ReadableStream or an async iterable of Uint8Array or string')
}

class StreamSource implements LineSource {
  readonly #reader: ReadableStreamDefaultReader<unknown>
  readonly #encoder = new ChunkEncoder()

  constructor(stream: ReadableStream<unknown>) {
    this.#reader = stream.getReader()
  }

  async read(): Promise<Uint8Array | null> {
    const { done, value } = await this.#reader.read()
    return done ? this.#encoder.end() : this.#encoder.bytesOf(value)
  }

  async release(reason: unknown): Promise<void> {
    await this.#reader.cancel(reason)
  }
}

class IteratedSource implements LineSource {
  readonly #input: AsyncIterable<unknown>
  readonly #iterator: AsyncIterator<unknown>
  readonly #encoder = new ChunkEncoder()
  #isReading = false

  constructor(input: AsyncIterable<unknown>) {
    this.#input = input
    this.#iterator = input[Symbol.asyncIterator]()
  }

  async read(): Promise<Uint8Array | null> {
    this.#isReading = true
    const { done, value } = await this.#iterator.next()
    this.#isReading = false
    return done ? this.#encoder.end() : this.#encoder.bytesOf(value)
  }

  async release(): Promise<void> {
    // destroy() closes a Node stream at once, even during a read. Its iterator's return() would wait for a chunk.
    if ('destroy' in this.#input && typeof this.#input.destroy === 'function') this.#input.destroy()
    const returned = this.#iterator.return?.()
    // During a read a generator's return() settles only after the next chunk, so do not wait for it.
    if (this.#isReading) Promise.resolve(returned).catch(() => {})
    else await returned
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
