import type { BenchDatabase } from '../databases.ts'
import { amountRow, atLeast, atMost, type Figure, type Row, ratioRow, type Target } from '../row.ts'
import { measurement } from '../statistics.ts'
import { ONE, PEER, RAW, TWO } from './commands.ts'
import type { WholeRun } from './whole-process.ts'

/** Of shorter files the start of a process is too large a part. */
const LINES_OF_TARGETS = 1_000_000

/** What may come on top of the database. MB. */
const MOST_MEMORY = 300
const MB = 1e6

/** Rows about those that took part, by name. */
export function enrichRows(
  title: string,
  database: BenchDatabase,
  lines: number,
  runs: ReadonlyMap<string, readonly WholeRun[]>,
): Row[] {
  const target = (wanted: Target): Target | null => (lines < LINES_OF_TARGETS ? null : wanted)
  const beside = (ours: string, theirs: string, wanted: Target | null): Row[] => {
    const [own, other] = [runs.get(ours), runs.get(theirs)]
    if (own === undefined || other === undefined) return []
    const peer = { name: theirs, figure: rate(other, lines) }
    return [ratioRow(database.name, `${title}, ${ours}`, rate(own, lines), peer, wanted)]
  }
  const memory = (ours: string): Row[] => {
    const peaks = (runs.get(ours) ?? []).flatMap(({ peak }) => peak ?? [])
    if (peaks.length === 0) return []
    const figure: Figure = { ...measurement(peaks.map((bytes) => bytes / MB)), unit: 'MB' }
    const most = atMost(Math.round(MOST_MEMORY + database.size / MB))
    return [amountRow(database.name, `${title}, ${ours}: peak memory`, figure, target(most))]
  }
  return [
    ...beside(ONE, PEER, target(atLeast(6))),
    ...beside(TWO, PEER, target(atLeast(10))),
    ...beside(TWO, ONE, target(atLeast(1.7))),
    ...beside(ONE, RAW, null),
    ...beside(ONE, 'cat', null),
    ...beside(ONE, 'gzip -dc', null),
    ...memory(ONE),
    ...memory(TWO),
  ]
}

function rate(runs: readonly WholeRun[], lines: number): Figure {
  return { ...measurement(runs.map(({ seconds }) => lines / seconds)), unit: 'a second' }
}
