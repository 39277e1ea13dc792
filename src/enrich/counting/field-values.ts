import { utf8Decoder } from '../../realm.ts'
import { ZERO } from '../ascii.ts'
import { CachedView } from '../swar.ts'

/** What a field of a log usually has, whatever its name. */
export type FieldRole = 'status' | 'method' | 'bytes' | 'path' | 'referrer' | 'agent'

/** Finds the values of the `counted` fields of a plan in the last line that a format has read. */
export interface FieldValues {
  /** The value, after `findCounted` returns `true`: `bytes[start, end)`, as UTF-8, without quotes and escapes of CSV and JSON. */
  readonly bytes: Uint8Array
  readonly start: number
  readonly end: number
  /**
   * Finds a value. The line was `resolved` or `unresolved`, and its bytes have not changed.
   *
   * @param field index in `counted`
   * @returns whether the line has a value there: `false` too if its format writes that it is unknown, as `-` or `null`
   */
  findCounted(field: number): boolean
}

/** The index of a field by its name, or after a slash, which tells the name from a key of a count; -1 if there is none. */
export function fieldIndex(names: readonly string[], field: string): number {
  const index = names.indexOf(field)
  return index === -1 && field.startsWith('/') ? names.indexOf(field.slice(1)) : index
}

/** A double holds every number of this many digits exactly. */
const EXACT_DIGITS = 15

const decoder = /* @__PURE__ */ utf8Decoder({ ignoreBOM: true })

/** The numbers of a field of the log, such as the bytes of all answers. */
export class FieldNumber {
  /** The number in the last line that {@link read} has read: 0 if it has none, `NaN` for what is not a number from 0. */
  value = 0
  readonly #field: number
  readonly #values: FieldValues

  constructor(field: number, values: FieldValues) {
    this.#field = field
    this.#values = values
  }

  /** Reads the value of the line that was read last. */
  read(): void {
    this.value = this.#values.findCounted(this.#field) ? this.#number() : 0
  }

  #number(): number {
    const { bytes, start, end } = this.#values
    let number = 0
    let at = start
    for (; at < end && at < start + EXACT_DIGITS; at++) {
      const digit = (bytes[at] ?? 0) - ZERO
      if (digit < 0 || digit > 9) break
      number = number * 10 + digit
    }
    if (at < end) number = Number(decoder.decode(bytes.slice(start, end)))
    return number >= 0 ? number : Number.NaN
  }
}

/** Slots of an empty table: a power of two. */
const FIRST_SLOTS = 256
const FIRST_BYTES = 4096
/** Limit of the bytes of all texts. */
export const MAX_TEXT_BYTES = 2 ** 26

/** Numbers distinct texts, given as bytes, in the order in which they are added. */
export class TextCodes {
  size = 0
  readonly #maxBytes: number
  /** All texts, one after another. */
  #bytes = new Uint8Array(FIRST_BYTES)
  readonly #own = new CachedView()
  readonly #source = new CachedView()
  #used = 0
  /** Where each text ends. */
  #ends = new Int32Array(FIRST_SLOTS)
  /** Numbers of texts plus 1, by hash; 0 is an empty slot. */
  #slots = new Int32Array(FIRST_SLOTS)
  /** The number of the last text: of most fields, most lines have the value of the line before. */
  #last = 0

  constructor(maxBytes = MAX_TEXT_BYTES) {
    this.#maxBytes = maxBytes
  }

  /**
   * The number of the text in `bytes[start, end)`.
   *
   * @param mayAdd whether an unknown text is added
   * @returns -1 if it is unknown, and may not be added or would exceed the limit of bytes
   */
  code(bytes: Uint8Array, start: number, end: number, mayAdd: boolean): number {
    if (this.#isText(this.#last, bytes, start, end)) return this.#last
    let slot = this.#slotOf(bytes, start, end)
    const known = this.#slots[slot] ?? 0
    if (known > 0) {
      this.#last = known - 1
      return this.#last
    }
    const used = this.#used + end - start
    if (!mayAdd || used > this.#maxBytes) return -1
    if (2 * this.size >= this.#slots.length) {
      this.#grow()
      slot = this.#slotOf(bytes, start, end)
    }
    if (used > this.#bytes.length) {
      const larger = new Uint8Array(Math.max(2 * this.#bytes.length, used))
      larger.set(this.#bytes)
      this.#bytes = larger
    }
    this.#bytes.set(bytes.subarray(start, end), this.#used)
    this.#used = used
    this.#ends[this.size] = used
    this.#slots[slot] = ++this.size
    return this.size - 1
  }

  /** The text of a number. What is not UTF-8 is replaced. */
  text(code: number): string {
    return decoder.decode(this.#bytes.subarray(this.#startOf(code), this.#ends[code]))
  }

  #startOf(code: number): number {
    return code === 0 ? 0 : (this.#ends[code - 1] ?? 0)
  }

  /** The slot of a text: its own, or an empty one. */
  #slotOf(bytes: Uint8Array, start: number, end: number): number {
    const slots = this.#slots
    const size = end - start
    const view = this.#source.view(bytes)
    const words = size & ~3
    let hash = size
    for (let at = 0; at < words; at += 4) {
      hash = Math.imul(hash ^ view.getInt32(start + at), 0x9e3779b1)
      hash ^= hash >>> 15
    }
    for (let at = words; at < size; at++) hash = Math.imul(hash ^ (bytes[start + at] ?? 0), 0x01000193)
    hash ^= hash >>> 15
    for (let slot = hash & (slots.length - 1); ; slot = (slot + 1) & (slots.length - 1)) {
      const number = slots[slot] ?? 0
      if (number === 0) return slot
      if (this.#isText(number - 1, bytes, start, end)) return slot
    }
  }

  /** Whether a text is the one with this number. */
  #isText(number: number, bytes: Uint8Array, start: number, end: number): boolean {
    const own = this.#bytes
    const size = end - start
    const from = this.#startOf(number)
    if (number >= this.size || (this.#ends[number] ?? 0) - from !== size) return false
    const ownView = this.#own.view(own)
    const view = this.#source.view(bytes)
    const words = size & ~3
    let at = 0
    while (at < words && ownView.getInt32(from + at) === view.getInt32(start + at)) at += 4
    while (at < size && own[from + at] === bytes[start + at]) at++
    return at === size
  }

  #grow(): void {
    this.#slots = new Int32Array(2 * this.#slots.length)
    const ends = new Int32Array(this.#slots.length / 2 + 1)
    ends.set(this.#ends.subarray(0, this.size))
    this.#ends = ends
    // Texts are distinct, so each finds an empty slot.
    for (let code = 0; code < this.size; code++) {
      this.#slots[this.#slotOf(this.#bytes, this.#startOf(code), ends[code] ?? 0)] = code + 1
    }
  }
}
