import { countTime, holdsTimes, type TimeCount, timeRank } from '../time-field.ts'

/**
 * Chooses the column with the time of the event: one with a usual name, best first, and times in at least half of
 * its values. Where there are no rows at all, a name is enough.
 *
 * @returns its number from 0, or `null`
 */
export function chooseTimeColumn(
  names: readonly string[],
  rows: readonly (readonly string[])[],
): number | null {
  const ranked = names
    .map((name, column) => ({ column, rank: timeRank([name]) }))
    .filter(({ rank }) => rank < Number.POSITIVE_INFINITY)
    .sort((a, b) => a.rank - b.rank)
  const best = ranked.find(({ column }) => {
    const count: TimeCount = { times: 0, others: 0 }
    for (const row of rows) countTime(count, row[column] ?? '')
    return rows.length === 0 || holdsTimes(count)
  })
  return best?.column ?? null
}
