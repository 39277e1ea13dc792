import { EnrichError } from './errors.ts'
import type { Plan } from './formats/formats.ts'
import { DEFAULT_LINE_BYTES } from './options.ts'
import { SampleSize } from './sample.ts'
import { type Block, Splitter } from './splitter.ts'

/** Bytes that come piece by piece. */
export interface ChunkSource {
  /** @returns bytes that nobody else writes to, or `null` at the end */
  read(): Promise<Uint8Array | null>
}

/** After the input has given nothing for so long, what it has given is written. Milliseconds. */
export const IDLE_FLUSH_MS = 50

/** A line waits no longer than this to be written, also while more lines come. Milliseconds. */
export const MAX_LINE_AGE_MS = 200

/** What was read must be written now: no block is to be waited for. */
export const DUE = Symbol('due')

/** Reads chunks, and says when those that it gave must be written. */
export class LiveReader {
  readonly #source: ChunkSource
  readonly #isLive: boolean
  /** The chunk that is waited for. It stays asked for when something is due. */
  #next: Promise<Uint8Array | null> | null = null
  /** When the oldest chunk came that was given after the last `DUE`; `null` when there is none. */
  #oldest: number | null = null

  /** @param isLive whether the source can pause; only then is anything due */
  constructor(source: ChunkSource, isLive: boolean) {
    this.#source = source
    this.#isLive = isLive
  }

  /** @returns `null` at the end */
  async next(): Promise<Uint8Array | typeof DUE | null> {
    if (this.#oldest !== null) {
      const left = this.#oldest + MAX_LINE_AGE_MS - performance.now()
      // A source that always has a chunk ready lets no timer fire.
      if (left <= 0 || !(await this.#comesWithin(Math.min(left, IDLE_FLUSH_MS)))) {
        this.#oldest = null
        return DUE
      }
    }
    const chunk = await this.#asked()
    this.#next = null
    if (this.#isLive) this.#oldest ??= performance.now()
    return chunk
  }

  #asked(): Promise<Uint8Array | null> {
    this.#next ??= this.#source.read()
    return this.#next
  }

  /** @throws what the source fails with */
  async #comesWithin(milliseconds: number): Promise<boolean> {
    let timer: ReturnType<typeof setTimeout> | undefined
    const pause = new Promise<false>((resolve) => {
      timer = setTimeout(resolve, milliseconds, false)
    })
    try {
      return await Promise.race([this.#asked().then(() => true), pause])
    } finally {
      clearTimeout(timer)
    }
  }
}

/** Small, so that other work of the thread gets its turn after a few milliseconds. Bytes. */
const BLOCK_BYTES = 256 * 1024

const LINE_FEED = 0x0a

/**
 * Reads an input as blocks of whole lines: first `plan`, then `blocks`. Lines of an input that pauses or is slow come
 * in smaller blocks, so that their age is bounded, see `live-reader.ts`.
 */
export class BlockReader {
  readonly #reader: LiveReader
  /** The chunks that were read for the plan. */
  readonly #chunks: Uint8Array[] = []
  readonly #sample: SampleSize
  /** Whether those are the whole input. */
  #isWhole = false

  /**
   * @param isLive whether the input can pause, as everything can except a file
   * @param maxLineBytes bound of a line
   */
  constructor(source: ChunkSource, isLive = true, maxLineBytes = DEFAULT_LINE_BYTES) {
    this.#reader = new LiveReader(source, isLive)
    this.#sample = new SampleSize(maxLineBytes)
  }

  /**
   * Makes a plan from the start of the input.
   *
   * @param make takes a sample, and whether it is the whole input; called again with a larger one when it throws an
   *   `EnrichError` about a single line, which may be a header whose records have not come yet
   * @throws what `make` throws, and what the input fails with
   */
  async plan<Made>(make: (sample: Uint8Array, isWhole: boolean) => Made): Promise<Made> {
    for (;;) {
      const isFull = await this.#fill()
      const sample = joined(this.#chunks, Math.min(this.#sample.length, this.#sample.wanted))
      const lineEnd = sample.indexOf(LINE_FEED)
      if (!isFull && lineEnd === -1) continue
      try {
        return make(sample, this.#isWhole)
      } catch (error) {
        const isSingleLine = !isFull && sample.indexOf(LINE_FEED, lineEnd + 1) === -1
        if (!(isSingleLine && error instanceof EnrichError)) throw error
      }
    }
  }

  /**
   * The input in blocks, from its start.
   *
   * @param skipped bytes that are left out at its start, which the plan was made from
   */
  async *blocks(plan: Plan, skipped = 0): AsyncGenerator<Block> {
    const splitter = new Splitter(plan, BLOCK_BYTES)
    let left = skipped
    for (let chunk = this.#chunks.shift(); chunk !== undefined; chunk = this.#chunks.shift()) {
      yield* splitter.push(chunk.subarray(left))
      left = Math.max(left - chunk.length, 0)
    }
    if (!this.#isWhole) {
      // The sample may have ended because its lines were due.
      yield* splitter.flush()
      for (let chunk = await this.#reader.next(); chunk !== null; chunk = await this.#reader.next()) {
        yield* chunk === DUE ? splitter.flush() : splitter.push(chunk)
      }
    }
    yield* splitter.end()
  }

  /** Reads until the sample is full or the input ends. @returns `false` when its lines are due before */
  async #fill(): Promise<boolean> {
    while (this.#sample.length < this.#sample.wanted) {
      const chunk = await this.#reader.next()
      if (chunk === DUE) return false
      if (chunk === null) {
        this.#isWhole = true
        return true
      }
      this.#chunks.push(chunk)
      this.#sample.add(chunk)
    }
    return true
  }
}

/** The start of what the chunks hold. */
function joined(chunks: readonly Uint8Array[], size: number): Uint8Array {
  const bytes = new Uint8Array(size)
  let at = 0
  for (const chunk of chunks) {
    const part = chunk.subarray(0, size - at)
    bytes.set(part, at)
    at += part.length
  }
  return bytes
}
