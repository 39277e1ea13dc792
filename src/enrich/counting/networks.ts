// The networks that lines are counted by. The only importer of ipaddr.js, for CIDR arithmetic.
import ipaddr from 'ipaddr.js'
import { formatIPv4, formatIPv6 } from '../../address/ip-text.ts'
import { ABSENT, RowSet } from '../../location/tables.ts'

/** Words of an address. */
const WIDTH = 4
/** The third word of an IPv4-mapped IPv6 address; the words before it are 0. */
export const MAPPED = 0xffff
const MAPPED_BITS = 96

/** Numbers distinct networks, given as the four words of an address in them, in the order in which they are added. */
export class Networks {
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
    return this.#rows.size
  }

  /** The words of all networks, one after another. The bits after the network are 0. */
  get words(): Int32Array {
    return this.#rows.rows.subarray(0, this.size * WIDTH)
  }

  /** Takes the networks of an equal object, if it has none itself, with their numbers. @returns whether it took them */
  adopt(words: Int32Array): boolean {
    if (this.size > 0) return false
    this.#rows = new RowSet(WIDTH, words)
    return true
  }

  /** Adds an address whose network it does not have. @returns its number */
  append(words: Int32Array): number {
    return this.#rows.append(this.#masked(words, 0))
  }

  /**
   * The number of the network of an address.
   *
   * @param words holds the four words of the address from index `at` on; an IPv4 address is mapped to IPv6
   * @param mayAdd whether an unknown network is added
   * @returns -1 if it is unknown and may not be added
   */
  code(words: Int32Array, at: number, mayAdd: boolean): number {
    const row = this.#masked(words, at)
    const code = mayAdd ? this.#rows.add(row) : this.#rows.find(row)
    return code === ABSENT ? -1 : code
  }

  #masked(words: Int32Array, at: number): Int32Array {
    const row = this.#row
    const mask = isMapped(words, at) ? this.#ipv4Mask : this.#ipv6Mask
    for (let word = 0; word < WIDTH; word++) row[word] = (words[at + word] ?? 0) & (mask[word] ?? 0)
    return row
  }

  /** A network as text: CIDR, or an address alone. */
  text(code: number): string {
    const { words } = this
    const at = WIDTH * code
    const isIPv4 = isMapped(words, at)
    const bits = isIPv4 ? this.#ipv4Bits : this.#ipv6Bits
    const text = isIPv4
      ? formatIPv4((words[at + 3] ?? 0) >>> 0)
      : formatIPv6(Uint32Array.from(words.subarray(at, at + WIDTH)))
    return bits === (isIPv4 ? 32 : 128) ? text : `${text}/${bits}`
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
