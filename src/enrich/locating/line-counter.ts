// Counts lines by the queries of a plan: the values of a line become codes, and lines with the same codes are one group.
import { extended } from '../../bytes/tables.ts'
import type { Locale } from '../../location/locale.ts'
import { type CountPlan, countedOnce, needsLocations } from '../count-plan.ts'
import { FieldNumber, type FieldValues } from '../counting/field-values.ts'
import { type GroupPart, Groups } from '../counting/groups.ts'
import { NO_CODE } from '../counting/values.ts'
import { AddressCounts, NOT_IPV4 } from './address-cache.ts'
import { type Coder, coderOf, isOfAddresses } from './dimension-coders.ts'
import { FIRST_LOCATION, type LineLocator } from './line-locator.ts'

const FIRST_USES = 1024

/**
 * Counts the lines of one thread. What depends on the location alone is found once for all lines of a location, what depends on the
 * address alone once for all lines of an address, and the rest for each line.
 */
export class LineCounter {
  /** Whether a line is counted by the number of its location alone: see {@link use}. */
  readonly isOfLocations: boolean
  readonly #locator: LineLocator
  /** All queries in the order of their plans. */
  readonly #queries: readonly Query[]
  readonly #ofLocations: Level
  readonly #ofAddresses: Level
  readonly #ofLines: Level
  /** The lines of each address; `null` if nothing is counted by address. */
  readonly #addresses: AddressCounts | null
  /** Whether lines are counted by group of locations, because no query asks for more. */
  readonly #byGroup: boolean
  /** How many lines of each number are not counted yet. It is a number of the locator, or of a group of locations. */
  #uses = new Float64Array(FIRST_USES)
  /** The numbers that have such lines, in the order of their first lines. */
  #used: number[] = []
  readonly #words = new Int32Array(4)

  /**
   * @param locator of these lines; nothing else counts with it
   * @param values of the fields of the log; `null` if it has none
   */
  constructor(plans: readonly CountPlan[], locator: LineLocator, values: FieldValues | null, locale: Locale) {
    this.#locator = locator
    const sources = new Map<string, Source>()
    const numbers = new Map<number, FieldNumber>()
    this.#queries = plans.map((plan) => {
      const own = plan.dimensions.map((dimension) => {
        const key = JSON.stringify([dimension, plan.timeZone])
        const source = sources.get(key) ?? new Source(coderOf(dimension, plan, locator, values, locale))
        sources.set(key, source)
        return source
      })
      if (plan.summed === null || values === null) return new Query(plan, own, locator, null)
      const number = numbers.get(plan.summed) ?? new FieldNumber(plan.summed, values)
      numbers.set(plan.summed, number)
      return new Query(plan, own, locator, number)
    })
    const levelOf = (level: ReturnType<typeof countedOnce>): Level =>
      new Level(this.#queries.filter(({ plan }) => countedOnce(plan) === level))
    this.#ofLocations = levelOf('location')
    this.#byGroup = !plans.some((plan) => countedOnce(plan) === 'location' && needsLocations(plan))
    this.#ofAddresses = levelOf('address')
    this.#ofLines = levelOf('line')
    this.#addresses = this.#ofAddresses.isEmpty ? null : new AddressCounts()
    this.isOfLocations = this.#addresses === null && this.#ofLines.isEmpty
    locator.countWith(this.#addresses, () => this.#drain())
  }

  /** Counts the line that the locator and the format have read last. */
  count(): void {
    const { number } = this.#locator
    if (this.#addresses === null) this.use(number)
    else this.#addAddress(this.#addresses, number)
    this.#ofLines.count(1)
  }

  /** Counts lines with a number of the locator. Only for lines of which nothing else is counted. */
  use(number: number, lines = 1): void {
    const isGroup = this.#byGroup && number >= FIRST_LOCATION
    const index = isGroup ? FIRST_LOCATION + this.#locator.texts.groupOf(number - FIRST_LOCATION) : number
    const before = this.#uses[index] ?? this.#grow(index)
    if (before === 0) this.#used.push(index)
    this.#uses[index] = before + lines
  }

  /** The counts since the last call, for each query. */
  take(): GroupPart[] {
    this.#drain()
    return this.#queries.map((query) => query.take())
  }

  /** Forgets what {@link take} would give. Addresses that are not drained are not taken for known ones later. */
  forget(): void {
    this.#addresses?.clear()
    this.take()
  }

  #addAddress(addresses: AddressCounts, number: number): void {
    if (addresses.isFull) this.#drain()
    const { hasAddress, cache } = this.#locator
    if (!hasAddress) addresses.addOther(number, null)
    else if (cache.ipv4 !== NOT_IPV4) addresses.addIPv4(cache.ipv4, number)
    else addresses.addOther(number, this.#locator.addressInto(this.#words) ? this.#words : null)
  }

  /** Counts the lines so far of each address and of each location. */
  #drain(): void {
    const locator = this.#locator
    const { number } = locator
    const addresses = this.#addresses
    addresses?.drain((each, words, lines) => {
      locator.countAgain(each, words, words !== null && addresses.areDistinct)
      this.#ofAddresses.count(lines)
      this.use(each, lines)
    })
    for (const each of this.#used) {
      const isGroup = this.#byGroup && each >= FIRST_LOCATION
      const one = isGroup ? FIRST_LOCATION + locator.texts.firstOf(each - FIRST_LOCATION) : each
      locator.countAgain(one, null, false)
      this.#ofLocations.count(this.#uses[each] ?? 0)
      this.#uses[each] = 0
    }
    this.#used = []
    locator.countAgain(number, null, false)
  }

  /** @returns 0 */
  #grow(index: number): number {
    this.#uses = extended(this.#uses, new Float64Array(2 * index))
    return 0
  }
}

