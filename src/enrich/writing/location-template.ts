// How locations are written as text: templates of parts.

import type { Arena } from '../../bytes/arena.ts'
import type { Locale } from '../../location/locale.ts'
import {
  type Location,
  STORED_APART,
  type StoredLocation,
  UNIT_DECIMALS,
} from '../../location/location-table.ts'
import type { SharedParts } from '../../location/shared-parts.ts'
import type { Offset } from '../../location/timezone.ts'
import { NO_TEXT } from '../../mmdb/field-reader.ts'
import { utf8Encoder } from '../../realm.ts'

/**
 * A part of the text of locations, and what it is made from. Parts from `shared` are made once for all locations with the
 * same country, region and time zone. One part at most is made from the offset, which depends on the time of the line.
 */
export type TextPart<Text = string> =
  | { readonly from: 'shared'; readonly text: (shared: SharedParts, locale: Locale) => Text }
  | {
      readonly from: 'city' | 'postalCode'
      readonly text: (value: string | null) => Text
      readonly plain?: PlainText
    }
  | {
      readonly from: 'latitude' | 'longitude'
      readonly text: (value: number | null) => Text
      readonly plain?: PlainText
    }
  | { readonly from: 'offset'; readonly text: (offset: Offset) => Text }
  | {
      readonly from: 'location'
      readonly hasOffset: boolean
      readonly text: (offset: Offset, location: Location, locale: Locale) => Text
    }

/**
 * How nearly all values of a part are written: as they are, with a text before and after them. Their bytes are then copied
 * from the file, and no string is made. A value is written otherwise if it has another character than those of ASCII that
 * can be printed, or one of the special ones.
 */
export interface PlainText {
  /** Text before and after the value. */
  readonly quote: string
  readonly special: string
}

/** How locations are written: the parts of their text, in order. */
export type LocationTemplate = readonly TextPart[]

const stringify = (value: string | null): string => JSON.stringify(value)
/** A text in JSON. */
export const JSON_TEXT: PlainText = { quote: '"', special: '"\\' }
/** A number in JSON. */
export const JSON_NUMBER: PlainText = { quote: '', special: '' }

/** A text that is the same in all locations. */
export function fixedText(text: string): TextPart {
  return { from: 'shared', text: () => text }
}

/** The start of a record's JSON, before its `ip`. */
export const JSON_HEAD = '{"ip":"'

/** The part of a record after its `ip`, as `JSON.stringify` writes it. */
export const JSON_TEMPLATE: LocationTemplate = [
  {
    from: 'shared',
    text: (shared, locale) =>
      `","country":${JSON.stringify(shared.countryIn(locale))},"region":${JSON.stringify(shared.regionIn(locale))},"city":`,
  },
  { from: 'city', text: stringify, plain: JSON_TEXT },
  fixedText(',"postal_code":'),
  { from: 'postalCode', text: stringify, plain: JSON_TEXT },
  fixedText(',"coordinates":{"latitude":'),
  { from: 'latitude', text: String, plain: JSON_NUMBER },
  fixedText(',"longitude":'),
  { from: 'longitude', text: String, plain: JSON_NUMBER },
  {
    from: 'shared',
    text: ({ timezone }) => `},"timezone":{"id":${stringify(timezone.id)},"offset":`,
  },
  { from: 'offset', text: ({ json }) => json },
  fixedText('}}'),
]

/** Adds the autonomous system as JSON after a location. @param before such as a comma, a name and a colon */
export function systemAfter(before: string): LocationTemplate {
  const text = (_: Offset, { system }: Location): string => JSON.stringify(system)
  return [fixedText(before), { from: 'location', hasOffset: false, text }]
}

/** Whether a part depends on the instant. */
export function isVariable(part: TextPart): boolean {
  return part.from === 'offset' || (part.from === 'location' && part.hasOffset)
}

/** Joins neighbours that are made from the same shared parts. */
export function joined(template: LocationTemplate): LocationTemplate {
  const parts: TextPart[] = []
  for (const part of template) {
    const last = parts.at(-1)
    if (part.from !== 'shared' || last?.from !== 'shared') parts.push(part)
    else parts[parts.length - 1] = { from: 'shared', text: (...of) => last.text(...of) + part.text(...of) }
  }
  return parts
}

/** The text of a part for a location. */
export function textOf<Text>(part: TextPart<Text>, location: Location, locale: Locale, offset: Offset): Text {
  switch (part.from) {
    case 'offset':
      return part.text(offset)
    case 'shared':
      return part.text(location.shared, locale)
    case 'city':
    case 'postalCode':
      return part.text(location[part.from])
    case 'latitude':
    case 'longitude':
      return part.text(location.coordinates[part.from])
    case 'location':
      return part.text(offset, location, locale)
  }
}

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
  /** 1 for each byte that a copied text cannot have. */
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
    data.openTarget(offset)
    const text = data.content()
    for (const byte of text) if (this.#isExcluded[byte] !== 0) return false
    arena.addBytes(this.#quote)
    arena.addBytes(text)
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
