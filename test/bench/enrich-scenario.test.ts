import { describe, expect, it } from 'vitest'
import { isMet } from '../../scripts/bench/row.ts'
import { enrichRows, ONE, PEER, RAW, TWO } from '../../scripts/bench/scenarios/enrich.ts'

const database = { name: 'd', packed: '', path: '', size: 66e6, built: '2026-09-18', hasTargets: true }

function runs(seconds: number, peak: number | null) {
  return [{ seconds, peak }]
}

describe('enrichRows', () => {
  const everyone = new Map([
    [ONE, runs(2, 350e6)],
    [TWO, runs(1, 370e6)],
    [PEER, runs(16, 100e6)],
    [RAW, runs(20, 100e6)],
    ['cat', runs(0.125, null)],
    ['gzip -dc', runs(0.5, null)],
  ])

  it('compares rates and memory with the targets', () => {
    const rows = enrichRows('t', database, 1_000_000, everyone)
    expect(rows.map((row) => [row.what, row.peer?.name, row.ratio, isMet(row)])).toEqual([
      ['t, one thread', PEER, 8, true],
      ['t, two threads', PEER, 16, true],
      ['t, two threads', ONE, 2, true],
      ['t, one thread', RAW, 10, null],
      ['t, one thread', 'cat', 0.0625, null],
      ['t, one thread', 'gzip -dc', 0.25, null],
      ['t, one thread: peak memory', undefined, null, true],
      ['t, two threads: peak memory', undefined, null, false],
    ])
    expect(rows[0]?.figure).toMatchObject({ unit: 'a second', median: 500_000 })
    expect(rows[6]).toMatchObject({ figure: { unit: 'MB', median: 350 }, target: { value: 366 } })
  })

  it('has no targets for short files', () => {
    const rows = enrichRows('t', database, 100_000, everyone)
    expect(rows.map(({ target }) => target)).toEqual(Array.from({ length: 8 }, () => null))
  })

  it('leaves out contenders that did not run, and unknown memory', () => {
    const some = new Map([
      [ONE, runs(2, null)],
      [PEER, runs(15, null)],
    ])
    expect(enrichRows('t', database, 1_000_000, some).map(({ what }) => what)).toEqual(['t, one thread'])
  })
})
