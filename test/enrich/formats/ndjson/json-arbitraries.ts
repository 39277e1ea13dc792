import fc from 'fast-check'
import { anyCharacter } from '../../../any-character.ts'

const blanks = fc.stringMatching(/^[ \t\r]{0,2}$/)

/** JSON texts of one value, with white space, escapes and numbers as no serialiser writes them. */
const { value } = fc.letrec<{ value: string; object: string; array: string }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    { arbitrary: scalar(), weight: 4 },
    { arbitrary: tie('object'), weight: 1 },
    { arbitrary: tie('array'), weight: 1 },
  ),
  object: objectOf(jsonString(), tie('value')),
  array: fc
    .tuple(blanks, fc.array(fc.tuple(tie('value'), blanks), { maxLength: 4 }))
    .map(([blank, items]) => `[${blank}${items.map(([item, after]) => item + after).join(`,${blank}`)}]`),
}))

export const jsonValue = value

/** A string as a JSON text, any of its characters escaped in any way. */
export function jsonString(
  content: fc.Arbitrary<string> = fc.string({ unit: anyCharacter, maxLength: 8 }),
): fc.Arbitrary<string> {
  return fc.tuple(content, fc.infiniteStream(fc.nat(5))).map(([text, ways]) => {
    let json = ''
    for (let index = 0; index < text.length; index++) {
      const unit = text.charAt(index)
      const way = ways.next().value
      if (way === 0) json += `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`
      else if (unit === '/' && way === 1) json += '\\/'
      else
        json +=
          JSON.stringify(unit).length > 3 || /["\\]/.test(unit) ? JSON.stringify(unit).slice(1, -1) : unit
    }
    // Halves of characters would not survive UTF-8.
    return `"${json.replace(/[\ud800-\udfff]/g, (half) => `\\u${half.charCodeAt(0).toString(16)}`)}"`
  })
}

export function scalar(): fc.Arbitrary<string> {
  return fc.oneof(
    jsonString(),
    fc.stringMatching(/^-?(0|[1-9]\d{0,18})(\.\d{1,20})?([eE][+-]?\d{1,3})?$/),
    fc.constantFrom('true', 'false', 'null'),
  )
}

/** An object with these names and values, in any spacing; names may come twice. */
export function objectOf(names: fc.Arbitrary<string>, values: fc.Arbitrary<string>): fc.Arbitrary<string> {
  return fc
    .tuple(blanks, blanks, fc.array(fc.tuple(names, values), { maxLength: 6 }))
    .map(
      ([before, after, members]) =>
        `{${before}${members.map(([name, each]) => `${name}${after}:${before}${each}`).join(`${after},${before}`)}${after}}`,
    )
}

/** Texts a few bytes away from JSON. */
export function damaged(json: fc.Arbitrary<string>): fc.Arbitrary<string> {
  return (
    fc
      .tuple(
        json,
        fc.nat(),
        fc.constantFrom('', 'null', ...'"\\{}[],:0-.eu \u0000\u001f\u007fé\u00a0\ufeff'),
        fc.nat(2),
      )
      .map(([text, place, insert, removed]) => {
        const at = place % (text.length + 1)
        return text.slice(0, at) + insert + text.slice(at + removed)
      })
      // A line has no line feed in it, and no half characters.
      .map((text) =>
        new TextDecoder('utf-8', { ignoreBOM: true }).decode(
          new TextEncoder().encode(text.replace(/\n/g, ' ')),
        ),
      )
  )
}
