import { ABSENT, NumberMap, RowSet } from '../../bytes/tables.ts'
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
/** Lines that are counted before they are drained. */
const MAX_LINES = 2 ** 30
/** Numbers in the row of an address: its number, or -1 minus it without an address, and its four words. */
const ROW = 1 + WORDS

/** Receives an address and its lines. @param words of the address, which is IPv4-mapped for IPv4; `null` without one */
export type TakeAddress = (number: number, words: Int32Array | null, lines: number) => void

/**
 * The lines of each address, so that what depends on the address alone is found once for it and not for each line. Unlike the
 * cache, it forgets no address before it is drained.
 */
export class AddressCounts {
  /** Whether `drain` gives no address that it gave before. */
  areDistinct = true
  /** The addresses, in the order of their first lines. */
  #rows = new RowSet(ROW)
  /**
   * The row of each IPv4 address. The key is the address with all bits inverted, because the map cannot have the key 0. Only
   * 255.255.255.255 has it then, which is {@link NOT_IPV4} and never looked up here.
   */
  #ipv4 = new NumberMap()
  /** The IPv4 address that was asked for last, and its row. */
  #last = NOT_IPV4
  #lastRow = ABSENT
  /** The lines of each row. */
  #rowLines: number[] = []
  #lines = 0
  readonly #row = new Int32Array(ROW)

  /** How many addresses there are. */
  get size(): number {
    return this.#rows.size
  }

  /** Whether it must be drained before a line is added. */
  get isFull(): boolean {
    return this.size >= MAX_ADDRESSES || this.#lines >= MAX_LINES
  }

  /** The number of an IPv4 address, as a signed number; {@link UNKNOWN} if it is not known. */
  numberOfIPv4(ipv4: number): number {
    const row = this.#find(ipv4)
    return row === ABSENT ? UNKNOWN : (this.#rows.rows[row * ROW] ?? UNKNOWN)
  }

  /** Adds a line. @param ipv4 not {@link NOT_IPV4} */
  addIPv4(ipv4: number, number: number): void {
    const known = this.#find(ipv4)
    if (known !== ABSENT) {
      this.#count(known)
      return
    }
    const row = this.#row
    row[0] = number
    row[1] = row[2] = 0
    row[3] = MAPPED
    row[4] = ipv4
    const added = this.#rows.append(row)
    this.#ipv4.set(~ipv4, added)
    this.#lastRow = added
    this.#count(added)
  }

  /** Adds a line with another address, or without one. */
  addOther(number: number, words: Int32Array | null): void {
    const ipv4 = words !== null && isMapped(words, 0) ? (words[3] ?? NOT_IPV4) : NOT_IPV4
    if (ipv4 !== NOT_IPV4) {
      this.addIPv4(ipv4, number)
      return
    }
    const row = this.#row
    row[0] = words === null ? -1 - number : number
    for (let word = 0; word < WORDS; word++) row[word + 1] = words?.[word] ?? 0
    this.#count(this.#rows.add(row))
  }

  /** Gives all addresses in the order of their first lines, and forgets them. */
  drain(take: TakeAddress): void {
    const { rows, size } = this.#rows
    const lines = this.#rowLines
    const words = new Int32Array(WORDS)
    this.clear()
    for (let index = 0; index < size; index++) {
      const at = index * ROW
      const number = rows[at] ?? 0
      for (let word = 0; word < WORDS; word++) words[word] = rows[at + 1 + word] ?? 0
      take(number < 0 ? -1 - number : number, number < 0 ? null : words, lines[index] ?? 0)
    }
    if (size > 0) this.areDistinct = false
  }

  /** Forgets all addresses. */
  clear(): void {
    this.#lines = 0
    this.#rows = new RowSet(ROW)
    this.#ipv4 = new NumberMap()
    this.#rowLines = []
    this.#last = NOT_IPV4
  }

  #find(ipv4: number): number {
    // A line asks for its number first, and is counted then.
    if (ipv4 !== this.#last) this.#lastRow = this.#ipv4.get(~ipv4)
    this.#last = ipv4
    return this.#lastRow
  }

  #count(row: number): void {
    this.#rowLines[row] = (this.#rowLines[row] ?? 0) + 1
    this.#lines++
  }
}
