/** Ranges up to this many bytes are copied byte by byte: to make the subarray that `set` needs takes as long. */
const SHORT = 40

/** Bytes that {@link ByteSink.writeWords} reads after its range, at most. */
export const WORDS_ROOM = 15

/** An output buffer that grows. */
export class ByteSink {
  #bytes: Uint8Array
  #view: DataView
  #length = 0

  /**
   * @param capacity initial size in bytes
   * @param memory used if it has at least `capacity` bytes: reusing memory avoids new page faults
   */
  constructor(capacity = 65_536, memory: ArrayBufferLike | null = null) {
    const fits = memory !== null && memory.byteLength >= capacity
    this.#bytes = fits ? new Uint8Array(memory) : new Uint8Array(Math.max(capacity, 64))
    this.#view = viewOf(this.#bytes)
  }

  /** Bytes written. */
  get length(): number {
    return this.#length
  }

  /** Set it after writing into {@link room}. A smaller length discards the bytes after it. */
  set length(length: number) {
    this.#length = length
  }

  /** The buffer, with room for `size` bytes after `length`. Valid until the next call. */
  room(size: number): Uint8Array {
    this.#reserve(size)
    return this.#bytes
  }

  writeByte(byte: number): void {
    this.#reserve(1)
    this.#bytes[this.#length++] = byte
  }

  /** Writes `bytes[start, end)`. */
  write(bytes: Uint8Array, start = 0, end: number = bytes.length): void {
    const size = end - start
    this.#reserve(size)
    if (size > SHORT) this.#bytes.set(bytes.subarray(start, end), this.#length)
    else {
      const into = this.#bytes
      let at = this.#length
      for (let from = start; from < end; from++) into[at++] = bytes[from] ?? 0
    }
    this.#length += size
  }

  /**
   * Writes `size` bytes of a view, from `start`, by words: 100 bytes in 24 ns instead of the 63 ns of `write`, and 230 in
   * 50 ns. The view must have {@link WORDS_ROOM} more bytes.
   */
  writeWords(view: DataView, start: number, size: number): void {
    this.#reserve(size + WORDS_ROOM)
    const into = this.#view
    let to = this.#length
    for (let from = start; from < start + size; from += 16, to += 16) {
      into.setInt32(to, view.getInt32(from, true), true)
      into.setInt32(to + 4, view.getInt32(from + 4, true), true)
      into.setInt32(to + 8, view.getInt32(from + 8, true), true)
      into.setInt32(to + 12, view.getInt32(from + 12, true), true)
    }
    this.#length += size
  }

  /** Writes a text, which must be ASCII. */
  writeAscii(text: string): void {
    this.#reserve(text.length)
    const into = this.#bytes
    let at = this.#length
    for (let from = 0; from < text.length; from++) into[at++] = text.charCodeAt(from)
    this.#length = at
  }

  /** Returns the bytes written and hands over their memory. The sink is empty afterwards. */
  take(): Uint8Array {
    const bytes = this.#bytes.subarray(0, this.#length)
    this.#bytes = new Uint8Array(64)
    this.#view = viewOf(this.#bytes)
    this.#length = 0
    return bytes
  }

  #reserve(size: number): void {
    const needed = this.#length + size
    if (needed <= this.#bytes.length) return
    const larger = new Uint8Array(Math.max(needed, this.#bytes.length * 2))
    larger.set(this.#bytes.subarray(0, this.#length))
    this.#bytes = larger
    this.#view = viewOf(larger)
  }
}

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}
