import { ABSENT, NumberMap, RowSet } from '../../location/tables.ts'
import type { CountPlan, CountValue, Dimension } from '../count-plan.ts'
import { DistinctAddresses } from './distinct-addresses.ts'
import { isMapped, Networks } from './networks.ts'
import { type Ranks, ranksOf } from './sorting.ts'

/** The code of a value that is not counted one by one, because there are too many. */
export const NO_CODE = -1

const FIRST_GROUPS = 256
/** Two codes below these make one key. */
const [FIRST_CODES, SECOND_CODES] = [2 ** 15 - 1, 2 ** 16]

/** The groups that some lines are in, as numbers of groups and codes of values. */
export class GroupCounts {
  /** The codes of the next line, one for each dimension of the plan. */
  readonly codes: Int32Array
  /** Its address, in four words. An IPv4 address is mapped to IPv6. */
  readonly address = new Int32Array(4)
  /** Lines of other groups than the first {@link CountPlan.maxGroups}. */
  other = 0
  readonly distinct: DistinctAddresses | null
  readonly #maxGroups: number
  #groups: RowSet
  /** The groups of two codes, by one number: it takes less time to find than a row. `null` if not all codes are small. */
  #keys: NumberMap | null
  #isFull = false
  #counts: Float64Array = new Float64Array(FIRST_GROUPS)

  constructor({ dimensions, maxGroups, unique }: CountPlan) {
    this.codes = new Int32Array(dimensions.length)
    this.#maxGroups = maxGroups
    this.#groups = new RowSet(dimensions.length)
    this.#keys = dimensions.length === 2 ? new NumberMap() : null
    this.distinct = unique ? new DistinctAddresses() : null
  }

  /** Whether no group is added any more. No value needs a new code then. */
  get isFull(): boolean {
    return this.#isFull
  }

  get size(): number {
    return this.#groups.size
  }

  /** The codes of all groups, group after group. */
  get groups(): Int32Array {
    return this.#groups.rows.subarray(0, this.#groups.size * this.codes.length)
  }

  /** The lines of each group. */
  get counts(): Float64Array {
    return this.#counts.subarray(0, this.#groups.size)
  }

  /**
   * Counts lines with `codes`.
   *
   * @returns the number of their group; -1 if they are counted as other lines
   */
  add(count: number): number {
    return this.#add(this.#groupOf(), count)
  }

