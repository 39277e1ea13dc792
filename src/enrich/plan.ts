import { quoted } from '../address/quoted.ts'
import { type AccessLogPlan, looksLikeAccessLog, planAccessLog } from './access-log/plan.ts'
import type { Planned } from './common-plan.ts'
import { type DelimitedPlan, looksLikeCsv, looksLikeTsv, planDelimited } from './delimited/plan.ts'
import { EnrichError } from './errors.ts'
import { FORMATS, type Format } from './format.ts'
import { type ListPlan, looksLikeList, planList } from './list/plan.ts'
import { looksLikeNdjson, type NdjsonPlan, planNdjson } from './ndjson/plan.ts'
import type { EnrichOptions } from './options.ts'
import { sampleLines } from './sample.ts'

/** How a line begins that begins a JSON array; those of many logs begin with a bracket too. */
const JSON_ARRAY = /^\s*\[\s*(?:[[{"\]]|$)/

/** What is settled before the first line. Plain data: it goes to worker threads by `structuredClone`. */
export type Plan = NdjsonPlan | DelimitedPlan | AccessLogPlan | ListPlan

/**
 * Settles how an input is read and what is added to it.
 *
 * @param sample the first bytes of the input, decompressed; 256 KiB are plenty
 * @param isWhole whether they are all of it
 * @returns the plan, and what was guessed in words that are to be shown
 * @throws EnrichError when the input does not say enough, or has already what would be added
 * @throws TypeError when an option is wrong
 * @throws InvalidLocaleError when `locale` is not a BCP 47 tag
 */
export function makePlan(sample: Uint8Array, isWhole: boolean, options: EnrichOptions): Planned<Plan> {
  const { format } = options
  if (format !== undefined) {
    if (!FORMATS.includes(format))
      throw new TypeError(`the option "format" must be one of ${FORMATS.join(', ')}`)
    return planFor(format, sample, isWhole, options)
  }
  const detected = detectFormat(sample)
  if (detected === null) throw new EnrichError('ENRICH_FORMAT_UNKNOWN', describeUnknown(sample))
  const { plan, notes } = planFor(detected, sample, isWhole, options)
  return { plan, notes: [`the format is ${detected}`, ...notes] }
}

/** From the strictest to the laxest; `null` when it is none. An input without a line is an empty list. */
export function detectFormat(sample: Uint8Array): Format | null {
  if (looksLikeNdjson(sample)) return 'ndjson'
  if (looksLikeAccessLog(sample)) return 'access-log'
  if (looksLikeList(sample)) return 'list'
  if (looksLikeTsv(sample)) return 'tsv'
  if (looksLikeCsv(sample)) return 'csv'
  return null
}

function planFor(
  format: Format,
  sample: Uint8Array,
  isWhole: boolean,
  options: EnrichOptions,
): Planned<Plan> {
  switch (format) {
    case 'ndjson':
      return planNdjson(sample, isWhole, options)
    case 'csv':
    case 'tsv':
      return planDelimited(sample, isWhole, options, format)
    case 'access-log':
      return planAccessLog(sample, isWhole, options)
    case 'list':
      return planList(sample, isWhole, options)
  }
}

/** What to do about an input of no known format. */
function describeUnknown(sample: Uint8Array): string {
  const [first, second] = sample
  const isUtf16 = (first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff)
  if (isUtf16) return 'the input is UTF-16: convert it to UTF-8'
  const line = sampleLines(sample, true, 1)[0] ?? ''
  if (JSON_ARRAY.test(line))
    return 'the input looks like a JSON array: one object a line is read, as `jq -c .[]` writes them'
  return `the first lines are none of ${FORMATS.join(', ')}; the first is ${quoted(line)}: name the format if they are, or take off what another program wrote before each line`
}
