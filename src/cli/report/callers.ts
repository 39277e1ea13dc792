// Who: the addresses, networks and autonomous systems of a report, and the distinct addresses of its places.
import { Address } from '../../address/address.ts'
import { isMapped, Networks } from '../../enrich/counting/networks.ts'
import type { GroupTotals } from '../../enrich/counting/totals.ts'
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

const NO_ROW = -1

/** What the columns of a place say. */
interface Place {
  readonly country: string | null
  /** City and country; `null` without both. */
  readonly name: string | null
}

/** The addresses of a run, with their places and lines. */
export class Callers {
  readonly #totals: GroupTotals
  readonly #addresses: Networks
  // Of each group that has an address.
  /** Its address: a number in `#addresses`. */
  readonly #addressOf: Int32Array
  /** The code of its place. */
  readonly #placeOf: Int32Array
  readonly #lines: Float64Array
  /** By code. */
  readonly #places: readonly Place[]

  /** @param totals groups of a place and an address */
  constructor(totals: GroupTotals) {
    const { codes, lines, size } = totals
    this.#totals = totals
    this.#addresses = totals.networksOf(ADDRESS)
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
    this.#places = totals.mapValues(PLACE, (values) => placeOf(values.map(textOrNull)))
  }

  get distinct(): DistinctAddresses {
    const { other } = this.#totals
    const ofPlaces = new Float64Array(this.#places.length)
    for (const code of this.#placeOf) ofPlaces[code] = (ofPlaces[code] ?? 0) + 1
    const countries = new Map<string, number>()
    const regions = new Map<string, number>()
    const cities = new Map<string, number>()
    for (const [code, count] of ofPlaces.entries()) {
      const values = this.#totals.valuesOf(PLACE, code)
      if (count === 0 || values.every((value) => value === null)) continue
      const [country = null, name = null, region = null, regionName = null, city = null] = values
      addTo(countries, String(country ?? name ?? ''), count)
      const regionKey = [country, region, regionName].join(SEPARATOR)
      if (region !== null || regionName !== null) addTo(regions, regionKey, count)
      if (city !== null) addTo(cities, regionKey + SEPARATOR + city, count)
    }
    return { total: this.#lines.length, isExact: other === 0, countries, regions, cities }
  }

  /** The addresses with most lines. */
  addresses(): Ranked {
    return rankedOf(this.#lines, this.#totals.other, (index) => ({
      name: this.#addresses.text(this.#addressOf[index] ?? 0),
      count: this.#lines[index] ?? 0,
      addresses: null,
      within: this.#placeAt(index)?.name ?? null,
    }))
  }

  /** Their networks. */
  networks(): Ranked {
    const networks = new Networks(NETWORK_BITS)
    const { words } = this.#addresses
    const sums = new Sums(this.#lines.length)
    for (let index = 0; index < this.#lines.length; index++) {
      const network = networks.code(words, 4 * (this.#addressOf[index] ?? 0), true)
      sums.add(network, this.#lines[index] ?? 0, this.#placeAt(index)?.country ?? null)
    }
    return sums.ranked(this.#totals.other, (network) => networks.text(network))
  }

  /** Their autonomous systems. */
  systems(systems: AutonomousSystems): Ranked {
    const { words } = this.#addresses
    const address = new Address()
    const names: string[] = []
    const numbers = new Map<string, number>()
    /** By number of a system, its row. */
    let rows: number[] = []
    let { generation } = systems
    const sums = new Sums(this.#lines.length)
    let { other } = this.#totals
    for (let index = 0; index < this.#lines.length; index++) {
      const code = this.#addressOf[index] ?? 0
      if (isMapped(words, 4 * code)) address.setIPv4((words[4 * code + 3] ?? 0) >>> 0, '')
      else address.parse(this.#addresses.text(code))
      const found = systems.find(address)
      if (found === NO_SYSTEM) {
        other += this.#lines[index] ?? 0
        continue
      }
      if (systems.generation !== generation) {
        rows = []
        generation = systems.generation
      }
      const { number, organization } = systems.system(found)
      while (rows.length <= found) rows.push(NO_ROW)
      let row = rows[found] ?? NO_ROW
      if (row === NO_ROW) {
        const name = `AS${number}`
        row = numbers.get(name) ?? names.push(name) - 1
        numbers.set(name, row)
        rows[found] = row
      }
      sums.add(row, this.#lines[index] ?? 0, organization)
    }
    const ranked = sums.ranked(other, (row) => names[row] ?? '')
    return { ...ranked, isExact: this.#totals.other === 0 }
  }

  #placeAt(index: number): Place | undefined {
    return this.#places[this.#placeOf[index] ?? 0]
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
  /** The lines of each value of the rows that have several; `null` for others. */
  readonly #mixed: (Map<string | null, number> | null)[] = []

  /** @param most how many rows there can be */
  constructor(most: number) {
    this.#counts = new Float64Array(most)
    this.#addresses = new Float64Array(most)
  }

  /** Adds an address. @param within where or what it is */
  add(row: number, count: number, within: string | null): void {
    if (row === this.#within.length) {
      this.#within.push(within)
      this.#mixed.push(null)
    }
    const first = this.#within[row] ?? null
    let mixed = this.#mixed[row] ?? null
    if (mixed === null && within !== first) {
      mixed = new Map([[first, this.#counts[row] ?? 0]])
      this.#mixed[row] = mixed
    }
    if (mixed !== null) addTo(mixed, within, count)
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
    const mixed = this.#mixed[row] ?? null
    if (mixed === null) return this.#within[row] ?? null
    const values = [...mixed]
      .map(([value, lines]) => ({ value: value ?? '–', lines }))
      .sort((a, b) => b.lines - a.lines || (a.value < b.value ? -1 : 1))
      .map(({ value }) => value)
    return values.slice(0, MOST_VALUES).join(', ') + (values.length > MOST_VALUES ? ', …' : '')
  }
}
