import { describe, expect, it } from 'vitest'
import { QUICK } from '../../scripts/bench/options.ts'
import { guideWithFigures, jsonReport, markdownTable, type Report } from '../../scripts/bench/report.ts'
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

it('guideWithFigures writes the tables of packed databases and of the database with targets, and no others', () => {
  const report: Report = {
    date: '2026-11-21',
    mode: 'quick',
    scale: QUICK,
    machine: { cpu: 'Some CPU', cores: 2, memoryGB: 24, system: 'linux x64', node: 'v20.20.2' },
    databases: [
      { name: 'Lite', packed: '', path: '', size: 65_886_987, built: '2026-09-18', hasTargets: true },
    ],
    versions: ['maxmind 5.0.7'],
    rows: [
      ratioRow('Lite', 'lookup', fast, slow, atLeast(25)),
      amountRow('none', 'w', fast, null),
      amountRow(PACKED, 'size on disk', figure('MB', 17.4), atMost(18)),
    ],
    skipped: [],
  }
  const guide = 'Before.\n<!-- figures -->\nold\n<!-- /figures -->\nAfter.\n'
  const parts = guideWithFigures(guide, jsonReport(report)).split(/<!-- \/?figures -->\n/)
  expect([parts[0], parts[2]]).toEqual(['Before.\n', 'After.\n'])
  expect(parts[1]).toMatch(
    /^Tables: .*; Lite of 2026-09-18,\n66 MB\. Measured on 2026-11-21 with\nNode 20\.20\.2 /,
  )
  expect(parts[1]?.split('\n').filter((line) => /^\| [^-w]/.test(line))).toEqual([
    '| size on disk | 17.4 MB |  |  |  | at most 18 MB |',
    '| lookup | 3.00 M/s (2.50 to 3.25) | maxmind | 100 k/s (90.0 to 150) | 30.0 | at least 25 |',
  ])
  expect(() => guideWithFigures('no place', jsonReport(report))).toThrow('no place for the figures')
})
