import { quoted } from '../../../errors.ts'
import { wrongOption } from '../../../option-names.ts'
import { BRACE, BRACKET, HASH, SPACE } from '../../ascii.ts'
import { EnrichError } from '../../errors.ts'
import {
  addedMembers,
  type CommonPlan,
  commonPlan,
  type LineOptions,
  type Planned,
  type RequestFields,
} from '../../options.ts'
import { refuseTaken } from '../../reading/chosen-fields.ts'
import { kindOfValue, SampleField } from '../../reading/field-guess.ts'
import { addressNotes, LIST_FLAGS, listFault } from '../../reading/field-messages.ts'
import { plainLayout } from '../../reading/layout.ts'
import { ABSENT } from '../../reading/record-reader.ts'
import { firstLines, type LineRange, type Sample } from '../../reading/sample.ts'
import { latin1 } from '../../swar.ts'
import { type AppendPlan, appendPlan, lineForm } from '../../writing/record-form.ts'
import type { FormatDefinition } from '../format-definition.ts'
import { wrappersOf } from '../wrapped/prefix.ts'
import { AccessLogReader } from './access-log-reader.ts'
import { FORWARDED, HOST, IDENT, type LineLayout, PARTS, REST, USER } from './line-syntax.ts'

export interface AccessLogPlan extends CommonPlan, AppendPlan, LineLayout {
  readonly format: 'access-log'
}

const REQUEST_FIELDS: RequestFields = {
  ...{ status: 'status', method: 'method', bytes: 'bytes', path: 'target' },
  ...{ referrer: 'referrer', agent: 'user_agent' },
}

/** The name of the list after the user agent. */
const XFF = PARTS[FORWARDED] ?? ''

/**
 * Makes the plan for an access log. The layout of the lines is fixed, so lines with another layout are bad lines and
 * not an error here.
 *
 * @throws EnrichError when `field` is not a part that can hold the address, or is `x_forwarded_for` and no proxies are
 *   trusted; when it is unclear which of two words is the client's; and when lines become objects that can have a member
 *   with the name `into`
 * @throws TypeError, InvalidLocaleError when an option is wrong
 */
export function planAccessLog(sample: Sample, options: LineOptions): Planned<AccessLogPlan> {
  const common = commonPlan(options)
  const append = appendPlan(options, 'access-log')
  const { field = 'ip' } = options
  if (options.timeField !== undefined) {
    throw wrongOption`<timeField> is not for access logs: their lines have a time`
  }
  if (!append.append) refuseTaken(addedMembers(common), PARTS, 'a line has', 'member')
  const unknown = (message: string): EnrichError => new EnrichError('ENRICH_FIELD_UNKNOWN', message)
  const isWordNamed = field === '1' || field === '2'
  const hasForwarded = field === XFF
  if (!isWordNamed && !hasForwarded && field !== 'ip') {
    throw unknown(
      `an access log has no ${quoted(field)}: name the address with --field 1 (the first word), --field 2 (the second) or --field ${XFF} (after the user agent)`,
    )
  }
  if (hasForwarded && common.trustedProxies === null) throw listFault(field)
  const { first, second, isShifted, unclear, forwarded, lacksForwarded, another } = wordsOf(sample)
  if (unclear !== null && !isWordNamed) {
    throw unknown(
      `the lines begin with ${unclear}, and it is unclear which is the client: say which with --field 1 or --field 2, or give the directive of the server, --log-format`,
    )
  }
  if (hasForwarded && lacksForwarded && !common.force) {
    throw unknown(
      `none of the first lines has ${XFF}, a list in quotes after the user agent: leave out --field, or continue with --force if it comes later (in a program: force: true)`,
    )
  }
  const hasVhost = isWordNamed ? field === '2' : isShifted
  const host = hasVhost ? second : first
  const word = hasVhost ? 'the second word, after the virtual host' : 'the first word'
  const others = forwarded.holdsAddresses(true) && !forwarded.isLocal ? [forwarded] : []
  const guess = { best: host, isByValues: false, others, rivals: [], unreadable: null }
  const words = { noun: 'word', shown: (each: SampleField) => (each === host ? word : XFF), typed: () => XFF }
  const notes = hasForwarded
    ? [`the address is the rightmost untrusted one in ${XFF}, the part after the user agent, then ${word}`]
    : addressNotes(guess, false, words)
  if (common.trustedProxies === null && host.seen.kinds.list > 0) {
    notes.push(
      `in some lines it is a list of addresses, which is not read, because any caller can write its left part: ${LIST_FLAGS}`,
    )
  }
  if (another !== undefined) {
    notes.push(
      `most lines have another address before the time, for example ${another}. If it is the client's, say how the server writes a line: --log-format with its log_format (nginx) or LogFormat (Apache)`,
    )
  }
  const layout = { hasPort: host.hasPort, hasVhost, isWordNamed, hasForwarded }
  const plan = {
    ...common,
    ...append,
    format: 'access-log',
    requestFields: REQUEST_FIELDS,
    ...layout,
  } as const
  return { plan, notes }
}

/** Lines checked. More than half must be lines of an access log. */
const LINES = 50

/** Whether more than half of the first lines are lines of an access log. */
export function looksLikeAccessLog(sample: Uint8Array): boolean {
  const lines = firstLines({ bytes: sample }, LINES)
  return readable(sample, lines).length * 2 > lines.length
}

/** Bytes that begin JSON, directives and comments. */
const FOREIGN: ReadonlySet<number | undefined> = new Set([BRACE, BRACKET, HASH])

