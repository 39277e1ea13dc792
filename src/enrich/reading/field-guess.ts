import { Address } from '../../address/address.ts'
import { readHop, readHopWithPort } from '../../client/hop.ts'
import { addressWeight, CLEAR_WEIGHT, depthOf, isListName, isOtherName, timeRank } from './known-names.ts'
import { AddressEvidence, type SampleTimes, timesIn } from './sample-times.ts'

/** The kind of a field's value. A `list` is several hops, separated by commas, at least one of them an address. */
export type SampleValueKind = 'address' | 'list' | 'missing' | 'other'

/** The kind of a value, whether or not proxies are trusted. An address can have a port, IPv6 also without brackets. */
export function kindOfValue(text: string, address = new Address()): SampleValueKind {
  if (text === '' || text === '-') return 'missing'
  if (!text.includes('.') && !text.includes(':')) return 'other'
  if (readHop(text, address) === 'address' || readHopWithPort(text, address) === 'address') return 'address'
  const hops = text.split(',')
  return hops.length > 1 && hops.some((hop) => address.parse(hop.trim())) ? 'list' : 'other'
}

/** Networks that an unusual name needs. A table without a header has no names, so that three are enough for it. */
const NETWORKS = 10
const NETWORKS_WITHOUT_NAME = 3

/**
 * A field of the sample, such as a column or a member of objects, and the kinds of its values. Its values are looked at when
 * something about them is first asked for: most fields of a table are named neither as an address nor as a time.
 */
export class SampleField {
  readonly timeRank: number
  /** Whether its name is a usual one for the client's address. */
  readonly mayBeAddress: boolean
  readonly #values: (string | number | null)[] = []
  #seen: SeenValues | null = null

  constructor(
    /** Names from the outermost member to the field; one name for a column, '' without a header. */
    readonly path: readonly string[],
    /** The position of the field from 0, in the first record that has it, if fields have numbers. */
    readonly index = 0,
  ) {
    this.timeRank = timeRank(path)
    this.mayBeAddress = addressWeight(path, true) > 0
  }

  get name(): string {
    return this.path.join('.')
  }

  /** Whether its name is a usual one for the time of the event. */
  get mayBeTime(): boolean {
    return this.timeRank < Number.POSITIVE_INFINITY
  }

  /** @param value `null` counts as missing */
  add(value: string | number | null): void {
    this.#values.push(value)
    this.#seen = null
  }

  /** Values seen. */
  get values(): number {
    return this.#values.length
  }

  /** What its values are. */
  get seen(): SeenValues {
    this.#seen ??= new SeenValues(this.#values)
    return this.#seen
  }

  /** Whether it has no value in the sample: all are missing. */
  get isEmpty(): boolean {
    return this.seen.kinds.missing === this.values
  }

  /**
   * Whether at least half of the values that are not missing are addresses.
   *
   * @param isTrusting whether proxies are trusted, so that lists count as addresses
   */
  holdsAddresses(isTrusting: boolean): boolean {
    const { address, list, other } = this.seen.kinds
    const addresses = isTrusting ? address + list : address
    return addresses > 0 && addresses >= (isTrusting ? other : other + list)
  }

  /** Whether another field has the same name, in another place, and always the same value: either can be read. */
  isSameAs(other: SampleField): boolean {
    const isNamedSo = this.path.at(-1) === other.path.at(-1)
    return isNamedSo && this.values === other.values && this.#values.join() === other.#values.join()
  }

  /** Whether the field is an address and a port, so that the last group of an IPv6 address without brackets is the port. */
  get hasPort(): boolean {
    return this.seen.withPort > this.seen.withoutPort
  }

  /** Whether all its addresses are private or otherwise not public. */
  get isLocal(): boolean {
    return this.seen.kinds.list === 0 && this.seen.evidence.isLocal
  }

  /** Whether its values can hardly be anything but addresses of clients, and its name does not contradict. */
  get looksLikeClients(): boolean {
    const hasName = this.path.join('') !== ''
    if (isListName(this.path) || isOtherName(this.path) || !this.holdsAddresses(false)) return false
    const { evidence, kinds } = this.seen
    if (!hasName) return evidence.isOfClients(NETWORKS_WITHOUT_NAME)
    return kinds.address >= NETWORKS && evidence.isPublic && evidence.isOfClients(NETWORKS)
  }

  /** Whether its values could be addresses of clients as well: another field is then not chosen by its values. */
  get mayBeClients(): boolean {
    if (isListName(this.path) || isOtherName(this.path) || !this.holdsAddresses(false)) return false
    const { evidence } = this.seen
    return evidence.isPublic && evidence.isSpread(NETWORKS)
  }
}

/** What the values of a field are. */
class SeenValues {
  /** Number of strings of each kind. Numbers are `other`. */
  readonly kinds: Record<SampleValueKind, number> = { address: 0, list: 0, missing: 0, other: 0 }
  /** The first value of each kind. */
  readonly examples: Partial<Record<SampleValueKind, string>> = {}
  readonly evidence = new AddressEvidence()
  /** Addresses that have a port for certain, and IPv4 addresses that have none. */
  withPort = 0
  withoutPort = 0
  readonly #texts: string[] = []
  #times: SampleTimes | null = null

