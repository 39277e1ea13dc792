import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { FieldSum } from '../../../src/enrich/counting/field-values.ts'
import { utf8 } from '../world.ts'

/** The sum of texts; `null` for a line without the field. */
function sumOf(texts: readonly (string | null)[]): number | null {
  const values = { bytes: utf8(''), start: 0, end: 0, find: () => true }
  const sum = new FieldSum(0, values)
  for (const text of texts) {
    values.find = () => text !== null
    values.bytes = utf8(`x${text}y`)
    values.start = 1
    values.end = values.bytes.length - 1
    sum.add()
  }
  return sum.take()
}

describe('the sum of a field', () => {
  it('is that of the numbers', () => {
    fc.assert(
      fc.property(fc.array(fc.option(fc.nat(2 ** 40))), (numbers) => {
        const texts = numbers.map((number) => (number === null ? null : String(number)))
        expect(sumOf(texts)).toBe(numbers.reduce<number>((all, number) => all + (number ?? 0), 0))
      }),
    )
  })

  it.each([
    [['1.5', '2', '', '007'], 10.5],
    [['1e3', ' 12 '], 1012],
    [['9007199254740992000'], 9007199254740992000],
    [['12', '-1'], null],
    [['12', 'none'], null],
    [['12', '1２'], null],
  ])('of %j is %s', (texts, expected) => {
    expect(sumOf(texts)).toBe(expected)
  })
})
