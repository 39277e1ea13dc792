import { Address } from '../address/address.ts'
import { eventTimeOf } from './event-time.ts'

/**
 * Usual names of the field with the client's address, best first, as {@link plainName} writes them: `clientIp`,
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

/** A field's name in lower case, without the separators of words. */
function plainName(name: string): string {
  return name.toLowerCase().replace(/[\s._-]/g, '')
}

/** What the value of a field is. `list` is several hops with commas between them. */
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
 * Usual names of the field with the time of the event, best first, as {@link plainName} writes them. Names that are
 * also usual for something else, such as `created` for a user's account, come last.
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

/** Names that mean the time of the event in inner objects too. Others can be the time of a certificate or an account. */
const CLEAR_TIME_FIELDS = new Set([
  '@timestamp',
  'timestamp',
  'eventtime',
  'eventtimestamp',
  'ts',
  'occurredat',
])

/**
 * Ranks a field as the time of the event by its path: the lowest rank is the best, and Infinity is for names that are
 * not usual. Outer members rank before inner ones, whatever their names.
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

/** Durations and counters are numbers too. Read as times, they lie in 1970 or far in the future. */
const EARLIEST = Date.UTC(1990, 0, 1)
const LATEST = Date.UTC(2100, 0, 1)

/** Names that need the object around them to say whose address it is: `client.ip`, but also `server.ip`. */
const VAGUE_ADDRESS_FIELDS = new Set(['ip', 'ipaddress', 'ipaddr', 'address', 'addr', 'host'])

/** Ranks a field as the client's address, as {@link timeRank} does for times. Among equal names the outer one wins. */
function addressRank(path: readonly string[], isTrusting: boolean): number {
  const names = isTrusting ? [...LIST_FIELDS, ...ADDRESS_FIELDS] : ADDRESS_FIELDS
  const own = plainName(path.at(-1) ?? '')
  const withParent = plainName(path.slice(-2).join(''))
  const isClear = path.length === 1 || !VAGUE_ADDRESS_FIELDS.has(own)
  const ranks = [names.indexOf(withParent), isClear ? names.indexOf(own) : -1].filter((rank) => rank >= 0)
  return ranks.length === 0 ? Number.POSITIVE_INFINITY : Math.min(...ranks) + path.length / 100
}

/** Whether a column with this name usually has the client's address. */
export function isAddressName(name: string): boolean {
  return ADDRESS_FIELDS.includes(plainName(name))
}

/** A named field of the sample, such as a column or a member of objects, and what its values are. */
export class SampleField {
  /** Values seen. */
  values = 0
  /** Values of each kind. Numbers are not counted. */
  readonly kinds = new Map<ValueKind, number>()
  /** Values that are times, and values that are neither times nor missing. Counted for usual names only. */
  times = 0
  otherThanTimes = 0
  readonly timeRank: number

  /** @param path from the outermost member; one name for a column, '' without a header */
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

/** Whether at least half of the values are addresses; with trusted proxies, addresses or lists. */
export function holdsAddresses({ kinds }: SampleField, isTrusting: boolean): boolean {
  const lists = kinds.get('list') ?? 0
  const addresses = (kinds.get('address') ?? 0) + (isTrusting ? lists : 0)
  const others = (kinds.get('other') ?? 0) + (isTrusting ? 0 : lists)
  return addresses > 0 && addresses >= others
}

/** Whether at least half of the values are times. */
function holdsTimes({ times, otherThanTimes }: SampleField): boolean {
  return times > 0 && times >= otherThanTimes
}

/** The field to take, or `null`, and the other fields with addresses in them, best first. */
export interface AddressGuess<Field extends SampleField> {
  readonly best: Field | null
  readonly others: readonly Field[]
}

/**
 * Chooses the field with the client's address: the best usual name among the fields that hold addresses. The only
 * field with addresses needs no usual name. Where no field has a value, a name is enough.
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
 * without values a name is enough.
 */
export function guessTime<Field extends SampleField>(fields: readonly Field[]): Field | null {
  const [best] = fields
    .filter((field) => field.timeRank < Number.POSITIVE_INFINITY)
    .filter((field) => field.values === 0 || holdsTimes(field))
    .sort((a, b) => a.timeRank - b.timeRank)
  return best ?? null
}
