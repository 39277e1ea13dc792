import type { Arena } from '../bytes/arena.ts'
import { utf8Encoder } from '../bytes/utf8.ts'
import { MAX_TEXT_BYTES, NO_TEXT } from '../mmdb/field-reader.ts'
import { STORED_APART, type StoredLocation, UNIT_DECIMALS } from './location-table.ts'
import type { TextPart } from './location-template.ts'

/** The characters of ASCII that can be printed. */
const FIRST_PRINTED = 0x20
const LAST_PRINTED = 0x7e
/** Coordinates from 0.000001 degrees on are written without an exponent. */
const MIN_UNITS = 10

const NUMBER_CHARACTERS = /[-.0-9]/

const encoder = /* @__PURE__ */ utf8Encoder()

/** A part of a template, with what it needs to copy its values from a file as bytes, without a string. */
export class CopiedPart {
  readonly isShared: boolean
  /** The member of a {@link StoredLocation} that it copies; `null` if it copies none. */
  readonly #copies: 'city' | 'postalCode' | 'latitude' | 'longitude' | null
  /** By byte: 1 if a text with it cannot be copied. */
  readonly #isExcluded = new Uint8Array(256)
  readonly #quote: Uint8Array
  readonly #nothing: Uint8Array

  constructor(readonly text: TextPart) {
    this.isShared = text.from === 'shared'
    const plain = 'plain' in text ? text.plain : undefined
    this.#quote = encoder.encode(plain?.quote ?? '')
    this.#nothing = encoder.encode('plain' in text ? text.text(null) : '')
    this.#copies = null
    if (plain === undefined || !('plain' in text)) return
    const isNumber = text.from === 'latitude' || text.from === 'longitude'
    if (!isNumber || !NUMBER_CHARACTERS.test(plain.special)) this.#copies = text.from
    this.#isExcluded.fill(1, 0, FIRST_PRINTED)
    this.#isExcluded.fill(1, LAST_PRINTED + 1)
    for (const byte of encoder.encode(plain.special)) this.#isExcluded[byte] = 1
  }

  /** Adds its value of a location. @returns `false` if the value cannot be copied */
  add(arena: Arena, stored: StoredLocation): boolean {
    switch (this.#copies) {
      case 'city':
        return this.#addText(arena, stored, stored.city)
      case 'postalCode':
        return this.#addText(arena, stored, stored.postalCode)
      case 'latitude':
        return stored.latitude !== STORED_APART && this.#addDegrees(arena, stored.latitude)
      case 'longitude':
        return stored.latitude !== STORED_APART && this.#addDegrees(arena, stored.longitude)
      default:
        return false
    }
  }

  #addText(arena: Arena, { data }: StoredLocation, offset: number): boolean {
    if (offset === NO_TEXT) {
      arena.addBytes(this.#nothing)
      return true
    }
    const before = arena.end
    arena.addBytes(this.#quote)
    arena.reserve(MAX_TEXT_BYTES)
    const size = data.copyText(offset, this.#isExcluded, arena.bytes, arena.end)
    if (size === -1) {
      arena.end = before
      return false
    }
    arena.end += size
    arena.addBytes(this.#quote)
    return true
  }

  #addDegrees(arena: Arena, units: number): boolean {
    // JavaScript writes these with an exponent.
    if (units !== 0 && units > -MIN_UNITS && units < MIN_UNITS) return false
    arena.addBytes(this.#quote)
    arena.addDecimal(units, UNIT_DECIMALS)
    arena.addBytes(this.#quote)
    return true
  }
}
