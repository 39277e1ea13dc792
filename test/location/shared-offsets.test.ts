import { afterEach, describe, expect, it, vi } from 'vitest'

const WINDOW = 3400

/** A thread of its own: the module has the state of one thread. */
async function thread(): Promise<typeof import('../../src/location/shared-offsets.ts')> {
  vi.resetModules()
  return import('../../src/location/shared-offsets.ts')
}

afterEach(() => vi.restoreAllMocks())

describe('offsets that threads share', () => {
  it('are known to the other threads', async () => {
    const first = await thread()
    const memory = first.shareOffsets()
    expect(first.shareOffsets()).toBe(memory)
    const second = await thread()
    second.attachOffsets(memory)
    expect(second.sharedOffset('europe/london', WINDOW)).toBeUndefined()
    for (const minutes of [0, 60, -570, 840, -913, 913]) {
      first.shareOffset('europe/london', WINDOW, minutes)
      expect(second.sharedOffset('europe/london', WINDOW)).toBe(minutes)
    }
    expect(second.sharedOffset('europe/london', WINDOW + 1)).toBeUndefined()
    expect(second.sharedOffset('asia/tokyo', WINDOW)).toBeUndefined()
    second.shareOffset('asia/tokyo', WINDOW + 1, 540)
    expect(first.sharedOffset('asia/tokyo', WINDOW + 1)).toBe(540)
    expect(second.shareOffsets()).toBe(memory)
  })

  it.each([
    ['an unknown zone', 'mars/olympus', WINDOW, 60, undefined],
    ['an unknown offset', 'europe/london', WINDOW, null, undefined],
    ['a window before 1970', 'europe/london', -1, 0, undefined],
    ['the last window', 'europe/london', 2 ** 18 - 1, 913, 913],
    ['a window after 6278', 'europe/london', 2 ** 18, 0, undefined],
  ])('of %s', async (_, id, window, minutes, shared) => {
    const { shareOffset, shareOffsets, sharedOffset } = await thread()
    shareOffsets()
    shareOffset(id, window, minutes)
    expect(sharedOffset(id, window)).toBe(shared)
  })

  it('are not kept before they are shared, nor in memory of another size', async () => {
    const { attachOffsets, shareOffset, sharedOffset } = await thread()
    shareOffset('europe/london', WINDOW, 60)
    expect(sharedOffset('europe/london', WINDOW)).toBeUndefined()
    attachOffsets(new SharedArrayBuffer(8))
    shareOffset('europe/london', WINDOW, 60)
    expect(sharedOffset('europe/london', WINDOW)).toBeUndefined()
  })

  it('are none on platforms without a list of zones', async () => {
    const { shareOffset, shareOffsets, sharedOffset } = await thread()
    const { supportedValuesOf } = Intl
    Reflect.set(Intl, 'supportedValuesOf', undefined)
    try {
      expect(shareOffsets().byteLength).toBe(0)
      shareOffset('europe/london', WINDOW, 60)
      expect(sharedOffset('europe/london', WINDOW)).toBeUndefined()
    } finally {
      Reflect.set(Intl, 'supportedValuesOf', supportedValuesOf)
    }
  })
})
