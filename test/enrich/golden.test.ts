import { describe, expect, it } from 'vitest'
import { createRowEnricher } from '../../src/enrich.ts'
import { CASES, golden, ROWS } from './golden/cases.ts'
import { concatenated, enrichBytes, enrichRows, openWorld } from './world.ts'

const AT = Date.UTC(2026, 6, 28)

describe('golden files', () => {
  it.each(CASES)('%s with %j is %s', (input, options, expected) => {
    for (const blockBytes of [1_048_576, 100]) {
      const { output } = enrichBytes(golden(input), { at: AT, ...options }, blockBytes)
      expect(new TextDecoder('latin1').decode(output)).toBe(
        new TextDecoder('latin1').decode(golden(expected)),
      )
    }
  })
})

describe('golden files of rows', () => {
  const linesOf = (bytes: Uint8Array): number => bytes.filter((byte) => byte === 0x0a).length

  it.each(ROWS)('%s with %j is %s', async (input, options, expected) => {
    const rows = golden(input)
    const wanted = new TextDecoder('latin1').decode(golden(expected))
    for (const chunkBytes of [1_048_576, 7, 1]) {
      const output = enrichRows(rows, { at: AT, ...options }, chunkBytes)
      expect(new TextDecoder('latin1').decode(output)).toBe(wanted)
      expect(linesOf(output)).toBe(linesOf(rows))
    }
    const enrich = createRowEnricher({ resolver: await openWorld(), at: AT, ...options })
    const lineFeed = Uint8Array.of(0x0a)
    const output = concatenated(enrich(rows).flatMap((row) => [row, lineFeed]))
    expect(new TextDecoder('latin1').decode(output)).toBe(wanted.endsWith('\n') ? wanted : `${wanted}\n`)
  })
})
