import { describe, expect, it } from 'vitest'
import type { Job } from '../../scripts/bench/job.ts'
import { QUICK } from '../../scripts/bench/options.ts'
import {
  guideWithFigures,
  jobTable,
  jsonReport,
  markdownReport,
  markdownTable,
  type Report,
} from '../../scripts/bench/report.ts'
import {
  amountRow,
  atLeast,
  atMost,
  type Figure,
  isMet,
  measurement,
  PACKED,
  type Row,
  ratioRow,
} from '../../scripts/bench/row.ts'

function figure(unit: Figure['unit'], ...rounds: number[]): Figure {
  return { ...measurement(rounds), unit }
}

const fast = figure('a second', 3e6, 2.5e6, 3.25e6)
const slow = { name: 'maxmind', figure: figure('a second', 1e5, 90_000, 150_000) }

describe('measurement', () => {
  it('has the median between the two middle rounds, and needs a round', () => {
    expect(measurement([4, 1, 3, 2])).toEqual({ median: 2.5, lowest: 1, highest: 4, rounds: [4, 1, 3, 2] })
    expect(() => measurement([])).toThrow('no rounds')
  })
})

describe('a row', () => {
  it.each<[string, Row, boolean | null]>([
    ['a ratio that is enough', ratioRow('d', 'w', fast, slow, atLeast(30)), true],
    ['a ratio that is not', ratioRow('d', 'w', fast, slow, atLeast(30.1)), false],
    ['a ratio that may be smaller', ratioRow('d', 'w', fast, slow, atMost(30)), true],
    ['an amount within its bound', amountRow('d', 'w', figure('MB', 124), atMost(124)), true],
    ['an amount over it', amountRow('d', 'w', figure('ms', 50.5), atMost(50)), false],
    ['no target', ratioRow('d', 'w', fast, slow, null), null],
  ])('with %s', (_, row, met) => {
    expect(isMet(row)).toBe(met)
  })
})

describe('markdownTable', () => {
  it('has medians, ranges, ratios, targets and whether they are met', () => {
    const rows = [
      ratioRow('d', 'lookup', fast, slow, atLeast(25)),
      amountRow('d', 'memory', figure('MB', 168.4), atMost(124)),
      amountRow('d', 'idle', figure('ms', 4.31, 2.1, 5.89), null),
    ]
    expect(markdownTable(rows).split('\n')).toEqual([
      '| what | Geofix | compared with | its figure | ratio | target | met |',
      '| --- | --- | --- | --- | --- | --- | --- |',
      '| lookup | 3.00 M/s (2.50 to 3.25) | maxmind | 100 k/s (90.0 to 150) | 30.0 | at least 25 | yes |',
      '| memory | 168 MB |  |  |  | at most 124 MB | no |',
      '| idle | 4.31 ms (2.10 to 5.89) |  |  |  |  |  |',
    ])
  })
})

/** What two programs took for a job, the second on a system that reports less. */
const job: Job = {
  title: 'access log',
  lines: 1_000_000,
  bytes: 238_400_000,
  programs: [
    {
      name: 'one thread',
      wall: measurement([2, 2.5, 4]),
      processor: measurement([2.25]),
      peak: measurement([231.4]),
    },
    { name: 'cat', wall: measurement([0.1]), processor: null, peak: null },
  ],
}

describe('jobTable', () => {
  it('has time, processor time, memory and lines a second of each program', () => {
    expect(jobTable(job).split('\n')).toEqual([
      '| access log: 1,000,000 lines, 238 MB | time | processor time | peak memory | lines a second |',
      '| --- | --- | --- | --- | --- |',
      '| one thread | 2.50 s (2.00 to 4.00) | 2.25 s | 231 MB | 400 k/s (250 to 500) |',
      '| cat | 0.10 s |  |  | 10.0 M/s |',
    ])
  })
})

describe('the report', () => {
  const database = {
    name: 'GeoLite2-City',
    packed: '',
    path: '',
    size: 65_886_987,
    built: '2026-09-18',
    hasTargets: true,
  }
  const report: Report = {
    date: '2026-11-21',
    mode: 'quick',
    scale: QUICK,
    machine: { cpu: 'Some CPU', cores: 2, memoryGB: 24, system: 'linux x64', node: 'v20.20.2' },
    databases: [database],
    versions: ['maxmind 5.0.7'],
    rows: [ratioRow('GeoLite2-City', 'lookup', fast, slow, atLeast(25)), amountRow('none', 'w', fast, null)],
    jobs: [job],
    skipped: ['libmaxminddb: there is no C compiler: apt-get install gcc'],
  }

  it('has date, machine, versions and what is missing in Markdown', () => {
    const text = markdownReport(report)
    expect(text).toContain(
      'Measured on 2026-11-21, quick run: Node v20.20.2, linux x64, 2 cores of Some CPU, 24 GB.',
    )
    expect(text).toContain('Compared with maxmind 5.0.7.')
    expect(text).toContain('On GeoLite2-City of 2026-09-18, 66 MB:\n\n| what')
    expect(text).toContain('Without a database:\n\n| what')
    expect(text).toContain('Not run:\n- libmaxminddb: there is no C compiler')
  })

  it('becomes the figures of the guide, without rows that have no database', () => {
    const guide = 'Before.\n<!-- figures -->\nold\n<!-- /figures -->\nAfter.\n'
    const [before, figures, after] = guideWithFigures(guide, jsonReport(report)).split(
      /<!-- \/?figures -->\n/,
    )
    expect([before, after]).toEqual(['Before.\n', 'After.\n'])
    expect(figures).toMatch(
      /^Tables: .*; GeoLite2-City of 2026-09-18,\n66 MB\. Measured on 2026-11-21 with\nNode 20\.20\.2 /,
    )
    expect(figures?.split('\n').filter((line) => line.startsWith('| '))).toEqual([
      '| what | Geofix | compared with | its figure | ratio | target |',
      '| --- | --- | --- | --- | --- | --- |',
      '| lookup | 3.00 M/s (2.50 to 3.25) | maxmind | 100 k/s (90.0 to 150) | 30.0 | at least 25 |',
    ])
    expect(() => guideWithFigures('no place', jsonReport(report))).toThrow('no place for the figures')
  })

  it('has the rows of packed databases in a table of their own, which is one of the guide too', () => {
    const rows = [...report.rows, amountRow(PACKED, 'size on disk', figure('MB', 17.4), atMost(18))]
    const table = '| size on disk | 17.4 MB |  |  |  | at most 18 MB |'
    expect(markdownReport({ ...report, rows })).toMatch(/^Packed databases:\n\n\| what/m)
    const guide = guideWithFigures('<!-- figures -->\n<!-- /figures -->', jsonReport({ ...report, rows }))
    expect(guide).toContain(table)
  })

  it('has every round in JSON, and no paths', () => {
    const { rows, databases } = JSON.parse(jsonReport(report))
    expect(rows[0]).toMatchObject({ met: true, ratio: 30, figure: { rounds: [3e6, 2.5e6, 3.25e6] } })
    expect(rows[1]).toMatchObject({ met: null, peer: null })
    expect(databases).toEqual([{ name: 'GeoLite2-City', built: '2026-09-18', size: 65_886_987 }])
  })
})
