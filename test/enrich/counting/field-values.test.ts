import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { FieldNumber } from '../../../src/enrich/counting/field-values.ts'
import { utf8 } from '../world.ts'

/** The number of a text; `null` for a line without the field. */
function numberOf(text: string | null): number {
  const bytes = utf8(`x${text}y`)
  const number = new FieldNumber(0, {
    bytes,
    start: 1,
    end: bytes.length - 1,
    findCounted: () => text !== null,
  })
  number.read()
  return number.value
}

describe('the number of a field', () => {
  it('is that of its digits, and 0 without one', () => {
    fc.assert(
      fc.property(fc.option(fc.nat(2 ** 40)), (number) => {
        expect(numberOf(number === null ? null : String(number))).toBe(number ?? 0)
      }),
    )
  })

  it.each([
    ['1.5', 1.5],
    ['', 0],
    ['007', 7],
    ['1e3', 1000],
    [' 12 ', 12],
    ['9007199254740992000', 9007199254740992000],
    ['-1', Number.NaN],
    ['none', Number.NaN],
    ['1２', Number.NaN],
  ])('of %j is %s', (text, expected) => {
    expect(numberOf(text)).toBe(expected)
  })
})
