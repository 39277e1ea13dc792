// The short form of `npm run fuzz`: some random inputs for each target, and all seeds.
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { seedsOf } from './seeds.ts'
import { TARGETS } from './targets.ts'

describe.each(TARGETS)('$name', (target) => {
  const seeds = seedsOf(target.name)

  it('has seeds', () => expect(seeds.length).toBeGreaterThan(0))

  it.each(seeds)('holds for the seed %s', (_, { note, input }) => {
    expect(note).not.toBe('')
    target.check(input)
  })

  it('holds for random inputs', () => {
    fc.assert(
      fc.property(target.inputs, (input) => target.check(input)),
      { numRuns: target.shortRuns },
    )
  })
})

describe('the seeds', () => {
  it('belong to targets', () => {
    const folder = join(import.meta.dirname, 'seeds')
    const names: readonly string[] = TARGETS.map(({ name }) => name)
    expect(existsSync(folder) ? readdirSync(folder).filter((name) => !names.includes(name)) : []).toEqual([])
  })
})
