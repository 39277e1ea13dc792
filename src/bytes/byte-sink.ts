import { extended } from './tables.ts'

/** Ranges up to this many bytes are copied byte by byte: 40 take 28 ns, as the subarray that `set` needs does. */
const SHORT = 40

/** @returns where the copy of `bytes[start, end)` ends */
export function copy(bytes: Uint8Array, start: number, end: number, target: Uint8Array, to: number): number {
  const size = end - start
  if (size > SHORT) {
    if (bytes === target) target.copyWithin(to, start, end)
    else target.set(bytes.subarray(start, end), to)
  } else for (let at = 0; at < size; at++) target[to + at] = bytes[start + at] ?? 0
  return to + size
}

/** An output buffer that grows. */
export class ByteSink {
  #bytes: Uint8Array
  #length = 0

  /**
   * @param capacity initial size in bytes
   * @param memory used if it has at least `capacity` bytes: reusing memory avoids new page faults
   */
  constructor(capacity = 65_536, memory: ArrayBufferLike | null = null) {
    const fits = memory !== null && memory.byteLength >= capacity
    this.#bytes = fits ? new Uint8Array(memory) : new Uint8Array(Math.max(capacity, 64))
  }

  /** Bytes written. */
  get length(): number {
    return this.#length
  }

  /** A view of the bytes written. Valid until the next write. */
  get bytes(): Uint8Array {
    return this.#bytes.subarray(0, this.#length)
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
    this.#reserve(end - start)
    this.#length = copy(bytes, start, end, this.#bytes, this.#length)
  }

  /** Writes a text, which must be ASCII. */
  writeAscii(text: string): void {
    this.#reserve(text.length)
    const into = this.#bytes
    let at = this.#length
    for (let from = 0; from < text.length; from++) into[at++] = text.charCodeAt(from)
    this.#length = at
  }

  /** Removes the first bytes. */
  drop(count: number): void {
    this.#bytes.copyWithin(0, count, this.#length)
    this.#length -= count
  }

  /** Returns the bytes written and hands over their memory. The sink is empty afterwards. */
  take(): Uint8Array {
    const { bytes } = this
    this.#bytes = new Uint8Array(64)
    this.#length = 0
    return bytes
  }

  #reserve(size: number): void {
    const needed = this.#length + size
    if (needed <= this.#bytes.length) return
    this.#bytes = extended(this.bytes, new Uint8Array(Math.max(needed, this.#bytes.length * 2)))
  }
}
