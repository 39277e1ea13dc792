import { countryCodesOf } from '../location/country-codes.ts'
import { wrongOption } from '../option-names.ts'

/** The countries whose lines are wanted, or not wanted. Plain data. */
export interface CountryChoice {
  /** ISO 3166-1 alpha-2 codes. */
  readonly codes: readonly string[]
  /** Whether lines in these countries are left out. Otherwise all other lines are, also those without a country. */
  readonly areExcluded: boolean
}

/** Whether the lines of a country are wanted. @param code `null` if a line has no country */
export function isChosen({ codes, areExcluded }: CountryChoice, code: string | null): boolean {
  return (code !== null && codes.includes(code)) !== areExcluded
}

/** The choice of the options `onlyCountries` and `notCountries`; `undefined` without them. @throws TypeError when one is wrong */
export function countryChoice(
  only: readonly string[] | undefined,
  not: readonly string[] | undefined,
): CountryChoice | undefined {
  if (only !== undefined && not !== undefined) {
    throw wrongOption`<onlyCountries, notCountries> exclude each other: use one of them`
  }
  if (only !== undefined) return { codes: codesOf('onlyCountries', only), areExcluded: false }
  return not === undefined ? undefined : { codes: codesOf('notCountries', not), areExcluded: true }
}

function codesOf(option: string, countries: readonly string[]): readonly string[] {
  if (!Array.isArray(countries) || countries.length === 0) {
    throw wrongOption`<${option}> must be a list of country codes, such as DE, or EU for its member states`
  }
  return countryCodesOf(countries)
}
