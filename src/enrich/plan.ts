import { quoted } from '../address/quoted.ts'
import { EnrichError } from './errors.ts'
import {
  definitionOf,
  type EnrichOptions,
  FORMAT_DEFINITIONS,
  FORMATS,
  type Format,
  type Plan,
} from './formats/formats.ts'
import type { Planned } from './options.ts'
import { sampleLines, startsJsonArray } from './sample.ts'
import { refuseUnreadable } from './unreadable-input.ts'

/**
 * Decides how to read an input and what to add to it.
 *
 * @param sample the first bytes of the input, decompressed; see `SampleSize`
 * @param isWhole whether the sample is the whole input
 * @returns the plan, and notes on what was guessed, to show to the user
 * @throws EnrichError when the input is not lines of UTF-8, its format or fields cannot be guessed, or a member or
 *   column to add exists already
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
  if (format !== undefined) return definitionOf(format).plan(sample, isWhole, options)
  const detected = detectFormat(sample)
  if (detected === null) throw new EnrichError('ENRICH_FORMAT_UNKNOWN', describeUnknown(sample))
  const { plan, notes } = definitionOf(detected).plan(sample, isWhole, options)
  return { plan, notes: [`the format is ${detected}`, ...notes] }
}

/** The format of an input, or `null` if it is unknown. An input without lines is an empty list. */
function detectFormat(sample: Uint8Array): Format | null {
  return FORMAT_DEFINITIONS.find((definition) => definition.recognise(sample))?.name ?? null
}

/** The error message for an unknown format: what is wrong, and what to do about it. */
function describeUnknown(sample: Uint8Array): string {
  const line = sampleLines(sample, true, 1)[0] ?? ''
  if (startsJsonArray(sample))
    return 'the input looks like a JSON array: one object a line is read, as `jq -c .[]` writes them'
  return `the first lines are none of ${FORMATS.join(', ')}; the first is ${quoted(line)}: name the format if that is wrong, or remove what another program wrote before each line`
}
