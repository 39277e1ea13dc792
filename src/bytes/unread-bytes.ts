/** Bytes that came in chunks and are not read yet. */
export class UnreadBytes {
  /** Starts with the unread bytes. {@link append} can replace it. */
  memory = new Uint8Array(65_536)
  /** How many bytes of {@link memory} are unread. */
  length = 0

  append(chunk: Uint8Array): void {
    const length = this.length + chunk.length
    if (length > this.memory.length) {
      const larger = new Uint8Array(Math.max(length, 2 * this.memory.length))
      larger.set(this.memory.subarray(0, this.length))
      this.memory = larger
    }
    this.memory.set(chunk, this.length)
    this.length = length
  }

  /** Removes the first bytes, which are read. */
  drop(count: number): void {
    this.memory.copyWithin(0, count, this.length)
    this.length -= count
  }
}
