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
