import { PassThrough } from 'node:stream'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import {
  Progress,
  progressText,
  type RunFacts,
  statisticsJson,
  statisticsText,
} from '../../../src/cli/enrich/statistics.ts'
import { type Counts, emptyCounts } from '../../../src/enrich/counting/counts.ts'

const FACTS: RunFacts = {
  inputs: ['access.log'],
  format: 'access-log',
  countries: new Map(),
  otherCountries: 0,
  hasInstant: false,
  badLines: [],
  doubtfulLines: [],
  bytesRead: 2_000_000,
  bytesWritten: 3_000_000,
  others: [],
  threads: 2,
  seconds: 2,
}

function tallyWith(changes: Partial<Counts>): Counts {
  return { ...emptyCounts(), ...changes }
}

function countries(
  ...counts: [code: string | null, name: string | null, count: number][]
): RunFacts['countries'] {
  return new Map(counts.map(([code, name, count]) => [code ?? name ?? '', { code, name, count }]))
}

describe('statisticsText', () => {
  it('says if there are too many countries to list', () => {
    const facts = { ...FACTS, countries: countries(['FR', 'France', 2]), otherCountries: 1 }
    expect(statisticsText(tallyWith({ lines: 3, resolved: 3 }), facts)).toContain(
      '  countries     over 1: France 2',
    )
  })

  it('has a row for each kind of line that occurred', () => {
    const counts = tallyWith({
      lines: 1000,
      resolved: 890,
      excluded: 10,
      bad: 7,
      blank: 13,
      withoutTime: 25,
    })
    counts.failed.private = 30
    counts.failed.malformed = 50
    const badLines = [{ input: 'a\u001b[2J.log', line: 1234, message: 'no\u0007 JSON' }]
    const named = countries(['GB', 'United Kingdom', 500], ['FR', 'France', 400])
    expect(statisticsText(counts, { ...FACTS, badLines, countries: named }).split('\n')).toEqual([
      '1,000 lines, 2 MB in 2 s on 2 threads: 500 lines/s',
      '  resolved      890 (89.0%)',
      '  not resolved  80 (8.0%): 50 malformed, 30 private',
      '  blank         13 (1.3%)',
      '  left out      10 (1.0%): other countries',
      '  unreadable    7 (0.7%)',
      // Nothing of an input controls a terminal.
      '    a\ufffd[2J.log, line 1,234: no\ufffd JSON',
      '    and 6 more',
      '    to read lines of several forms: --format text',
      '  without time  25 (2.5%): the offset is unknown unless --at says when',
      '  countries     2: United Kingdom 500, France 400',
    ])
  })

  it('has two rows for an empty input, and a rate of 0 in 0 seconds', () => {
    expect(statisticsText(emptyCounts(), { ...FACTS, bytesRead: 0, threads: 1, seconds: 0 })).toBe(
      '0 lines, 0 bytes in 0 s on 1 thread: 0 lines/s\n  resolved      0 (–)',
    )
  })

  it('says which offset lines without a time have', () => {
    const counts = tallyWith({ lines: 2, withoutTime: 2 })
    expect(statisticsText(counts, { ...FACTS, hasInstant: true })).toContain('the offset is that of --at')
  })

  it('shows all bad lines if there are few', () => {
    const badLines = [{ input: 'a', line: 1, message: 'no JSON' }]
    const text = statisticsText(tallyWith({ lines: 1, bad: 1 }), { ...FACTS, badLines })
    expect(text).toContain('a, line 1: no JSON')
    expect(text).not.toContain('more')
  })

  it('names a country by its name, else by its code', () => {
    const facts = { ...FACTS, countries: countries(['GB', null, 3], [null, 'Atlantis', 2], [null, null, 1]) }
    expect(statisticsText(emptyCounts(), facts)).toContain('countries     3: GB 3, Atlantis 2, unknown 1')
  })
})

describe('statisticsJson', () => {
  it('lists ten countries, the largest first, and equal ones by code', () => {
    const codes = ['ZA', 'AT', 'CH', 'DE', 'ES', 'FR', 'GB', 'IT', 'NL', 'PL', 'BE']
    const counts = codes.map((code): [string, null, number] => [code, null, code === 'PL' ? 9 : 1])
    const topOf = (...order: [string, null, number][]): string[] =>
      JSON.parse(
        statisticsJson(emptyCounts(), { ...FACTS, countries: countries(...order) }),
      ).topCountries.map(({ code }: { code: string }) => code)
    const expected = ['PL', 'AT', 'BE', 'CH', 'DE', 'ES', 'FR', 'GB', 'IT', 'NL']
    expect(topOf(...counts)).toEqual(expected)
    expect(topOf(...counts.toReversed())).toEqual(expected)
  })

  it('rounds seconds to thousandths, and the rate to an integer', () => {
    const { seconds, linesPerSecond, distinctCountries } = JSON.parse(
      statisticsJson(tallyWith({ lines: 10 }), { ...FACTS, seconds: 1.23456 }),
    )
    expect({ seconds, linesPerSecond, distinctCountries }).toEqual({
      seconds: 1.235,
      linesPerSecond: 8,
      distinctCountries: 0,
    })
  })
})

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
    // An export has read this share of the addresses.
    [
      { bytes: 5_000_000, size: null, lines: 100_000, share: 0.412 },
      5,
      '41.2% · 5 MB · 20,000 lines/s · 5 s',
    ],
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
  beforeEach(() => void vi.useFakeTimers())
  afterEach(() => void vi.useRealTimers())
  const pause = (milliseconds: number) => vi.advanceTimersByTimeAsync(milliseconds)

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
