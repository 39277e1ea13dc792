import { Address } from '../address/address.ts'
import { eventTimeOf } from './event-time.ts'

/** Bytes of the byte order mark (RFC 3629 section 6) that `bytes[0, end)` starts with: 3 or 0. */
export function markLength(bytes: Uint8Array, end: number = bytes.length): number {
  return end >= 3 && bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0
}

const LINE_FEED = 0x0a
const CARRIAGE_RETURN = 0x0d

/** The range `[start, end)` of a line in a sample, without its line end. */
export interface LineRange {
  readonly start: number
  readonly end: number
}

/**
 * The first lines of a sample that are not empty, after a byte order mark. A last line without a line end counts if
 * the sample is the whole input or has no other line.
 *
 * @param most the largest number of lines
 */
export function firstLines(sample: Uint8Array, isWhole: boolean, most: number): LineRange[] {
  const lines: LineRange[] = []
  let start = markLength(sample)
  while (start < sample.length && lines.length < most) {
    const lineFeed = sample.indexOf(LINE_FEED, start)
    if (lineFeed === -1 && !isWhole && lines.length > 0) break
    const next = lineFeed === -1 ? sample.length : lineFeed
    const end = next > start && sample[next - 1] === CARRIAGE_RETURN ? next - 1 : next
    if (end > start) lines.push({ start, end })
    start = next + 1
  }
  return lines
}

/** The first lines of a sample that are not empty, without their ends, as text; see {@link firstLines}. */
export function sampleLines(sample: Uint8Array, isWhole: boolean, most = 1000): string[] {
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true })
  const lines = firstLines(sample, isWhole, most)
  return lines.map(({ start, end }) => decoder.decode(sample.subarray(start, end)))
}

const QUOTE = 0x22

/** Usual size of the sample that a plan is made from. Bytes. */
export const SAMPLE_BYTES = 256 * 1024

/** The sample holds this many whole lines: a header and a record, or the separator line and the header. */
const WHOLE_LINES = 2

/**
 * Decides how much of an input a plan is made from: 256 KiB, or more if the first two lines that are not empty are
 * longer, as in a table with many columns. A line feed between quotes does not end a line.
 */
export class SampleSize {
  /** Bytes added so far. */
  length = 0
  readonly #most: number
  #lines = 0
  #isQuoted = false
  #isEmpty = true
  /** End of the last whole line, an offset in the input. */
  #end = 0

  /** @param maxLineBytes the longest line that may be parsed: the sample does not wait for longer ones */
  constructor(maxLineBytes: number) {
    this.#most = maxLineBytes + SAMPLE_BYTES
  }

  /** Bytes that a sample should have, as far as the bytes added so far tell. */
  get wanted(): number {
    return this.#lines === WHOLE_LINES ? Math.max(SAMPLE_BYTES, Math.min(this.#end, this.#most)) : this.#most
  }