/** Whether an input can only be an access log, with nothing before its lines: no other format need look at it. */
export function isAccessLog(
  sample: Uint8Array,
  options: LineOptions & { readonly format?: string | undefined },
): boolean {
  const { format, logFormat } = options
  if ((format ?? ACCESS_LOG.name) !== ACCESS_LOG.name || !wrappersOf(sample).next().done) return false
  if (format !== undefined) return true
  const begins = ({ start, end }: LineRange): number | undefined =>
    sample.subarray(start, end).find((byte) => byte > SPACE)
  const isForeign = firstLines({ bytes: sample, isWhole: true }, LINES).some((line) =>
    FOREIGN.has(begins(line)),
  )
  return logFormat === undefined && !isForeign && looksLikeAccessLog(sample)
}

function readable(sample: Uint8Array, lines: readonly LineRange[]): AccessLogReader[] {
  return lines.flatMap(({ start, end }) => {
    const reader = new AccessLogReader({ hasVhost: false, isWordNamed: true, hasForwarded: false })
    reader.read(sample, start, end)
    return reader.complete() ? [reader] : []
  })
}

/** The text of a part, up to the length of a long list of hops. */
function textOf(sample: Uint8Array, { starts, ends }: AccessLogReader, part: number): string {
  const [start, end] = [starts[part] ?? ABSENT, ends[part] ?? 0]
  return start === ABSENT ? '' : latin1(sample, start, Math.min(end, start + 400))
}

/** Of the words between the second one and the time, the first address; all of them if they are a list, or none is one. */
function addressIn(words: string): string {
  const isAddress = (text: string): boolean => kindOfValue(text) === 'address'
  return kindOfValue(words) === 'list' ? words : (words.split(' ').find(isAddress) ?? words)
}

/** A virtual host is the first word of this share of lines, at most, in the form of an address. */
const MAX_ADDRESS_HOSTS = 0.1

/**
 * The first two words of the lines of a sample. Without a virtual host the second word is the client's identity (RFC 1413),
 * which servers hardly ever know and log as `-`. Some formats have a second address there: the server's, or that of a proxy.
 */
function wordsOf(sample: Sample) {
  const { bytes } = sample
  const lines = readable(bytes, firstLines(sample, LINES))
  const first = new SampleField(['ip'])
  const second = new SampleField(['ip'])
  const forwarded = new SampleField([XFF])
  const other = new SampleField([])
  // The words of lines whose second word is an address.
  const hosts = new SampleField([])
  const firsts = new Set<string>()
  const seconds = new Set<string>()
  let example = ''
  let parts = 0
  for (const line of lines) {
    const [host = '', ident = '', user, rest = ''] = [HOST, IDENT, USER, REST].map((part) =>
      textOf(bytes, line, part),
    )
    first.add(host)
    second.add(ident)
    if (kindOfValue(ident) === 'address') {
      hosts.add(/^"(.*)"$/.exec(host)?.[1] ?? host)
      firsts.add(host)
      seconds.add(ident)
      example ||= quoted(`${host} ${ident}`)
    }
    const [, list = ''] = /^"([^"]*)"/.exec(rest) ?? []
    forwarded.add(list)
    if (rest.startsWith('"')) parts++
    const [, given = user] = /^\(([^)]*)\)$/.exec(ident) ?? []
    other.add(given === host ? '' : addressIn(given ?? ''))
  }
  const isUsual = (other.seen.kinds.address + other.seen.kinds.list) * 2 > lines.length && !other.isLocal
  const { address, list, missing } = hosts.seen.kinds
  const isShifted = second.seen.kinds.address * 2 > lines.length
  const isHostAddress = address + list + missing > lines.length * MAX_ADDRESS_HOSTS
  const beginning = isHostAddress ? 'two addresses' : 'a name and an address'
  // Clients differ more than virtual hosts: names can be those of clients, found by their addresses.
  const isUnclear = isShifted && (isHostAddress || firsts.size > seconds.size)
  return {
    first,
    second,
    /** Whether lines begin with a virtual host, and the client is the second word. */
    isShifted,
    /** What the lines begin with if both words are addresses, or the first can be the name of a client. */
    unclear: isUnclear ? `${beginning}, for example ${example}` : null,
    /** The quoted part after the user agent. */
    forwarded,
    /** Whether there are lines, and none has that part. */
    lacksForwarded: lines.length > 0 && parts === 0,
    /** What most lines have in the place of the user, or in parentheses after the first word, if it is an address or a list. */
    another: isUsual ? (other.seen.examples.address ?? other.seen.examples.list) : undefined,
  }
}

/**
 * Each line becomes a JSON object of its parts, with `null` where the log has `-`. With `append` the line is kept, followed by
 * its location. Four members are not in every object: `vhost`; `request`, for a request that has no parts; `x_forwarded_for`;
 * and `rest`, for text after the last part that was read. A line that is cut off or damaged is bad if it has no address.
 */
export const ACCESS_LOG: FormatDefinition<AccessLogPlan> = {
  name: 'access-log',
  title: 'access log, common or combined (Apache, nginx, Caddy, Traefik)',
  example: '81.2.69.142 - - [01/Jul/2026:12:00:00 +0000] "GET / HTTP/1.1" 200 512 "-" "curl/8.5.0"',
  mayBeWrapped: true,
  requiredForRows: [],
  recognise: looksLikeAccessLog,
  plan: planAccessLog,
  layout: plainLayout,
  addressPosition: ({ hasVhost }) => (hasVhost ? 'as the second word' : 'as the first word'),
  form: lineForm,
  fieldNames: () => PARTS,
  makeReader: (plan, wantsFields) => new AccessLogReader(plan, plan.counted, wantsFields),
}
