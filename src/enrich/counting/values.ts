// The values of the dimensions of a count, and their codes. The only importer of ipaddr.js, for CIDR arithmetic.
import ipaddr from 'ipaddr.js'
import { formatIPv4, formatIPv6 } from '../../address/ip-text.ts'
import { ABSENT, RowSet } from '../../bytes/tables.ts'
import type { CountValue, Dimension } from '../count-plan.ts'
import { type Ranks, ranksOf } from './sorting.ts'

/** The code of a value that is not counted one by one, because there are too many. */
export const NO_CODE = -1

/**
 * Limit of the characters of all tuples of one dimension. 400,000 cities, all that there are, take less than 40 million.
 * The texts of fields have a limit of their own: see `field-values.ts`.
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
  return kind === 'address' ? new Networks(dimension) : new Tuples(kind !== 'field')
}

/** Numbers distinct tuples of values. */
export class Tuples implements DimensionValues {
  list: (readonly CountValue[])[] = []
  /** Codes by the keys of tuples; empty while there is only one part. */
  readonly #codes = new Map<string, number>()
  #chars = 0

  /** @param areDistinct whether the values of one part are distinct */
  constructor(private readonly areDistinct = true) {}

  /** @returns {@link NO_CODE} if they are unknown, and may not be added or would exceed the limit of characters */
  code(values: readonly CountValue[], mayAdd: boolean): number {
    const key = this.#keyOf(values)
    const known = this.#codes.get(key)
    if (known !== undefined) return known
    if (!mayAdd || (this.areDistinct && this.#chars + key.length > MAX_TUPLE_CHARS)) return NO_CODE
    this.#chars += key.length
    this.#codes.set(key, this.list.length)
    return this.list.push(values) - 1
  }

  codesOf(values: PartValues, mayAdd: boolean): Int32Array | null {
    if (values instanceof Int32Array) throw new TypeError('networks are no values of this dimension')
    if (this.list.length === 0 && this.areDistinct && mayAdd) {
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
    return this.areDistinct ? values.join('\0') : JSON.stringify(values)
  }

  ranks(column: number, areDays: boolean): readonly Ranks[] {
    const values = this.list.map((each) => each[column] ?? null)
    return [ranksOf(values, areDays)]
  }
}

/** Values that are counted by their masked texts: several of a part can become one. */
class MaskedValues extends Tuples {
  constructor(
    private readonly dimension: Dimension,
    private readonly mask: TextMask,
  ) {
    super(false)
  }

  override codesOf(values: PartValues, mayAdd: boolean): Int32Array | null {
    const { dimension, mask } = this
    const masked = (value: CountValue): CountValue => {
      if (typeof value !== 'string') return value
      return dimension.kind === 'address' ? mask.network(value) : mask.text(value)
    }
    return super.codesOf(
      listed(values, dimension).map((each) => each.map(masked)),
      mayAdd,
    )
  }
}

function listed(values: PartValues, dimension: Dimension): readonly (readonly CountValue[])[] {
  if (!(values instanceof Int32Array)) return values
  if (dimension.kind !== 'address') throw new TypeError('networks are no values of this dimension')
  const networks = new Networks(dimension)
  networks.codesOf(values, true)
  return Array.from({ length: networks.size }, (_, code) => networks.at(code))
}

/** Words of an address. */
const WIDTH = 4
/** The third word of an IPv4-mapped IPv6 address; the words before it are 0. */
export const MAPPED = 0xffff
const MAPPED_BITS = 96

/**
 * Numbers distinct networks, given as the four words of an address in them, in the order in which they are added. Codes begin with
 * 1: code 0 is for lines without an address.
 */
export class Networks implements DimensionValues {
  readonly #ipv4Bits: number
  readonly #ipv6Bits: number
  /** The bits of the words that are in the network. */
  readonly #ipv4Mask: Int32Array
  readonly #ipv6Mask: Int32Array
  readonly #row = new Int32Array(WIDTH)
  #rows = new RowSet(WIDTH)

  constructor({ ipv4Bits, ipv6Bits }: { readonly ipv4Bits: number; readonly ipv6Bits: number }) {
    this.#ipv4Bits = ipv4Bits
    this.#ipv6Bits = ipv6Bits
    this.#ipv4Mask = maskOf(ipv4Bits + MAPPED_BITS)
    this.#ipv6Mask = maskOf(ipv6Bits)
  }

  get size(): number {
    return this.#rows.size + 1
  }

  /** The words of all networks, one after another. The bits after the network are 0. */
  get words(): Int32Array {
    return this.#rows.rows.subarray(0, this.#rows.size * WIDTH)
  }

  /** Adds an address whose network it does not have. @returns its code */
  append(words: Int32Array): number {
    return this.#rows.append(this.#masked(words, 0)) + 1
  }

  /**
   * The code of the network of an address.
   *
   * @param words holds the four words of the address from index `at` on; an IPv4 address is mapped to IPv6
   * @param mayAdd whether an unknown network is added
   * @returns {@link NO_CODE} if it is unknown and may not be added
   */
  code(words: Int32Array, at: number, mayAdd: boolean): number {
    const row = this.#masked(words, at)
    const number = mayAdd ? this.#rows.add(row) : this.#rows.find(row)
    return number === ABSENT ? NO_CODE : number + 1
  }

  codesOf(values: PartValues, mayAdd: boolean): Int32Array | null {
    if (!(values instanceof Int32Array)) throw new TypeError('the values of this dimension are networks')
    if (mayAdd && this.#rows.size === 0) {
      this.#rows = new RowSet(WIDTH, values)
      return null
    }
    const codes = new Int32Array(1 + values.length / WIDTH)
    for (let code = 1; code < codes.length; code++)
      codes[code] = this.code(values, WIDTH * (code - 1), mayAdd)
    return codes
  }

  at(code: number): readonly CountValue[] {
    return [code === 0 ? null : this.text(code)]
  }

  ranks(): readonly Ranks[] {
    // The order of the texts. For IPv4, that of octets as texts is enough.
    const octets = Array.from({ length: 256 }, (_, octet) => `${octet}.`)
    const order = ranksOf(octets).ranks
    const { words } = this
    const rest = new Int32Array(this.size)
    const first = Array.from(rest, (_, code): CountValue => {
      if (code === 0) return null
      if (!isMapped(words, WIDTH * (code - 1))) return this.text(code)
      const ipv4 = words[WIDTH * code - 1] ?? 0
      const at = (shift: number): number => (order[(ipv4 >>> shift) & 255] ?? 0) << shift
      rest[code] = at(16) | at(8) | at(0)
      // No text of IPv6 has a dot, so where it stands among those of IPv4 depends on the first octet alone.
      return octets[ipv4 >>> 24] ?? null
    })
    return [ranksOf(first), { ranks: rest, size: 2 ** 24 }]
  }

  /** A network as text: CIDR, or an address alone. */
  text(code: number): string {
    const { words } = this
    const at = WIDTH * (code - 1)
    const isIPv4 = isMapped(words, at)
    const bits = isIPv4 ? this.#ipv4Bits : this.#ipv6Bits
    const text = isIPv4
      ? formatIPv4((words[at + 3] ?? 0) >>> 0)
      : formatIPv6(Uint32Array.from(words.subarray(at, at + WIDTH)))
    return bits === (isIPv4 ? 32 : 128) ? text : `${text}/${bits}`
  }

  #masked(words: Int32Array, at: number): Int32Array {
    const row = this.#row
    const mask = isMapped(words, at) ? this.#ipv4Mask : this.#ipv6Mask
    for (let word = 0; word < WIDTH; word++) row[word] = (words[at + word] ?? 0) & (mask[word] ?? 0)
    return row
  }
}

function maskOf(bits: number): Int32Array {
  const { parts } = ipaddr.IPv6.subnetMaskFromPrefixLength(bits)
  return Int32Array.from(
    { length: WIDTH },
    (_, word) => ((parts[2 * word] ?? 0) << 16) | (parts[2 * word + 1] ?? 0),
  )
}

/** Whether the address with its first word at `at` is an IPv4 address. */
export function isMapped(words: Int32Array, at: number): boolean {
  return words[at] === 0 && words[at + 1] === 0 && words[at + 2] === MAPPED
}
