import { describe, expect, it } from 'vitest'
import type { EnrichOptions } from '../../../src/enrich.ts'
import { located } from '../world.ts'

const FIRST = '0,81.2.69.142,first\n'

function enriched(input: string, options: EnrichOptions = {}) {
  const table = { format: 'csv', header: false, field: '2', fields: ['country_code'], force: true } as const
  const { output, counts } = located(FIRST + input, { ...table, ...options })
  expect(output.startsWith('0,81.2.69.142,first,GB\n')).toBe(true)
  return { output: output.slice(output.indexOf('\n') + 1), ...counts }
}

const rows = (count: number, from = 1): string =>
  Array.from({ length: count }, (_, n) => `${n + from},81.2.69.142,ok\n`).join('')

describe('a quote that is stray', () => {
  it('loses no row: the next quote opens another field', () => {
    const { output, bad, badLines, doubtful, doubtfulLines, resolved } = enriched(
      '1,81.2.69.142,"oops\n2,81.2.69.142,ok\n3,81.2.69.142,ok\n4,81.2.69.142,"x" y\n5,81.2.69.142,ok\n',
    )
    expect(output).toBe(
      '1,81.2.69.142,"oops\n2,81.2.69.142,ok,GB\n3,81.2.69.142,ok,GB\n4,81.2.69.142,"x" y,GB\n5,81.2.69.142,ok,GB\n',
    )
    expect({ bad, badLines, resolved }).toEqual({
      bad: 1,
      badLines: [{ line: 2, message: 'the quote that opens its field 3 is not closed' }],
      resolved: 5,
    })
    expect({ doubtful, doubtfulLines }).toEqual({
      doubtful: 1,
      doubtfulLines: [
        { line: 5, message: 'text follows the closing quote of its field 3: look at its quotes' },
      ],
    })
  })

  it('makes only its own row doubtful, and no blank line after it', () => {
    const { doubtful, doubtfulLines } = enriched('1,81.2.69.142,"x" y\n\n2,81.2.69.142,ok\n\n')
    expect({ doubtful, doubtfulLines }).toEqual({
      doubtful: 1,
      doubtfulLines: [
        { line: 2, message: 'text follows the closing quote of its field 3: look at its quotes' },
      ],
    })
  })

  it.each([
    // Line ends and blanks after a closing quote are no text.
    ['1,81.2.69.142,"a\nb"\r\n', 0],
    ['1,81.2.69.142,"a\nb" \t\r\n', 0],
    ['1,81.2.69.142,"a\nb"\r', 0],
    ['1,81.2.69.142,"a\n""b"""\n', 0],
    ['1,81.2.69.142,"a\nb" c\n', 2],
    ['1,81.2.69.142,"a\nb"c\n', 2],
    ['1,81.2.69.142,"a\nb"\rc\n', 2],
  ])('is known by the text after it: %j', (input, bad) => {
    const run = enriched(input)
    expect(run.bad).toBe(bad)
    expect(run.resolved).toBe(bad === 0 ? 2 : 1)
  })

  it('ends with the bound of lines, and the next row is read', () => {
    const open = '0,81.2.69.142,"oops\n'
    for (const [maxRecordLines, count, bad] of [
      [undefined, 999, 0],
      [undefined, 1000, 1],
      [5, 4, 0],
      [5, 5, 1],
      [1, 1, 1],
    ] as const) {
      const run = enriched(`${open}${rows(count - 1)}9,81.2.69.142,",\n${rows(3)}`, { maxRecordLines })
      const isJoined = bad === 0
      // Without the bound, the quote of the last row closes the field: the record has one column too many.
      expect(run.bad).toBe(isJoined ? 1 : 2)
      expect(run.resolved).toBe(isJoined ? 4 : count - 1 + 4)
    }
  })

  it('is shown with its line if it joins many rows', () => {
    const { doubtfulLines, resolved } = enriched(`${rows(7)}8,81.2.69.142,"oops\n${rows(20)}"\n${rows(5)}`)
    expect(doubtfulLines).toEqual([{ line: 9, message: 'its record has 22 lines: look at its quotes' }])
    expect(resolved).toBe(1 + 7 + 1 + 5)
  })

  it('does not take quadratic time, whatever follows it', () => {
    const chain = `0,81.2.69.142,"a\n${'b","c\n'.repeat(100_000)}x" y\n`
    expect(enriched(chain).lines).toBeGreaterThan(90_000)
    const open = `${'0,81.2.69.142,"""a\n'.repeat(50_000)}`
    expect(enriched(open).lines).toBeGreaterThan(20_000)
  })
})
