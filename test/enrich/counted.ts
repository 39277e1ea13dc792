import type { BlockEnricher } from '../../src/enrich/block-enricher.ts'
import { type Counts, finishedCounts, type RunningCounts } from '../../src/enrich/counting/counts.ts'
import type { GroupPart } from '../../src/enrich/counting/groups.ts'
import { RunTotals } from '../../src/enrich/counting/totals.ts'
import type { Plan } from '../../src/enrich/formats/formats.ts'

/** What a part of groups says beside its groups, if nothing else was counted. */
export const NOTHING_ELSE = {
  other: 0,
  pairs: null,
  halvings: 0,
  absentFields: [],
  localTimes: 0,
  sum: null,
  sums: null,
  span: null,
} as const satisfies Partial<GroupPart>

/** Adds the locations to the counts of blocks, as a run does, and gives what the plan counts beside them. */
export function counted(
  plan: Plan,
  counts: RunningCounts,
  enricher: Pick<BlockEnricher, 'locationCounts'>,
  ...threads: readonly RunningCounts[]
): { readonly counts: Counts; readonly groups: RunTotals['own'] } {
  const totals = new RunTotals(plan)
  for (const { parts } of [enricher.locationCounts(), ...threads]) totals.add(structuredClone(parts))
  totals.addTo(counts)
  return { counts: finishedCounts(counts), groups: totals.own }
}
