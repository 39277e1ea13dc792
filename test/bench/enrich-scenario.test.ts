import { describe, expect, it } from 'vitest'
import { HALVES, ONE, SCRIPT, TWO } from '../../scripts/bench/enrich/programs.ts'
import { atLeast, isMet } from '../../scripts/bench/row.ts'
import { enrichRows } from '../../scripts/bench/scenarios/enrich.ts'
import { steadySeconds } from '../../scripts/bench/scenarios/enrich-processor.ts'

function runs(seconds: number, peak: number | null) {
  return [{ seconds, processorSeconds: seconds, peak }]
}

const goals = [
  { ours: ONE, theirs: SCRIPT, target: atLeast(4) },
  { ours: TWO, theirs: SCRIPT, target: atLeast(20) },
]

describe('enrichRows', () => {
  const everyone = new Map([
    [ONE, runs(2, 240e6)],
    [TWO, runs(1, 370e6)],
    [HALVES, runs(1.25, 500e6)],
    [SCRIPT, runs(16, 100e6)],
  ])

  it('compares rates and memory with the targets', () => {
    const rows = enrichRows('t', 'd', 1_000_000, everyone, goals)
    expect(rows.map((row) => [row.what, row.peer?.name, row.ratio, isMet(row)])).toEqual([
      ['t, one thread', SCRIPT, 8, true],
      ['t, two threads', SCRIPT, 16, false],
      ['t, two threads', ONE, 2, true],
      ['t, two processes with half each', ONE, 1.6, null],
      ['t, one thread: peak memory', undefined, null, true],
      ['t, two threads: peak memory', undefined, null, false],
    ])
    expect(rows[0]?.figure).toMatchObject({ unit: 'a second', median: 500_000 })
    // Two processes are 1.6 times as fast, so two threads need 0.9 of that.
    expect(rows[2]?.target).toEqual(atLeast(1.44))
    expect(rows[4]).toMatchObject({ figure: { unit: 'MB', median: 240 }, target: { value: 250 } })
  })

  it('has no targets for short files', () => {
    const rows = enrichRows('t', 'd', 100_000, everyone, goals)
    expect(rows.map(({ target }) => target)).toEqual(Array.from({ length: 6 }, () => null))
  })
})

describe('steadySeconds', () => {
  it('is the time that the additional lines took, per million', () => {
    expect(steadySeconds(runs(2, null), runs(8, null), 3_000_000)).toEqual([2])
  })
})
