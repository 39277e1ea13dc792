// Who: the addresses, networks and autonomous systems of a report, and the distinct addresses of its places.
import { Address } from '../../address/address.ts'
import type { GroupTotals } from '../../enrich/counting/group-counts.ts'
import { isMapped, Networks } from '../../enrich/counting/networks.ts'
import { type AutonomousSystems, NO_SYSTEM } from '../../location/autonomous-systems.ts'
import { type Ranked, rankedOf } from './ranked.ts'

/** Distinct addresses of lines. The keys of the maps are those of the counts of a run. */
export interface DistinctAddresses {
  readonly total: number
  /** `false` if there were more than can be counted: each number is then the least that it can be. */
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

/** Separates the parts of a key, as in the counts of a run. */
const SEPARATOR = '\u0000'
/** The networks that one customer of a provider usually has. */
const NETWORK_BITS = { ipv4Bits: 24, ipv6Bits: 48 }
/** Values of one row that are shown, such as the countries of a network. */
const MOST_VALUES = 3
/** The dimensions of the tally. */
const [PLACE, ADDRESS, WIDTH] = [0, 1, 2] as const

/** What the columns of a place say. */
interface Place {
  readonly country: string | null
  /** City and country; `null` without both. */
  readonly name: string | null
}

/** The addresses of a run, with their places and lines. */
export class Callers {
  readonly #totals: GroupTotals
  /** A place and an address for each group. */
  readonly #codes: Int32Array
  readonly #addresses: Networks
  /** The groups that have an address. */
  readonly #groups: Int32Array
  /** Their lines. */
  readonly #lines: Float64Array
  /** By code. */
  readonly #places = new Map<number, Place>()

  /** @param totals groups of a place and an address */
  constructor(totals: GroupTotals) {
    const { codes, lines } = totals
    this.#totals = totals
    this.#codes = codes
    this.#addresses = totals.networksOf(ADDRESS)
    this.#groups = Int32Array.from({ length: totals.size }, (_, group) => group).filter(
      (group) => (codes[group * WIDTH + ADDRESS] ?? 0) > 0,
    )
    this.#lines = Float64Array.from(this.#groups, (group) => lines[group] ?? 0)
  }

  get distinct(): DistinctAddresses {
    const { other } = this.#totals
    const ofPlaces = new Map<number, number>()
    for (const group of this.#groups) addTo(ofPlaces, this.#codes[group * WIDTH + PLACE] ?? 0, 1)
    const countries = new Map<string, number>()
    const regions = new Map<string, number>()
    const cities = new Map<string, number>()
    for (const [code, count] of ofPlaces) {
      const values = this.#totals.valuesOf(PLACE, code)
      if (values.every((value) => value === null)) continue
      const [country = null, name = null, region = null, regionName = null, city = null] = values
      addTo(countries, String(country ?? name ?? ''), count)
      const regionKey = [country, region, regionName].join(SEPARATOR)
      if (region !== null || regionName !== null) addTo(regions, regionKey, count)
      if (city !== null) addTo(cities, regionKey + SEPARATOR + city, count)
    }
    return { total: this.#groups.length, isExact: other === 0, countries, regions, cities }
  }

  /** The addresses with most lines. */
  addresses(): Ranked {
    return rankedOf(this.#lines, this.#totals.other, (index) => ({
      name: this.#addresses.text(this.#addressOf(index)),
      count: this.#lines[index] ?? 0,
      addresses: null,
      within: this.#placeOf(index).name,
    }))
  }