  constructor(values: readonly (string | number | null)[]) {
    const address = new Address()
    for (const value of values) {
      const text = String(value ?? '')
      const kind = typeof value === 'number' ? 'other' : kindOfValue(text, address)
      this.kinds[kind]++
      this.examples[kind] ??= text
      if (kind !== 'missing') this.#texts.push(text)
      if (kind !== 'address') continue
      this.evidence.add(address)
      if (!address.parse(text)) this.withPort += /:\d+$/.test(text) ? 1 : 0
      else if (address.family === 4) this.withoutPort++
    }
  }

  /** The values that are not missing, as times. */
  get times(): SampleTimes {
    this.#times ??= timesIn(this.#texts)
    return this.#times
  }
}

/** What a sample tells about the field with the client's address. */
export interface AddressGuess {
  /** The chosen field, or `null`. */
  readonly best: SampleField | null
  /** Whether it was chosen although its name is unusual. */
  readonly isByValues: boolean
  /** The other fields that hold addresses, or lists of them, best first. */
  readonly others: readonly SampleField[]
  /** Fields with names that mean the same, if none was chosen. */
  readonly rivals: readonly SampleField[]
  /** The field with a usual name that has other values than addresses, if none was chosen. */
  readonly unreadable: SampleField | null
}

/** A field that this many times more records have is preferred to one with a better name. */
const TIMES_MORE = 10

/** The fields without those that few records have, such as a member of inner objects of some other kind. */
function frequent(
  fields: readonly SampleField[],
  canBeMeant: (field: SampleField) => boolean,
): SampleField[] {
  const most = Math.max(0, ...fields.filter(canBeMeant).map(({ values }) => values))
  // A table can have nothing but its header.
  return most === 0 ? [...fields] : fields.filter(({ values }) => values * TIMES_MORE > most)
}

/**
 * Chooses the field with the client's address. A usual name decides, also if the field is empty in the sample: a field
 * that merely has addresses can be a server's. If no field has a usual name, the only one whose values look like
 * addresses of clients is chosen. Nothing is chosen if it is unclear.
 *
 * @param isTrusting whether proxies are trusted, so that a list of hops is preferred
 */
export function guessAddress(fields: readonly SampleField[], isTrusting: boolean): AddressGuess {
  const weightOf = (field: SampleField): number => addressWeight(field.path, isTrusting)
  const canBeMeant = (field: SampleField): boolean => field.isEmpty || field.holdsAddresses(isTrusting)
  const named = fields.filter((field) => weightOf(field) > 0)
  const usual = frequent(named, canBeMeant).sort(
    (a, b) =>
      weightOf(b) - weightOf(a) ||
      depthOf(a.path) - depthOf(b.path) ||
      a.seen.kinds.missing - b.seen.kinds.missing,
  )
  const [first, second] = usual.filter(canBeMeant)
  const holding = fields
    .filter((field) => field.holdsAddresses(true))
    .sort((a, b) => weightOf(b) - weightOf(a) || depthOf(a.path) - depthOf(b.path))
  const result = (best: SampleField | null, more: Partial<AddressGuess> = {}): AddressGuess => ({
    best,
    isByValues: false,
    others: holding.filter((field) => field !== best),
    rivals: [],
    unreadable: null,
    ...more,
  })
  const weight = first === undefined ? 0 : weightOf(first)
  // A clear name with other values, such as pseudonyms, is not replaced by one that can be a server's.
  const unreadable = usual.find((field) => weightOf(field) >= CLEAR_WEIGHT && !field.isEmpty)
  if (
    unreadable !== undefined &&
    !unreadable.holdsAddresses(isTrusting) &&
    weight < CLEAR_WEIGHT &&
    holding.length > 0
  ) {
    return result(null, { unreadable })
  }
  if (first !== undefined) {
    const isRival =
      second !== undefined &&
      weightOf(second) === weight &&
      depthOf(second.path) === depthOf(first.path) &&
      second.isEmpty === first.isEmpty &&
      !first.isSameAs(second)
    return isRival ? result(null, { rivals: [first, second] }) : result(first)
  }
  const [only, another] = holding.filter((field) => field.looksLikeClients || field.mayBeClients)
  const isChosen = only?.looksLikeClients === true && another === undefined
  return isChosen ? result(only, { isByValues: true }) : result(null)
}

/** What a sample tells about the field with the time of the event. */
export interface TimeGuess {
  /** The field with the time, or `null`. */
  readonly best: SampleField | null
  /** The field with the best usual name, if its values cannot be read. `best` is then `null`. */
  readonly unreadable: SampleField | null
  /** Another field with times that can be read. */
  readonly other: SampleField | null
}

/**
 * Chooses the field with the time of the event: the best usual name among the fields that hold times, in whatever form,
 * or have no value. A field whose times cannot be read is not replaced by one with a worse name, which can be the time of
 * something else.
 *
 * @param address the path of the address: of several fields of one rank, the one with most objects around both is chosen
 */
export function guessTime(fields: readonly SampleField[], address: readonly string[] = []): TimeGuess {
  const shared = ({ path }: SampleField): number => path.findIndex((name, index) => name !== address[index])
  const times = fields.filter((field) => field.mayBeTime && (field.isEmpty || field.seen.times.areTimes))
  const usual = frequent(times, () => true).sort((a, b) => a.timeRank - b.timeRank || shared(b) - shared(a))
  const [first = null, ...rest] = usual
  const isReadable = (field: SampleField): boolean => !field.isEmpty && field.seen.times.fault === null
  const other = rest.find(isReadable) ?? null
  const isUnreadable = first !== null && first.seen.times.fault !== null
  return { best: isUnreadable ? null : first, unreadable: isUnreadable ? first : null, other }
}
