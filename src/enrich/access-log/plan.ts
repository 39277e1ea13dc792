import { quoted } from '../../address/quoted.ts'
import { kindOfValue } from '../address-field.ts'
import { type CommonPlan, commonPlan, type Planned } from '../common-plan.ts'
import { EnrichError } from '../errors.ts'
import { firstLines, type LineRange } from '../first-lines.ts'
import type { EnrichOptions } from '../options.ts'
import { RAW } from '../raw-lines.ts'
import { AccessLine } from './access-line.ts'
import { MEMBERS } from './member-names.ts'

export interface AccessLogPlan extends CommonPlan {
  readonly format: 'access-log'
  /** Whether lines begin with a virtual host, as Apache's `vhost_combined` has it. */
  readonly hasVhost: boolean
  /**
   * Whether the part in quotes behind the user agent is the client's `X-Forwarded-For`, as in the format that
   * nginx is configured with when it is installed, and is believed as far as `trustedProxies` say.
   */
  readonly hasForwarded: boolean
  /** Whether lines are kept, and the location is put behind them. */
  readonly append: boolean
}

/** The name of the part behind the user agent. */
const FORWARDED = 'x_forwarded_for'

/** Lines looked at, of which most must be of an access log. */
const LINES = 50

/** Whether most of the first lines are of an access log. */
export function looksLikeAccessLog(sample: Uint8Array): boolean {
  const lines = firstLines(sample, false, LINES)
  return readable(sample, lines).length * 2 > lines.length
}

/**
 * Plans for an access log. Its lines say all that is needed, so that other lines are bad lines and no error.
 *
 * @throws EnrichError when `field` is not a part that can hold the address, or `into` is a part of the lines
 * @throws TypeError, InvalidLocaleError when an option is wrong
 */
export function planAccessLog(
  sample: Uint8Array,
  isWhole: boolean,
  options: EnrichOptions,
): Planned<AccessLogPlan> {
  const common = commonPlan(options)
  const { field, append = false } = options
  if (options.timeField !== undefined) {
    throw new TypeError('the option "timeField" is not for access logs: their lines have a time')
  }
  if (!append && [...MEMBERS, RAW].some((member) => member === common.into)) {
    throw new EnrichError(
      'ENRICH_FIELD_EXISTS',
      `a line has a member ${quoted(common.into)} already: choose another name for what is added`,
    )
  }
  const hasForwarded = field === FORWARDED
  if (field !== undefined && field !== 'ip' && !hasForwarded) {
    throw new EnrichError(
      'ENRICH_FIELD_UNKNOWN',
      `an access log has no ${quoted(field)}: the address is its first word, ip, or the ${FORWARDED} behind the user agent`,
    )
  }
  if (hasForwarded && common.trustedProxies === null) {
    throw new EnrichError(
      'ENRICH_FIELD_IS_LIST',
      `${FORWARDED} holds lists of addresses, of which a caller can write the left part: say which proxies are trusted`,
    )
  }
  const hasVhost = startsWithVhost(sample, isWhole)
  const word = hasVhost ? 'second word, behind the virtual host' : 'first word'
  const notes = hasForwarded
    ? [
        `the address is the first from the right, in the part behind the user agent and the ${word}, that is not trusted`,
      ]
    : [`the address is the ${word}`]
  return { plan: { ...common, format: 'access-log', hasVhost, hasForwarded, append }, notes }
}

/** Whether most lines have an address where the others have an identity of RFC 1413, which nobody has. */
function startsWithVhost(sample: Uint8Array, isWhole: boolean): boolean {
  const lines = readable(sample, firstLines(sample, isWhole, LINES))
  const shifted = lines.filter(({ identStart, identEnd }) => {
    const second = String.fromCharCode(...sample.subarray(identStart, Math.min(identEnd, identStart + 100)))
    return kindOfValue(second) === 'address'
  })
  return shifted.length * 2 > lines.length
}

function readable(sample: Uint8Array, lines: readonly LineRange[]): AccessLine[] {
  return lines.flatMap(({ start, end }) => {
    const line = new AccessLine(false)
    return line.read(sample, start, end) ? [line] : []
  })
}
