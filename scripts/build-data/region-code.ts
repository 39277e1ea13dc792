import { fold, foldStripped } from './name-spelling.ts'
import type { Region, RegionList } from './region-list.ts'

/** Region codes by country, a bar, and DB-IP's name of the region. `null` for names without a code. */
export type RegionAliases = Readonly<Record<string, string | null>>

/** How a code was found, or why there is none. `no-codes`: ISO 3166-2 has no regions for the country. */
export type RegionRule = 'alias' | 'name' | 'stripped-name' | 'deliberately-none' | 'no-codes' | 'unknown'

export type RegionAnswer = { readonly code: string | null; readonly rule: RegionRule }

/** Regions of a country by spelling: a pair of maps for each source of {@link Region.spellings}. */
type CountryIndex = readonly {
  readonly exact: Map<string, Region[]>
  readonly stripped: Map<string, Region[]>
}[]

/**
 * Finds the ISO 3166-2 code for DB-IP's name of a region.
 *
 * Searches the alias table, then the folded name among the English names of CLDR 48, the names of ISO, and the names of
 * CLDR 41 in other languages, then the same without generic words ("Province", "Oblast", …). Prefers first-level regions
 * among regions with the same name. A second-level region with the name of the region around it (the district of Vilnius
 * in the county of Vilnius) stands for the latter, since DB-IP names first-level regions.
 */
export class RegionCodes {
  readonly #regions: RegionList
  readonly #aliases: RegionAliases
  readonly #countries = new Map<string, CountryIndex>()
  readonly #unused: Set<string>

  /** @throws Error if an alias has a code that is not current */
  constructor(regions: RegionList, aliases: RegionAliases) {
    this.#regions = regions
    this.#aliases = aliases
    this.#unused = new Set(Object.keys(aliases))
    for (const [key, code] of Object.entries(aliases)) {
      if (code !== null && (!regions.has(code) || code.slice(0, 2) !== key.slice(0, 2))) {
        throw new Error(
          `region-aliases.json: ${key} has ${code}, which is not a current code of that country`,
        )
      }
    }
    for (const region of regions.values()) this.#index(region)
  }

  /** Aliases that {@link find} never used. */
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
      // Half of the parishes of Saint Kitts start like the island.
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
