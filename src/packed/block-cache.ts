/**
 * Decoded blocks, by number, within a limit of bytes. When it is full, it drops blocks that were not used for a while.
 * It keeps no exact order of use, so that a use costs only one write.
 */
export class BlockCache<Block extends { readonly byteLength: number }> {
  readonly #blocks: (Block | undefined)[]
  /** By block, whether it was used since the hand last passed it. */
  readonly #isUsed: Uint8Array
  readonly #limit: number
  #hand = 0
  #bytes = 0

  /**
   * @param count of all blocks
   * @param limit of their bytes; the last block stays even if it is larger
   */
  constructor(count: number, limit: number) {
    this.#blocks = new Array(count).fill(undefined)
    this.#isUsed = new Uint8Array(count)
    this.#limit = limit
  }

  get(number: number): Block | undefined {
    this.#isUsed[number] = 1
    return this.#blocks[number]
  }

  add(number: number, block: Block): Block {
    while (this.#bytes > 0 && this.#bytes + block.byteLength > this.#limit) this.#evict()
    this.#blocks[number] = block
    this.#bytes += block.byteLength
    return block
  }

  /** The clock algorithm: skips each used block once. */
  #evict(): void {
    for (;;) {
      this.#hand = (this.#hand + 1) % this.#blocks.length
      const block = this.#blocks[this.#hand]
      if (block === undefined) continue
      if (this.#isUsed[this.#hand] === 1) {
        this.#isUsed[this.#hand] = 0
        continue
      }
      this.#blocks[this.#hand] = undefined
      this.#bytes -= block.byteLength
      return
    }
  }
}
