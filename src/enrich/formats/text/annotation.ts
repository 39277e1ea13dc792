// The place that is written at an address of a line: `81.2.69.142 [GB London]`.

import { wrongOption } from '../../../option-names.ts'
import { ANNOTATION } from '../../line-options.ts'
import { ALL_FIELDS, type CommonPlan, type LocationField } from '../../options.ts'
import { fieldTexts } from '../../writing/column-templates.ts'
import type { LocationTemplate } from '../../writing/location-template.ts'
import { ADDRESS_MARK } from '../../writing/record-form.ts'

const ANNOTATION_WITH_SYSTEM = '{ip} [{country_code} {city}, {asn_organization}]'

/** Default of `annotate` for a plan. */
export function annotationOf({ asn }: Pick<CommonPlan, 'asn'>): string {
  return asn === undefined ? ANNOTATION : ANNOTATION_WITH_SYSTEM
}

const ADDRESS = String.fromCharCode(ADDRESS_MARK)
const IP = 'ip'

/** What stands between two values, and is left out beside one that is unknown: blanks and these marks. */
const SEPARATOR = /^[\s,;:/|·–-]*$/
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must not get into a line or a terminal
const CONTROLS = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]+/g
const PLACEHOLDER = /\{([^{}]*)\}/

/** A value of an annotation, and the text before it. */
interface Part {
  readonly before: string
  readonly value: LocationField | typeof IP
}

/** An annotation that is parsed: its values, and the text after the last one. */
interface Annotation {
  readonly parts: readonly Part[]
  readonly after: string
}

/**
 * Reads an annotation, such as `{ip} [{country_code} {city}]`.
 *
 * @throws TypeError when it does not have `{ip}` once and a field, has another name in braces, or a control character
 */
function parsed(text: string): Annotation {
  const known = ALL_FIELDS.map((field) => `{${field}}`).join(', ')
  // Texts are at even indexes, and names at odd ones.
  const pieces = text.split(PLACEHOLDER)
  const parts = pieces.flatMap((name, index): Part[] => {
    if (index % 2 === 0) return []
    const value = name === IP ? IP : ALL_FIELDS.find((field) => field === name)
    if (value !== undefined) return [{ before: pieces[index - 1] ?? '', value }]
    throw wrongOption`<annotate> has {${name}}, which is none of {ip}, ${known}`
  })
  if (parts.filter(({ value }) => value === IP).length !== 1 || parts.length === 1) {
    throw wrongOption`<annotate> must have {ip} once, and one or more of ${known}`
  }
  if (text.replace(CONTROLS, '') !== text) throw wrongOption`<annotate> must be one line of text`
  return { parts, after: pieces.at(-1) ?? '' }
}

/**
 * The template that writes an annotation, with `ADDRESS_MARK` for the address, unless the annotation begins with it. It
 * writes nothing for a location that knows none of the values.
 *
 * An unknown value is left out, and so is a separator that is not between two known ones: `[GB]` and not `[GB ]`. Control
 * characters in values become blanks.
 *
 * @throws TypeError when the annotation is wrong
 */
export function annotationTemplate(text: string): LocationTemplate {
  const { parts, after } = parsed(text)
  const fields = parts.flatMap(({ value }) => (value === IP ? [] : [value]))
  const rendered = (textFor: (field: LocationField) => string): string => {
    if (fields.every((field) => textFor(field) === '')) return ''
    let written = ''
    let isAfterValue = false
    for (const [index, { before, value }] of parts.entries()) {
      const known = value === IP ? ADDRESS : textFor(value)
      const isSeparator = index > 0 && SEPARATOR.test(before)
      if (!isSeparator) isAfterValue = false
      if (!isSeparator || (isAfterValue && known !== '')) written += before
      written += known
      isAfterValue ||= known !== ''
    }
    return (written + after).replace(new RegExp(`^${ADDRESS}`), '')
  }
  const plain = (value: string | null): string => (value ?? '').replace(CONTROLS, ' ').trim()
  return [
    {
      // The whole text depends on the offset, because of the separators beside it.
      from: 'location',
      hasOffset: fields.includes('timezone_offset'),
      text: ({ text: offset }, location, locale) => {
        const textOf = fieldTexts(location, locale)
        return rendered((field) => plain(field === 'timezone_offset' ? offset : textOf(field)))
      },
    },
  ]
}
