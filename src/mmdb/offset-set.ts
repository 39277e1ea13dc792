/** Offsets within a part of a file: a bit for each byte of it. */
export class OffsetSet {
  readonly #base: number
  readonly #bits: Uint8Array

  /**
   * @param base the least offset
   * @param end behind the greatest
   */
  constructor(base: number, end: number) {
    this.#base = base
    this.#bits = new Uint8Array(Math.ceil(Math.max(end - base, 0) / 8))
  }

  /** @returns whether it was not there yet */
  add(offset: number): boolean {
    const at = offset - this.#base
    const mask = 1 << (at & 7)
    const byte = this.#bits[at >>> 3] ?? 0
    this.#bits[at >>> 3] = byte | mask
    return (byte & mask) === 0
  }

  has(offset: number): boolean {
    const at = offset - this.#base
    return ((this.#bits[at >>> 3] ?? 0) & (1 << (at & 7))) !== 0
  }

  /** In ascending order. */
  *[Symbol.iterator](): Generator<number> {
    for (const [index, byte] of this.#bits.entries()) {
      if (byte === 0) continue
      for (let bit = 0; bit < 8; bit++) if ((byte & (1 << bit)) !== 0) yield this.#base + index * 8 + bit
    }
  }
}
