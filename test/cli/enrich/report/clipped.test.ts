import { describe, expect, it } from 'vitest'
import { clipped } from '../../../../src/cli/enrich/report/clipped.ts'

describe('clipped', () => {
  it.each([
    ['', 3, ''],
    ['abc', 3, 'abc'],
    ['abcd', 3, 'ab…'],
    // Three characters of two halves each.
    ['🌍🌍🌍', 3, '🌍🌍🌍'],
    ['🌍🌍🌍🌍', 3, '🌍🌍…'],
    ['🌍🌍🌍a', 3, '🌍🌍…'],
  ])('makes %j of at most %d characters %j', (text, characters, expected) => {
    expect(clipped(text, characters)).toBe(expected)
  })
})
