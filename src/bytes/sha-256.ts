// SHA-256 (FIPS 180-4) and HMAC (RFC 2104), at once: the platforms' own need Node or a promise. `test/bytes` compares them with Node's.

const BLOCK_BYTES = 64
const LENGTH_BYTES = 8

/** The first 32 bits of the fractional parts of roots of the first 64 primes: section 4.2.2 and 5.3.3 of FIPS 180-4. */
const CONSTANTS = /* @__PURE__ */ fractions(64, Math.cbrt)
const START = /* @__PURE__ */ fractions(8, Math.sqrt)

/**
 * A double has 49 bits for the fraction of such a root. Only 32 are needed, and none of these roots is so close to another value of
 * them that an engine's rounding matters: `Math.cbrt` may differ in its last bits.
 */
function fractions(count: number, root: (value: number) => number): Uint32Array {
  const values = new Uint32Array(count)
  for (let number = 2, found = 0; found < count; number++) {
    let divisor = 2
    while (number % divisor !== 0) divisor++
    if (divisor === number) values[found++] = (root(number) % 1) * 2 ** 32
  }
  return values
}

/** One round of the hash computation, section 6.2.2, for one block. Changes the state. */
function compress(state: Uint32Array, block: DataView, words: Uint32Array): void {
  for (let at = 0; at < 16; at++) words[at] = block.getUint32(at * 4)
  for (let at = 16; at < 64; at++) {
    const early = words[at - 15] ?? 0
    const late = words[at - 2] ?? 0
    const small = rotated(early, 7) ^ rotated(early, 18) ^ (early >>> 3)
    const large = rotated(late, 17) ^ rotated(late, 19) ^ (late >>> 10)
    words[at] = (words[at - 16] ?? 0) + small + (words[at - 7] ?? 0) + large
  }
  let [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0] = state
  for (let at = 0; at < 64; at++) {
    const ofE = rotated(e, 6) ^ rotated(e, 11) ^ rotated(e, 25)
    const first = (h + ofE + ((e & f) ^ (~e & g)) + (CONSTANTS[at] ?? 0) + (words[at] ?? 0)) | 0
    const ofA = rotated(a, 2) ^ rotated(a, 13) ^ rotated(a, 22)
    const second = (ofA + ((a & b) ^ (a & c) ^ (b & c))) | 0
    h = g
    g = f
    f = e
    e = (d + first) | 0
    d = c
    c = b
    b = a
    a = (first + second) | 0
  }
  for (const [index, value] of [a, b, c, d, e, f, g, h].entries()) state[index] = (state[index] ?? 0) + value
}

function rotated(word: number, bits: number): number {
  return (word >>> bits) | (word << (32 - bits))
}

/** Continues a hash whose first `before` bytes, which are whole blocks, made `state`. */
function finish(state: Uint32Array, message: Uint8Array, before: number): Uint8Array {
  const size = Math.ceil((message.length + 1 + LENGTH_BYTES) / BLOCK_BYTES) * BLOCK_BYTES
  const padded = new Uint8Array(size)
  padded.set(message)
  padded[message.length] = 0x80
  const bits = (before + message.length) * 8
  const view = new DataView(padded.buffer)
  view.setUint32(size - 8, Math.floor(bits / 2 ** 32))
  view.setUint32(size - 4, bits)
  const own = Uint32Array.from(state)
  const words = new Uint32Array(64)
  for (let at = 0; at < size; at += BLOCK_BYTES)
    compress(own, new DataView(padded.buffer, at, BLOCK_BYTES), words)
  const digest = new Uint8Array(32)
  const out = new DataView(digest.buffer)
  for (const [index, word] of own.entries()) out.setUint32(index * 4, word)
  return digest
}

/** The SHA-256 digest of a message: 32 bytes. */
export function sha256(message: Uint8Array): Uint8Array {
  return finish(START, message, 0)
}

/** HMAC-SHA-256 with one key. The blocks of the key are hashed once. */
export class HmacSha256 {
  readonly #inner: Uint32Array
  readonly #outer: Uint32Array

  constructor(key: Uint8Array) {
    const short = key.length > BLOCK_BYTES ? sha256(key) : key
    const padded = (mask: number): Uint32Array => {
      const block = new Uint8Array(BLOCK_BYTES).fill(mask)
      for (const [index, byte] of short.entries()) block[index] = byte ^ mask
      const state = Uint32Array.from(START)
      compress(state, new DataView(block.buffer), new Uint32Array(64))
      return state
    }
    this.#inner = padded(0x36)
    this.#outer = padded(0x5c)
  }

  /** The code of a message: 32 bytes. */
  digest(message: Uint8Array): Uint8Array {
    return finish(this.#outer, finish(this.#inner, message, BLOCK_BYTES), BLOCK_BYTES)
  }
}
