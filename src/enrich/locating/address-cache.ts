import { RowSet } from '../../bytes/tables.ts'
import { utf8Encoder } from '../../realm.ts'
import { DOT, ZERO } from '../ascii.ts'
import { isMapped, MAPPED } from '../counting/values.ts'

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
/** An address as numbers. */
const WORDS = 4
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
  /** The words of the address in each slot for a text; zeros if they are not known. */
  readonly #words = new Int32Array(WORDS << TEXT_BITS)
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
    const at = this.#ipv4[slot] === ipv4 ? slot : slot + 2
    return this.#ipv4[at] === ipv4 ? (this.#ipv4[at + 1] ?? 0) - 1 : UNKNOWN
  }

  /** Stores the number of an address. @param value 0 or more */
  setIPv4(ipv4: number, value: number): void {
    const slot = (Math.imul(ipv4, 0x9e3779b1) >>> (32 - IPV4_BITS)) * PAIR
    this.#ipv4[slot + 2] = this.#ipv4[slot] ?? 0
    this.#ipv4[slot + 3] = this.#ipv4[slot + 1] ?? 0
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
      const at = wordsAt(slot)
      this.#words.fill(0, at, at + WORDS)
    }
    texts[slot + IP_LENGTH] = encoder.encodeInto(ip, texts.subarray(slot + IP, slot + VALUE)).written
    this.#useIp(slot)
  }

  /** Gives the words of the address of the last text, which is not IPv4. @returns whether {@link keepWords} has kept them */
  wordsInto(words: Int32Array): boolean {
    const at = wordsAt(this.#slot)
    let bits = 0
    for (let word = 0; word < WORDS; word++) bits |= words[word] = this.#words[at + word] ?? 0
    return bits !== 0
  }

  /**
   * Keeps the words of the address of the last text, which is not IPv4, so that the text is not parsed again. With that, a
   * report takes 0.96 of the time (300,000 lines grown from apache-combined-10000, 40% of them with IPv6 addresses).
   */
  keepWords(words: Int32Array): void {
    if (this.#slot !== UNCACHED) this.#words.set(words, wordsAt(this.#slot))
  }

  /** Empties the cache. */
  clear(): void {
    this.#ipv4.fill(0)
    this.#texts.fill(0)
    this.#words.fill(0)
  }

  #useIp(slot: number): void {
    const length = this.#texts[slot + IP_LENGTH] ?? 0
    if (length === 0) return
    this.ip = this.#texts
    this.ipStart = slot + IP
    this.ipEnd = slot + IP + length
  }
}

/** Where the words of a slot begin. */
function wordsAt(slot: number): number {
  return (slot / SLOT_BYTES) * WORDS
}

/**
 * Reads an IPv4 address in the one spelling that `Address` accepts, up to the first byte that is neither a digit nor a dot.
 *
 * @param into gets the address as a signed 32-bit number
 * @returns the index of that byte, or -1 if it is another text
 */
export function ipv4End(bytes: Uint8Array, start: number, into: { ipv4: number }): number {
  let address = 0
  let dots = 0
  for (let at = start; ; dots++) {
    const first = (bytes[at] ?? 0) - ZERO
    if (first < 0 || first > 9) return -1
    let octet = first
    let digit = (bytes[++at] ?? 0) - ZERO
    if (digit >= 0 && digit <= 9) {
      octet = octet * 10 + digit
      digit = (bytes[++at] ?? 0) - ZERO
      if (digit >= 0 && digit <= 9) {
        octet = octet * 10 + digit
        digit = (bytes[++at] ?? 0) - ZERO
      }
      if (first === 0 || octet > 255) return -1
    }
    address = (address << 8) | octet
    if (dots === 3) {
      // 255.255.255.255 is the number NOT_IPV4, so it is treated as a text.
      into.ipv4 = address
      // A digit or a dot would be a part of a longer text.
      return digit === DOT - ZERO || (digit >= 0 && digit <= 9) ? -1 : at
    }
    if (digit !== DOT - ZERO) return -1
    at++
  }
}

/**
 * The address `bytes[start, end)` as a signed 32-bit number, or {@link NOT_IPV4}. By {@link ipv4End}, `geofix engine columns` takes
 * 1.5 times as long: V8 then no longer inlines the cache.
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

/** Addresses that are kept. */
const MAX_ADDRESSES = 2 ** 19
/** Lines that fit in the numbers of the slots. */
const MAX_LINES = 2 ** 30
/** A power of two, as all numbers of slots are. */
const FIRST_SLOTS = 2 ** 10
/** Numbers in the slot of an IPv4 address: the address, its number plus 1, its lines, and its place in the order. */
const SLOT = 4
/** Numbers in the row of another address: its number, or -1 minus it without an address, and its four words. */
const ROW = 5

/** Receives an address and its lines. @param words of the address, which is IPv4-mapped for IPv4; `null` without one */
export type TakeAddress = (number: number, words: Int32Array | null, lines: number) => void

/**
 * The lines of each address, so that what depends on the address alone is found once for it and not for each line. Unlike the
 * cache, it forgets no address before it is drained.
 */
