import { utf8Encoder } from './utf8.ts'

/** Bytes of a new arena. */
const FIRST_BYTES = 65_536
/** Memory that is not written yet takes no room, and copies of what is written do. */
const GROWTH = 8
/** UTF-8 has at most three bytes for each UTF-16 code unit. */
const MAX_UNIT_BYTES = 3

const encoder = /* @__PURE__ */ utf8Encoder()

/**
 * One buffer with fixed regions at its start, for input and output, and a region of texts after them that grows. A copy
 * within one buffer is a `copyWithin`, which takes half as long as a `set` of a `subarray`: no object is made for it.
 *
 * To grow, the arena is copied into a larger buffer. Positions stay the same, but `bytes` and `view` are then others.
 */
export class Arena {
  bytes: Uint8Array
  view: DataView
  /** Where the texts end. */
  end: number
  #start = 0

  constructor() {
    this.bytes = new Uint8Array(FIRST_BYTES)
    this.view = new DataView(this.bytes.buffer)
    this.end = 0
  }

  /** Makes room for fixed regions at the start. Call it before there are texts. */
  fix(size: number): void {
    this.reserve(size)
    this.#start = size
    this.end = size
  }

  /** Bytes of all texts. */
  get textBytes(): number {
    return this.end - this.#start
  }

  /** Removes all texts. */
  clear(): void {
    this.end = this.#start
  }

  /** Makes room for so many bytes after the texts. */
  reserve(size: number): void {
    const needed = this.end + size
    if (needed <= this.bytes.length) return
    const larger = new Uint8Array(Math.max(needed, GROWTH * this.bytes.length))
    larger.set(this.bytes)
    this.bytes = larger
    this.view = new DataView(larger.buffer)
  }

  /** Adds a text after the others. */
  addText(text: string): void {
    this.reserve(text.length * MAX_UNIT_BYTES)
    const { bytes } = this
    let at = this.end
    for (let index = 0; index < text.length; index++) {
      const code = text.charCodeAt(index)
      if (code > 0x7f) {
        // A surrogate is not separated from the one before it, which is above 0x7f too.
        at += encoder.encodeInto(text.slice(index), bytes.subarray(at)).written
        break
      }
      bytes[at++] = code
    }
    this.end = at
  }

  /** Adds a copy of `bytes[start, end)` after the texts. */
  addCopy(start: number, end: number): void {
    this.reserve(end - start)
    this.bytes.copyWithin(this.end, start, end)
    this.end += end - start
  }
}
