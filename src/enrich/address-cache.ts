/** Longer texts are not remembered. Bytes. */
export const MAX_TEXT_BYTES = 48
/** Bytes of a slot: the text, its length, and at {@link VALUE} what is remembered of it. */
const SLOT_BYTES = 64
const VALUE = 56
const TEXT_BITS = 15
const IPV4_BITS = 17
/** Numbers in a slot for two IPv4 addresses: each, and behind it what is remembered of it. */
const PAIR = 4

const ZERO = 0x30
const DOT = 0x2e

/** Nothing is remembered of a text. */
export const UNKNOWN = -1

/**
 * Numbers remembered of addresses, by the bytes that these are written in. Traffic is skewed: most lines have an
 * address that a line not far before had. A text has one slot, which a new one takes from the old; a hit costs no
 * bookkeeping and one line of the processor's cache. IPv4, by far the most, is kept by its number, two to a slot.
 */
export class AddressCache {
  /** Of each address its bits, and its number plus 1 or 0. The newer of a slot is the first. */
  readonly #ipv4 = new Uint32Array(PAIR << IPV4_BITS)
  readonly #texts = new Uint8Array(SLOT_BYTES << TEXT_BITS)
  readonly #values = new Uint32Array(this.#texts.buffer)
  /** What the text asked for last is: where it belongs, and its number if it is IPv4. */
  #kind: 'ipv4' | 'text' | 'none' = 'none'
  #slot = 0
  #key = 0

  /** @returns the number of the text in `bytes[start, end)`, or {@link UNKNOWN} */
  get(bytes: Uint8Array, start: number, end: number): number {
    const ipv4 = ipv4Of(bytes, start, end)
    if (ipv4 !== NOT_IPV4) {
      this.#kind = 'ipv4'
      this.#key = ipv4 >>> 0
      const slot = (Math.imul(ipv4, 0x9e3779b1) >>> (32 - IPV4_BITS)) * PAIR
      this.#slot = slot
      if (this.#ipv4[slot] === this.#key) return (this.#ipv4[slot + 1] ?? 0) - 1
      return this.#ipv4[slot + 2] === this.#key ? (this.#ipv4[slot + 3] ?? 0) - 1 : UNKNOWN
    }
    const size = end - start
    this.#kind = size > MAX_TEXT_BYTES || size === 0 ? 'none' : 'text'
    if (this.#kind === 'none') return UNKNOWN
    let hash = size
    for (let at = start; at < end; at++) hash = Math.imul(hash ^ (bytes[at] ?? 0), 0x01000193)
    this.#slot = (Math.imul(hash, 0x9e3779b1) >>> (32 - TEXT_BITS)) * SLOT_BYTES
    return this.#holds(bytes, start, size) ? (this.#values[(this.#slot + VALUE) >> 2] ?? 0) - 1 : UNKNOWN
  }

  /** Remembers a number, 0 or more, of the text asked for last, which is given again. */
  set(bytes: Uint8Array, start: number, end: number, value: number): void {
    if (this.#kind === 'ipv4') {
      this.#ipv4.copyWithin(this.#slot + 2, this.#slot, this.#slot + 2)
      this.#ipv4[this.#slot] = this.#key
      this.#ipv4[this.#slot + 1] = value + 1
    } else if (this.#kind === 'text') {
      this.#texts.set(bytes.subarray(start, end), this.#slot)
      this.#texts[this.#slot + MAX_TEXT_BYTES] = end - start
      this.#values[(this.#slot + VALUE) >> 2] = value + 1
    }
  }

  /** Forgets everything. */
  clear(): void {
    this.#ipv4.fill(0)
    this.#texts.fill(0)
  }

  #holds(bytes: Uint8Array, start: number, size: number): boolean {
    const texts = this.#texts
    const slot = this.#slot
    if (texts[slot + MAX_TEXT_BYTES] !== size) return false
    for (let at = 0; at < size; at++) if (texts[slot + at] !== bytes[start + at]) return false
    return true
  }
}

const NOT_IPV4 = -1

/**
 * The number of a dotted quad, in the one spelling that `Address` accepts.
 *
 * @returns a number that is one to one with the text, or {@link NOT_IPV4}
 */
function ipv4Of(bytes: Uint8Array, start: number, end: number): number {
  if (end - start < 7 || end - start > 15) return NOT_IPV4
  let address = 0
  let octet = 0
  let digits = 0
  let dots = 0
  for (let at = start; at < end; at++) {
    const byte = bytes[at] ?? 0
    const digit = byte - ZERO
    if (digit >= 0 && digit <= 9) {
      if (digits > 0 && octet === 0) return NOT_IPV4
      octet = octet * 10 + digit
      if (octet > 255) return NOT_IPV4
      digits++
    } else {
      if (byte !== DOT || digits === 0 || dots === 3) return NOT_IPV4
      address = (address << 8) | octet
      octet = 0
      digits = 0
      dots++
    }
  }
  return dots === 3 && digits > 0 ? ((address << 8) | octet) >>> 0 : NOT_IPV4
}
