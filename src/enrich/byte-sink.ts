import { viewOf } from './swar.ts'

/**
 * Up to this size, copying four bytes at a time is faster than `set` with a subarray, which V8 must allocate and
 * collect: 15 to 40 ns against 75 to 100. Bytes.
 */
const SHORT = 96

const encoder = /* @__PURE__ */ new TextEncoder()

/** An output buffer that grows. */
export class ByteSink {
  #bytes: Uint8Array
  #view: DataView
  #length = 0
  #source: Uint8Array
  #sourceView: DataView

  /**
   * @param capacity initial size in bytes
   * @param memory used if it has at least `capacity` bytes: reusing memory avoids new page faults
   */
  constructor(capacity = 65_536, memory: ArrayBufferLike | null = null) {
    const fits = memory !== null && memory.byteLength >= capacity
    this.#bytes = fits ? new Uint8Array(memory) : new Uint8Array(Math.max(capacity, 64))
    this.#view = viewOf(this.#bytes)
    this.#source = this.#bytes
    this.#sourceView = this.#view
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

  write(bytes: Uint8Array): void {
    this.#reserve(bytes.length)
    this.#bytes.set(bytes, this.#length)
    this.#length += bytes.length
  }

  /** Writes `bytes[start, end)`. Faster if `bytes` is the array of the last call, such as a block of lines. */
  writeRange(bytes: Uint8Array, start: number, end: number): void {
    if (bytes !== this.#source) {
      this.#source = bytes
      this.#sourceView = viewOf(bytes)
    }
    this.writeView(this.#sourceView, start, end)
  }

  /** Writes a range of a view. For texts that are written repeatedly, whose view the caller keeps. */
  writeView(source: DataView, start: number, end: number): void {
    const size = end - start
    this.#reserve(size)
    if (size > SHORT) {
      this.#bytes.set(new Uint8Array(source.buffer, source.byteOffset + start, size), this.#length)
    } else this.#copy(source, start, end)
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

  /** Writes a text as UTF-8. */
  writeText(text: string): void {
    this.write(encoder.encode(text))
  }

  /** Returns the bytes written and hands over their memory. The sink is empty afterwards. */
  take(): Uint8Array {
    const bytes = this.#bytes.subarray(0, this.#length)
    this.#use(new Uint8Array(64))
    this.#length = 0
    return bytes
  }

  #copy(source: DataView, start: number, end: number): void {
    const into = this.#view
    let from = start
    let at = this.#length
    for (const last = end - 4; from <= last; from += 4, at += 4) {
      into.setInt32(at, source.getInt32(from, true), true)
    }
    for (; from < end; from++, at++) into.setUint8(at, source.getUint8(from))
  }

  #use(bytes: Uint8Array<ArrayBuffer>): void {
    this.#bytes = bytes
    this.#view = viewOf(bytes)
  }

  #reserve(size: number): void {
    const needed = this.#length + size
    if (needed <= this.#bytes.length) return
    const larger = new Uint8Array(Math.max(needed, this.#bytes.length * 2))
    larger.set(this.#bytes.subarray(0, this.#length))
    this.#use(larger)
  }
}
