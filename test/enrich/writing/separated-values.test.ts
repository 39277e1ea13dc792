import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { viewOf } from '../../../src/enrich/swar.ts'
import { CellText, cellRoom, valueText } from '../../../src/enrich/writing/separated-values.ts'
import { bytesOf, text } from '../world.ts'

describe('CellText', () => {
  it.each(['csv', 'tsv'] as const)('writes any bytes as valueText writes their text, for %s', (form) => {
    const cell = new CellText(form)
    const bytes = fc.oneof(
      fc.uint8Array({ maxLength: 30 }),
      fc.string({ unit: fc.constantFrom(...'ab ,\t"\\\r\n\x7f\xa0\xff'), maxLength: 12 }).map(bytesOf),
    )
    fc.assert(
      fc.property(bytes, fc.nat({ max: 3 }), (value, at) => {
        const memory = new Uint8Array(40 + at + cellRoom(value.length))
        memory.set(value, at)
        const from = at + value.length
        const end = cell.put(memory, at, from, memory, from)
        expect(text(memory.subarray(from, end))).toBe(valueText(text(value), form))
        expect(end - from).toBeLessThanOrEqual(cellRoom(value.length))
      }),
    )
  })

  it.each(['csv', 'tsv'] as const)('looks at no byte after a text without escapes, for %s', (form) => {
    const cell = new CellText(form)
    const value = fc.string({ unit: fc.constantFrom(...'ab ,~'), maxLength: 20 })
    fc.assert(
      fc.property(value, fc.constantFrom(0, 0x2c, 0x80, 0xff), (value, after) => {
        const memory = new Uint8Array(80).fill(after)
        memory.set(bytesOf(value), 1)
        const end = cell.putAscii(memory, viewOf(memory), 1, 1 + value.length, 40)
        expect(text(memory.subarray(40, end))).toBe(valueText(value, form))
      }),
    )
  })
})
