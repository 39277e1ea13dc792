import { describe, expect, it, vi } from 'vitest'
import { remember } from '../src/remember.ts'

describe('remember', () => {
  it('makes a value on the first use of its key', () => {
    const cache = new Map<string, string | null>()
    const make = vi.fn((key: string) => (key === 'none' ? null : key.toUpperCase()))
    for (const key of ['a', 'none', 'a', 'none']) remember(cache, 10, key, make)
    expect(remember(cache, 10, 'a', make)).toBe('A')
    expect(remember(cache, 10, 'none', make)).toBeNull()
    expect(make).toHaveBeenCalledTimes(2)
  })

  it('empties a full cache', () => {
    const cache = new Map<number, number>()
    for (let key = 0; key < 100; key++) {
      expect(remember(cache, 7, key, (value) => -value)).toBe(-key)
      expect(cache.size).toBeLessThanOrEqual(7)
    }
  })

  it('caches nothing when making a value throws', () => {
    const cache = new Map([[1, 1]])
    const make = (): number => {
      throw new Error('no value')
    }
    expect(() => remember(cache, 1, 2, make)).toThrow('no value')
    expect([...cache]).toEqual([[1, 1]])
  })
})
