import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  fold,
  foldStripped,
  joinCity,
  normaliseName,
  splitCity,
} from '../../../scripts/build-data/name-spelling.ts'

describe('splitCity', () => {
  it.each([
    ['Los Angeles (Playa Vista)', 'Los Angeles', 'Playa Vista'],
    ['London', 'London', null],
    ['New  York', 'New York', null], // two spaces
    ['A (B (C))', 'A', 'B (C)'], // parentheses in the district
    ['A (B) (C)', 'A', 'B) (C'], // joinCity restores it
    ['(Centre)', '(Centre)', null], // only parentheses
    ['A(B)', 'A(B)', null], // no space: part of the name
    ['A (B) C', 'A (B) C', null],
    ['Cafe\u0301 (x)', 'Café', 'x'],
  ])('%j', (name, city, district) => {
    expect(splitCity(name)).toEqual({ city, district })
  })

  it('keeps everything except white space and normal form', () => {
    const text = fc.string({ unit: fc.constantFrom('a', 'B', ' ', '(', ')', 'é', '東') })
    fc.assert(
      fc.property(text, (name) => {
        expect(joinCity(splitCity(name))).toBe(normaliseName(name))
      }),
    )
  })
})

describe('folding', () => {
  it.each([
    ['Île-de-France', 'ile de france'],
    ['Homyel’ Voblasc’', 'homyel voblasc'],
    ['Łódź', 'lodz'],
    ['Møre & Romsdal', 'more and romsdal'],
    ['Gəncə', 'ganca'],
    ['Sofia (stolitsa)', 'sofia'],
    ['東京', ''],
  ])('%s', (name, folded) => expect(fold(name)).toBe(folded))

  it.each([
    ['State of Berlin', 'berlin'],
    ['Lodz Voivodeship', 'lodz'],
    ['Republic', 'republic'], // only a generic word
  ])('without generic words: %s', (name, stripped) => expect(foldStripped(name)).toBe(stripped))
})
