/** No chunk came in time. */
export const PAUSE = Symbol('pause')

/** Takes chunks one by one, and can tell that none comes. */
export class ChunkReader {
  readonly #chunks: AsyncIterator<Uint8Array, void>
  /** The chunk that is waited for; it stays asked for over a pause. */
  #next: Promise<IteratorResult<Uint8Array, void>> | null = null

  constructor(chunks: AsyncIterator<Uint8Array, void>) {
    this.#chunks = chunks
  }

  /** @returns `null` at the end */
  async next(): Promise<Uint8Array | null> {
    this.#next ??= this.#chunks.next()
    const { value, done } = await this.#next
    this.#next = null
    return done ? null : value
  }

  /** The same, or {@link PAUSE} when nothing comes for so many milliseconds. */
  async nextWithin(milliseconds: number): Promise<Uint8Array | null | typeof PAUSE> {
    this.#next ??= this.#chunks.next()
    let timer: NodeJS.Timeout | undefined
    const pause = new Promise<typeof PAUSE>((resolve) => {
      timer = setTimeout(resolve, milliseconds, PAUSE)
    })
    const first = await Promise.race([this.#next, pause])
    clearTimeout(timer)
    return first === PAUSE ? PAUSE : this.next()
  }
}
