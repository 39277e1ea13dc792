const MAGIC = 0xfd2fb528
/** Frames that hold no content: 0x184D2A50 to 0x184D2A5F. */
const SKIPPABLE = 0x184d2a50

const RLE_BLOCK = 1
const RESERVED_BLOCK = 3

/** What is read next, and how many bytes of it are awaited. */
type Part = 'magic' | 'descriptor' | 'header' | 'block' | 'content' | 'checksum' | 'skip-size' | 'skip'

/**
 * Follows the frames of Zstandard data (RFC 8878 section 3.1) by their lengths, without decompressing. Node's
 * decompressor does not tell whether the data ended where a frame does, and a file that was cut short would pass
 * for a whole one.
 */
export class ZstdFrames {
  #part: Part = 'magic'
  /** Bytes of the part that are still to come. */
  #left = 4
  /** The number that the bytes of the part make, the first the lowest. Only parts of up to 4 bytes are read. */
  #value = 0
  #hasChecksum = false
  #isLastBlock = false
  #isDamaged = false

  /** Whether the bytes so far are whole frames. */
  get isWhole(): boolean {
    return !this.#isDamaged && this.#part === 'magic' && this.#left === 4
  }

  /** @returns whether the bytes can be frames */
  push(bytes: Uint8Array): boolean {
    for (let at = 0; at < bytes.length && !this.#isDamaged; ) {
      const taken = Math.min(this.#left, bytes.length - at)
      if (this.#isNumber) this.#addDigits(bytes, at, taken)
      this.#left -= taken
      at += taken
      // A part may have no bytes.
      while (this.#left === 0 && !this.#isDamaged) this.#next()
    }
    return !this.#isDamaged
  }

  get #isNumber(): boolean {
    return ['magic', 'descriptor', 'block', 'skip-size'].includes(this.#part)
  }

  #addDigits(bytes: Uint8Array, from: number, count: number): void {
    for (let at = from; at < from + count; at++) {
      // From the right, the last byte is the highest; multiplied, since 32 bits do not fit a signed number.
      this.#value = this.#value / 256 + (bytes[at] ?? 0) * 2 ** 24
    }
  }

  /** The part is complete. */
  #next(): void {
    const value = this.#value
    if (this.#part === 'magic') {
      if (value === MAGIC) this.#await('descriptor', 1)
      else if (value - (value % 16) === SKIPPABLE) this.#await('skip-size', 4)
      else this.#isDamaged = true
    } else if (this.#part === 'descriptor') {
      const descriptor = this.#shifted(1)
      this.#hasChecksum = (descriptor & 4) !== 0
      this.#await('header', headerBytes(descriptor))
    } else if (this.#part === 'block') {
      this.#beginBlock(this.#shifted(3))
    } else if (this.#part === 'header' || (this.#part === 'content' && !this.#isLastBlock)) {
      this.#await('block', 3)
    } else if (this.#part === 'content') {
      this.#await('checksum', this.#hasChecksum ? 4 : 0)
    } else if (this.#part === 'skip-size') {
      this.#await('skip', value)
    } else {
      this.#await('magic', 4)
    }
  }

  #beginBlock(header: number): void {
    const type = (header >> 1) & 3
    this.#isLastBlock = (header & 1) === 1
    if (type === RESERVED_BLOCK) this.#isDamaged = true
    // Of a block of one byte repeated the size says how often.
    else this.#await('content', type === RLE_BLOCK ? 1 : header >> 3)
  }

  /** The number of a part of fewer than four bytes. */
  #shifted(bytes: number): number {
    return Math.floor(this.#value / 256 ** (4 - bytes))
  }

  #await(part: Part, bytes: number): void {
    this.#part = part
    this.#left = bytes
    this.#value = 0
  }
}

/** Bytes of a frame header behind its descriptor (section 3.1.1.1). */
function headerBytes(descriptor: number): number {
  const isSingleSegment = (descriptor & 0x20) !== 0
  const window = isSingleSegment ? 0 : 1
  const dictionary = [0, 1, 2, 4][descriptor & 3] ?? 0
  const contentSize = [isSingleSegment ? 1 : 0, 2, 4, 8][descriptor >> 6] ?? 0
  return window + dictionary + contentSize
}
