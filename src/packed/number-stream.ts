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
    // Most numbers have one byte.
    const first = this.stream[this.at] ?? 0x80
    if (first < 0x80) {
      this.at++
      return first
    }
    return this.#longNumber()
  }

  /** Apart, so that V8 compiles less where it inlines `number`. */
  #longNumber(): number {
    let number = 0
    for (let factor = 1; factor < 2 ** 35; factor *= 128) {
      const byte = this.stream[this.at++] ?? 0x80
      number += (byte & 0x7f) * factor
      if (byte < 0x80) return number
    }
    throw new Error('a stream of numbers is cut short, or has a number of more than five bytes')
  }

  /** @throws Error when one has more than 32 bits */
  numbers(count: number): Uint32Array {
    const numbers = new Uint32Array(count)
    for (let i = 0; i < count; i++) {
      const number = this.number()
      if (number > 0xffff_ffff) throw new Error('a number has more than 32 bits')
      numbers[i] = number
    }
    return numbers
  }

  /**
   * Adds numbers up: each sum is that before it plus the next number.
   *
   * @param start what the first number is added to
   * @throws Error when one has more than 32 bits
   */
  sums(count: number, start = 0): Uint32Array {
    const sums = new Uint32Array(count)
    const { stream } = this
    let { at } = this
    let sum = start
    for (let i = 0; i < count; i++) {
      // There can be a million numbers, most of one byte.
      let number = stream[at++] ?? 0x80
      if (number >= 0x80) {
        this.at = at - 1
        number = this.number()
        at = this.at
      }
      sum += number
      if (sum > 0xffff_ffff) throw new Error('a sum has more than 32 bits')
      sums[i] = sum
    }
    this.at = at
    return sums
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
