import { PassThrough } from 'node:stream'
import { describe, expect, it } from 'vitest'
import { Progress, progressText } from '../../../src/cli/enrich/statistics.ts'

describe('progressText', () => {
  it.each([
    // A file: share, rate, and the time left at that rate.
    [
      { bytes: 375_000_000, size: 1_000_000_000, lines: 2_000_000 },
      10,
      '37.5% of 1 GB · 200,000 lines/s · 17 s left',
    ],
    [{ bytes: 999_999_999, size: 1_000_000_000, lines: 9 }, 100, '>99.9% of 1 GB · 0 lines/s · 1 s left'],
    // Too early to estimate the time left.
    [{ bytes: 1, size: 1_000_000_000, lines: 1 }, 0.5, '<0.1% of 1 GB · 2 lines/s · 0 s'],
    // A pipe has no known size.
    [{ bytes: 5_000_000, size: null, lines: 100 }, 65, '5 MB · 2 lines/s · 1 min 5 s'],
    [{ bytes: 0, size: null, lines: 0 }, 0, '0 bytes · 0 s'],
    // Nothing read yet.
    [{ bytes: 0, size: 10, lines: 0 }, 3, '0% of 10 bytes · 0 lines/s · 3 s'],
  ])('of %j after %d s', (position, seconds, text) => {
    expect(progressText(position, seconds)).toBe(text)
  })
})

describe('Progress', () => {
  function terminal(columns: number) {
    return Object.assign(new PassThrough(), { isTTY: true, columns })
  }
  const position = () => ({ bytes: 1000, size: null, lines: 5 })
  const pause = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds))

  it('rewrites its line, and erases it at the end', async () => {
    const stderr = terminal(80)
    const progress = new Progress(stderr, position)
    await pause(400)
    progress.stop()
    const shown = String(stderr.read())
    // From the first column: the text, then the rest of the line is erased.
    expect(shown.split('\x1b[1G').slice(0, 3)).toEqual([
      '',
      expect.stringMatching(/^1 kB · .* s.\[0K$/),
      expect.stringMatching(/^1 kB · .* s.\[0K$/),
    ])
    expect(shown.endsWith('\x1b[1G\x1b[2K')).toBe(true)
    await pause(200)
    expect(stderr.read()).toBeNull()
  })

  it('erases the line for other output until the next update', async () => {
    const stderr = terminal(80)
    const progress = new Progress(stderr, position)
    progress.clear()
    expect(stderr.read()).toBeNull()
    await pause(200)
    stderr.read()
    progress.clear()
    progress.clear()
    expect(String(stderr.read())).toBe('\x1b[1G\x1b[2K')
    await pause(200)
    expect(String(stderr.read())).toContain('1 kB · ')
    progress.stop()
  })

  it('stays within one row of a narrow terminal', async () => {
    const stderr = terminal(10)
    const progress = new Progress(stderr, position)
    await pause(200)
    progress.stop()
    expect(String(stderr.read())).toMatch(/^.\[1G1 kB · \d\d.\[0K/)
  })
})
