import { Address } from '../../../address/address.ts'
import { MAX_ADDRESS_CHARS } from '../../../address/ip-text.ts'
import type { ByteSink } from '../../../bytes/byte-sink.ts'
import { quoted } from '../../../errors.ts'
import { OptionError } from '../../../option-names.ts'
import { EnrichError } from '../../errors.ts'
import { NO_TIME, TIMESTAMP_ROOM } from '../../locating/event-time.ts'
import type { LineLocator } from '../../locating/line-locator.ts'
import { type CommonPlan, commonPlan, type LineOptions, type Planned } from '../../options.ts'
import { refuseTaken } from '../../reading/chosen-fields.ts'
import { LIST_FLAGS, LOCAL_PROXIES, listFault, throughProxies } from '../../reading/field-messages.ts'
import { plainLayout } from '../../reading/layout.ts'
import { CachedView, viewOf } from '../../swar.ts'
import {
  type AppendPlan,
  appendedNothing,
  appendPlan,
  appendTemplate,
} from '../../writing/appended-location.ts'
import { JsonText, jsonRoom, RAW } from '../../writing/json-text.ts'
import type { FormatDefinition, LineFormat, LineResult } from '../format-definition.ts'
import type { FusedLoop } from '../fused-loop.ts'
import {
  ABSENT,
  AccessLine,
  FORWARDED,
  HOST,
  IDENT,
  isDash,
  PARTS,
  REQUEST,
  REST,
  SIZE,
  STATUS,
  TIME,
  USER,
  VHOST,
} from './access-line.ts'
import { AccessValues } from './access-values.ts'
import { AppendLoop } from './append-loop.ts'
import { FirstWords, looksLikeAccessLog } from './first-words.ts'
import { ObjectLoop } from './object-loop.ts'

export interface AccessLogPlan extends CommonPlan, AppendPlan {
  readonly format: 'access-log'
  /** Whether lines begin with a virtual host, as in Apache's `vhost_combined`. */
  readonly hasVhost: boolean
  /** Whether the user said which word is the client's. Otherwise other lines can begin without or with a virtual host. */
  readonly isWordNamed: boolean
  /**
   * Whether the quoted part after the user agent is the client's `X-Forwarded-For`, as in the log format `main` of nginx's
   * default configuration. `trustedProxies` decides how much of it is believed.
   */
  readonly hasForwarded: boolean
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
    throw new OptionError(({ the }) => `${the('timeField')} is not for access logs: their lines have a time`)
  }
  if (!append.append) refuseTaken(common, [...PARTS, RAW], 'member')
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

const QUOTE = 0x22
const COMMA = 0x2c
const ZERO = 0x30
const QUESTION_MARK = 0x3f
const TAB = 0x09
const OPEN_BRACE = 0x7b
const CLOSE_BRACE = 0x7d

/** Longer lists of hops are not read; `detect` has the same bound. Bytes. */
const MAX_LIST_BYTES = 8192

/** Parts that are left out of the object if the line does not have them. Other missing parts are `null`. */
const OPTIONAL: readonly number[] = [VHOST, REQUEST, FORWARDED, REST]
const IS_OPTIONAL = PARTS.map((_, part) => OPTIONAL.includes(part))
/** Indexes in the fixed texts. Those of the parts come first. */
const LOCATION = PARTS.length
const NULL = LOCATION + 1

/**
 * Enriches lines of access logs. Each line becomes a JSON object of its parts, with `null` where the log has `-`. With
 * `append` the line is kept, followed by its location. If a line is cut off or damaged, the parts that can
 * be read have their values, the others are `null`, and the text after them is `rest`. Such a line is bad if it has no
 * address.
 *
 * Values keep the escapes of the log (`\"`, `\x16`), because undoing them requires knowing which server wrote them.
 * Four members are not in every object: `vhost`; `request`, for a request that has no parts; `x_forwarded_for`; and
 * `rest`, for text after the last part that was read.
 */
class AccessLogLines implements LineFormat {
  readonly values: AccessValues
  readonly rewrites: boolean
  readonly #line: AccessLine
  readonly #locator: LineLocator
  readonly #hasForwarded: boolean
  readonly #text = new JsonText()
  readonly #target = new CachedView()
  readonly #address = new Address()
  /** The fixed texts: a comma, the name and a colon for each part and for the location; then `null`. */
  readonly #fixed: DataView
  /** Where each of these texts ends. */
  readonly #fixedEnds: Int32Array
  readonly #plan: AccessLogPlan
  readonly #isJson: boolean
  /** What is appended to a line without a location. */
  readonly #nothing: Uint8Array
  /** An `X-Forwarded-For` list, followed by a comma and the host that sent it. */
  readonly #hops: Uint8Array