  add(chunk: Uint8Array): void {
    for (let at = 0; at < chunk.length && this.#lines < WHOLE_LINES; at++) {
      const byte = chunk[at]
      if (byte === LINE_FEED && !this.#isQuoted) {
        if (!this.#isEmpty) this.#lines++
        this.#isEmpty = true
        this.#end = this.length + at + 1
      } else if (byte === QUOTE) this.#isQuoted = !this.#isQuoted
      else if (byte !== CARRIAGE_RETURN) this.#isEmpty = false
    }
    this.length += chunk.length
  }
}

/** A JSON array is recognised within these first bytes. */
const ARRAY_HEAD_BYTES = 1024

/**
 * Whether the sample starts with an array of objects, or is an empty array. A bracket alone is not enough: logs also
 * start with brackets around a time or a level.
 */
export function startsJsonArray(sample: Uint8Array): boolean {
  return /^\s*\[\s*(?:\{\s*["}]|\]\s*$)/.test(new TextDecoder().decode(sample.subarray(0, ARRAY_HEAD_BYTES)))
}

/** Usual names of the field with the client's address, best first, as {@link plainName} returns them. */
const ADDRESS_FIELDS: readonly string[] = [
  ...'ip clientip remoteaddr remoteip sourceip srcip ipaddress ipaddr clientaddr clientaddress'.split(' '),
  ...'remoteaddress remotehost userip visitorip peerip address addr host'.split(' '),
]
/** Usual names of a field with a list of hops. Considered only when proxies are trusted. */
const LIST_FIELDS: readonly string[] = ['xforwardedfor', 'httpxforwardedfor', 'forwardedfor', 'xff']
/** Names that do not say whose address it is. The name of an inner object decides: `client.ip`, not `server.ip`. */
const VAGUE_ADDRESS_FIELDS: readonly string[] = 'ip ipaddress ipaddr address addr host'.split(' ')

/** Names that mean the time of the event even in inner objects. Others can be a certificate's or an account's time. */
const CLEAR_TIME_FIELDS: readonly string[] =
  '@timestamp timestamp eventtime eventtimestamp ts occurredat'.split(' ')
/**
 * Usual names of the field with the time of the event, best first. Names that are also usual for other times, such as
 * `created` for a user's account, come last.
 */
const TIME_FIELDS: readonly string[] = [
  ...'@timestamp timestamp eventtime eventtimestamp time ts datetime date eventdate occurredat'.split(' '),
  ...'timestampms tsms timeiso8601 timeutc utctime unixtime epoch epochms msec realtimetimestamp'.split(' '),
  ...'requesttime requesttimestamp requestedat edgestarttimestamp starttime startedat startutc'.split(' '),
  ...'eventcreated eventstart timegenerated loggedat logtime receivedat receivetimestamp'.split(' '),
  ...'visitedat createdat created'.split(' '),
]

/** A name in lower case, without word separators: `clientIp`, `client_ip` and `client.ip` are the same name. */
function plainName(name: string): string {
  return name.toLowerCase().replace(/[\s._-]/g, '')
}

/**
 * Ranks a field by the last one or two names of its path. The lowest rank is the best; unusual names get Infinity.
 *
 * @param isClear whether a name alone, without that of the object around it, says what an inner field is
 * @param perLevel added for each name of the path, so that an outer field is better than an inner one
 */
function rankOf(
  path: readonly string[],
  names: readonly string[],
  isClear: (name: string) => boolean,
  perLevel: number,
): number {
  const own = plainName(path.at(-1) ?? '')
  const considered = [plainName(path.slice(-2).join('')), ...(isClear(own) ? [own] : [])]
  const ranks = considered.map((name) => names.indexOf(name)).filter((rank) => rank >= 0)
  return Math.min(...ranks) + path.length * perLevel
}

/** Ranks a field as the client's address. For equal names the outer one wins. */
function addressRank(path: readonly string[], isTrusting: boolean): number {
  const names = isTrusting ? [...LIST_FIELDS, ...ADDRESS_FIELDS] : ADDRESS_FIELDS
  return rankOf(path, names, (name) => !VAGUE_ADDRESS_FIELDS.includes(name), 0.01)
}

/** Ranks a field as the time of the event. Outer members rank before inner ones, whatever their names. */
export function timeRank(path: readonly string[]): number {
  return rankOf(path, TIME_FIELDS, (name) => CLEAR_TIME_FIELDS.includes(name), TIME_FIELDS.length)
}

/** Whether a column with this name usually holds the client's address. */
export function isAddressName(name: string): boolean {
  return ADDRESS_FIELDS.includes(plainName(name))
}

/** The range of plausible times. Durations and counters, read as times, lie in 1970 or far in the future. */
const EARLIEST = Date.UTC(1990, 0, 1)
const LATEST = Date.UTC(2100, 0, 1)

/** The kind of a field's value. A `list` is several hops, separated by commas, at least one of them an address. */
export type ValueKind = 'address' | 'list' | 'missing' | 'other'

/** The kind of a value, whether or not proxies are trusted. */
export function kindOfValue(text: string): ValueKind {
  if (text === '' || text === '-') return 'missing'
  const address = new Address()
  if (address.parse(text)) return 'address'
  const hops = text.split(',')
  return hops.length > 1 && hops.some((hop) => address.parse(hop.trim())) ? 'list' : 'other'
}

/** A field of the sample, such as a column or a member of objects, and the kinds of its values. */
export class SampleField {
  /** Values seen. */
  values = 0
  /** Number of strings of each kind. Numbers are not counted here. */
  readonly kinds: Record<ValueKind, number> = { address: 0, list: 0, missing: 0, other: 0 }
  /** Values that are times, and values that are neither times nor missing. Counted for usual time names only. */
  times = 0
  otherThanTimes = 0
  readonly timeRank: number

  /** @param path names from the outermost member to the field; one name for a column, '' without a header */
  constructor(readonly path: readonly string[]) {
    this.timeRank = timeRank(path)
  }

  /** Whether its name is a usual one for the time of the event. */
  get mayBeTime(): boolean {
    return this.timeRank < Number.POSITIVE_INFINITY
  }

  add(value: string | number): void {
    this.values++
    const kind = typeof value === 'string' ? kindOfValue(value) : null
    if (kind !== null) this.kinds[kind]++
    if (!this.mayBeTime || kind === 'missing') return
    const instant = eventTimeOf(String(value))
    if (instant >= EARLIEST && instant < LATEST) this.times++
    else this.otherThanTimes++
  }

  /**
   * Whether at least half of the values that are not missing are addresses.
   *
   * @param isTrusting whether proxies are trusted, so that lists count as addresses
   */
  holdsAddresses(isTrusting: boolean): boolean {
    const { address, list, other } = this.kinds
    const addresses = isTrusting ? address + list : address
    return addresses > 0 && addresses >= (isTrusting ? other : other + list)
  }

  /** Whether at least half of the values that are not missing are times. */
  get holdsTimes(): boolean {
    return this.times > 0 && this.times >= this.otherThanTimes
  }
}

/** The chosen field, or `null`, and the other fields that hold addresses, best first. */
export interface AddressGuess<Field extends SampleField> {
  readonly best: Field | null
  readonly others: readonly Field[]
}

/**
 * Chooses the field with the client's address: the best usual name among the fields that hold addresses. If only one
 * field holds addresses, it needs no usual name. If no field has a value, a usual name is enough.
 *
 * @param isTrusting whether proxies are trusted, so that a list of hops is preferred
 */
export function guessAddress<Field extends SampleField>(
  fields: readonly Field[],
  isTrusting: boolean,
): AddressGuess<Field> {
  const hasValues = fields.some(({ values }) => values > 0)
  const ranked = fields
    .filter((field) => !hasValues || field.holdsAddresses(isTrusting))
    .map((field) => ({ field, rank: addressRank(field.path, isTrusting) }))
    .sort((a, b) => a.rank - b.rank)
  const [first] = ranked
  const isOnly = hasValues && ranked.length === 1
  const isChosen = first !== undefined && (first.rank < Number.POSITIVE_INFINITY || isOnly)
  const others = ranked.slice(isChosen ? 1 : 0).map(({ field }) => field)
  return { best: isChosen ? first.field : null, others: hasValues ? others : [] }
}

/**
 * Chooses the field with the time of the event: the best usual name among the fields that hold times. A field
 * without values only needs a usual name. `null` if no field qualifies.
 */
export function guessTime<Field extends SampleField>(fields: readonly Field[]): Field | null {
  const usual = fields.filter((field) => field.mayBeTime && (field.values === 0 || field.holdsTimes))
  return usual.sort((a, b) => a.timeRank - b.timeRank)[0] ?? null
}
