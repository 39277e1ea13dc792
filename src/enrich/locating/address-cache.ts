import { utf8Encoder } from '../../realm.ts'
import { DOT, ZERO } from '../ascii.ts'
/** Longer texts are not cached. Bytes. */
export const MAX_TEXT_BYTES = 72
/**
 * Bytes of a slot for a text that is not an IPv4 address: the text, the canonical text of its address at {@link IP} if
 * that differs, the number plus 1 at {@link VALUE}, and the lengths of both texts.
 */
const SLOT_BYTES = 128
const IP = 72
const VALUE = 120
const TEXT_LENGTH = 124
const IP_LENGTH = 125
const TEXT_BITS = 15
const IPV4_BITS = 17
/** Numbers in a slot for two IPv4 addresses: each address is followed by its number plus 1. */
const PAIR = 4
/** The slot of texts that are too long: `get` never finds it. */
const UNCACHED = SLOT_BYTES << TEXT_BITS

/** The text is not in the cache. */
export const UNKNOWN = -1

/**
 * The text is not an IPv4 address in the one spelling that `Address` accepts, or it is 255.255.255.255, whose number is this:
 * it is cached as a text.
 */
export const NOT_IPV4 = -1

const encoder = /* @__PURE__ */ utf8Encoder()

/**
 * Maps addresses, as the bytes that they are written in, to numbers. Traffic is skewed: most lines repeat a recent
 * address. Each text has one slot, and a new text replaces the old one. A hit reads one cache line of the CPU.
 * IPv4 addresses, by far the most common, are stored as 32-bit numbers, two to a slot. As texts, they take four times
 * the memory, and fewer of them stay in the cache of the processor.
 */
export class AddressCache {
  /** The text of the last `get`, as a signed 32-bit number, or {@link NOT_IPV4}. */
  ipv4 = NOT_IPV4
  /** The canonical text of the last address, after a `get` that found it, or `set`: `ip[ipStart, ipEnd)`. */
  ip: Uint8Array
  ipStart = 0
  ipEnd = 0
  /** Pairs of an address and its number plus 1, which is 0 if there is none. The newer pair of a slot is first. */
  readonly #ipv4 = new Int32Array(PAIR << IPV4_BITS)
  readonly #texts = new Uint8Array(UNCACHED + SLOT_BYTES)
  readonly #values = new Uint32Array(this.#texts.buffer)
  /** The slot of the last text that is not an IPv4 address. */
  #slot = 0

  constructor() {
    this.ip = this.#texts
  }

  /** @returns the number of the text in `bytes[start, end)`, or {@link UNKNOWN} */
  get(bytes: Uint8Array, start: number, end: number): number {
    this.ip = bytes
    this.ipStart = start
    this.ipEnd = end
    const ipv4 = ipv4Of(bytes, start, end)
    this.ipv4 = ipv4
    if (ipv4 !== NOT_IPV4) return this.getIPv4(ipv4)
    this.#slot = UNCACHED
    const size = end - start
    if (size > MAX_TEXT_BYTES || size === 0) return UNKNOWN
    let hash = size
    for (let at = start; at < end; at++) hash = Math.imul(hash ^ (bytes[at] ?? 0), 0x01000193)
    const slot = (Math.imul(hash, 0x9e3779b1) >>> (32 - TEXT_BITS)) * SLOT_BYTES
    this.#slot = slot
    const texts = this.#texts
    if (texts[slot + TEXT_LENGTH] !== size) return UNKNOWN
    for (let at = 0; at < size; at++) if (texts[slot + at] !== bytes[start + at]) return UNKNOWN
    this.#useIp(slot)
    return (this.#values[(slot + VALUE) >> 2] ?? 0) - 1
  }

  /** `get` for an address that is parsed already. @param ipv4 a signed 32-bit number */
  getIPv4(ipv4: number): number {
    const slot = (Math.imul(ipv4, 0x9e3779b1) >>> (32 - IPV4_BITS)) * PAIR
    if (this.#ipv4[slot] === ipv4) return (this.#ipv4[slot + 1] ?? 0) - 1
    return this.#ipv4[slot + 2] === ipv4 ? (this.#ipv4[slot + 3] ?? 0) - 1 : UNKNOWN
  }

  /** Stores the number of an address. @param value 0 or more */
  setIPv4(ipv4: number, value: number): void {
    const slot = (Math.imul(ipv4, 0x9e3779b1) >>> (32 - IPV4_BITS)) * PAIR
    this.#ipv4.copyWithin(slot + 2, slot, slot + 2)
    this.#ipv4[slot] = ipv4
    this.#ipv4[slot + 1] = value + 1
  }

  /**
   * Stores the number of the text of the last `get`, whose arguments must be the same.
   *
   * @param value 0 or more
   * @param ip canonical text of the address, if the text is another spelling
   */
  set(bytes: Uint8Array, start: number, end: number, value: number, ip = ''): void {
    if (this.ipv4 !== NOT_IPV4) {
      this.setIPv4(this.ipv4, value)
      return
    }
    const slot = this.#slot
    const texts = this.#texts
    if (slot !== UNCACHED) {
      texts.set(bytes.subarray(start, end), slot)
      texts[slot + TEXT_LENGTH] = end - start
      this.#values[(slot + VALUE) >> 2] = value + 1
    }
    texts[slot + IP_LENGTH] = encoder.encodeInto(ip, texts.subarray(slot + IP, slot + VALUE)).written
    this.#useIp(slot)
  }

  /** Empties the cache. */
  clear(): void {
    this.#ipv4.fill(0)
    this.#texts.fill(0)
  }

  #useIp(slot: number): void {
    const length = this.#texts[slot + IP_LENGTH] ?? 0
    if (length === 0) return
    this.ip = this.#texts
    this.ipStart = slot + IP
    this.ipEnd = slot + IP + length
  }
}

/**
 * Parses a dotted quad in the one spelling that `Address` accepts, so that each text has its own number.
 *
 * @returns the address as a signed 32-bit number, or {@link NOT_IPV4}
 */
export function ipv4Of(bytes: Uint8Array, start: number, end: number): number {
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
  return dots === 3 && digits > 0 ? (address << 8) | octet : NOT_IPV4
}