  /** Their networks. */
  networks(): Ranked {
    const networks = new Networks(NETWORK_BITS)
    const { words } = this.#addresses
    const sums = new Sums(this.#lines.length)
    for (let index = 0; index < this.#lines.length; index++) {
      const network = networks.code(words, 4 * this.#addressOf(index), true)
      sums.add(network, this.#lines[index] ?? 0, this.#placeOf(index).country)
    }
    return sums.ranked(this.#totals.other, (network) => networks.text(network))
  }

  /** Their autonomous systems. */
  systems(systems: AutonomousSystems): Ranked {
    const { words } = this.#addresses
    const address = new Address()
    const names: string[] = []
    const numbers = new Map<string, number>()
    let rows = new Map<number, number>()
    let { generation } = systems
    const sums = new Sums(this.#lines.length)
    let { other } = this.#totals
    for (let index = 0; index < this.#lines.length; index++) {
      const code = this.#addressOf(index)
      if (isMapped(words, 4 * code)) address.setIPv4((words[4 * code + 3] ?? 0) >>> 0, '')
      else address.parse(this.#addresses.text(code))
      const found = systems.find(address)
      if (found === NO_SYSTEM) {
        other += this.#lines[index] ?? 0
        continue
      }
      if (systems.generation !== generation) {
        rows = new Map()
        generation = systems.generation
      }
      const { number, organization } = systems.system(found)
      let row = rows.get(found)
      if (row === undefined) {
        const name = `AS${number}`
        row = numbers.get(name) ?? names.push(name) - 1
        numbers.set(name, row)
        rows.set(found, row)
      }
      sums.add(row, this.#lines[index] ?? 0, organization)
    }
    const ranked = sums.ranked(other, (row) => names[row] ?? '')
    return { ...ranked, isExact: this.#totals.other === 0 }
  }

  #addressOf(index: number): number {
    return (this.#codes[(this.#groups[index] ?? 0) * WIDTH + ADDRESS] ?? 0) - 1
  }

  #placeOf(index: number): Place {
    const code = this.#codes[(this.#groups[index] ?? 0) * WIDTH + PLACE] ?? 0
    let place = this.#places.get(code)
    if (place === undefined) {
      place = placeOf(this.#totals.valuesOf(PLACE, code).map(textOrNull))
      this.#places.set(code, place)
    }
    return place
  }
}

function placeOf([code = null, name = null, , , city = null]: readonly (string | null)[]): Place {
  const country = name ?? code
  return { country, name: [city, country].filter((each) => each !== null).join(', ') || null }
}

function textOrNull(value: string | number | null): string | null {
  return value === null ? null : String(value)
}

function addTo<Key>(sums: Map<Key, number>, key: Key, count: number): void {
  sums.set(key, (sums.get(key) ?? 0) + count)
}

/** Sums of lines and distinct addresses, by numbers of rows from 0. */
class Sums {
  readonly #counts: Float64Array
  readonly #addresses: Float64Array
  readonly #within: (string | null)[] = []
  /** The lines of each value of the rows that have several. */
  readonly #mixed = new Map<number, Map<string | null, number>>()

  /** @param most how many rows there can be */
  constructor(most: number) {
    this.#counts = new Float64Array(most)
    this.#addresses = new Float64Array(most)
  }

  /** Adds an address. @param within where or what it is */
  add(row: number, count: number, within: string | null): void {
    if (row === this.#within.length) this.#within.push(within)
    const first = this.#within[row] ?? null
    let mixed = this.#mixed.get(row)
    if (mixed === undefined && within !== first) {
      mixed = new Map([[first, this.#counts[row] ?? 0]])
      this.#mixed.set(row, mixed)
    }
    if (mixed !== undefined) addTo(mixed, within, count)
    this.#counts[row] = (this.#counts[row] ?? 0) + count
    this.#addresses[row] = (this.#addresses[row] ?? 0) + 1
  }

  ranked(other: number, nameOf: (row: number) => string): Ranked {
    return rankedOf(this.#counts.subarray(0, this.#within.length), other, (row) => ({
      name: nameOf(row),
      count: this.#counts[row] ?? 0,
      addresses: this.#addresses[row] ?? 0,
      within: this.#withinOf(row),
    }))
  }

  /** The value of all addresses of a row, or their values, those with most lines first. */
  #withinOf(row: number): string | null {
    const mixed = this.#mixed.get(row)
    if (mixed === undefined) return this.#within[row] ?? null
    const values = [...mixed]
      .map(([value, lines]) => ({ value: value ?? '–', lines }))
      .sort((a, b) => b.lines - a.lines || (a.value < b.value ? -1 : 1))
      .map(({ value }) => value)
    return values.slice(0, MOST_VALUES).join(', ') + (values.length > MOST_VALUES ? ', …' : '')
  }
}
