import { quoted } from '../address/quoted.ts'
import { EnrichError } from './errors.ts'
import { type AccessLogPlan, looksLikeAccessLog, planAccessLog } from './formats/access-log/access-log.ts'
import {
  type DelimitedPlan,
  looksLikeCsv,
  looksLikeTsv,
  planDelimited,
} from './formats/delimited/delimited.ts'
import { type ListPlan, looksLikeList, planList } from './formats/list.ts'
import { looksLikeNdjson, type NdjsonPlan, planNdjson } from './formats/ndjson/ndjson.ts'
import { type EnrichOptions, FORMATS, type Format, type Planned } from './options.ts'
import { sampleLines } from './sample.ts'
import { containerOf, hasLoneCarriageReturns, wideEncodingOf } from './unreadable-input.ts'

/** An array is told by. Bytes. */
const ARRAY_HEAD = 1024

/** What is settled before the first line. Plain data: it goes to worker threads by `structuredClone`. */
export type Plan = NdjsonPlan | DelimitedPlan | AccessLogPlan | ListPlan

/**
 * Settles how an input is read and what is added to it.
 *
 * @param sample the first bytes of the input, decompressed; see {@link SampleSize}
 * @param isWhole whether they are all of it
 * @returns the plan, and what was guessed in words that are to be shown
 * @throws EnrichError when the input is not lines of UTF-8, does not say enough, or has already what would be added
 * @throws TypeError when an option is wrong
 * @throws InvalidLocaleError when `locale` is not a BCP 47 tag
 */
export function makePlan(sample: Uint8Array, isWhole: boolean, options: EnrichOptions): Planned<Plan> {
  const { format } = options
  if (format !== undefined) {
    if (!FORMATS.includes(format))
      throw new TypeError(`the option "format" must be one of ${FORMATS.join(', ')}`)
  }
  refuseUnreadable(sample)
  if (format !== undefined) return planFor(format, sample, isWhole, options)
  const detected = detectFormat(sample)
  if (detected === null) throw new EnrichError('ENRICH_FORMAT_UNKNOWN', describeUnknown(sample))
  const { plan, notes } = planFor(detected, sample, isWhole, options)
  return { plan, notes: [`the format is ${detected}`, ...notes] }
}

/** From the strictest to the laxest; `null` when it is none. An input without a line is an empty list. */
export function detectFormat(sample: Uint8Array): Format | null {
  if (looksLikeNdjson(sample)) return 'ndjson'
  // Commas between its members would make it a table.
  if (looksLikeJsonArray(sample)) return null
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
  const line = sampleLines(sample, true, 1)[0] ?? ''
  if (looksLikeJsonArray(sample))
    return 'the input looks like a JSON array: one object a line is read, as `jq -c .[]` writes them'
  return `the first lines are none of ${FORMATS.join(', ')}; the first is ${quoted(line)}: name the format if they are, or take off what another program wrote before each line`
}

/** Whether an array of objects begins, or an empty one is all; logs begin with brackets too, of times and levels. */
function looksLikeJsonArray(sample: Uint8Array): boolean {
  return /^\s*\[\s*(?:\{\s*["}]|\]\s*$)/.test(new TextDecoder().decode(sample.subarray(0, ARRAY_HEAD)))
}

/** @throws EnrichError when the input is not lines of UTF-8, whatever format it is said to have */
function refuseUnreadable(sample: Uint8Array): void {
  const encoding = wideEncodingOf(sample)
  if (encoding !== null) {
    throw unreadable(
      `the input is ${encoding}: convert it to UTF-8, as iconv -f ${encoding} -t UTF-8 FILE does`,
    )
  }
  const container = containerOf(sample)
  if (container !== null) throw unreadable(`the input is ${container.what}: ${container.advice}`)
  if (hasLoneCarriageReturns(sample)) {
    throw unreadable(
      "the input's lines end with carriage returns alone: convert them to line feeds, as tr '\\r' '\\n' < FILE does",
    )
  }
}

function unreadable(message: string): EnrichError {
  return new EnrichError('ENRICH_INPUT_UNREADABLE', message)
}
