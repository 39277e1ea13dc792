/** How much of a resolver's sources has been read. */
export interface OpenProgress {
  /** Bytes read so far from all sources, before decompression. */
  readonly loaded: number
  /** Bytes of all sources; `null` if the size of one is unknown before reading, as when a server compresses. */
  readonly total: number | null
}

/**
 * Makes the function for the option `onProgress` that gets the number of bytes of each piece that is read. It throws what the
 * program's function throws.
 *
 * @param sizes of the sources, `null` for unknown ones. Not called without the option
 * @returns `undefined` without the option
 * @throws TypeError when the option is not a function
 */
export function progressMeter(
  option: ((progress: OpenProgress) => void) | undefined,
  sizes: () => readonly (number | null)[],
): ((bytes: number) => void) | undefined {
  if (option === undefined) return undefined
  if (typeof option !== 'function') throw new TypeError('onProgress must be a function')
  let total = sizes().reduce((sum, size) => (sum === null || size === null ? null : sum + size), 0)
  let loaded = 0
  return (bytes) => {
    loaded += bytes
    // A source can state a wrong size.
    if (total !== null && loaded > total) total = null
    option({ loaded, total })
  }
}
