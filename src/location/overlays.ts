import type { Address } from '../address/address.ts'
import { IPV4_ALIASES, IPV4_IN_IPV6, NetworkTrie, type TreePath } from '../mmdb/writer/network-trie.ts'
import { EMPTY } from '../mmdb/writer/node-table.ts'
import type { Locale } from './locale.ts'
import type { LocationRecord } from './location-record.ts'
import { type Location, NO_LOCATION } from './location-table.ts'
import { type OverlaidNetwork, type Overlay, readOverlays } from './overlay-records.ts'

/**
 * IPv6 networks that networks such as ::/0 do not cover: addresses in them are looked up as IPv4 addresses, and databases
 * have IPv4 networks at ::1 and its neighbours.
 */
const OF_IPV4: readonly TreePath[] = [
  IPV4_IN_IPV6,
  ...IPV4_ALIASES,
  // NAT64, 64:ff9b::/96
  { words: Uint32Array.of(0x0064_ff9b, 0, 0, 0), prefixLength: 96 },
]

/** The locations of a program's own networks. The most specific network with an address is used. */
export class Overlays {
  /** Numbers of locations stay valid. */
  readonly generation = 0
  /** The overlays as plain data, for other threads. */
  readonly list: readonly Overlay[]
  readonly #networks: readonly OverlaidNetwork[]
  readonly #ipv4 = new NetworkTrie()
  readonly #ipv6 = new NetworkTrie()
  readonly #word = new Uint32Array(1)

  /** @throws InvalidOverlayError when they are not valid */
  constructor(overlays: unknown) {
    this.#networks = readOverlays(overlays)
    this.list = this.#networks.map(({ overlay }) => overlay)
    for (const [index, { family, words, prefixLength }] of this.#networks.entries()) {
      this.#trie(family).insert(words, prefixLength, index)
    }
    for (const { words, prefixLength } of OF_IPV4) {
      if (this.#ipv6.find(words) !== EMPTY) this.#ipv6.remove(words, prefixLength)
    }
  }

  /** The number of an address's location; {@link NO_LOCATION} when no network has it. */
  find(address: Address): number {
    const link = this.#trie(address.family).find(this.#wordsOf(address))
    // A link to the value n is -1 - n.
    return link === EMPTY ? NO_LOCATION : -link
  }

  /** The same: all are overlays. */
  findOverlay(address: Address): number {
    return this.find(address)
  }

  /** How many leading bits of an address {@link find} needs: its result is the same for all addresses with these. */
  prefixLength(address: Address): number {
    const trie = this.#trie(address.family)
    trie.find(this.#wordsOf(address))
    return trie.prefixLength
  }

  /** The location with a number. @throws RangeError when there is none */
  location(number: number): Location {
    const found = this.#networks[number - 1]
    if (found === undefined) throw new RangeError('no overlay has this number')
    return found.location
  }

  /** None is in a file. */
  stored(): null {
    return null
  }

  record(number: number, ip: string, locale: Locale, at: number): LocationRecord {
    return this.location(number).record(ip, locale, at)
  }

  #trie(family: 4 | 6): NetworkTrie {
    return family === 4 ? this.#ipv4 : this.#ipv6
  }

  #wordsOf(address: Address): Uint32Array {
    if (address.family === 6) return address.words
    this.#word[0] = address.ipv4
    return this.#word
  }
}

/** The overlays of the option `overlays`; `null` for none. @throws InvalidOverlayError when they are not valid */
export function openOverlays(overlays: readonly Overlay[] | undefined): Overlays | null {
  const opened = overlays === undefined ? null : new Overlays(overlays)
  return opened === null || opened.list.length === 0 ? null : opened
}
