import { describe, expect, it } from 'vitest'
import { bytesText, durationText, shareText, shortCountText } from '../../src/cli/figures.ts'

describe('figures', () => {
  it.each([
    [0, 10, '0%'],
    [10, 10, '100%'],
    [1, 3, '33.3%'],
    // Inexact shares are never 0% or 100%.
    [1, 1_000_000, '<0.1%'],
    [999_999, 1_000_000, '>99.9%'],
    [1, 1000, '0.1%'],
    [999, 1000, '99.9%'],
    [0, 0, '–'],
  ])('show %d of %d as %s', (part, whole, text) => {
    expect(shareText(part, whole)).toBe(text)
  })

  it.each([
    [12_345, '12.3K'],
    [1_000_000, '1M'],
  ])('shorten %d to %s', (count, text) => {
    expect(shortCountText(count)).toBe(text)
  })

  it.each([
    [0.0042, '0.0042 s'],
    [1.314, '1.3 s'],
    [42.04, '42 s'],
    [60, '1 min'],
    [3599.7, '60 min'],
    [7500, '2 h 5 min'],
  ])('show %d seconds as %s', (seconds, text) => {
    expect(durationText(seconds)).toBe(text)
  })

  it.each([
    [0, '0 bytes'],
    [999, '999 bytes'],
    [1000, '1 kB'],
    [163_400_000, '163 MB'],
    [2e15, '2,000 TB'],
  ])('show %d bytes as %s', (bytes, text) => {
    expect(bytesText(bytes)).toBe(text)
  })
})
