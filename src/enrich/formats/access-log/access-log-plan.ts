import { quoted } from '../../../errors.ts'
import { EnrichError } from '../../errors.ts'
import { kindOfValue } from '../../guess.ts'
import { RAW } from '../../line-format.ts'
import { type CommonPlan, commonPlan, type LineOptions, type Planned } from '../../options.ts'
import { firstLines, type LineRange } from '../../sample.ts'
import { AccessLine, IDENT, PARTS } from './access-line.ts'

export interface AccessLogPlan extends CommonPlan {
  readonly format: 'access-log'
  /** Whether lines begin with a virtual host, as in Apache's `vhost_combined`. */
  readonly hasVhost: boolean
  /**
   * Whether the quoted part after the user agent is the client's `X-Forwarded-For`, as in the format `main` of the
   * configuration that nginx is installed with. `trustedProxies` decide how much of it is believed.
   */
  readonly hasForwarded: boolean
  /** Whether lines are kept, each followed by a tab and its location. Otherwise lines become JSON objects. */
  readonly append: boolean
}

/** Name of the quoted part after the user agent. */
const FORWARDED = 'x_forwarded_for'

/** Lines checked. More than half must be lines of an access log. */
const LINES = 50

/** Whether more than half of the first lines are lines of an access log. */
export function looksLikeAccessLog(sample: Uint8Array): boolean {
  const lines = firstLines(sample, false, LINES)
  return readable(sample, lines).length * 2 > lines.length
}

/**
 * Makes the plan for an access log. The layout of the lines is fixed, so lines with another layout are bad lines and
 * not an error here.
 *
 * @throws EnrichError when `field` is not a part that can hold the address, when it is `x_forwarded_for` and no
 *   proxies are trusted, and when lines become objects and `into` is the name of a member that they can have
 * @throws TypeError, InvalidLocaleError when an option is wrong
 */
export function planAccessLog(
  sample: Uint8Array,
  isWhole: boolean,
  options: LineOptions,
): Planned<AccessLogPlan> {
  const common = commonPlan(options)
  const { field, append = false } = options
  if (options.timeField !== undefined) {
    throw new TypeError('the option "timeField" is not for access logs: their lines have a time')
  }
  if (!append && [...PARTS, RAW].some((member) => member === common.into)) {
    throw new EnrichError(
      'ENRICH_FIELD_EXISTS',
      `a line has a member ${quoted(common.into)} already: choose another name for what is added`,
    )
  }
  const hasForwarded = field === FORWARDED
  if (field !== undefined && field !== 'ip' && !hasForwarded) {
    throw new EnrichError(
      'ENRICH_FIELD_UNKNOWN',
      `an access log has no ${quoted(field)}: the address is its first word, ip, or the ${FORWARDED} after the user agent`,
    )
  }
  if (hasForwarded && common.trustedProxies === null) {
    throw new EnrichError(
      'ENRICH_FIELD_IS_LIST',
      `${FORWARDED} holds lists of addresses, whose left part any caller can write: say which proxies are trusted`,
    )
  }
  const hasVhost = startsWithVhost(sample, isWhole)
  const word = hasVhost ? 'second word, after the virtual host' : 'first word'
  const notes = [
    hasForwarded
      ? `the address is the rightmost untrusted one in ${FORWARDED}, the part after the user agent, then the ${word}`
      : `the address is the ${word}`,
  ]
  return { plan: { ...common, format: 'access-log', hasVhost, hasForwarded, append }, notes }
}

/**
 * Whether more than half of the lines have an address as their second word. Without a virtual host that word is the
 * client's identity (RFC 1413), which servers hardly ever know and log as `-`.
 */
function startsWithVhost(sample: Uint8Array, isWhole: boolean): boolean {
  const lines = readable(sample, firstLines(sample, isWhole, LINES))
  const shifted = lines.filter(({ starts, ends }) => {
    const [start, end] = [starts[IDENT] ?? 0, ends[IDENT] ?? 0]
    const second = String.fromCharCode(...sample.subarray(start, Math.min(end, start + 100)))
    return kindOfValue(second) === 'address'
  })
  return shifted.length * 2 > lines.length
}

function readable(sample: Uint8Array, lines: readonly LineRange[]): AccessLine[] {
  return lines.flatMap(({ start, end }) => {
    const line = new AccessLine(false, false)
    line.readClient(sample, start, end)
    return line.readParts(sample, end) ? [line] : []
  })
}