export class AddressCounts {
  /** At most three quarters of them are used. */
  #slots = new Int32Array(SLOT * FIRST_SLOTS)
  #shift = 32 - Math.log2(FIRST_SLOTS)
  #ipv4Size = 0
  #others = new RowSet(ROW)
  #otherLines: number[] = []
  #otherPlaces: number[] = []
  readonly #row = new Int32Array(ROW)
  /** How many addresses there are. */
  size = 0
  #lines = 0
  /** Whether it has been drained, or has an IPv4 address that was written as IPv6. */
  #mayRepeat = false

  /** Whether `drain` gives each address once, and none that it gave before. */
  get areDistinct(): boolean {
    return !this.#mayRepeat
  }

  /** Whether it must be drained before a line is added. */
  get isFull(): boolean {
    return this.size >= MAX_ADDRESSES || this.#lines >= MAX_LINES
  }

  /** The number of an IPv4 address, as a signed number; {@link UNKNOWN} if no line has it yet. */
  numberOfIPv4(ipv4: number): number {
    // 0.0.0.0 is found in empty slots too, whose number is UNKNOWN.
    return (this.#slots[this.#slotOf(this.#slots, ipv4) + 1] ?? 0) - 1
  }

  /** Adds a line. @param ipv4 not {@link NOT_IPV4} */
  addIPv4(ipv4: number, number: number): void {
    let slots = this.#slots
    let slot = this.#slotOf(slots, ipv4)
    if (slots[slot + 1] === 0) {
      if (4 * SLOT * this.#ipv4Size >= 3 * slots.length) {
        this.#grow()
        slots = this.#slots
        slot = this.#slotOf(slots, ipv4)
      }
      slots[slot] = ipv4
      slots[slot + 1] = number + 1
      slots[slot + 3] = this.size++
      this.#ipv4Size++
    }
    slots[slot + 2] = (slots[slot + 2] ?? 0) + 1
    this.#lines++
  }

  /** Adds a line with another address, or without one. */
  addOther(number: number, words: Int32Array | null): void {
    const row = this.#row
    row[0] = words === null ? -1 - number : number
    for (let word = 0; word < 4; word++) row[word + 1] = words?.[word] ?? 0
    if (words !== null && isMapped(words, 0)) this.#mayRepeat = true
    const index = this.#others.add(row)
    if (index === this.#otherLines.length) {
      this.#otherLines.push(0)
      this.#otherPlaces.push(this.size++)
    }
    this.#otherLines[index] = (this.#otherLines[index] ?? 0) + 1
    this.#lines++
  }

  /** Gives all addresses in the order of their first lines, and forgets them. */
  drain(take: TakeAddress): void {
    const ordered = this.#ordered()
    const others = this.#others.rows
    const words = new Int32Array(4)
    this.clear()
    for (let at = 0; at < ordered.length; at += 3) {
      const number = (ordered[at + 1] ?? 0) - 1
      const lines = ordered[at + 2] ?? 0
      if (number >= 0) {
        words[0] = words[1] = 0
        words[2] = MAPPED
        words[3] = ordered[at] ?? 0
        take(number, words, lines)
        continue
      }
      const row = (ordered[at] ?? 0) * ROW
      const other = others[row] ?? 0
      words.set(others.subarray(row + 1, row + ROW))
      take(other < 0 ? -1 - other : other, other < 0 ? null : words, lines)
    }
    if (ordered.length > 0) this.#mayRepeat = true
  }

  /** Three numbers of each address, in order: an IPv4 address and its number plus 1, or the index of another one and 0; its lines. */
  #ordered(): Int32Array {
    const slots = this.#slots
    const ordered = new Int32Array(3 * this.size)
    for (let slot = 0; slot < slots.length; slot += SLOT) {
      if (slots[slot + 1] === 0) continue
      const at = 3 * (slots[slot + 3] ?? 0)
      for (let i = 0; i < 3; i++) ordered[at + i] = slots[slot + i] ?? 0
    }
    for (const [index, place] of this.#otherPlaces.entries()) {
      ordered[3 * place] = index
      ordered[3 * place + 2] = this.#otherLines[index] ?? 0
    }
    return ordered
  }

  /** Forgets all addresses. */
  clear(): void {
    this.size = this.#ipv4Size = this.#lines = 0
    this.#slots = new Int32Array(SLOT * FIRST_SLOTS)
    this.#shift = 32 - Math.log2(FIRST_SLOTS)
    this.#others = new RowSet(ROW)
    this.#otherLines = []
    this.#otherPlaces = []
  }

  /** Where an address is, or belongs. */
  #slotOf(slots: Int32Array, ipv4: number): number {
    let slot = (Math.imul(ipv4, 0x9e3779b1) >>> this.#shift) * SLOT
    while (slots[slot] !== ipv4 && slots[slot + 1] !== 0)
      slot = slot + SLOT === slots.length ? 0 : slot + SLOT
    return slot
  }

  #grow(): void {
    const old = this.#slots
    this.#slots = new Int32Array(2 * old.length)
    this.#shift--
    for (let from = 0; from < old.length; from += SLOT) {
      if (old[from + 1] === 0) continue
      const to = this.#slotOf(this.#slots, old[from] ?? 0)
      for (let i = 0; i < SLOT; i++) this.#slots[to + i] = old[from + i] ?? 0
    }
  }
}