  constructor(plan: AccessLogPlan, locator: LineLocator) {
    const encoder = new TextEncoder()
    this.rewrites = !plan.append
    this.#line = new AccessLine(plan.hasVhost, plan.hasForwarded)
    this.values = new AccessValues(this.#line, plan.counted ?? [])
    this.#locator = locator
    this.#plan = plan
    this.#hasForwarded = plan.hasForwarded
    const fixed = [...PARTS.map((name) => `,"${name}":`), `,${JSON.stringify(plan.into)}:`, 'null']
    this.#fixed = viewOf(encoder.encode(`${fixed.join('')}   `))
    let end = 0
    this.#fixedEnds = Int32Array.from(fixed, (text) => (end += encoder.encode(text).length))
    this.#isJson = plan.fields === null
    this.#nothing = appendedNothing(plan) ?? new Uint8Array(0)
    this.#hops = new Uint8Array(plan.hasForwarded ? MAX_LIST_BYTES : 0)
  }

  get fault(): string {
    return this.#line.fault
  }

  makeLoop(): FusedLoop | null {
    const { hasVhost, hasForwarded, append, maxLineBytes, count, counted = [], asn, jsonFields } = this.#plan
    if (hasVhost || hasForwarded || !this.#locator.isPlain || !this.values.areOfRequests) return null
    const values = counted.length > 0 ? this.values : null
    if (count !== undefined) {
      const nothingWritten = { maxLineBytes, dropUnresolved: true }
      return new AppendLoop(this.#locator, false, this.#nothing, nothingWritten, values)
    }
    // The loop writes whole records, and no member for the autonomous system.
    if (!append)
      return asn === undefined && jsonFields === null
        ? new ObjectLoop(this.#locator, this.#plan, this.values)
        : null
    return new AppendLoop(this.#locator, this.#isJson, this.#nothing, this.#plan, values)
  }

  line(bytes: Uint8Array, start: number, end: number, out: ByteSink): LineResult {
    const line = this.#line
    line.hasVhost = this.#plan.hasVhost
    line.readClient(bytes, start, end)
    let isWhole = this.#hasForwarded && line.readParts(bytes, end)
    this.#locator.instant = line.hasTime ? line.timestamp.instant : NO_TIME
    let isLocated = this.#locate(bytes)
    if (!isLocated && this.#isOtherLayout(bytes, start, end)) {
      isWhole = this.#hasForwarded && line.readParts(bytes, end)
      isLocated = this.#locate(bytes)
    }
    this.values.use(bytes, end, this.#hasForwarded)
    if (isLocated && !this.#locator.writesLocations) return 'resolved'
    const hasAddress =
      isLocated || (this.#locator.reason !== 'malformed' && this.#locator.reason !== 'missing')
    // A line that is kept needs its other parts only to decide whether it is bad.
    if (!this.#hasForwarded && (this.rewrites || !hasAddress)) {
      isWhole = line.readParts(bytes, end)
      this.values.use(bytes, end, true)
    }
    if (!hasAddress && !isWhole) return 'bad'
    if (!this.#locator.writesLines) return 'unresolved'
    if (this.rewrites) {
      const into = out.room(
        jsonRoom(end - start) + this.#fixed.byteLength + PARTS.length * 4 + TIMESTAMP_ROOM,
      )
      out.length = this.#putParts(bytes, into, out.length)
      this.#locator.writeJson(out)
      out.writeByte(CLOSE_BRACE)
    } else {
      out.write(bytes, start, end)
      if (isLocated) {
        out.writeByte(TAB)
        if (this.#isJson) this.#locator.writeJson(out)
        else this.#locator.writeRendered(out)
      } else out.write(this.#nothing)
    }
    return isLocated ? 'resolved' : 'unresolved'
  }

  /**
   * Whether the line has a virtual host and the others do not, or the other way round: the client's address is then in the other
   * word. Reads the line again. Without a virtual host, an address in the second word can be an identity, which a client chooses.
   */
  #isOtherLayout(bytes: Uint8Array, start: number, end: number): boolean {
    const line = this.#line
    const { hasVhost, isWordNamed } = this.#plan
    if (isWordNamed || !line.hasTime || this.#locator.reason === 'not-found') return false
    // A line with a virtual host has one word more: its client is unknown or a name, and the virtual host is never the client.
    if (hasVhost && line.starts[USER] !== ABSENT) return false
    if (!this.#isAddress(bytes, HOST) && this.#isAddress(bytes, hasVhost ? VHOST : IDENT)) {
      line.hasVhost = !hasVhost
      line.readClient(bytes, start, end)
      if (line.hasTime && line.starts[USER] !== ABSENT) return true
      line.hasVhost = hasVhost
      line.readClient(bytes, start, end)
    }
    return false
  }

  #isAddress(bytes: Uint8Array, part: number): boolean {
    const { starts, ends } = this.#line
    const [from, to] = [starts[part] ?? ABSENT, ends[part] ?? 0]
    if (from === ABSENT || to - from > MAX_ADDRESS_CHARS) return false
    return this.#address.parse(String.fromCharCode(...bytes.subarray(from, to)))
  }

  #locate(bytes: Uint8Array): boolean {
    const { starts, ends } = this.#line
    const [hostStart, hostEnd] = [starts[HOST] ?? 0, ends[HOST] ?? 0]
    const [start, end] = [starts[FORWARDED] ?? ABSENT, ends[FORWARDED] ?? 0]
    const hostSize = hostEnd - hostStart
    const isTooLong = end - start + 1 + hostSize > MAX_LIST_BYTES
    if (start === ABSENT || isDash(bytes, start, end) || (isTooLong && hostSize + 2 > MAX_LIST_BYTES)) {
      return this.#locator.locate(bytes, hostStart, hostEnd)
    }
    // The host that sent the request is the last hop. Unless it is trusted it is the client, whatever its list says.
    // Replace a list that is too long with a hop that is not an address, so that it is not believed.
    const list = isTooLong ? Uint8Array.of(QUESTION_MARK) : bytes.subarray(start, end)
    this.#hops.set(list)
    this.#hops[list.length] = COMMA
    this.#hops.set(bytes.subarray(hostStart, hostEnd), list.length + 1)
    return this.#locator.locate(this.#hops, 0, list.length + 1 + hostSize)
  }

  /** Writes the object up to the location. @returns where the location starts */
  #putParts(bytes: Uint8Array, into: Uint8Array, from: number): number {
    const { starts, ends } = this.#line
    let at = from
    for (let part = 0; part < PARTS.length; part++) {
      const start = starts[part] ?? ABSENT
      const end = ends[part] ?? 0
      if (start === ABSENT && IS_OPTIONAL[part] === true) continue
      at = this.#putFixed(part, into, at)
      if (start === ABSENT || isDash(bytes, start, end)) at = this.#putFixed(NULL, into, at)
      else if (part === STATUS || part === SIZE) at = putNumber(bytes, start, end, into, at)
      else {
        into[at] = QUOTE
        at =
          part === TIME
            ? this.#line.timestamp.put(bytes, into, at + 1)
            : this.#text.put(bytes, start, end, into, at + 1)
        into[at++] = QUOTE
      }
    }
    into[from] = OPEN_BRACE
    return this.#putFixed(LOCATION, into, at)
  }

  /** Writes a fixed text, and up to three bytes after it, which are overwritten. @returns where the text ends */
  #putFixed(text: number, into: Uint8Array, at: number): number {
    const view = this.#target.view(into)
    const start = text === 0 ? 0 : (this.#fixedEnds[text - 1] ?? 0)
    const size = (this.#fixedEnds[text] ?? 0) - start
    // Four bytes at a time, because byte by byte takes longer.
    for (let done = 0; done < size; done += 4) view.setInt32(at + done, this.#fixed.getInt32(start + done))
    return at + size
  }
}

function putNumber(bytes: Uint8Array, start: number, end: number, into: Uint8Array, from: number): number {
  let at = from
  let digit = start
  // JSON numbers have no leading zeros, but nginx writes the status "000".
  while (digit < end - 1 && bytes[digit] === ZERO) digit++
  for (; digit < end; digit++) into[at++] = bytes[digit] ?? 0
  return at
}

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
  locationTemplate: appendTemplate,
  appended: appendedNothing,
  fieldNames: () => PARTS,
  usualFields: () => ({ status: 'status', method: 'method', bytes: 'bytes', path: 'target' }),
  makeLines: (plan, locator) => new AccessLogLines(plan, locator),
}
