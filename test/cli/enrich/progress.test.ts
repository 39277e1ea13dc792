import { PassThrough } from 'node:stream'
import { describe, expect, it } from 'vitest'
import { Progress, progressText } from '../../../src/cli/enrich/progress.ts'

describe('progressText', () => {
  it.each([
    // A file: share, rate, time left by the rate so far.
    [
      { bytes: 375_000_000, size: 1_000_000_000, lines: 2_000_000 },
      10,
      '37.5% of 1 GB · 200,000 lines/s · 17 s left',
    ],
    [{ bytes: 999_999_999, size: 1_000_000_000, lines: 9 }, 100, '>99.9% of 1 GB · 0 lines/s · 1 s left'],
    // Too early to say what is left.
    [{ bytes: 1, size: 1_000_000_000, lines: 1 }, 0.5, '<0.1% of 1 GB · 2 lines/s · 0 s'],
    // A pipe does not say how much will come.
    [{ bytes: 5_000_000, size: null, lines: 100 }, 65, '5 MB · 2 lines/s · 1 min 5 s'],
    [{ bytes: 0, size: null, lines: 0 }, 0, '0 byte · 0 s'],
    // Nothing yet.
    [{ bytes: 0, size: 10, lines: 0 }, 3, '0% of 10 byte · 0 lines/s · 3 s'],
  ])('of %j after %d s', (position, seconds, text) => {
    expect(progressText(position, seconds)).toBe(text)
  })
})

describe('Progress', () => {
  it('is taken off the terminal at the end', async () => {
    const stderr = Object.assign(new PassThrough(), { isTTY: true, columns: 80, rows: 24 })
    const progress = new Progress(stderr, () => ({ bytes: 1000, size: null, lines: 5 }))
    await new Promise((resolve) => setTimeout(resolve, 400))
    progress.stop()
    const shown = String(stderr.read())
    expect(shown).toContain('1 kB · ')
    // The last thing is to erase the line.
    const erase = '\u001b[2K'
    expect(shown.lastIndexOf(erase)).toBeGreaterThan(shown.lastIndexOf('1 kB'))
    await new Promise((resolve) => setTimeout(resolve, 200))
    expect(stderr.read()).toBeNull()
  })
})
