import { allocate, checkSize } from './byte-limit.ts'

/** Bytes. */
const BLOCK = 2 ** 20

/**
 * Puts the pieces of a source together whose size is not known before its end. Copies them into blocks, so
 * that a source of many tiny pieces costs no more memory than its bytes.
 */
export class ByteCollector {
  readonly #blocks: Uint8Array[] = []
  #length = 0

  /**
   * @param maxBytes that may come
   * @param path of the source, for messages
   */
  constructor(
    readonly maxBytes: number,
    readonly path?: string,
  ) {}

  /** @throws InvalidDatabaseError when more bytes have come than may, or than there is memory for */
  add(piece: Uint8Array): void {
    checkSize(this.#length + piece.length, this.maxBytes, this.path)
    for (let taken = 0; taken < piece.length; ) {
      const filled = this.#length % BLOCK
      const part = piece.subarray(taken, taken + BLOCK - filled)
      if (filled === 0) this.#blocks.push(allocate(BLOCK, bytesOf, this.path))
      this.#blocks.at(-1)?.set(part, filled)
      taken += part.length
      this.#length += part.length
    }
  }

  /** All that has come, in one piece; the collector is empty then. @throws InvalidDatabaseError as `add` */
  bytes(): Uint8Array {
    const all = allocate(this.#length, bytesOf, this.path)
    for (let at = 0; at < this.#length; at += BLOCK) {
      const block = this.#blocks[at / BLOCK]
      if (block !== undefined) all.set(block.subarray(0, this.#length - at), at)
    }
    this.#blocks.length = 0
    this.#length = 0
    return all
  }
}

const bytesOf = (length: number): Uint8Array => new Uint8Array(length)
