import { quoted } from '../../address/quoted.ts'
import { kindOfValue } from '../address-field.ts'
import { type CommonPlan, commonPlan, type Planned } from '../common-plan.ts'
import { EnrichError } from '../errors.ts'
import { firstLines } from '../first-lines.ts'
import type { EnrichOptions } from '../options.ts'
import { RAW } from '../raw-lines.ts'

export interface ListPlan extends CommonPlan {
  readonly format: 'list'
  /** Whether lines are kept, and the location is put behind them. */
  readonly append: boolean
}

/** Lines looked at, of which most must be addresses. */
const LINES = 50
/** Lines looked at with comments among them. */
const MOST_LINES = 1000
const COMMENT = '#'

/** Whether the first line with something on it is an address, and so are most. An input without any is a list. */
export function looksLikeList(sample: Uint8Array): boolean {
  const looked = withoutComments(sample)
  const addresses = looked.filter((line) => kindOfValue(line) === 'address')
  // The name of the only column of a CSV file may be above addresses.
  return looked.length === 0 || (looked[0] === addresses[0] && addresses.length * 2 > looked.length)
}

/**
 * Plans for a list of addresses, one a line.
 *
 * @throws EnrichError when a field is named: the lines have none
 * @throws TypeError, InvalidLocaleError when an option is wrong
 */
export function planList(_sample: Uint8Array, _isWhole: boolean, options: EnrichOptions): Planned<ListPlan> {
  const common = commonPlan(options)
  const { field, timeField, append = false } = options
  const named = field ?? timeField
  if (named !== undefined) {
    throw new EnrichError('ENRICH_FIELD_UNKNOWN', `the lines of a list have no field ${quoted(named)}`)
  }
  if (!append && (common.into === 'ip' || common.into === RAW)) {
    throw new EnrichError(
      'ENRICH_FIELD_EXISTS',
      `a line has a member ${quoted(common.into)} already: choose another name for what is added`,
    )
  }
  return { plan: { ...common, format: 'list', append }, notes: [] }
}

function withoutComments(sample: Uint8Array): string[] {
  const decoder = new TextDecoder()
  return firstLines(sample, false, MOST_LINES)
    .map(({ start, end }) => decoder.decode(sample.subarray(start, end)).trim())
    .filter((line) => line !== '' && !line.startsWith(COMMENT))
    .slice(0, LINES)
}
