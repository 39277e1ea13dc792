import { ByteSink } from '../../bytes/byte-sink.ts'
import { LINE_FEED } from '../ascii.ts'
import { EnrichError } from '../errors.ts'
import { DEFAULT_LINE_BYTES } from '../options.ts'
import { type Sample, SampleSize } from './sample.ts'
import type { Block, Splitter } from './splitter.ts'

/** An input that is read chunk by chunk. */
export interface ChunkSource {
  /** @returns bytes that are valid until the next call, or `null` at the end */
  read(): Promise<Uint8Array | null>
  /**
   * Reads on without waiting, into memory of the caller: what `read` would give next, without a copy.
   *
   * @returns how many bytes it read; 0 if `read` must be called, at the end too
   */
  fill?(memory: Uint8Array): number
}

/** When no chunk arrives for this long, the lines read so far are written. Milliseconds. */
export const IDLE_FLUSH_MS = 50

/** A line is written after this time at the latest, even while more lines arrive. Milliseconds. */
export const MAX_LINE_AGE_MS = 200

/** The lines read so far must be written now, without waiting for a full block. */
export const DUE = Symbol('due')

/** Reads chunks, and returns {@link DUE} when the lines of the chunks returned so far must be written. */
export class LiveReader {
  /** The pending read. It stays pending when {@link DUE} is returned. */
  #next: Promise<Uint8Array | null> | null = null
  /** Time of the first chunk returned after the last `DUE`, by `performance.now()`; `null` if there is none. */
  #oldest: number | null = null

  /** @param isLive whether the source can pause; if not, `DUE` is never returned */
  constructor(
    private readonly source: ChunkSource,
    private readonly isLive: boolean,
  ) {}

  /** @returns `null` at the end */
  async next(): Promise<Uint8Array | typeof DUE | null> {
    if (this.#oldest !== null) {
      const left = this.#oldest + MAX_LINE_AGE_MS - performance.now()
      // Check the age first: if the source always has a chunk ready, the timer never fires.
      if (left <= 0 || !(await this.#comesWithin(Math.min(left, IDLE_FLUSH_MS)))) {
        this.#oldest = null
        return DUE
      }
    }
    const chunk = await this.#asked()
    this.#next = null
    if (this.isLive) this.#oldest ??= performance.now()
    return chunk
  }

  #asked(): Promise<Uint8Array | null> {
    this.#next ??= this.source.read()
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

/**
 * Reads an input as blocks of whole lines. Call `plan` first, then `blocks`. Blocks of a slow input, or of one that
 * pauses, are smaller, so that lines are not held back; see {@link LiveReader}.
 */
export class BlockReader {
  readonly #reader: LiveReader
  /** What was read for the plan. */
  readonly #start = new ByteSink()
  readonly #sample: SampleSize
  /** Whether that is the whole input. */
  #isWhole = false

  /**
   * @param isLive whether the input can pause, as all inputs except files can
   * @param maxLineBytes the longest line that may be parsed; it bounds the sample
   */
  constructor(
    private readonly source: ChunkSource,
    isLive = true,
    maxLineBytes = DEFAULT_LINE_BYTES,
  ) {
    this.#reader = new LiveReader(source, isLive)
    this.#sample = new SampleSize(maxLineBytes)
  }

  /**
   * Makes a plan from the start of the input.
   *
   * @param make if it throws an `EnrichError` for a sample of a single line, which may be a header whose records have not
   *   arrived yet, it is called again with a larger sample
   * @throws what `make` throws, and what the input fails with
   */
  async plan<Made>(make: (sample: Sample) => Made | Promise<Made>): Promise<Made> {
    for (;;) {
      const isFull = await this.#fill()
      const bytes = this.#start.bytes.subarray(0, this.#sample.wanted)
      const lineEnd = bytes.indexOf(LINE_FEED)
      if (!isFull && lineEnd === -1) continue
      try {
        return await make({ bytes, isWhole: this.#isWhole, isCut: !isFull })
      } catch (error) {
        const isSingleLine = !isFull && bytes.indexOf(LINE_FEED, lineEnd + 1) === -1
        if (!(isSingleLine && error instanceof EnrichError)) throw error
      }
    }
  }

  /**
   * The input in blocks, from its start: those that are complete after each read, which can be none. They are yielded together,
   * because V8 would compile a `yield*` of each block into the largest code of a run.
   *
   * @param splitter of the input's plan
   * @param skipped bytes to skip at the start; no more than the sample
   */
  async *blocks(splitter: Splitter, skipped = 0): AsyncGenerator<readonly Block[]> {
    yield splitter.push(this.#start.take().subarray(skipped))
    if (!this.#isWhole) {
      // The sample can be short because its lines were due.
      yield splitter.flush()
      for (let chunk = await this.#reader.next(); chunk !== null; chunk = await this.#reader.next()) {
        yield chunk === DUE ? splitter.flush() : splitter.push(chunk)
        for (let size = this.#fillWith(splitter); size > 0; size = this.#fillWith(splitter))
          yield splitter.filled(size)
      }
    }
    yield splitter.end()
  }

  /** Reads what the source has without waiting. @returns its bytes */
  #fillWith(splitter: Splitter): number {
    const memory = splitter.room()
    return memory.length === 0 ? 0 : (this.source.fill?.(memory) ?? 0)
  }

  /** Reads until the sample is full or the input ends. @returns `false` if its lines are due before that */
  async #fill(): Promise<boolean> {
    while (this.#sample.length < this.#sample.wanted) {
      const chunk = await this.#reader.next()
      if (chunk === DUE) return false
      if (chunk === null) {
        this.#isWhole = true
        return true
      }
      this.#start.write(chunk)
      this.#sample.add(chunk)
    }
    return true
  }
}
