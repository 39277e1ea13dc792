import type { BlockEnricher } from '../../src/enrich/block-enricher.ts'
import { queriesOf } from '../../src/enrich/count-plan.ts'
import { type Counts, finishedCounts, type RunningCounts } from '../../src/enrich/counting/counts.ts'
import type { GroupPart, Times } from '../../src/enrich/counting/groups.ts'
import { GroupTotals } from '../../src/enrich/counting/totals.ts'
import type { Plan } from '../../src/enrich/formats/formats.ts'

const NO_TIMES: Times = { lines: 0, first: Number.POSITIVE_INFINITY, last: Number.NEGATIVE_INFINITY }

/** What a part of groups says beside its groups, if nothing else was counted. */
export const NOTHING_ELSE = {
  other: 0,
  pairs: null,
  halvings: 0,
  absentFields: [],
  instants: NO_TIMES,
  localTimes: NO_TIMES,
  sums: null,
} as const satisfies Partial<GroupPart>

/** The counts of blocks, and the groups of each query of the plan, as a run adds them up. */
export function counted(
  plan: Plan,
  counts: RunningCounts,
  enricher: Pick<BlockEnricher, 'locationCounts'>,
  ...threads: readonly RunningCounts[]
): { readonly counts: Counts; readonly groups: readonly GroupTotals[] } {
  const groups = queriesOf(plan).map((query) => new GroupTotals(query))
  for (const { parts = [] } of [enricher.locationCounts(), ...threads])
    for (const [query, part] of structuredClone(parts).entries()) groups[query]?.add(part)
  return { counts: finishedCounts(counts), groups }
}
