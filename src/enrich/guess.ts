import { Address } from '../address/address.ts'
import { eventTimeOf } from './event-time.ts'

/**
 * Usual names of the field with the client's address, best first, as {@link plainName} returns them: `clientIp`,
 * `client_ip` and `client.ip` are the same name.
 */
const ADDRESS_FIELDS: readonly string[] = [
  'ip',
  'clientip',
  'remoteaddr',
  'remoteip',
  'sourceip',
  'srcip',
  'ipaddress',
  'ipaddr',
  'clientaddr',
  'clientaddress',
  'remoteaddress',
  'remotehost',
  'userip',
  'visitorip',
  'peerip',
  'address',
  'addr',
  'host',
]

/** Usual names of a field with a list of hops. Considered only when proxies are trusted. */
const LIST_FIELDS: readonly string[] = ['xforwardedfor', 'httpxforwardedfor', 'forwardedfor', 'xff']

/** A field's name in lower case, without word separators. */
function plainName(name: string): string {
  return name.toLowerCase().replace(/[\s._-]/g, '')
}

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

/**
 * Usual names of the field with the time of the event, best first, as {@link plainName} returns them. Names that are
 * also usual for other times, such as `created` for a user's account, come last.
 */
const TIME_FIELDS: readonly string[] = [
  '@timestamp',
  'timestamp',
  'eventtime',
  'eventtimestamp',
  'time',
  'ts',
  'datetime',
  'date',
  'eventdate',
  'occurredat',
  'timestampms',
  'tsms',
  'timeiso8601',
  'timeutc',
  'utctime',
  'unixtime',
  'epoch',
  'epochms',
  'msec',
  'realtimetimestamp',
  'requesttime',
  'requesttimestamp',
  'requestedat',
  'edgestarttimestamp',
  'starttime',
  'startedat',
  'startutc',
  'eventcreated',
  'eventstart',
  'timegenerated',
  'loggedat',
  'logtime',
  'receivedat',
  'receivetimestamp',
  'visitedat',
  'createdat',
  'created',
]

/** Names that mean the time of the event even in inner objects. Others can be a certificate's or an account's time. */
const CLEAR_TIME_FIELDS = new Set([
  '@timestamp',
  'timestamp',
  'eventtime',
  'eventtimestamp',
  'ts',
  'occurredat',
])

/**
 * Ranks a field as the time of the event by its path. The lowest rank is the best; unusual names get Infinity. Outer
 * members rank before inner ones, whatever their names.
 */
export function timeRank(path: readonly string[]): number {
  const own = plainName(path.at(-1) ?? '')
  const withParent = plainName(path.slice(-2).join(''))
  const isClear = path.length === 1 || CLEAR_TIME_FIELDS.has(own)
  const ranks = [isClear ? own : '', withParent].map((name) => TIME_FIELDS.indexOf(name))
  const known = ranks.filter((rank) => rank >= 0)
  if (known.length === 0) return Number.POSITIVE_INFINITY
  return Math.min(...known) + path.length * TIME_FIELDS.length
}

/** The range of plausible times. Durations and counters, read as times, lie in 1970 or far in the future. */
const EARLIEST = Date.UTC(1990, 0, 1)
const LATEST = Date.UTC(2100, 0, 1)

/** Names that do not say whose address it is. In an inner object its name decides: `client.ip`, not `server.ip`. */
const VAGUE_ADDRESS_FIELDS = new Set(['ip', 'ipaddress', 'ipaddr', 'address', 'addr', 'host'])

/** Ranks a field as the client's address, as {@link timeRank} does for times. For equal names the outer one wins. */
function addressRank(path: readonly string[], isTrusting: boolean): number {
  const names = isTrusting ? [...LIST_FIELDS, ...ADDRESS_FIELDS] : ADDRESS_FIELDS
  const own = plainName(path.at(-1) ?? '')
  const withParent = plainName(path.slice(-2).join(''))
  const isClear = path.length === 1 || !VAGUE_ADDRESS_FIELDS.has(own)
  const ranks = [names.indexOf(withParent), isClear ? names.indexOf(own) : -1].filter((rank) => rank >= 0)
  return ranks.length === 0 ? Number.POSITIVE_INFINITY : Math.min(...ranks) + path.length / 100
}

/** Whether a column with this name usually holds the client's address. */
export function isAddressName(name: string): boolean {
  return ADDRESS_FIELDS.includes(plainName(name))
}

/** A field of the sample, such as a column or a member of objects, and the kinds of its values. */
export class SampleField {
  /** Values seen. */
  values = 0
  /** Number of strings of each kind. Numbers are not counted here. */
  readonly kinds = new Map<ValueKind, number>()
  /** Values that are times, and values that are neither times nor missing. Counted for usual time names only. */
  times = 0
  otherThanTimes = 0
  readonly timeRank: number

  /** @param path names from the outermost member to the field; one name for a column, '' without a header */
  constructor(readonly path: readonly string[]) {
    this.timeRank = timeRank(path)
  }

  add(value: string | number): void {
    this.values++
    if (typeof value === 'string') {
      const kind = kindOfValue(value)
      this.kinds.set(kind, (this.kinds.get(kind) ?? 0) + 1)
    }
    if (this.timeRank < Number.POSITIVE_INFINITY) this.#addTime(String(value))
  }

  #addTime(value: string): void {
    if (value === '' || value === '-') return
    const instant = eventTimeOf(value)
    if (instant >= EARLIEST && instant < LATEST) this.times++
    else this.otherThanTimes++
  }
}

/**
 * Whether at least half of the values that are not missing are addresses.
 *
 * @param isTrusting whether proxies are trusted, so that lists count as addresses
 */
export function holdsAddresses({ kinds }: SampleField, isTrusting: boolean): boolean {
  const lists = kinds.get('list') ?? 0
  const addresses = (kinds.get('address') ?? 0) + (isTrusting ? lists : 0)
  const others = (kinds.get('other') ?? 0) + (isTrusting ? 0 : lists)
  return addresses > 0 && addresses >= others
}

/** Whether at least half of the values that are not missing are times. */
function holdsTimes({ times, otherThanTimes }: SampleField): boolean {
  return times > 0 && times >= otherThanTimes
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
    .filter((field) => !hasValues || holdsAddresses(field, isTrusting))
    .map((field) => ({ field, rank: addressRank(field.path, isTrusting) }))
    .sort((a, b) => a.rank - b.rank)
  const [first] = ranked
  const isOnly = hasValues && ranked.length === 1
  const isChosen = first !== undefined && (first.rank < Number.POSITIVE_INFINITY || isOnly)
  const others = ranked.slice(isChosen ? 1 : 0).map(({ field }) => field)
  return { best: isChosen ? first.field : null, others: hasValues ? others : [] }
}

/**
 * Chooses the field with the time of the event: the best usual name among the fields that hold times. For a field
 * without values a usual name is enough. `null` if there is no such field.
 */
export function guessTime<Field extends SampleField>(fields: readonly Field[]): Field | null {
  const [best] = fields
    .filter((field) => field.timeRank < Number.POSITIVE_INFINITY)
    .filter((field) => field.values === 0 || holdsTimes(field))
    .sort((a, b) => a.timeRank - b.timeRank)
  return best ?? null
}
