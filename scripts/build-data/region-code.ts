import { fold, foldStripped } from './name-folding.ts'
import type { Region, RegionList } from './region-list.ts'

/** DB-IP's name of a region, behind its country and a bar, to its code; `null` where there is none. */
export type RegionAliases = Readonly<Record<string, string | null>>

/** How a code was found, or why not. `no-codes`: ISO 3166-2 has no regions for the country. */
export type RegionRule = 'alias' | 'name' | 'stripped-name' | 'deliberately-none' | 'no-codes' | 'unknown'

export type RegionAnswer = { readonly code: string | null; readonly rule: RegionRule }

/** Code lists of one country by spelling; one pair of maps per source of {@link Region.spellings}. */
type CountryIndex = readonly {
  readonly exact: Map<string, Region[]>
  readonly stripped: Map<string, Region[]>
}[]

/**
 * Finds the ISO 3166-2 code of a region by DB-IP's name of it.
 *
 * In order: the alias table; the folded name among CLDR 48's English names, ISO's, and CLDR 41's in other
 * languages; the same without generic words ("Province", "Oblast", …). Of several regions with one name the
 * first-level one is meant. A second-level region that is named like the region around it (the district of
 * Vilnius in the county of Vilnius) is taken for the latter, since DB-IP names first-level regions.
 */
export class RegionCodes {
  readonly #regions: RegionList
  readonly #aliases: RegionAliases
  readonly #countries = new Map<string, CountryIndex>()
  readonly #unused: Set<string>

  /** @throws Error when an alias names a code that is not current */
  constructor(regions: RegionList, aliases: RegionAliases) {
    this.#regions = regions
    this.#aliases = aliases
    this.#unused = new Set(Object.keys(aliases))
    for (const [key, code] of Object.entries(aliases)) {
      if (code !== null && (!regions.has(code) || code.slice(0, 2) !== key.slice(0, 2))) {
        throw new Error(`region-aliases.json: ${key} names ${code}, which is no current code of that country`)
      }
    }
    for (const region of regions.values()) this.#index(region)
  }

  /** Aliases for which {@link find} was never asked. */
  get unusedAliases(): string[] {
    return [...this.#unused]
  }

  find(country: string, name: string): RegionAnswer {
    const key = `${country}|${name}`
    const alias = this.#aliases[key]
    if (alias !== undefined) {
      this.#unused.delete(key)
      return alias === null ? { code: null, rule: 'deliberately-none' } : { code: alias, rule: 'alias' }
    }
    const index = this.#countries.get(country)
    if (index === undefined) return { code: null, rule: 'no-codes' }
    const exact = first(index, ({ exact }) => this.#onlyOne(country, exact.get(fold(name))))
    if (exact !== undefined) return { code: this.#promoted(exact).code, rule: 'name' }
    const stripped = first(index, ({ stripped }) => this.#onlyOne(country, stripped.get(foldStripped(name))))
    if (stripped !== undefined) return { code: this.#promoted(stripped).code, rule: 'stripped-name' }
    return { code: null, rule: 'unknown' }
  }

  #index(region: Region): void {
    const country = region.code.slice(0, 2)
    const index =
      this.#countries.get(country) ?? region.spellings.map(() => ({ exact: new Map(), stripped: new Map() }))
    this.#countries.set(country, index)
    index.forEach(({ exact, stripped }, source) => {
      for (const spelling of region.spellings[source] ?? []) {
        addTo(exact, fold(spelling), region)
        addTo(stripped, foldStripped(spelling), region)
      }
    })
  }

  #onlyOne(country: string, regions: readonly Region[] = []): Region | undefined {
    if (regions.length === 1) return regions[0]
    const firstLevel = regions.filter(({ parent }) => parent === country)
    return firstLevel.length === 1 ? firstLevel[0] : undefined
  }

  #promoted(region: Region): Region {
    const parent = this.#regions.get(region.parent)
    if (parent === undefined) return region
    const beginnings = new Set(parent.spellings.flat().map((name) => foldStripped(name).slice(0, 4)))
    const alike = region.spellings.flat().some((name) => {
      const beginning = foldStripped(name).slice(0, 4)
      // Half of the parishes of Saint Kitts begin like the island.
      return beginning.length === 4 && beginning !== 'sain' && beginnings.has(beginning)
    })
    return alike ? this.#promoted(parent) : region
  }
}

function addTo(index: Map<string, Region[]>, name: string, region: Region): void {
  if (name === '') return
  const regions = index.get(name)
  if (regions === undefined) index.set(name, [region])
  else if (!regions.includes(region)) regions.push(region)
}

function first<T, R>(items: readonly T[], find: (item: T) => R | undefined): R | undefined {
  for (const item of items) {
    const found = find(item)
    if (found !== undefined) return found
  }
  return undefined
}
