/** How much of a resolver's sources has been read. */
export interface OpenProgress {
  /** Bytes read so far from all sources, before decompression. */
  readonly loaded: number
  /** Bytes of all sources; `null` if the size of one is unknown before reading, as when a server compresses. */
  readonly total: number | null
}

/** Counts the bytes that are read, and reports them. */
export class ProgressMeter {
  #loaded = 0
  #total: number | null
  /** What the program's function has thrown. Readers of files would call it damage. */
  failure: { readonly error: unknown } | undefined
  readonly #report: (progress: OpenProgress) => void

  /** @param total bytes of all sources, if known */
  constructor(report: (progress: OpenProgress) => void, total: number | null) {
    this.#report = report
    this.#total = total
  }

  /** @throws what the program's function throws */
  add(bytes: number): void {
    this.#loaded += bytes
    // A source can state a wrong size.
    if (this.#total !== null && this.#loaded > this.#total) this.#total = null
    try {
      this.#report({ loaded: this.#loaded, total: this.#total })
    } catch (error) {
      this.failure = { error }
      throw error
    }
  }
}

/**
 * The meter for the option `onProgress`; `undefined` without it.
 *
 * @param sizes of the sources, `null` for unknown ones. Not called without the option
 * @throws TypeError when the option is not a function
 */
export function progressMeter(
  option: ((progress: OpenProgress) => void) | undefined,
  sizes: () => readonly (number | null)[],
): ProgressMeter | undefined {
  if (option === undefined) return undefined
  if (typeof option !== 'function') throw new TypeError('onProgress must be a function')
  const total = sizes().reduce((sum, size) => (sum === null || size === null ? null : sum + size), 0)
  return new ProgressMeter(option, total)
}
