import { quoted } from '../../../errors.ts'
import { wrongOption } from '../../../option-names.ts'
import { EnrichError } from '../../errors.ts'
import { addedMembers, type CommonPlan, commonPlan, type LineOptions, type Planned } from '../../options.ts'
import { refuseTaken } from '../../reading/chosen-fields.ts'
import { LIST_FLAGS, LOCAL_PROXIES, listFault, throughProxies } from '../../reading/field-messages.ts'
import { plainLayout } from '../../reading/layout.ts'
import { RAW } from '../../writing/json-text.ts'
import { type AppendPlan, appendPlan, lineForm } from '../../writing/record-form.ts'
import type { FormatDefinition } from '../format-definition.ts'
import { AccessLogReader } from './access-log-reader.ts'
import { FirstWords, looksLikeAccessLog } from './first-words.ts'
import { FORWARDED, type LineLayout, PARTS } from './parts.ts'

export interface AccessLogPlan extends CommonPlan, AppendPlan, LineLayout {
  readonly format: 'access-log'
}

/**
 * Makes the plan for an access log. The layout of the lines is fixed, so lines with another layout are bad lines and
 * not an error here.
 *
 * @throws EnrichError when `field` is not a part that can hold the address, when it is unclear which of two words is the
 *   client's, when it is `x_forwarded_for` and no proxies are trusted, and when lines become objects and `into` is the name of a member that they can have
 * @throws TypeError, InvalidLocaleError when an option is wrong
 */
export function planAccessLog(
  sample: Uint8Array,
  isWhole: boolean,
  options: LineOptions,
): Planned<AccessLogPlan> {
  const common = commonPlan(options)
  const append = appendPlan(options, 'access-log')
  const { field } = options
  if (options.timeField !== undefined) {
    throw wrongOption`<timeField> is not for access logs: their lines have a time`
  }
  if (!append.append) refuseTaken(addedMembers(common), [...PARTS, RAW], 'a line has', 'member')
  const hasForwarded = field === PARTS[FORWARDED]
  if (field !== undefined && !ADDRESS_WORDS.includes(field) && !hasForwarded) {
    throw new EnrichError(
      'ENRICH_FIELD_UNKNOWN',
      `an access log has no ${quoted(field)}: name the address with --field 1 (the first word), --field 2 (the second) or --field ${PARTS[FORWARDED]} (after the user agent)`,
    )
  }
  if (hasForwarded && common.trustedProxies === null) throw listFault(`${field}`)
  const words = new FirstWords(sample, isWhole)
  if (words.areUnclear && (field === undefined || field === 'ip' || hasForwarded)) {
    throw new EnrichError(
      'ENRICH_FIELD_UNKNOWN',
      `the lines begin with ${words.beginning}, for example ${words.example}, and it is unclear which is the client: say which with --field 1 or --field 2`,
    )
  }
  if (hasForwarded && words.lacksForwarded && !common.force) {
    throw new EnrichError(
      'ENRICH_FIELD_UNKNOWN',
      `none of the first lines has ${PARTS[FORWARDED]}, a list in quotes after the user agent: leave out --field, or continue with --force if it comes later (in a program: force: true)`,
    )
  }
  const hasVhost = field === '2' || (field !== '1' && words.hasVhost)
  const host = hasVhost ? words.second : words.first
  const word = hasVhost ? 'second word, after the virtual host' : 'first word'
  const notes = [
    hasForwarded
      ? `the address is the rightmost untrusted one in ${PARTS[FORWARDED]}, the part after the user agent, then the ${word}`
      : `the address is the ${word}`,
    ...(common.trustedProxies !== null || host.kinds.list === 0
      ? []
      : [
          `in some lines it is a list of addresses, which is not read, because any caller can write its left part: ${LIST_FLAGS}`,
        ]),
    ...(hasForwarded || host.isLocal || !words.isForwarded
      ? []
      : [throughProxies(`--field ${PARTS[FORWARDED]}`)]),
    ...(hasForwarded || !host.isLocal || !words.hasForwarded
      ? []
      : [
          `these addresses are private, as those of proxies are. To locate their clients: --field ${PARTS[FORWARDED]} --trust ${LOCAL_PROXIES}`,
        ]),
    ...(words.another === null
      ? []
      : [
          `most lines have another address before the time, for example ${words.another}. If it is the client's, say how the server writes a line: --log-format with its log_format (nginx) or LogFormat (Apache)`,
        ]),
  ]
  const { hasPort } = host
  const isWordNamed = field === '1' || field === '2'
  return {
    plan: { ...common, ...append, format: 'access-log', hasPort, hasVhost, isWordNamed, hasForwarded },
    notes,
  }
}

/** Names of the parts that can be the client's address: `ip` is the one that is guessed. */
const ADDRESS_WORDS: readonly string[] = ['ip', '1', '2']

/**
 * Each line becomes a JSON object of its parts, with `null` where the log has `-`. With `append` the line is kept, followed by
 * its location. Four members are not in every object: `vhost`; `request`, for a request that has no parts; `x_forwarded_for`;
 * and `rest`, for text after the last part that was read. A line that is cut off or damaged is bad if it has no address.
 */
export const ACCESS_LOG: FormatDefinition<AccessLogPlan> = {
  name: 'access-log',
  title: 'access log, common or combined (Apache, nginx, Caddy, Traefik)',
  example: '81.2.69.142 - - [01/Jul/2026:12:00:00 +0000] "GET / HTTP/1.1" 200 512 "-" "curl/8.5.0"',
  options: ['field', 'append'],
  mayBeWrapped: true,
  requiredForRows: [],
  recognise: looksLikeAccessLog,
  plan: planAccessLog,
  layout: plainLayout,
  addressPosition: ({ hasVhost }) => (hasVhost ? 'as the second word' : 'as the first word'),
  form: lineForm,
  fieldNames: () => PARTS,
  usualFields: () => ({
    ...{ status: 'status', method: 'method', bytes: 'bytes', path: 'target' },
    ...{ referrer: 'referrer', agent: 'user_agent' },
  }),
  makeReader: (plan, wantsFields) => new AccessLogReader(plan, plan.counted, wantsFields),
}
