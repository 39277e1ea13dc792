import { isOfClass, isUint8Array } from '../realm.ts'
import type { ChunkSource } from './block-reader.ts'

/** Bytes in pieces of any size: a Web stream, or anything to be iterated, such as a Node stream. */
export type LineInput =
  | ReadableStream<Uint8Array>
  | ReadableStream<Uint8Array | string>
  | AsyncIterable<Uint8Array | string>

/** Reads an input piece by piece. What it gives is a copy: the input may use the memory of its chunks again. */
export interface LineSource extends ChunkSource {
  /** Lets go of the input before its end, so that files and connections behind it are closed. */
  release(reason: unknown): Promise<void>
}

/** @throws TypeError when it is no input, or a stream that somebody else is reading */
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
    // A Node stream that is waited for closes at once so; its iterator would wait for the next chunk.
    if ('destroy' in this.#input && typeof this.#input.destroy === 'function') this.#input.destroy()
    const returned = this.#iterator.return?.()
    // A generator that is waiting itself returns when it has something: nobody waits for that.
    if (this.#isReading) Promise.resolve(returned).catch(() => {})
    else await returned
  }
}

/** Bytes of chunks that may be texts, of which a character may lie in two. */
class ChunkEncoder {
  readonly #encoder = new TextEncoder()
  /** The first half of a character. */
  #half = ''

  bytesOf(chunk: unknown): Uint8Array {
    // Copied at once, and not by slice(): a Buffer's own would share its memory.
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

  /** Half a character at the end is what encoders make of it: U+FFFD. */
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
