import { afterEach, describe, expect, it, vi } from 'vitest'
import { DUE, IDLE_FLUSH_MS, LiveReader, MAX_LINE_AGE_MS } from '../../src/enrich/live-reader.ts'

afterEach(() => {
  vi.useRealTimers()
})

const CHUNK = Uint8Array.of(1)

/** A source that gives a chunk when it is told to. */
function manual() {
  const waiting: ((chunk: Uint8Array | null) => void)[] = []
  return {
    read: vi.fn(() => new Promise<Uint8Array | null>((resolve) => waiting.push(resolve))),
    give: (chunk: Uint8Array | null) => waiting.shift()?.(chunk),
  }
}

describe('LiveReader', () => {
  it('says that lines are due after a pause, once, and loses nothing over it', async () => {
    vi.useFakeTimers()
    const source = manual()
    const reader = new LiveReader(source, true)
    const first = reader.next()
    source.give(CHUNK)
    expect(await first).toBe(CHUNK)
    const due = reader.next()
    await vi.advanceTimersByTimeAsync(IDLE_FLUSH_MS - 1)
    expect(vi.getTimerCount()).toBe(1)
    await vi.advanceTimersByTimeAsync(1)
    expect(await due).toBe(DUE)
    const late = reader.next()
    await vi.advanceTimersByTimeAsync(10_000)
    expect(vi.getTimerCount()).toBe(0)
    source.give(CHUNK)
    expect(await late).toBe(CHUNK)
    const end = reader.next()
    source.give(null)
    expect(await end).toBeNull()
    expect(source.read).toHaveBeenCalledTimes(3)
  })

  it('says that lines are due although more come all the time (trial fault 3)', async () => {
    vi.useFakeTimers()
    const startedAt = performance.now()
    let chunks = 0
    const read = async () => {
      await new Promise((resolve) => setTimeout(resolve, 20))
      chunks++
      return CHUNK
    }
    const reader = new LiveReader({ read }, true)
    const reading = (async () => {
      for (;;) if ((await reader.next()) === DUE) return performance.now() - startedAt
    })()
    await vi.advanceTimersByTimeAsync(1000)
    // The first chunk came after 20 milliseconds.
    expect(await reading).toBe(MAX_LINE_AGE_MS + 20)
    expect(chunks).toBeGreaterThan(5)
  })

  it('says so too where the source lets no timer fire', async () => {
    const reader = new LiveReader({ read: async () => CHUNK }, true)
    const startedAt = performance.now()
    while ((await reader.next()) !== DUE) expect(performance.now() - startedAt).toBeLessThan(5000)
    expect(performance.now() - startedAt).toBeGreaterThanOrEqual(MAX_LINE_AGE_MS - 1)
  })

  it('never says so of a file, however slow it is', async () => {
    vi.useFakeTimers()
    const source = manual()
    const reader = new LiveReader(source, false)
    const first = reader.next()
    source.give(CHUNK)
    await first
    const second = reader.next()
    await vi.advanceTimersByTimeAsync(10_000)
    source.give(CHUNK)
    expect(await second).toBe(CHUNK)
  })

  it('fails with what its source fails with', async () => {
    let count = 0
    const read = async () => {
      if (count++ > 0) throw new Error('gone')
      return CHUNK
    }
    const reader = new LiveReader({ read }, true)
    await reader.next()
    await expect(reader.next()).rejects.toThrow('gone')
  })
})
