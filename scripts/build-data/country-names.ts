import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** The locales of GeoIP2 and their names in CLDR, whose `pt` is Brazilian and whose `zh` is in simplified script. */
export const LOCALES = {
  de: 'de',
  en: 'en',
  es: 'es',
  fr: 'fr',
  ja: 'ja',
  'pt-BR': 'pt',
  ru: 'ru',
  'zh-CN': 'zh',
} as const

export type Locale = keyof typeof LOCALES
export type Names = Readonly<Partial<Record<Locale, string>>>

/** GeoIP2's continent codes, and the UN M49 areas that contain their countries in CLDR. */
const CONTINENTS: Readonly<Record<string, string>> = {
  AF: '002',
  AN: 'AQ',
  AS: '142',
  EU: '150',
  NA: '003',
  OC: '009',
  SA: '005',
}

/** UN M49 has no Antarctica. These lie south of 50°; GeoIP2 and GeoNames also assign them to Antarctica. */
const ANTARCTIC = ['AQ', 'BV', 'GS', 'HM', 'TF']

export type Country = {
  readonly names: Names
  readonly continent: { readonly code: string; readonly names: Names }
}

/** Names and continents of countries, from CLDR. */
export class CountryNames {
  readonly #territories: ReadonlyMap<Locale, ReadonlyMap<string, string>>
  readonly #continentOf = new Map<string, string>()

  /** @param packages the folder of `cldr-core` and `cldr-localenames-full` */
  constructor(packages: string) {
    this.#territories = new Map(
      localeEntries().map(([locale, cldr]) => [locale, readTerritories(packages, cldr)] as const),
    )
    const contains = readContainment(packages)
    const gather = (area: string, code: string): void => {
      for (const part of contains.get(area) ?? []) {
        if (!this.#continentOf.has(part)) this.#continentOf.set(part, code)
        gather(part, code)
      }
    }
    for (const country of ANTARCTIC) this.#continentOf.set(country, 'AN')
    for (const [code, area] of Object.entries(CONTINENTS)) if (code !== 'AN') gather(area, code)
  }

  /** @throws Error if CLDR lacks the country, its continent, or one of its eight names */
  country(code: string): Country {
    const continent = this.#continentOf.get(code)
    const area = CONTINENTS[continent ?? '']
    if (continent === undefined || area === undefined) throw new Error(`CLDR has no continent for ${code}`)
    return { names: this.#names(code), continent: { code: continent, names: this.#names(area) } }
  }

  #names(territory: string): Names {
    return Object.fromEntries(
      localeEntries().map(([locale]) => {
        const name = this.#territories.get(locale)?.get(territory)
        if (name === undefined) throw new Error(`CLDR has no name for ${territory} in ${locale}`)
        return [locale, name]
      }),
    )
  }
}

export function localeEntries(): [Locale, string][] {
  const isLocale = (text: string): text is Locale => text in LOCALES
  return Object.entries(LOCALES).flatMap(([locale, cldr]) => (isLocale(locale) ? [[locale, cldr]] : []))
}

function readTerritories(packages: string, cldr: string): ReadonlyMap<string, string> {
  const path = join(packages, 'cldr-localenames-full/main', cldr, 'territories.json')
  const json: { main: Record<string, { localeDisplayNames: { territories: Record<string, string> } }> } =
    JSON.parse(readFileSync(path, 'utf8'))
  return new Map(Object.entries(json.main[cldr]?.localeDisplayNames.territories ?? {}))
}

function readContainment(packages: string): ReadonlyMap<string, readonly string[]> {
  const path = join(packages, 'cldr-core/supplemental/territoryContainment.json')
  const json: { supplemental: { territoryContainment: Record<string, { _contains: string[] }> } } =
    JSON.parse(readFileSync(path, 'utf8'))
  return new Map(
    Object.entries(json.supplemental.territoryContainment)
      // Groups such as the EU or Latin America span continents.
      .filter(([area, { _contains }]) => /^\d{3}$/.test(area) && _contains.length > 0)
      .map(([area, { _contains }]) => [area, _contains] as const),
  )
}
