import { distanceKm, groupBy, type Point } from './globe.ts'
import { type CityName, nameKey, splitCity } from './name-spelling.ts'

/** The content of input/place-names.json. */
export type NameCorrections = {
  readonly regions: Readonly<Record<string, string | null>>
  readonly cities: Readonly<Record<string, string | null>>
}

/** A table of corrections that knows which of its rows were used. */
export class CorrectedNames {
  readonly #rows: Readonly<Record<string, string | null>>
  readonly #unused: Set<string>

  constructor(rows: Readonly<Record<string, string | null>>) {
    this.#rows = rows
    this.#unused = new Set(Object.keys(rows))
  }

  get unused(): string[] {
    return [...this.#unused]
  }

  /** The name to use; `null` if what the source has is not a name. */
  find(key: string, name: string): string | null {
    const correction = this.#rows[key]
    if (correction === undefined) return name
    this.#unused.delete(key)
    return correction
  }
}

/** A location of the source, with the code of its region or, without one, the name. */
export type NamedPlace = Point & {
  readonly country: string
  readonly region: string
  /** The name in the source, with the district. */
  readonly city: string
  /** The number of networks. */
  readonly weight: number
}

/** What was done to the names of cities, for the manifest. */
export type NameCounts = {
  /** Spellings of a city in a region, or of a district in a city, of which another one was taken. */
  readonly spellings: number
  readonly districtSpellings: number
  /** Names with a label, a stray digit, or the number of a district. */
  readonly labels: number
  /** Names that are corrected in place-names.json. */
  readonly corrected: number
}

/** Cities of a region, or districts of a city, whose names differ in spelling are the same within this distance. */
const SAME_PLACE_KM = 30

/** Words for a city that the source writes or leaves out: "Chiyoda City" and "Chiyoda", "Jinju-si" and "Jinju". */
const CITY_WORDS: Readonly<Record<string, RegExp>> = { JP: /( City|[- ]shi|-ku)$/i, KR: /-si$/ }

/** Cities whose districts are numbered: the source writes `Paris 18 Buttes-Montmartre` for some of their districts. */
const NUMBERED_DISTRICTS: Readonly<Record<string, string>> = {
  'FR|Marseille': 'Marseille',
  'FR|Paris': 'Paris',
  'CZ|Praha': 'Prague',
}

/** A name in the places that it can be told from: a city in a region, or a district in a city. */
type Named = Point & { readonly scope: string; readonly name: string; readonly weight: number }

/** The names of cities and their districts: one for each. */
export class PlaceNames {
  readonly counts: NameCounts
  readonly #corrections: CorrectedNames
  /** The name taken in place of another one, by scope and the latter. */
  readonly #taken = new Map<string, string>()

  /** @param isKnown whether another source has the spelling of a city in a country: it is preferred then */
  constructor(
    places: readonly NamedPlace[],
    corrections: CorrectedNames,
    isKnown: (country: string, city: string) => boolean,
  ) {
    this.#corrections = corrections
    const labels = new Set<string>()
    const corrected = new Set<string>()
    const named = places.map((place) => {
      const key = `${place.country}|${place.region}|${place.city}`
      const { rule, ...name } = this.#plain(place)
      if (rule === 'label') labels.add(key)
      if (rule === 'correction') corrected.add(key)
      return { ...place, ...name, scope: `${place.country}|${place.region}` }
    })
    const cities = named.flatMap((place) => (place.city === '' ? [] : [{ ...place, name: place.city }]))
    this.#unite(
      cities,
      ({ name }) => nameKey(name),
      ({ country, name }) => isKnown(country, name),
    )
    this.#unite(
      cities
        .filter(({ country }) => country in CITY_WORDS)
        .map((place) => ({ ...place, name: this.#find(place.scope, place.name) })),
      ({ country, name }) => nameKey(name.replace(CITY_WORDS[country] ?? '', '')),
    )
    const spellings = this.#taken.size
    this.#unite(
      named.flatMap((place) =>
        place.district === null
          ? []
          : [
              {
                ...place,
                scope: districtScope(place, this.#find(place.scope, place.city)),
                name: place.district,
              },
            ],
      ),
      ({ name }) => nameKey(name),
    )
    this.counts = {
      spellings,
      districtSpellings: this.#taken.size - spellings,
      labels: labels.size,
      corrected: corrected.size,
    }
  }

  /** The name of a city and its district. The city is empty if the source has none, or something that is not a name. */
  city(place: Pick<NamedPlace, 'country' | 'region' | 'city'>): CityName {
    const { city: plain, district } = this.#plain(place)
    const city = this.#find(`${place.country}|${place.region}`, plain)
    return { city, district: district === null ? null : this.#find(districtScope(place, city), district) }
  }

  #find(scope: string, name: string): string {
    const taken = this.#taken.get(`${scope}|${name}`)
    return taken === undefined ? name : this.#find(scope, taken)
  }

  #plain(place: Pick<NamedPlace, 'country' | 'region' | 'city'>): CityName & {
    readonly rule: 'none' | 'label' | 'correction'
  } {
    const { country, region } = place
    const unlabelled = withoutLabels(place.city)
    const { city, district } = splitCity(unlabelled)
    const corrected = this.#corrections.find(`${country}|${region}|${city}`, city)
    if (corrected !== city) return { city: corrected ?? '', district, rule: 'correction' }
    const [, name = ''] = /^(\p{L}+) \d/u.exec(city) ?? []
    const numbered = NUMBERED_DISTRICTS[`${country}|${name}`]
    if (numbered !== undefined) return { city: numbered, district: district ?? city, rule: 'label' }
    return { city, district, rule: unlabelled === place.city ? 'none' : 'label' }
  }

  /** Takes one of the names with the same key that are near each other: one that is preferred, or the most frequent. */
  #unite<T extends Named>(
    places: readonly T[],
    keyOf: (place: T) => string,
    isPreferred: (place: T) => boolean = () => false,
  ): void {
    for (const group of groupBy(places, (place) => `${place.scope}|${keyOf(place)}`).values()) {
      const names = [...groupBy(group, ({ name }) => name).values()]
        .map((same) => ({
          same,
          isPreferred: same.some(isPreferred),
          weight: same.reduce((sum, { weight }) => sum + weight, 0),
        }))
        .sort((a, b) => Number(b.isPreferred) - Number(a.isPreferred) || b.weight - a.weight)
      for (const [rank, { same }] of names.entries()) {
        const taken = names.slice(0, rank).find((better) => isNear(better.same, same))?.same[0]
        const [place] = same
        if (taken !== undefined && place !== undefined)
          this.#taken.set(`${place.scope}|${place.name}`, taken.name)
      }
    }
  }
}

function districtScope({ country, region }: Pick<NamedPlace, 'country' | 'region'>, city: string): string {
  return `${country}|${region}|${city}`
}

/** Removes Mexico's kinds of settlements in brackets, and a digit that sticks to a name ("Zapopan2"). */
function withoutLabels(name: string): string {
  return name.replace(/ \[[^[\]]*\]$/, '').replace(/(?<=\p{Ll}{3})\d$/u, '')
}

function isNear(a: readonly Point[], b: readonly Point[]): boolean {
  return a.some((one) => b.some((other) => distanceKm(one, other) <= SAME_PLACE_KM))
}
