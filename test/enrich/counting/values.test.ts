import { describe, expect, it } from 'vitest'
import { NO_CODE, Tuples } from '../../../src/enrich/counting/values.ts'
import { heldMemory } from '../../heap.ts'

const cityOf = (name: string, index: number) => {
  return ['GB', 'United Kingdom', 'GB-ENG', name, name + index, 51.5, -0.5]
}

describe('the values of locations', () => {
  it('have room for more cities than there are', () => {
    const tuples = new Tuples()
    for (let index = 0; index < 400_000; index += 1) tuples.code(cityOf('Nouvelle-Aquitaine', index), true)
    expect(tuples.size).toBe(400_000)
  })

  it('are limited to some megabytes of names; the others have no code', () => {
    const before = heldMemory()
    const tuples = new Tuples()
    const name = 'Ж'.repeat(250)
    for (let index = 0; index < 120_000; index++) tuples.code(cityOf(name, index), true)
    expect(tuples.size).toBeGreaterThan(80_000)
    expect(tuples.size).toBeLessThan(100_000)
    expect(heldMemory() - before).toBeLessThan(2 ** 28)
    // What has a code keeps it.
    expect(tuples.code(cityOf(name, 7), true)).toBe(7)
    expect(tuples.code(cityOf(name, 119_999), true)).toBe(NO_CODE)
  })
})
