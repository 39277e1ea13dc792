// Short numbers of a stream: seven bits a byte, the lowest first; the high bit says that more follow.

/** Appends a number below 2^32. */
export function writeNumber(bytes: number[], number: number): void {
  let rest = number
  for (; rest > 0x7f; rest = Math.floor(rest / 128)) bytes.push((rest & 0x7f) | 0x80)
  bytes.push(rest)
}

/** Reads a stream. Its methods throw an Error at the stream's end. */
export class NumberReader {
  at = 0

  constructor(readonly stream: Uint8Array) {}

  get isAtEnd(): boolean {
    return this.at === this.stream.length
  }

  number(): number {
    let number = 0
    for (let factor = 1; factor < 2 ** 35; factor *= 128) {
      const byte = this.stream[this.at++] ?? 0x80
      number += (byte & 0x7f) * factor
      if (byte < 0x80) return number
    }
    throw new Error('a stream of numbers is cut short, or has a number of more than five bytes')
  }

  /** Reads how many items follow. Each of them takes at least one byte. */
  count(): number {
    const count = this.number()
    if (count > this.stream.length - this.at) throw new Error('a stream has fewer values than it says')
    return count
  }

  /** @returns where the skipped bytes start */
  skip(bytes: number): number {
    const start = this.at
    this.at += bytes
    if (this.at > this.stream.length) throw new Error('a stream has fewer values than it says')
    return start
  }
}
