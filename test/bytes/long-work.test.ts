import { afterEach, describe, expect, it, vi } from 'vitest'
import { atOnce, type Steps, withPauses } from '../../src/bytes/long-work.ts'

/** Work of a few steps that take the given time, as the clock says. */
function* work(steps: number, milliseconds: number): Steps<string> {
  for (let i = 0; i < steps; i++) {
    vi.advanceTimersByTime(milliseconds)
    yield
  }
  return 'done'
}

class UnsupportedChannel {
  constructor() {
    throw new Error('A Node.js API is used (MessageChannel) which is not supported in the Edge Runtime.')
  }
}

afterEach(() => void vi.useRealTimers())

describe('work in steps', () => {
  it('is done at once', () => {
    vi.useFakeTimers({ toFake: ['performance'] })
    expect(atOnce(work(3, 100))).toBe('done')
  })

  it.each([
    ['messages', MessageChannel, undefined],
    ['timers, where there are no messages', undefined, undefined],
    ['timers, in Deno', null, {}],
    // As Next.js's edge runtime: the class exists.
    ['timers, where a channel cannot be made', UnsupportedChannel, undefined],
  ])('pauses when it has taken long, with %s', async (_, channel, deno) => {
    vi.stubGlobal('MessageChannel', channel)
    vi.stubGlobal('Deno', deno)
    vi.useFakeTimers({ toFake: ['performance'] })
    const turns = async (milliseconds: number): Promise<number> => {
      let count = 0
      let isRunning = true
      const turn = (): void => {
        count++
        if (isRunning) setImmediate(turn)
      }
      setImmediate(turn)
      expect(await withPauses(work(10, milliseconds))).toBe('done')
      isRunning = false
      return count
    }
    expect(await turns(0)).toBe(0)
    expect(await turns(4)).toBeGreaterThan(2)
  })

  it('ends with the reason of a signal', async () => {
    vi.useFakeTimers({ toFake: ['performance'] })
    const controller = new AbortController()
    const working = withPauses(work(100, 5), controller.signal)
    controller.abort(new Error('enough'))
    await expect(working).rejects.toThrow('enough')
  })
})
