// What only the core does. The other tests of resolvers are for both entries.
import { describe, expect, it } from 'vitest'
import { CoreResolver } from '../src/core-resolver.ts'

describe('the core, without a source', () => {
  const open = (...args: unknown[]): unknown => Reflect.apply(CoreResolver.open, CoreResolver, args)
  const openSync = (...args: unknown[]): unknown => Reflect.apply(CoreResolver.openSync, CoreResolver, args)

  it.each([
    ['open', open],
    ['openSync', openSync],
  ])('%s says what it is and what to do', async (_, method) => {
    for (const args of [[], [undefined, {}]]) {
      const opening = async (): Promise<unknown> => method(...args)
      await expect(opening()).rejects.toMatchObject({
        name: 'InvalidDatabaseError',
        code: 'INVALID_DATABASE',
      })
      await expect(opening()).rejects.toThrow(/this is geofix\/core, the entry for browsers/)
      await expect(opening()).rejects.toThrow(
        /with rollup\(\) of geofix\/bundler, nodeResolve\(\{ exportConditions/,
      )
    }
  })
})
