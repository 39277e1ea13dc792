import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { joinCity, normaliseName, splitCity } from '../../../scripts/build-data/place-name.ts'

describe('splitCity', () => {
  it.each([
    ['Los Angeles (Playa Vista)', 'Los Angeles', 'Playa Vista'],
    ['London', 'London', null],
    ['', '', null],
    ['New  York', 'New York', null], // two spaces
    ['Maputo (Central ”C”)', 'Maputo', 'Central ”C”'],
    ['A (B (C))', 'A', 'B (C)'], // brackets in the district
    ['A (B) (C)', 'A', 'B) (C'], // still joined to what it was
    ['(Centre)', '(Centre)', null], // a name of brackets only
    ['A(B)', 'A(B)', null], // no space: part of the name
    ['A (B', 'A (B', null],
    ['A (B) C', 'A (B) C', null],
    ['Cafe\u0301 (x)', 'Café', 'x'],
  ])('%j', (name, city, district) => {
    expect(splitCity(name)).toEqual({ city, district })
  })

  it('loses nothing but spaces and the normal form', () => {
    const text = fc.string({ unit: fc.constantFrom('a', 'B', ' ', '(', ')', 'é', '東') })
    fc.assert(
      fc.property(text, (name) => {
        expect(joinCity(splitCity(name))).toBe(normaliseName(name))
      }),
    )
  })
})
