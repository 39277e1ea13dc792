import { quoted } from '../address/quoted.ts'
import type { BlockEnricher } from './block-enricher.ts'
import { type Counts, emptyCounts, mergeCounts, withoutAddress } from './counts.ts'
import { BadLineError, EnrichError } from './errors.ts'
import { definitionOf, type Plan } from './formats/formats.ts'
import { firstLines, markLength } from './sample.ts'
import { recordEndsOf } from './splitter.ts'

/** Records that must have an address among them. */
const RECORDS = 1000
/** Where records are so long that a sample has fewer of them, so much of it says enough. Bytes. */
const ENOUGH_BYTES = 128 * 1024

/**
 * Stops where none of the first 1,000 records has an address: the format or the field is wrong then, and a run would
 * end well without a single location. Says nothing of a start of an input that is too short to tell.
 *
 * @param enricher of the plan
 * @param sample the start of the input
 * @param isWhole whether it is all of it
 * @throws EnrichError `ENRICH_NO_ADDRESS`
 */
export function checkAddresses(
  enricher: BlockEnricher,
  plan: Plan,
  sample: Uint8Array,
  isWhole: boolean,
): void {
  if (plan.force) return
  const counts = firstRecords(enricher, plan, sample, isWhole)
  const records = counts.lines - counts.blank
  const isTelling = isWhole || records >= RECORDS || sample.length >= ENOUGH_BYTES
  if (records === 0 || withoutAddress(counts) < records || !isTelling) return
  const lines = firstLines(sample, isWhole, headerLine(plan) > 0 ? 2 : 1)
  const line = new TextDecoder().decode(sample.subarray(lines.at(-1)?.start, lines.at(-1)?.end))
  const first = records === 1 ? 'the first record' : `the first ${records} records`
  throw new EnrichError(
    'ENRICH_NO_ADDRESS',
    `there is no address in ${first}, read as ${plan.format} with the address ${definitionOf(plan.format).addressPosition(plan)}; the first line is ${quoted(line)}: name another format or field, take off what another program wrote before each line, or use force to go on`,
  )
}

/** Counts the first records up to one with an address. */
function firstRecords(enricher: BlockEnricher, plan: Plan, sample: Uint8Array, isWhole: boolean): Counts {
  const counts = emptyCounts()
  const ends = recordEndsOf(plan)
  ends.reset(sample)
  const hasAddress = (): boolean => withoutAddress(counts) < counts.lines - counts.blank
  let firstLine = 1
  for (let start = 0; start < sample.length && counts.lines - counts.blank < RECORDS && !hasAddress(); ) {
    let end = start === 0 ? markLength(sample) : start
    const most = RECORDS - (counts.lines - counts.blank) + (start === 0 ? headerLine(plan) : 0)
    for (let count = 0; count < most && end < sample.length; count++) {
      const next = ends.next(end, sample.length, isWhole)
      if (next === -1) break
      end = Math.min(next + 1, sample.length)
    }
    if (end === start) break
    try {
      const block = {
        bytes: sample.slice(start, end),
        firstLine,
        lines: most,
        oversized: false,
        startsLine: true,
      }
      for (const piece of enricher.pieces(block)) mergeCounts(counts, piece.counts)
    } catch (error) {
      // The run says so in its turn, and of the right line.
      if (error instanceof BadLineError) return emptyCounts()
      throw error
    }
    start = end
    firstLine = headerLine(plan) + 2
  }
  return counts
}

function headerLine(plan: Plan): number {
  return 'headerLine' in plan ? plan.headerLine : 0
}
