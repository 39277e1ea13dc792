// The values of the dimensions of a count, and their codes.
import type { CountValue, Dimension } from '../count-plan.ts'
import { isMapped, Networks } from './networks.ts'
import { type Ranks, ranksOf } from './sorting.ts'

/** The code of a value that is not counted one by one, because there are too many. */
export const NO_CODE = -1

/**
 * Limit of the characters of all tuples of one dimension. 400,000 cities, all that there are, take less than 40 million.
 * The texts of fields have a limit of their own: see `text-codes.ts`.
 */
export const MAX_TUPLE_CHARS = 50_331_648

/**
 * The values of the columns of a dimension, by code. A dimension of addresses has the words of its networks, whose codes begin
 * with 1: there can be too many networks for texts.
 */
export type PartValues = readonly (readonly CountValue[])[] | Int32Array

/** The values of a dimension in all parts, and their codes. */
export interface DimensionValues {
  /** The codes of the values of a part, by their codes in it; `null` if they are the same, because it is the first part. */
  codesOf(values: PartValues, mayAdd: boolean): Int32Array | null
  /** How many codes there are. */
  readonly size: number
  /** The values of a code. */
  at(code: number): readonly CountValue[]
  /** The ranks of the codes by the values of a column: by the first ranks, then by the next ones. */
  ranks(column: number, areDays: boolean): readonly Ranks[]
}

/** Replaces the addresses in a text, or an address or a network that is the whole text. */
export interface TextMask {
  text(text: string): string
  network(text: string): string
}

/** The values of a dimension of a plan. @param mask for addresses, networks and fields of the log; `null` if they are shown */
export function valuesOf(dimension: Dimension, mask: TextMask | null): DimensionValues {
  const { kind } = dimension
  if (mask !== null && (kind === 'address' || kind === 'field')) return new MaskedValues(dimension, mask)
  // Different bytes that are not UTF-8 have one text.
  return kind === 'address' ? new NetworkValues(new Networks(dimension)) : new Tuples(kind !== 'field')
}

/** Numbers distinct tuples of values. */
export class Tuples implements DimensionValues {
  list: (readonly CountValue[])[] = []
  /** Codes by the keys of tuples; empty while there is only one part. */
  readonly #codes = new Map<string, number>()
  readonly #areDistinct: boolean
  #chars = 0

  /** @param areDistinct whether the values of one part are distinct */
  constructor(areDistinct = true) {
    this.#areDistinct = areDistinct
  }

  /** @returns {@link NO_CODE} if they are unknown, and may not be added or would exceed the limit of characters */
  code(values: readonly CountValue[], mayAdd: boolean): number {
    const key = this.#keyOf(values)
    const known = this.#codes.get(key)
    if (known !== undefined) return known
    if (!mayAdd || (this.#areDistinct && this.#chars + key.length > MAX_TUPLE_CHARS)) return NO_CODE
    this.#chars += key.length
    this.#codes.set(key, this.list.length)
    return this.list.push(values) - 1
  }

  codesOf(values: PartValues, mayAdd: boolean): Int32Array | null {
    if (values instanceof Int32Array) throw new TypeError('networks are no values of this dimension')
    if (this.list.length === 0 && this.#areDistinct && mayAdd) {
      this.list = [...values]
      return null
    }
    if (this.#codes.size === 0) {
      for (const [code, each] of this.list.entries()) {
        const key = this.#keyOf(each)
        this.#codes.set(key, code)
        this.#chars += key.length
      }
    }
    return Int32Array.from(values, (each) => this.code(each, mayAdd))
  }

  get size(): number {
    return this.list.length
  }

  at(code: number): readonly CountValue[] {
    return this.list[code] ?? []
  }

  /** No name contains a zero byte or is empty, but a field of a log can be anything. */
  #keyOf(values: readonly CountValue[]): string {
    return this.#areDistinct ? values.join('\0') : JSON.stringify(values)
  }

  ranks(column: number, areDays: boolean): readonly Ranks[] {
    const values = this.list.map((each) => each[column] ?? null)
    return [ranksOf(values, areDays)]
  }
}

/** Values that are counted by their masked texts: several of a part can become one. */
class MaskedValues extends Tuples {
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

export class NetworkValues implements DimensionValues {
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
