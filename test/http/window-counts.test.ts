import fc from 'fast-check'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { WindowCounts } from '../../src/http/window-counts.ts'

afterEach(() => void vi.useRealTimers())

describe('counts of windows', () => {
  it('are those of a window that starts with its first request, for every key', () => {
    const requests = fc.array(fc.record({ who: fc.constantFrom('a', 'b', 'c'), wait: fc.nat(3000) }))
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 2000 }), requests, (ms, all) => {
        vi.useFakeTimers({ toFake: ['performance'] })
        const counts = new WindowCounts(ms)
        // Keeps everything.
        const starts = new Map<string, { start: number; count: number }>()
        let now = 0
        for (const { who, wait } of all) {
          vi.advanceTimersByTime(wait)
          now += wait
          let window = starts.get(who)
          if (window === undefined || now - window.start >= ms) {
            window = { start: now, count: 0 }
            starts.set(who, window)
          }
          window.count++
          expect(counts.add(who)).toEqual({ count: window.count, msBeforeNext: window.start + ms - now })
        }
        vi.useRealTimers()
      }),
    )
  })
})
