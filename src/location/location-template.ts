// How locations are written as text: templates of parts.

import type { Locale } from './locale.ts'
import type { Location } from './location-table.ts'
import { JSON_END } from './record-json.ts'
import type { SharedParts } from './shared-parts.ts'
import type { Offset } from './timezone.ts'

/**
 * A part of the text of locations, and what it is made from. Parts from `shared` are made once for all locations with the
 * same country, region and time zone. One part at most is made from the offset, which depends on the time of the line.
 */
export type TextPart =
  | { readonly from: 'shared'; readonly text: (shared: SharedParts, locale: Locale) => string }
  | {
      readonly from: 'city' | 'postalCode'
      readonly text: (value: string | null) => string
      readonly plain?: PlainText
    }
  | {
      readonly from: 'latitude' | 'longitude'
      readonly text: (value: number | null) => string
      readonly plain?: PlainText
    }
  | { readonly from: 'offset'; readonly text: (offset: Offset) => string }
  | {
      readonly from: 'location'
      readonly hasOffset: boolean
      readonly text: (offset: Offset, location: Location, locale: Locale) => string
    }

/**
 * How nearly all values of a part are written: as they are, with a text before and after them. Their bytes are then copied
 * from the file, and no string is made. A value is written otherwise if it has another character than those of ASCII that
 * can be printed, or one of the special ones.
 */
export interface PlainText {
  /** Before and after the value. */
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
  fixedText(JSON_END),
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
export function textOf(part: TextPart, location: Location, locale: Locale, offset: Offset): string {
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
