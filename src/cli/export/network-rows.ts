import { isIPv4Compatible } from '../../address/address.ts'
import { type AddNetwork, compare, listNetworks, type Words } from '../../address/position.ts'
import { LocatedSystems } from '../../enrich/writing/located-systems.ts'
import type { LocationTemplate } from '../../enrich/writing/location-template.ts'
import { RenderedLocations } from '../../enrich/writing/rendered-locations.ts'
import type { DatabaseSet } from '../../location/database-set.ts'
import type { Locale } from '../../location/locale.ts'
import { countryOf, type NetworkChoice } from '../../location/located-networks.ts'
import { NetworkWalk } from '../../location/network-walk.ts'

/** Limit of the memory for the texts of locations. Four times as much takes 10 MB more and saves no time. */
const MAX_TEXT_BYTES = 2 ** 22

/** Writes rows of networks in one form. */
export interface RowSink {
  /** Whether rows should be written before more are added. */
  readonly isFull: boolean
  /** Sets the values of the next rows: `text[from, to)`, which is valid until they are added. */
  setText(text: Uint8Array, from: number, to: number): void
  /**
   * Adds a network, or a range.
   *
   * @param end the first position after it. Zero is the end of all addresses
   * @param prefixLength of a position; 0 for a range
   */
  add(start: Words, end: Words, prefixLength: number): void
}

/** Settings of rows. */
export interface NetworkRowOptions {
  readonly choice: NetworkChoice
  /** Whether the columns have values of a location, and of an autonomous system. */
  readonly hasLocations: boolean
  readonly hasSystems: boolean
  readonly template: LocationTemplate
  /** The text of a row without a value. Such rows are left out. */
  readonly nothing: string
  readonly locale: Locale
  /** The instant of `timezone_offset` in milliseconds since 1970; `NaN` if unknown. */
  readonly at: number
  /** Whether a row is a network. Otherwise neighbours with the same text are one row. */
  readonly areNetworks: boolean
}

/** Makes rows of the networks of a set of databases. */
export class NetworkRows {
  /** The codes of the countries that rows are in, if countries are chosen. */
  readonly countries = new Set<string>()
  rows = 0
  readonly #set: DatabaseSet
  readonly #options: NetworkRowOptions
  readonly #walk: NetworkWalk | null
  readonly #systems: LocatedSystems | null
  readonly #rendered: RenderedLocations
  readonly #nothing: Buffer
  #generation = 0
  /** The range that the next one may continue. */
  readonly #start = new Uint32Array(4)
  readonly #end = new Uint32Array(4)
  #text = Buffer.alloc(1024)
  #size = -1

  /** @throws InvalidDatabaseError, TypeError when autonomous systems are asked for and no database has them */
  constructor(set: DatabaseSet, options: NetworkRowOptions) {
    const { choice, hasLocations, hasSystems } = options
    this.#set = set
    this.#options = options
    const locations = hasLocations || choice.countries !== null
    this.#walk =
      choice.bounds === null
        ? null
        : new NetworkWalk(set, { locations, systems: hasSystems, bounds: choice.bounds })
    this.#systems = hasSystems ? new LocatedSystems(set) : null
    this.#rendered = new RenderedLocations(options.locale, options.template, 'parts', MAX_TEXT_BYTES)
    this.#rendered.instant = options.at
    this.#nothing = Buffer.from(options.nothing)
  }

  /** The share of the addresses that were read, up to 1; `null` if it cannot be told. */
  get share(): number | null {
    const { bounds } = this.#options.choice
    if (this.#walk === null || bounds === null) return null
    const start = placeOf(bounds[0])
    const span = (placeOf(bounds[1]) || 2) - start
    // An end of zero is the end of all addresses, unless nothing was read.
    const end = placeOf(this.#walk.end) || (this.#walk.steps === 0 ? 0 : 2)
    return span > 0 ? (end - start) / span : null
  }

  /** Adds rows until the sink is full. @returns whether there can be more */
  fill(sink: RowSink): boolean {
    const walk = this.#walk
    const { choice, areNetworks } = this.#options
    const addNetwork: AddNetwork = (position, length) => {
      sink.add(position, position, length)
      this.rows++
    }
    while (!sink.isFull) {
      if (walk === null || !walk.next()) {
        this.#addRange(sink)
        return false
      }
      if (choice.countries !== null) {
        const code = walk.location === 0 ? null : countryOf(this.#set, walk.location)
        if (code === null || !choice.countries.has(code)) continue
        this.countries.add(code)
      }
      const number = this.#numberOf(walk)
      const from = this.#rendered.startOf(number)
      const to = from + this.#rendered.sizeOf(number)
      const { bytes } = this.#rendered.arena
      if (this.#isNothing(bytes, from, to)) continue
      if (areNetworks) {
        sink.setText(bytes, from, to)
        listNetworks(walk.start, walk.end, addNetwork)
      } else this.#extend(walk, sink, bytes, from, to)
    }
    return true
  }

  #numberOf({ location, system }: NetworkWalk): number {
    const systems = this.#systems
    const generation = systems === null ? this.#set.generation : systems.generation
    if (generation !== this.#generation || this.#rendered.isFull) {
      this.#generation = generation
      this.#rendered.clear()
      systems?.clear()
    }
    return systems === null
      ? this.#rendered.numberOf(location, this.#set)
      : this.#rendered.numberOf(systems.pairOf(location, system), systems)
  }

  #isNothing(bytes: Uint8Array, from: number, to: number): boolean {
    const nothing = this.#nothing
    return to - from === nothing.length && nothing.compare(bytes, from, to) === 0
  }

  #extend({ start, end }: NetworkWalk, sink: RowSink, bytes: Uint8Array, from: number, to: number): void {
    const size = to - from
    const isNext =
      size === this.#size &&
      compare(start, this.#end) === 0 &&
      !isFirstIPv6(start) &&
      this.#text.compare(bytes, from, to, 0, size) === 0
    if (!isNext) {
      this.#addRange(sink)
      this.#start.set(start)
      if (size > this.#text.length) this.#text = Buffer.alloc(2 * size)
      this.#text.set(bytes.subarray(from, to))
      this.#size = size
    }
    this.#end.set(end)
  }

  #addRange(sink: RowSink): void {
    if (this.#size < 0) return
    sink.setText(this.#text, 0, this.#size)
    sink.add(this.#start, this.#end, 0)
    this.#size = -1
    this.rows++
  }
}

function isFirstIPv6(words: Words): boolean {
  return words[3] === 0 && words[2] === 1 && words[1] === 0 && words[0] === 0
}

/** A place on a scale from 0 to 2. IPv4 is the first half, and what registries give out of IPv6, up to 2cff::, the second. */
function placeOf(position: Words): number {
  const [first = 0, , , fourth = 0] = position
  if (isIPv4Compatible(position)) return fourth / 2 ** 32
  return 1 + Math.min(Math.max((first - 0x2000_0000) / 0x0d00_0000, 0), 1)
}
