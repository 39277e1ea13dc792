import { quoted } from '../errors.ts'
import type { BlockEnricher } from './block-enricher.ts'
import { type Counts, emptyCounts, mergeCounts, withoutAddress } from './counting/counts.ts'
import { BadLineError, EnrichError } from './errors.ts'
import { definitionOf, layoutOf, type Plan, textFlags } from './formats/formats.ts'
import { LIST_FLAGS } from './reading/field-messages.ts'
import type { Layout } from './reading/layout.ts'
import { firstLines, type Sample, sampleLines } from './reading/sample.ts'
import { sampleBlocks } from './reading/splitter.ts'

/** At least one of this many first records must have an address. If they merely have no value, the whole sample counts. */
const RECORDS = 1000
/** Enough records to decide, for samples of long records, if one of them has a value that is not an address. */
const FEWER_RECORDS = 100
/** A whole input with fewer records is accepted if they merely lack an address, as in a log of a quiet hour. */
const MIN_EMPTY_RECORDS = 10
/** Lines in which the first record is looked for: directives can come before it. */
const FIRST_LINES = 100
/** A line with a list of hops. */
const LIST = /\d\.\d{1,3}, ?(?:\d{1,3}\.){3}\d/

/**
 * Fails if none of the first 1,000 records has an address, or one of the other addresses: the format or the field is then wrong,
 * and the run would succeed without a single location. Does nothing if the sample is too short to decide, or the plan has `force`.
 *
 * @throws EnrichError `ENRICH_NO_ADDRESS`
 */
export function checkAddresses(enricher: BlockEnricher, sample: Sample): void {
  const { plan } = enricher
  if (plan.force) return
  const counts = firstRecords(enricher, sample)
  // The run counts these records again.
  enricher.forgetCounts()
  for (const [index, each] of counts.entries())
    checkCounts(each, [plan, ...(plan.others ?? [])][index] ?? plan, sample)
}

/** {@link checkAddresses} for the counts of the first records. @param hasLines `false` if columns are read */
export function checkCounts(counts: Counts, plan: Plan, sample: Sample, hasLines = true): void {
  if (plan.force) return
  const records = counts.lines - counts.blank
  const isEmpty = isMerelyEmpty(counts)
  const enough = isEmpty ? MIN_EMPTY_RECORDS : 1
  const isDecided = sample.isWhole ? records >= enough : records >= (isEmpty ? RECORDS : FEWER_RECORDS)
  if (records === 0 || withoutAddress(counts) < records || !isDecided) return
  const line = firstRecord(sample, layoutOf(plan))
  const first = records === 1 ? 'the first record' : `the first ${records} records`
  const [fault] = counts.bad === records ? counts.badLines : []
  const why = fault === undefined ? '' : ` (line ${fault.line}: ${fault.message})`
  // Other addresses in lines that merely lack a value are not the client's.
  const next = isEmpty ? '' : nextFlags(sample, plan, hasLines)
  throw new EnrichError(
    'ENRICH_NO_ADDRESS',
    `there is no address in ${first}${why}, read as ${plan.format} with the address ${definitionOf(plan.format).addressPosition(plan)}; the first line is ${quoted(line)}: name another format or field, or continue with --force (in a program: force: true)${next === '' ? '' : `. ${next}`}`,
  )
}

/** The first line that is neither a header nor a directive. */
function firstRecord(sample: Sample, { headerLine, directives }: Layout): string {
  const lines = firstLines(sample, FIRST_LINES)
  const records = lines.slice(headerLine > 0 ? 1 : 0)
  const { start, end } = records.find((line) => sample.bytes[line.start] !== directives?.firstByte) ??
    lines.at(-1) ?? { start: 0, end: 0 }
  return new TextDecoder().decode(sample.bytes.subarray(start, end))
}

/** What to type for lines that have no address where it is expected; '' if that is unknown. */
function nextFlags(sample: Sample, plan: Plan, hasLines: boolean): string {
  const { format, trustedProxies } = plan
  const lines = sampleLines(sample, 100)
  const lists = lines.filter((line) => LIST.test(line)).length
  if (lists * 2 > lines.length && trustedProxies === null)
    return `If it is a list of addresses, ${LIST_FLAGS}`
  return format === 'text' || !hasLines ? '' : textFlags(sample.bytes)
}

/** Counts the first records of the sample for each address, until one has it, or up to 1,000 if one has another value. */
function firstRecords(enricher: BlockEnricher, sample: Sample): Counts[] {
  const counts = emptyCounts()
  const all = (): Counts[] => [counts, ...(counts.others ?? [])]
  let lines = 0
  try {
    for (const block of sampleBlocks(sample, layoutOf(enricher.plan))) {
      for (const piece of enricher.pieces(block)) {
        mergeCounts(counts, piece.counts, lines)
        lines += piece.lines
      }
      if (all().every(hasAnswer)) break
    }
  } catch (error) {
    // Leave it to the run, which reports the line with its right number.
    if (error instanceof BadLineError) return []
    throw error
  }
  return all()
}

/** Whether further records change nothing. */
function hasAnswer(counts: Counts): boolean {
  const records = counts.lines - counts.blank
  return withoutAddress(counts) < records || (records >= RECORDS && !isMerelyEmpty(counts))
}

/** Whether all records lack a value in the field. */
function isMerelyEmpty({ lines, blank, failed }: Counts): boolean {
  return (failed.missing ?? 0) === lines - blank
}