  /** The same for lines that are in no group yet. */
  append(count: number): number {
    if (this.#isFull || this.codes.includes(NO_CODE)) return this.add(count)
    // They would lack this group.
    this.#keys = null
    return this.#add(this.#append(), count)
  }

  /** Takes the groups of an equal object, with their numbers. Call it only if it has counted nothing. */
  adopt(groups: Int32Array, counts: Float64Array): void {
    this.#groups = new RowSet(this.codes.length, groups)
    this.#keys = null
    this.#counts = counts
    this.#isFull = this.#groups.size >= this.#maxGroups
  }

  #add(group: number, count: number): number {
    if (group === NO_CODE) {
      this.other += count
      return group
    }
    if (group >= this.#counts.length) {
      const larger = new Float64Array(Math.max(FIRST_GROUPS, 2 * this.#counts.length))
      larger.set(this.#counts)
      this.#counts = larger
    }
    this.#counts[group] = (this.#counts[group] ?? 0) + count
    return group
  }

  #groupOf(): number {
    const { codes } = this
    for (let i = 0; i < codes.length; i++) {
      if (codes[i] !== NO_CODE) continue
      // Too many values of one dimension. The others must not grow without bound either.
      this.#isFull = true
      return NO_CODE
    }
    if (this.#keys !== null) {
      const first = codes[0] ?? 0
      const second = codes[1] ?? 0
      if (first < FIRST_CODES && second < SECOND_CODES)
        return this.#groupOfKey(this.#keys, (first << 16) + second + 1)
      this.#keys = null
    }
    if (this.#isFull) return this.#groups.find(codes)
    const group = this.#groups.add(codes)
    this.#isFull = this.#groups.size >= this.#maxGroups
    return group
  }

  #groupOfKey(keys: NumberMap, key: number): number {
    const known = keys.get(key)
    if (known !== ABSENT || this.#isFull) return known
    const group = this.#append()
    keys.set(key, group)
    return group
  }

  #append(): number {
    const group = this.#groups.append(this.codes)
    this.#isFull = this.#groups.size >= this.#maxGroups
    return group
  }
}

/**
 * The values of the columns of a dimension, by code. Of addresses: the words of the networks, whose codes begin with 1, because
 * there can be so many of them.
 */
export type PartValues = readonly (readonly CountValue[])[] | Int32Array

/** The groups of some lines, with the values of their codes. Plain data that survives `structuredClone`. */
export interface GroupPart {
  readonly values: readonly PartValues[]
  readonly groups: Int32Array
  readonly counts: Float64Array
  readonly other: number
  readonly pairs: Int32Array | null
  readonly halvings: number
  /** Fields of the log that none of the lines has, by their index in the plan. */
  readonly absentFields: readonly number[]
  /** Lines whose time has an unknown offset from UTC, if times are counted. */
  readonly localTimes: number
  /** Of the `summed` field of the plan; `null` without one, and if a value is negative or not a number. */
  readonly sum: number | null
}

/** The values of a dimension in all parts, and their codes. */
interface DimensionValues {
  /** The codes of the values of a part, by their codes in it; `null` if they are the same, because it is the first part. */
  codesOf(values: PartValues, mayAdd: boolean): Int32Array | null
  /** How many codes there are. */
  readonly size: number
  /** The values of a code. */
  at(code: number): readonly CountValue[]
  /** The ranks of the codes by the values of a column: by the first ranks, then by the next ones. */
  ranks(column: number, areDays: boolean): readonly Ranks[]
}

class TupleValues implements DimensionValues {
  #list: (readonly CountValue[])[] = []
  /** By the values as JSON; empty while there is one part only. */
  readonly #codes = new Map<string, number>()
  readonly #areDistinct: boolean

  /** @param areDistinct whether the values of one part are distinct. Fields with different bytes that are not UTF-8 have one text */
  constructor(areDistinct: boolean) {
    this.#areDistinct = areDistinct
  }

  codesOf(values: PartValues, mayAdd: boolean): Int32Array | null {
    if (values instanceof Int32Array) throw new TypeError('networks are no values of this dimension')
    if (this.#list.length === 0 && this.#areDistinct && mayAdd) {
      this.#list = [...values]
      return null
    }
    if (this.#codes.size === 0)
      for (const [code, each] of this.#list.entries()) this.#codes.set(JSON.stringify(each), code)
    return Int32Array.from(values, (each) => this.#codeOf(each, mayAdd))
  }

  get size(): number {
    return this.#list.length
  }

  at(code: number): readonly CountValue[] {
    return this.#list[code] ?? []
  }

  ranks(column: number, areDays: boolean): readonly Ranks[] {
    const values = this.#list.map((each) => each[column] ?? null)
    return [ranksOf(values, areDays)]
  }

  #codeOf(values: readonly CountValue[], mayAdd: boolean): number {
    const key = JSON.stringify(values)
    const known = this.#codes.get(key)
    if (known !== undefined) return known
    if (!mayAdd) return NO_CODE
    this.#codes.set(key, this.#list.length)
    return this.#list.push(values) - 1
  }
}

/** A column of groups. */
export interface GroupColumn {
  readonly name: string
  /** How many codes there are. */
  readonly size: number
  /** The code of each group. */
  readonly codes: Int32Array
  value(code: number): CountValue
  /** The ranks of the codes by their values: by the first ranks, then by the next ones. */
  ranks(areDays: boolean): readonly Ranks[]
}

/** Replaces the addresses in a text, or an address or a network that is the whole text. */
export interface TextMask {
  text(text: string): string
  network(text: string): string
}

/** Values that are counted by their masked texts: several of a part can become one. */
class MaskedValues extends TupleValues {
  readonly #dimension: Dimension
  readonly #mask: TextMask

  constructor(dimension: Dimension, mask: TextMask) {
    super(false)
    this.#dimension = dimension
    this.#mask = mask
  }

  override codesOf(values: PartValues, mayAdd: boolean): Int32Array | null {
    const mask = this.#mask
    const masked = (text: string): string =>
      this.#dimension.kind === 'address' ? mask.network(text) : mask.text(text)
    return super.codesOf(
      this.#listed(values).map((each) =>
        each.map((value) => (typeof value === 'string' ? masked(value) : value)),
      ),
      mayAdd,
    )
  }

  #listed(values: PartValues): readonly (readonly CountValue[])[] {
    if (!(values instanceof Int32Array)) return values
    if (this.#dimension.kind !== 'address') throw new TypeError('networks are no values of this dimension')
    const networks = new Networks(this.#dimension)
    networks.adopt(values)
    const all = new NetworkValues(networks)
    return Array.from({ length: networks.size + 1 }, (_, code) => all.at(code))
  }
}

class NetworkValues implements DimensionValues {
  readonly networks: Networks

  constructor(networks: Networks) {
    this.networks = networks
  }

  codesOf(values: PartValues, mayAdd: boolean): Int32Array | null {
    if (!(values instanceof Int32Array)) throw new TypeError('the values of this dimension are networks')
    if (mayAdd && this.networks.adopt(values)) return null
    const codes = new Int32Array(1 + values.length / 4)
    for (let code = 1; code < codes.length; code++) {
      const known = this.networks.code(values, 4 * (code - 1), mayAdd)
      codes[code] = known === NO_CODE ? NO_CODE : known + 1
    }
    return codes
  }

  get size(): number {
    return this.networks.size + 1
  }

  at(code: number): readonly CountValue[] {
    return [code === 0 ? null : this.networks.text(code - 1)]
  }

  ranks(): readonly Ranks[] {
    // The order of the texts. For IPv4, that of octets as texts is enough.
    const octets = Array.from({ length: 256 }, (_, octet) => `${octet}.`)
    const order = ranksOf(octets).ranks
    const { words } = this.networks
    const rest = new Int32Array(this.size)
    const first = Array.from(rest, (_, code): CountValue => {
      if (code === 0) return null
      if (!isMapped(words, 4 * (code - 1))) return this.networks.text(code - 1)
      const ipv4 = words[4 * code - 1] ?? 0
      const at = (shift: number): number => (order[(ipv4 >>> shift) & 255] ?? 0) << shift
      rest[code] = at(16) | at(8) | at(0)
      // No text of IPv6 has a dot, so where it stands among those of IPv4 depends on the first octet alone.
      return octets[ipv4 >>> 24] ?? null
    })
    return [ranksOf(first), { ranks: rest, size: 2 ** 24 }]
  }
}

/** The groups of all lines of a run: the sum of parts. */
export class GroupTotals {
  readonly plan: CountPlan
  /** Fields of the log that no line has, by their index in the plan; `null` before the first part. */
  absentFields: readonly number[] | null = null
  localTimes = 0
  /** Of the `summed` field of the plan; `null` without one, and if a value is negative or not a number. */
  sum: number | null
  readonly #counts: GroupCounts
  readonly #values: readonly DimensionValues[]

  /** @param mask for addresses, networks and fields of the log; `null` if they are shown */
  constructor(plan: CountPlan, mask: TextMask | null = null) {
    this.plan = plan
    this.sum = plan.summed === null ? null : 0
    this.#counts = new GroupCounts(plan)
    this.#values = plan.dimensions.map((each): DimensionValues => {
      if (mask !== null && (each.kind === 'address' || each.kind === 'field'))
        return new MaskedValues(each, mask)
      return each.kind === 'address'
        ? new NetworkValues(new Networks(each))
        : new TupleValues(each.kind !== 'field')
    })
  }

  get other(): number {
    return this.#counts.other
  }

  /** Of how many addresses one is in the sample that distinct addresses are estimated from; 1 if they are exact. */
  get sampling(): number {
    return 2 ** (this.#counts.distinct?.halvings ?? 0)
  }

  /** How many groups there are. */
  get size(): number {
    return this.#counts.size
  }

  /** The codes of all groups, group after group: one for each dimension of the plan. */
  get codes(): Int32Array {
    return this.#counts.groups
  }

  /** The lines of each group. */
  get lines(): Float64Array {
    return this.#counts.counts
  }

  add(part: GroupPart): void {
    const counts = this.#counts
    const { codes } = counts
    const width = codes.length
    const lines = part.counts.length
    const own = part.values.map((values, dimension) =>
      this.#values[dimension]?.codesOf(values, !counts.isFull),
    )
    const groups = new Int32Array(lines)
    if (lines > 0 && counts.size === 0 && counts.other === 0 && own.every((each) => each === null)) {
      counts.adopt(part.groups, part.counts)
      if (part.pairs !== null) for (let group = 0; group < lines; group++) groups[group] = group
    } else
      for (let group = 0; group < lines; group++) {
        for (let dimension = 0; dimension < width; dimension++) {
          const code = part.groups[group * width + dimension] ?? NO_CODE
          const codesOf = own[dimension]
          codes[dimension] = codesOf === null ? code : (codesOf?.[code] ?? NO_CODE)
        }
        groups[group] = counts.add(part.counts[group] ?? 0)
      }
    counts.other += part.other
    if (part.pairs !== null) counts.distinct?.merge(part.pairs, part.halvings, groups)
    this.localTimes += part.localTimes
    this.sum = this.sum === null || part.sum === null ? null : this.sum + part.sum
    this.absentFields =
      this.absentFields?.filter((field) => part.absentFields.includes(field)) ?? part.absentFields
  }

  /** The values of a dimension's columns. */
  valuesOf(dimension: number, code: number): readonly CountValue[] {
    return this.#values[dimension]?.at(code) ?? []
  }

  /** What a function makes of the values of each code of a dimension that a group has, and of those before it. */
  mapValues<Made>(dimension: number, make: (values: readonly CountValue[]) => Made): Made[] {
    const { codes } = this
    const made: Made[] = []
    for (let at = dimension; at < codes.length; at += this.plan.dimensions.length) {
      const code = codes[at] ?? NO_CODE
      while (made.length <= code) made.push(make(this.valuesOf(dimension, made.length)))
    }
    return made
  }

  /** The networks of a dimension that is an address; the code of one is its number and 1. @throws RangeError for another one */
  networksOf(dimension: number): Networks {
    const values = this.#values[dimension]
    if (values instanceof NetworkValues) return values.networks
    throw new RangeError('this dimension is not an address')
  }

  /** The distinct addresses of each group; `null` if they are not counted. */
  uniques(): Float64Array | null {
    return this.#counts.distinct?.counts(this.size) ?? null
  }

  /** The columns of the plan. */
  get columns(): GroupColumn[] {
    const { dimensions, columns } = this.plan
    const { codes } = this
    const names = dimensions.map((each): readonly string[] => each.columns)
    const ofDimensions = names.map((_, dimension) => {
      const own = new Int32Array(this.size)
      for (let group = 0; group < own.length; group++)
        own[group] = codes[group * names.length + dimension] ?? NO_CODE
      return own
    })
    return columns.map((name) => {
      const dimension = names.findIndex((each) => each.includes(name))
      const at = names[dimension]?.indexOf(name) ?? 0
      const values = this.#values[dimension]
      return {
        name,
        size: values?.size ?? 0,
        codes: ofDimensions[dimension] ?? codes,
        value: (code) => values?.at(code)[at] ?? null,
        ranks: (areDays) => values?.ranks(at, areDays) ?? [],
      }
    })
  }

  /** Each group: its values, by column of the plan, and its lines. */
  *groups(): Generator<{ values: CountValue[]; count: number }> {
    const { columns } = this
    for (const [group, count] of this.lines.entries())
      yield { values: columns.map(({ codes, value }) => value(codes[group] ?? NO_CODE)), count }
  }
}
