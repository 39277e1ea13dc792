import { RowSet } from '../../location/tables.ts'
import { isMapped, MAPPED } from '../counting/networks.ts'
import type { NOT_IPV4, UNKNOWN } from './address-cache.ts'

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
  /** Three quarters of them are used at most: what is dense stays in the cache of the processor. */
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

  /** Whether it gives no address that it gave before. */
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