/** Gives the code of a dimension of a line to all queries that have this dimension. */
class Source {
  /** The code of the last line. */
  code = NO_CODE
  /** Whether new values get a code: a query with this dimension has room for more groups. */
  isOpen = true
  readonly users: Query[] = []

  constructor(readonly coder: Coder) {}
}

/** Queries that count the same lines. */
class Level {
  readonly #queries: readonly Query[]
  readonly #sources: readonly Source[]
  readonly #numbers: readonly FieldNumber[]

  constructor(queries: readonly Query[]) {
    this.#queries = queries
    this.#numbers = [...new Set(queries.flatMap(({ number }) => number ?? []))]
    this.#sources = [...new Set(queries.flatMap(({ sources }) => sources))]
  }

  get isEmpty(): boolean {
    return this.#queries.length === 0
  }

  count(lines: number): void {
    for (let i = 0; i < this.#sources.length; i++) {
      const source = this.#sources[i]
      if (source !== undefined) source.code = source.coder.code(source.isOpen)
    }
    for (let i = 0; i < this.#numbers.length; i++) this.#numbers[i]?.read()
    for (let i = 0; i < this.#queries.length; i++) this.#queries[i]?.count(lines)
  }
}

/** Counts lines by the codes of some dimensions. */
class Query {
  readonly #hasTimes: boolean
  /** Whether addresses are counted one by one, so that a new address is in a new group. */
  readonly #hasAddresses: boolean
  readonly #address = new Int32Array(4)
  groups: Groups

  constructor(
    readonly plan: CountPlan,
    readonly sources: readonly Source[],
    private readonly locator: LineLocator,
    readonly number: FieldNumber | null,
  ) {
    this.#hasTimes = plan.dimensions.some(({ kind }) => kind === 'time' || kind === 'local-hour')
    this.#hasAddresses = plan.dimensions.some(isOfAddresses)
    this.groups = new Groups(plan)
    for (const source of sources) source.users.push(this)
  }

  count(lines: number): void {
    const { locator, groups } = this
    if (this.plan.onlyLocated && locator.number < FIRST_LOCATION) return
    const { next, distinct, isFull } = groups
    for (let i = 0; i < next.length; i++) next[i] = this.sources[i]?.code ?? NO_CODE
    const group = groups.count(lines, this.#hasAddresses && locator.isNewAddress)
    if (groups.isFull !== isFull) this.#openSources()
    if (distinct !== null && group !== NO_CODE && locator.addressInto(this.#address))
      distinct.add(group, this.#address)
    if (this.#hasTimes && locator.hasTime)
      (locator.isLocal ? groups.localTimes : groups.instants).add(locator.time)
    if (this.number !== null) groups.addSum(group, this.number.value)
  }

  /** The groups since the last call. */
  take(): GroupPart {
    const { codes, lines, allSums, other, distinct, instants, localTimes } = this.groups
    const part = {
      values: this.sources.map(({ coder }) => coder.values()),
      groups: codes,
      counts: lines,
      sums: this.number === null ? null : allSums,
      other,
      pairs: distinct?.pairs ?? null,
      halvings: distinct?.halvings ?? 0,
      absentFields: this.plan.dimensions.flatMap((each, index) =>
        each.kind === 'field' && this.sources[index]?.coder.isAbsent === true ? [each.field] : [],
      ),
      instants,
      localTimes,
    }
    this.groups = new Groups(this.plan)
    this.#openSources()
    return part
  }

  #openSources(): void {
    for (const source of this.sources) source.isOpen = source.users.some(({ groups }) => !groups.isFull)
  }
}
