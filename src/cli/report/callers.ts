// The addresses, networks and autonomous systems of a report, and the distinct addresses of its places.
import { Address } from '../../address/address.ts'
import { isMapped, Networks } from '../../enrich/counting/networks.ts'
import { type GroupTotals, Place } from '../../enrich/counting/totals.ts'
import { type AutonomousSystems, NO_SYSTEM } from '../../location/autonomous-systems.ts'
import { type Ranked, rankedOf, Tally } from './ranked.ts'

/** Distinct addresses of lines. The keys of the maps are those of the counts of a run. */
export interface DistinctAddresses {
  readonly total: number
  /** Whether the numbers are exact. If there were more addresses than can be counted, each number is a lower limit. */
  readonly isExact: boolean
  readonly countries: ReadonlyMap<string, number>
  readonly regions: ReadonlyMap<string, number>
  readonly cities: ReadonlyMap<string, number>
}

export const NO_ADDRESSES: DistinctAddresses = {
  total: 0,
  isExact: true,
  countries: new Map(),
  regions: new Map(),
  cities: new Map(),
}

/** The networks that one customer of a provider usually has. */
const NETWORK_BITS = { ipv4Bits: 24, ipv6Bits: 48 }
/** The dimensions of the tally. */
const [PLACE, ADDRESS, WIDTH] = [0, 1, 2] as const

/** The addresses of a run, with their places and lines. */
export class Callers {
  readonly #addresses: Networks
  readonly #other: number
  /** The address of each group: a number in `#addresses`. */
  readonly #addressOf: Int32Array
  /** The code of the place of each group. */
  readonly #placeOf: Int32Array
  readonly #lines: Float64Array
  /** Places by their codes. */
  readonly #places: readonly Place[]
  readonly #countries: readonly (string | null)[]

  /** @param totals groups of a place and an address */
  constructor(totals: GroupTotals) {
    const { codes, lines, size } = totals
    this.#addresses = totals.networksOf(ADDRESS)
    this.#other = totals.other
    const [addresses, places, counts] = [new Int32Array(size), new Int32Array(size), new Float64Array(size)]
    let found = 0
    for (let group = 0; group < size; group++) {
      const code = codes[group * WIDTH + ADDRESS] ?? 0
      if (code === 0) continue
      addresses[found] = code - 1
      places[found] = codes[group * WIDTH + PLACE] ?? 0
      counts[found++] = lines[group] ?? 0
    }
    this.#addressOf = addresses.subarray(0, found)
    this.#placeOf = places.subarray(0, found)
    this.#lines = counts.subarray(0, found)
    this.#places = totals.mapValues(PLACE, (values) => new Place(values))
    this.#countries = this.#places.map(({ country, countryName }) => country ?? countryName)
  }

  get distinct(): DistinctAddresses {
    const ofPlaces = new Float64Array(this.#places.length)
    for (const code of this.#placeOf) ofPlaces[code] = (ofPlaces[code] ?? 0) + 1
    const countries = new Map<string, number>()
    const regions = new Map<string, number>()
    const cities = new Map<string, number>()
    const add = (sums: Map<string, number>, key: string, count: number): void => {
      sums.set(key, (sums.get(key) ?? 0) + count)
    }
    for (const [code, place] of this.#places.entries()) {
      const count = ofPlaces[code] ?? 0
      if (count === 0) continue
      add(countries, place.countryKey, count)
      if (place.region !== null) add(regions, place.regionKey, count)
      if (place.city !== null) add(cities, place.cityKey, count)
    }
    return { total: this.#lines.length, isExact: this.#other === 0, countries, regions, cities }
  }

  /** The addresses with most lines. */
  addresses(): Ranked {
    return rankedOf(this.#lines, this.#other, (index) => {
      const place = this.#places[this.#placeOf[index] ?? 0]
      const parts = place === undefined ? [] : [place.city, place.country ?? place.countryName]
      return {
        name: this.#addresses.text(this.#addressOf[index] ?? 0),
        addresses: null,
        bytes: null,
        within: parts.filter((each) => each !== null).join(', ') || null,
      }
    })
  }

  /** The networks with most lines. */
  networks(): Ranked {
    const networks = new Networks(NETWORK_BITS)
    const { words } = this.#addresses
    const sums = new Tally<number>()
    for (let index = 0; index < this.#lines.length; index++) {
      const network = networks.code(words, 4 * (this.#addressOf[index] ?? 0), true)
      sums.addAddress(network, this.#lines[index] ?? 0, this.#countries[this.#placeOf[index] ?? 0] ?? null)
    }
    return sums.ranked(this.#other, (network) => networks.text(network))
  }

  /** The autonomous systems with most lines. */
  systems(systems: AutonomousSystems): Ranked {
    const { words } = this.#addresses
    const address = new Address()
    const sums = new Tally<number>()
    let other = this.#other
    for (let index = 0; index < this.#lines.length; index++) {
      const lines = this.#lines[index] ?? 0
      const code = this.#addressOf[index] ?? 0
      if (isMapped(words, 4 * code)) address.setIPv4((words[4 * code + 3] ?? 0) >>> 0, '')
      else address.parse(this.#addresses.text(code))
      const found = systems.find(address)
      if (found === NO_SYSTEM) other += lines
      else {
        const { number, organization } = systems.system(found)
        sums.addAddress(number, lines, organization)
      }
    }
    return { ...sums.ranked(other, (number) => `AS${number}`), isExact: this.#other === 0 }
  }
}
